// Two numbers of 16 bits in a register.
//
// Each vendor header defines, in namespace dtw:
//   Half2                                         two numbers (IEEE binary16); operations are rounded to nearest
//   half2_of(a, b), first_of(v), second_of(v)     from two floats, and back
//   kHalfBytes                                    of one number: 2 where it is a half
//   v + w, v - w, fma_, min3_                     number by number
// shift_up<G>, broadcast and exchange take them, too.
#pragma once

#include "vendor.cuh"

#if defined(DTW_HOST)
#include "host_half.cuh"
#elif defined(DTW_AMD)
#include "hip_half.cuh"
#else
#include "cuda_half.cuh"
#endif
