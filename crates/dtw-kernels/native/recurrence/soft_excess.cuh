// Soft-DTW and the alignment kernel where the costs are small beside gamma: Z = sum of e^(-cost/gamma) over N paths,
// kept as Z and what is missing to N, X = N - Z. With q = e^(-c/gamma): Z = q (Z + Z + Z), X = X + X + X + (1 - q)(Z +
// Z + Z), sums of positive numbers only, in which 1 - q keeps the digits of c/gamma that q near 1 has lost. The result
// is the excess gamma ln(N/Z) = gamma ln(1 + X/Z) over -gamma ln N, or the value itself: with N counted in a double
// beside them, which holds it wherever paths are few. Z and X are doubles, too: equal weights round alike, so that the
// errors of many steps in float would add up. dtw-core's SoftExcess, which has two floats for each instead.
#pragma once

#include "../local_cost.h"
#include "scaled.cuh"

namespace dtw {

// kept * 2^exponent and missing * 2^exponent; the exponent is integral. All paths that there are, whole.
template <class T>
struct Parted {
    double kept, missing, paths;
    T exponent;
};

// What a cell keeps and what it takes away.
struct Shares {
    double kept, taken;
};

// 2^r - 1 for |r| <= 1/2, to its last digits: dtw-core's polynomials for 2^r without their constant term.
DTW_DEVICE float exp2_tail(float r) {
    float v = 0.000154614446975691f;
    v = fma_(v, r, 0.00134004281776158f);
    v = fma_(v, r, 0.00961805667852464f);
    v = fma_(v, r, 0.0555032722667030f);
    v = fma_(v, r, 0.240226509222888f);
    v = fma_(v, r, 0.693147206702833f);
    return v * r;
}
DTW_DEVICE double exp2_tail(double r) {
    double v = 7.072585949269224e-9;
    v = fma_(v, r, 1.0208690299958306e-7);
    v = fma_(v, r, 1.321544258792169e-6);
    v = fma_(v, r, 1.5252657260200837e-5);
    v = fma_(v, r, 0.0001540353044173605);
    v = fma_(v, r, 0.0013333558230164974);
    v = fma_(v, r, 0.009618129107606889);
    v = fma_(v, r, 0.05550410866444772);
    v = fma_(v, r, 0.24022650695910097);
    v = fma_(v, r, 0.69314718055995);
    return v * r;
}

// The norm (norm.cuh) of any local cost.
template <class T>
struct AnyCost {
    uint32_t cost;
    DTW_DEVICE T one(T a, T b) const {
        const T apart = abs_(a - b);
        return cost == kSquaredEuclidean ? apart * apart : apart;
    }
    DTW_DEVICE T add(T sum, T a, T b) const {
        const T apart = abs_(a - b);
        return cost == kManhattan ? sum + apart : fma_(apart, apart, sum);
    }
    DTW_DEVICE T done(T sum) const { return cost == kEuclidean ? sqrt_(sum) : sum; }
};

template <class T, bool kMany>
struct SoftExcess {
    using Number = T;
    using State = Parted<T>;
    using Price = Shares;
    using Norm = AnyCost<T>;
    static constexpr int kParts = 7;
    static constexpr bool kGaps = false, kTimes = false, kPrevious = false, kWeights = false;
    static constexpr bool kBorders = false, kPaddingSafe = false, kOpen = false, kRescales = true, kTraces = false;
    static constexpr bool kLeavesBand = false;
    // Bits of the option; above them it is the local cost.
    static constexpr uint32_t kKernel = 1, kValue = 2, kCostShift = 2;
    Norm norm;
    double unit;        // gamma; -1 for the alignment kernel, whose value is ln N less the excess
    T rate;             // -log2(e) / gamma, or -log2(e) / 2 sigma^2
    bool is_kernel;     // of alignments: k = q / (2 - q)
    bool wants_value;   // not the excess
    explicit DTW_DEVICE SoftExcess(const Sweep& p)
        : norm{p.option >> kCostShift}, unit((p.option & kKernel) != 0 ? -1.0 : p.parameters[0]),
          rate(static_cast<T>(-1.44269504088896340736 / ((p.option & kKernel) != 0 ? 2.0 * p.parameters[0] * p.parameters[0]
                                                                                   : p.parameters[0]))),
          is_kernel((p.option & kKernel) != 0), wants_value((p.option & kValue) != 0) {}
    DTW_DEVICE State origin() const { return {1.0, 0.0, 1.0, T(0)}; }
    DTW_DEVICE State forbidden() const { return {0.0, 0.0, 0.0, T(Limits<T>::kZeroExponent)}; }
    DTW_DEVICE State border_right(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE State border_down(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE Price price(T distance, T, const Sample<T>&, const Sample<T>&, T) const {
        const T bounded = max_(distance * rate, T(Limits<T>::kPow2Min)), exponent = round_(bounded);
        const T power = pow2(exponent);
        const double scale = static_cast<double>(power), scaled = static_cast<double>(power * exp2_tail(bounded - exponent));
        const double kept = scale + scaled, taken = (1.0 - scale) - scaled;
        // q/(2 - q) = q/(1 + (1 - q)), and 1 less that is 2(1 - q)/(1 + (1 - q)).
        return is_kernel ? Price{kept / (1.0 + taken), (taken + taken) / (1.0 + taken)} : Price{kept, taken};
    }
    DTW_DEVICE State combine(State diagonal, State up, State left, Price price) const {
        const T largest = max_(max_(diagonal.exponent, up.exponent), left.exponent);
        const T lowest = T(Limits<T>::kPow2Min);
        const auto scale = [&](State s) { return static_cast<double>(pow2(max_(s.exponent - largest, lowest))); };
        const double d = scale(diagonal), u = scale(up), l = scale(left);
        const double kept = diagonal.kept * d + up.kept * u + left.kept * l;
        const double missing = diagonal.missing * d + up.missing * u + left.missing * l;
        return {kept * price.kept, missing + kept * price.taken, diagonal.paths + up.paths + left.paths, largest};
    }
    DTW_DEVICE uint32_t arrival(State, State, State, Price) const { return 0; }
    // Brings the sum of both back to [1, 2); zero stays zero.
    DTW_DEVICE State rescale(State v) const {
        const double sum = v.kept + v.missing, shift = sum > 0.0 ? exponent_of(sum) : 0.0, scale = pow2(-shift);
        return {v.kept * scale, v.missing * scale, v.paths, v.exponent + static_cast<T>(shift)};
    }
    // NaN where Z has become too small a share of N to have kept its digits, and where a value is wanted and N is too
    // large.
    DTW_DEVICE T finish(State v, uint32_t, uint32_t) const {
        const bool vouched = v.kept > 0.0 && v.kept >= v.missing * exp2_(0.9 * static_cast<double>(Limits<T>::kPow2Min));
        if (!vouched || (wants_value && !(v.paths < Limits<double>::infinity()))) {
            return static_cast<T>(from_bits(int32_t{0x7fffffff}));
        }
        const double excess = log1p_(v.missing / v.kept);
        // Adding 0 makes 0 of -0.
        return static_cast<T>(wants_value ? unit * (excess - log_(v.paths)) : abs_(unit) * excess) + T(0);
    }
};

template <int G, class T>
DTW_DEVICE Parted<T> shift_state(Parted<T> v) {
    return {shift_up<G>(v.kept), shift_up<G>(v.missing), shift_up<G>(v.paths), shift_up<G>(v.exponent)};
}
template <class T>
DTW_DEVICE Parted<T> broadcast_state(Parted<T> v, int l) {
    return {broadcast(v.kept, l), broadcast(v.missing, l), broadcast(v.paths, l), broadcast(v.exponent, l)};
}
// Doubles in two words, each where a number would be.
template <class T>
DTW_DEVICE Parted<T> load_state(const T* edge, uint64_t part, uint64_t i, Parted<T>) {
    const auto word = [&](uint64_t k) { return load_fresh(reinterpret_cast<const uint32_t*>(edge + k * part) + i); };
    return {from_words(word(0), word(1)), from_words(word(2), word(3)), from_words(word(4), word(5)),
            load_fresh(edge + 6 * part + i)};
}
template <class T>
DTW_DEVICE void store_state(T* edge, uint64_t part, uint64_t i, Parted<T> v) {
    const auto store = [&](uint64_t k, double number) {
        const uint64_t words = static_cast<uint64_t>(bits_of(number));
        reinterpret_cast<uint32_t*>(edge + k * part)[i] = static_cast<uint32_t>(words >> 32);
        reinterpret_cast<uint32_t*>(edge + (k + 1) * part)[i] = static_cast<uint32_t>(words);
    };
    store(0, v.kept);
    store(2, v.missing);
    store(4, v.paths);
    edge[6 * part + i] = v.exponent;
}
template <class T>
DTW_DEVICE Parted<T> choose(bool first, Parted<T> a, Parted<T> b) {
    return {first ? a.kept : b.kept, first ? a.missing : b.missing, first ? a.paths : b.paths,
            first ? a.exponent : b.exponent};
}

}  // namespace dtw
