// NVIDIA. The contract is in doubles.cuh.
#pragma once

namespace dtw {

// Code for sm_90a, that is, not what newer chips translate for themselves: many of them have few units for doubles.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr bool kDoubleUnits = true;
DTW_DEVICE void multiply_add(double (&c)[4], const double (&a)[4][2], const double (&b)[4]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0][0]), "d"(a[0][1]), "d"(a[1][0]), "d"(a[1][1]), "d"(a[2][0]), "d"(a[2][1]), "d"(a[3][0]),
          "d"(a[3][1]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
#else
constexpr bool kDoubleUnits = false;
DTW_DEVICE void multiply_add(double (&)[4], const double (&)[4][2], const double (&)[4]) {}
#endif

}  // namespace dtw
