// What the threads of a block of 128 have in common, for kernels in which they work together.
//
// Each vendor header defines, in namespace dtw:
//   thread()            0..127 within the block
//   sync_block()        waits for all threads of the block, and orders memory between them
//   DTW_KERNEL_SHARING(symbol, blocks, bytes, Params, body)   as DTW_KERNEL_OF; its blocks share so many bytes
//   shared_memory<kBytes>()   memory of the block; kBytes is what the kernel is said to share
//   load_four(p, v)     four numbers at once, from a multiple of 16 bytes; sees what other blocks wrote
//   load_always(p)      *p; never put off until it is known whether the number is needed
//   least_of(a, b)      the lesser number, neither of them NaN
//   reciprocal(v)       1 / v, to a unit in the last place, of a positive number neither very small nor very large
//   kMatrixUnits        whether there is multiply_add
//   multiply_add(c, a, b)   c += a b by 32 lanes, of matrices of 16 x 8, 16 x 8 and 8 x 8 floats; the last 13 bits of
//                       those of a and b are zero; with g = lane / 4 and t = lane % 4 a lane has
//                           a  (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
//                           b  (t, g), (t + 4, g)
//                           c  (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1)
#pragma once

#include "vendor.cuh"

#if defined(DTW_AMD)
#include "hip_block.cuh"
#elif defined(DTW_HOST)
#include "host_block.cuh"
#else
#include "cuda_block.cuh"
#endif
