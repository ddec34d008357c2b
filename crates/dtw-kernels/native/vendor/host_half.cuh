// The processor: two floats that are halves. The contract is in half.cuh.
#pragma once

namespace dtw {

// The half nearest to a number that is exact, or as good as exact: sums and products of halves are, in double.
inline float to_half(double a) {
    const double size = fabs(a);
    if (!(size < 65520.0)) {
        return a != a ? static_cast<float>(a) : a > 0.0 ? HUGE_VALF : -HUGE_VALF;
    }
    if (size < 6.103515625e-05) {
        const double unit = 402653184.0;  // the last place of which is 2^-24
        return static_cast<float>((a + unit) - unit);
    }
    constexpr int kDropped = 42;  // bits of a double's fraction that a half has no place for
    const int64_t bits = bits_of(size), half = (int64_t{1} << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
    return static_cast<float>(copysign(from_bits((bits + half) >> kDropped << kDropped), a));
}
constexpr int kHalfBytes = 4;
struct Half2 {
    float first, second;
};
inline Half2 half2_of(float first, float second) { return {to_half(first), to_half(second)}; }
inline float first_of(Half2 v) { return v.first; }
inline float second_of(Half2 v) { return v.second; }
inline Half2 operator+(Half2 a, Half2 b) {
    return {to_half(static_cast<double>(a.first) + b.first), to_half(static_cast<double>(a.second) + b.second)};
}
inline Half2 operator-(Half2 a, Half2 b) {
    return {to_half(static_cast<double>(a.first) - b.first), to_half(static_cast<double>(a.second) - b.second)};
}
inline Half2 fma_(Half2 a, Half2 b, Half2 c) {
    return {to_half(static_cast<double>(a.first) * b.first + c.first),
            to_half(static_cast<double>(a.second) * b.second + c.second)};
}
inline Half2 min3_(Half2 a, Half2 b, Half2 c) {
    return {fminf(fminf(a.first, b.first), c.first), fminf(fminf(a.second, b.second), c.second)};
}

}  // namespace dtw
