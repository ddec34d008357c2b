// Weights of cells of the soft sweep: q = 2^-s, s = c |x_i - y_k|^2, or of log_gak q / (2 - q).
//
//   SoftWeights<T, kChannels, kGeometric> weights(c, least, most)    all points lie between these two
//       take(v)                 how a lane keeps a point
//       range                   at least the distance of any two points, in units of which 1 has the weight 1/2
//       weight<kFar>(a, b)      of two points so kept
//
// A float is widened to a double by moving its bits. A double's exponential is a polynomial of its own: nothing in the
// inner loop is called, and nothing branches.
#pragma once

#include "../lanes/columns.cuh"
#include "../vendor/block.cuh"

namespace dtw {

constexpr float kNear = 11.1f;      // up to here 2^-d^2 is a normal float, and half of it
constexpr float kReach = 31.0f;     // up to here it is a normal double

template <class T, int kChannels, bool kGeometric>
struct SoftWeights;

// `sum` less the squared distance of two points.
template <class T, int kChannels>
DTW_DEVICE T less_squares(T sum, const Channeled<T, kChannels>& a, const Channeled<T, kChannels>& b) {
    DTW_UNROLL
    for (int c = 0; c < kChannels; ++c) {
        const T d = a.v[c] - b.v[c];
        sum = fma_(-d, d, sum);
    }
    return sum;
}

// -d^2 of the distance d of two points, as a fraction and a whole number, which is in the last bits of `shifted`. Of
// several channels the sum is rounded first.
template <int kChannels>
DTW_DEVICE float fraction_of(const Channeled<float, kChannels>& a, const Channeled<float, kChannels>& b,
                             float& shifted) {
    constexpr float kUnits = 12582912.0f + (1023 - 127);  // 1.5 * 2^23, and what the exponent of a double is more
    if constexpr (kChannels == 1) {
        shifted = less_squares(kUnits, a, b);
        return less_squares(kUnits - shifted, a, b);
    } else {
        const float sum = less_squares(0.0f, a, b);
        shifted = sum + kUnits;
        return sum + (kUnits - shifted);
    }
}

// Points are taken from the middle of the range and scaled, so that scaling costs no digits of their differences.
template <int kChannels, bool kGeometric>
struct SoftWeights<float, kChannels, kGeometric> {
    using Point = Channeled<float, kChannels>;
    static constexpr bool kFarOnly = false;
    float rate, range;
    Point shift;
    DTW_DEVICE SoftWeights(double c, const Point& least, const Point& most)
        : rate(static_cast<float>(sqrt_(c))) {
        float squares = 0.0f;
        DTW_UNROLL
        for (int k = 0; k < kChannels; ++k) {
            shift.v[k] = -(least.v[k] * 0.5f + most.v[k] * 0.5f) * rate;
            // Not a number where the shift is none.
            const float of_channel = (most.v[k] - least.v[k]) * rate + (shift.v[k] - shift.v[k]);
            squares = fma_(of_channel, of_channel, squares);
        }
        range = sqrt_(squares);
    }
    DTW_DEVICE Point take(Point v) const {
        DTW_UNROLL
        for (int c = 0; c < kChannels; ++c) {
            v.v[c] = fma_(v.v[c], rate, shift.v[c]);
        }
        return v;
    }
    // 2^-d^2 of the distance d up to kNear or, by an exponent of its own, up to kReach.
    //
    // Of one channel, up to kNear, it is right to 2^-20. The float's last three bits would take an instruction to move
    // to the lower word; it holds all of the float's bits instead, which are less than a quarter of what it can hold.
    // What that takes away on average is added before: kMean, which is less than the last place of most d^2, but
    // rounding lets it through on average.
    template <bool kFar>
    DTW_DEVICE double weight(const Point& a, const Point& b) const {
        constexpr bool kCoarse = !kFar && !kGeometric && kChannels == 1;
        constexpr float kMean = kCoarse ? 1.6e-7f : 0.0f;
        float part;
        uint32_t exponent = static_cast<uint32_t>(1023 - 127);
        if constexpr (kFar) {
            float shifted;
            part = exp2_(fraction_of(a, b, shifted));
            exponent = static_cast<uint32_t>(bits_of(shifted));
        } else {
            part = exp2_(less_squares(kMean, a, b));
        }
        if constexpr (kGeometric) {
            part *= reciprocal(2.0f - (kFar ? exp2_(less_squares(0.0f, a, b)) : part));
        }
        const uint32_t bits = static_cast<uint32_t>(bits_of(part));
        return from_words((bits >> 3) + (exponent << 20), kCoarse ? bits : bits << 29);
    }
};

// 2^f for f within [-1/2, 1/2], to 2^-55; 1 for 0. Interpolates (2^f - 1) / f at eleven Chebyshev points.
DTW_DEVICE double exp2_of_fraction(double f) {
    double sum = 4.4549605981865186e-10;
    sum = fma_(sum, f, 7.072585949269223e-09);
    sum = fma_(sum, f, 1.0178062445845774e-07);
    sum = fma_(sum, f, 1.321544258792169e-06);
    sum = fma_(sum, f, 1.525273382983612e-05);
    sum = fma_(sum, f, 0.0001540353044173605);
    sum = fma_(sum, f, 0.0013333558146416936);
    sum = fma_(sum, f, 0.009618129107606888);
    sum = fma_(sum, f, 0.0555041086648216);
    sum = fma_(sum, f, 0.24022650695910097);
    sum = fma_(sum, f, 0.6931471805599453);
    return fma_(sum, f, 1.0);
}

// Points stay as they are, so that a cost is rounded as it is elsewhere.
template <int kChannels, bool kGeometric>
struct SoftWeights<double, kChannels, kGeometric> {
    using Point = Channeled<double, kChannels>;
    static constexpr bool kFarOnly = true;
    double rate, range;
    DTW_DEVICE SoftWeights(double c, const Point& least, const Point& most)
        : rate(c), range(sqrt_(-less_squares(0.0, most, least)) * sqrt_(c)) {}
    DTW_DEVICE const Point& take(const Point& v) const { return v; }
    template <bool kFar>
    DTW_DEVICE double weight(const Point& a, const Point& b) const {
        constexpr double kUnits = 6755399441055744.0;  // 1.5 * 2^52: its lower word counts
        const double squares = less_squares(0.0, a, b);
        const double shifted = fma_(squares, rate, kUnits), whole = shifted - kUnits;
        const double part = exp2_of_fraction(fma_(squares, rate, -whole));
        const uint32_t exponent = static_cast<uint32_t>(bits_of(shifted)) << 20;
        const double q = from_words(high_of(part) + exponent, static_cast<uint32_t>(bits_of(part)));
        return kGeometric ? q * reciprocal(2.0 - q) : q;
    }
};

}  // namespace dtw
