// Sums over all paths, kept as mantissa * 2^exponent: a soft minimum is -gamma ln of such a sum.
#pragma once

#include "recurrence.cuh"

namespace dtw {

// mantissa >= 0; exponent integral, kZeroExponent for zero.
template <class T>
struct Scaled {
    T mantissa, exponent;
};

// 2^t for t <= 0 as mantissa in [sqrt(1/2), sqrt 2] and integral exponent.
template <class T>
DTW_DEVICE Scaled<T> exp2_parts(T t) {
    const T bounded = max_(t, T(Limits<T>::kLeastLog2));
    const T exponent = round_(bounded);
    return {exp2_(bounded - exponent), exponent};
}

// v * 2^e for integral e <= 0; what would vanish is scaled by 2^kPow2Min.
template <class T>
DTW_DEVICE T scale_down(T v, T e) {
    return v * pow2(max_(e, T(Limits<T>::kPow2Min)));
}

// The natural logarithm, in double; -infinity for zero.
template <class T>
DTW_DEVICE double log_of(Scaled<T> v) {
    if (v.mantissa == T(0) || v.exponent <= T(Limits<T>::kLeastLog2)) {
        return -Limits<double>::infinity();
    }
    return log_(static_cast<double>(v.mantissa)) + static_cast<double>(v.exponent) * 0.69314718055994530942;
}

// The base of soft_dtw and log_gak: Z = price (Z + Z + Z).
template <class T>
struct ScaledBase {
    using Number = T;
    using State = Scaled<T>;
    using Price = Scaled<T>;
    static constexpr int kParts = 2;
    static constexpr bool kGaps = false, kTimes = false, kPrevious = false, kWeights = false;
    static constexpr bool kBorders = false, kPaddingSafe = false, kOpen = false, kRescales = true, kTraces = false;
    static constexpr bool kLeavesBand = false;
    DTW_DEVICE State origin() const { return {T(1), T(0)}; }
    DTW_DEVICE State forbidden() const { return {T(0), T(Limits<T>::kZeroExponent)}; }
    DTW_DEVICE State border_right(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE State border_down(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE State combine(State diagonal, State up, State left, Price price) const {
        const T largest = max_(max_(diagonal.exponent, up.exponent), left.exponent);
        const T sum = scale_down(diagonal.mantissa, diagonal.exponent - largest) +
                      scale_down(up.mantissa, up.exponent - largest) +
                      scale_down(left.mantissa, left.exponent - largest);
        return {sum * price.mantissa, max_(largest + price.exponent, T(Limits<T>::kZeroExponent))};
    }
    DTW_DEVICE uint32_t arrival(State, State, State, Price) const { return 0; }
    // Brings the mantissa back to [1, 2); zero stays zero.
    DTW_DEVICE State rescale(State v) const {
        const T shift = v.mantissa > T(0) ? exponent_of(v.mantissa) : T(0);
        return {v.mantissa * pow2(-shift), v.exponent + shift};
    }
};

template <int G, class T>
DTW_DEVICE Scaled<T> shift_state(Scaled<T> v) {
    return {shift_up<G>(v.mantissa), shift_up<G>(v.exponent)};
}
template <class T>
DTW_DEVICE Scaled<T> broadcast_state(Scaled<T> v, int l) {
    return {broadcast(v.mantissa, l), broadcast(v.exponent, l)};
}
template <class T>
DTW_DEVICE Scaled<T> load_state(const T* edge, uint64_t part, uint64_t i, Scaled<T>) {
    return {load_fresh(edge + i), load_fresh(edge + part + i)};
}
template <class T>
DTW_DEVICE void store_state(T* edge, uint64_t part, uint64_t i, Scaled<T> v) {
    edge[i] = v.mantissa;
    edge[part + i] = v.exponent;
}
template <class T>
DTW_DEVICE Scaled<T> choose(bool first, Scaled<T> a, Scaled<T> b) {
    return {first ? a.mantissa : b.mantissa, first ? a.exponent : b.exponent};
}

}  // namespace dtw
