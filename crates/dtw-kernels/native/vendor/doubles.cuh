// Products of matrices of doubles, by the 32 lanes of a group.
//
// Each vendor header defines, in namespace dtw:
//   kDoubleUnits        whether there are units for it that make twice as many products as a lane's fma_ can
//   multiply_add(c, a, b)   c += a b, of matrices of 16 x 8, 16 x 16 and 16 x 8 doubles; with g = lane / 4 and
//                       t = lane % 4 a lane has, for k = 0 .. 3,
//                           a[k]  (g, t + 4 k), (g + 8, t + 4 k)
//                           b[k]  (t + 4 k, g)
//                           c     (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1)
#pragma once

#include "vendor.cuh"

#if defined(DTW_AMD)
#include "hip_doubles.cuh"
#elif defined(DTW_HOST)
#include "host_doubles.cuh"
#else
#include "cuda_doubles.cuh"
#endif
