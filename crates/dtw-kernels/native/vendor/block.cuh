// What the threads of a block of 128 have in common, for kernels in which they work together.
//
// Each vendor header defines, in namespace dtw:
//   thread()            0..127 within the block
//   sync_block()        waits for all threads of the block, and orders memory between them
//   shared_memory()     memory of the block, as much as the kernel is said to share
//   load_four(p, v)     four numbers at once, from a multiple of 16 bytes; sees what other blocks wrote
//   least_of(a, b)      the lesser number, neither of them NaN
//   reciprocal(v)       1 / v, to a unit in the last place, of a positive number neither very small nor very large
#pragma once

#include "vendor.cuh"

#if defined(DTW_HOST)
#include "host_block.cuh"
#elif defined(__HIP__)
#include "hip_block.cuh"
#else
#include "cuda_block.cuh"
#endif
