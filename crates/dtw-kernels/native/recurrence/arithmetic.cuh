// Small arithmetic that every recurrence uses, on float and double.
#pragma once

#include "../vendor/vendor.cuh"

namespace dtw {

template <class T>
struct Limits;
template <>
struct Limits<float> {
    static DTW_DEVICE float infinity() { return from_bits(int32_t{0x7f800000}); }
    static constexpr float kZeroExponent = -8.5e37f;  // stands for the exponent of 0; no sum of exponents reaches it
    static constexpr float kLeastLog2 = -6.6e35f;     // what is less counts as 0
    static constexpr float kPow2Min = -64.0f;         // 2^this vanishes beside 1, and products stay normal
    using Bits = int32_t;
    static constexpr int kMantissaBits = 23;
    static constexpr int kBias = 127;
};
template <>
struct Limits<double> {
    static DTW_DEVICE double infinity() { return from_bits(int64_t{0x7ff0000000000000}); }
    static constexpr double kZeroExponent = -4.4e307;
    static constexpr double kLeastLog2 = -3.5e305;
    static constexpr double kPow2Min = -512.0;
    using Bits = int64_t;
    static constexpr int kMantissaBits = 52;
    static constexpr int kBias = 1023;
};

template <class T>
DTW_DEVICE T min_(T a, T b) { return a < b ? a : b; }
template <class T>
DTW_DEVICE T max_(T a, T b) { return a > b ? a : b; }

// The lesser and the larger of two, the second of which is a number; that one, if the first is NaN. One instruction on
// floats.
DTW_DEVICE float lesser(float a, float b) { return fmin_(a, b); }
DTW_DEVICE float larger(float a, float b) { return fmax_(a, b); }
DTW_DEVICE double lesser(double a, double b) { return a < b ? a : b; }
DTW_DEVICE double larger(double a, double b) { return a > b ? a : b; }

// The least of three.
template <class T>
DTW_DEVICE T min3(T a, T b, T c) { return min_(min_(a, b), c); }

// The least of three numbers that are not negative (nor NaN): such floats are ordered as their bit patterns are, for
// which there is a fast instruction.
DTW_DEVICE float min3_nonnegative(float a, float b, float c) {
    return from_bits(min3_bits(bits_of(a), bits_of(b), bits_of(c)));
}
DTW_DEVICE double min_nonnegative(double a, double b) { return bits_of(a) < bits_of(b) ? a : b; }
DTW_DEVICE double min3_nonnegative(double a, double b, double c) { return min_nonnegative(min_nonnegative(a, b), c); }

// The upper 32 bits of a double, and a double of both halves.
DTW_DEVICE uint32_t high_of(double v) { return static_cast<uint32_t>(static_cast<uint64_t>(bits_of(v)) >> 32); }
DTW_DEVICE double from_words(uint32_t high, uint32_t low) {
    return from_bits(static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | low));
}

// 2^e for integral e within [kPow2Min, -kPow2Min].
template <class T>
DTW_DEVICE T pow2(T e) {
    using B = typename Limits<T>::Bits;
    return from_bits(static_cast<B>((static_cast<B>(e) + Limits<T>::kBias) << Limits<T>::kMantissaBits));
}

// For a positive normal number, e with 2^e <= v < 2^(e+1).
template <class T>
DTW_DEVICE T exponent_of(T v) {
    return static_cast<T>((bits_of(v) >> Limits<T>::kMantissaBits) - Limits<T>::kBias);
}

}  // namespace dtw
