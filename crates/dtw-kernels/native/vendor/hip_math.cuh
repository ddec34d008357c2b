// AMD: numbers. What the instruction set lacks (logarithms and powers of doubles) is in functions.cuh.
#pragma once

#include <stdint.h>

namespace dtw {

DTW_DEVICE int32_t bits_of(float a) { return __builtin_bit_cast(int32_t, a); }
DTW_DEVICE int64_t bits_of(double a) { return __builtin_bit_cast(int64_t, a); }
DTW_DEVICE float from_bits(int32_t a) { return __builtin_bit_cast(float, a); }
DTW_DEVICE double from_bits(int64_t a) { return __builtin_bit_cast(double, a); }

DTW_DEVICE float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DTW_DEVICE double fma_(double a, double b, double c) { return __builtin_fma(a, b, c); }
DTW_DEVICE float fmin_(float a, float b) { return __builtin_fminf(a, b); }
DTW_DEVICE float fmax_(float a, float b) { return __builtin_fmaxf(a, b); }
DTW_DEVICE float abs_(float a) { return __builtin_fabsf(a); }
DTW_DEVICE double abs_(double a) { return __builtin_fabs(a); }
DTW_DEVICE float sqrt_(float a) { return __builtin_sqrtf(a); }
DTW_DEVICE double sqrt_(double a) { return __builtin_sqrt(a); }
DTW_DEVICE float round_(float a) { return __builtin_rintf(a); }
DTW_DEVICE double round_(double a) { return __builtin_rint(a); }
// 2^a, to a unit in the last place or two; results below the normal numbers are zero.
DTW_DEVICE float exp2_(float a) { return __builtin_amdgcn_exp2f(a); }

// CDNA 2 and 3: two floats in two registers, in the time of one.
#if defined(__gfx90a__) || defined(__gfx942__) || defined(DTW_HOST)
constexpr bool kPackedFloats = true;
#else
constexpr bool kPackedFloats = false;
#endif
DTW_DEVICE void subtract_both(float a, float b, float c, float (&both)[2]) {
    typedef float Two __attribute__((vector_size(8)));
    const Two all = Two{a, a} - Two{b, c};
    both[0] = all[0], both[1] = all[1];
}

// Never fused with what follows.
DTW_DEVICE float mul_exact(float a, float b) {
#pragma clang fp contract(off)
    return a * b;
}
DTW_DEVICE double mul_exact(double a, double b) {
#pragma clang fp contract(off)
    return a * b;
}
DTW_DEVICE float add_exact(float a, float b) {
#pragma clang fp contract(off)
    return a + b;
}
DTW_DEVICE double add_exact(double a, double b) {
#pragma clang fp contract(off)
    return a + b;
}

}  // namespace dtw

#include "functions.cuh"

namespace dtw {

DTW_DEVICE double exp2_(double a) { return functions::exp2(a); }
DTW_DEVICE double log_(double a) { return functions::log(a); }
DTW_DEVICE double log1p_(double a) { return functions::log1p(a); }
DTW_DEVICE double pow_(double a, double b) { return functions::pow(a, b); }
DTW_DEVICE float pow_(float a, float b) {
    return static_cast<float>(functions::pow(static_cast<double>(a), static_cast<double>(b)));
}

}  // namespace dtw
