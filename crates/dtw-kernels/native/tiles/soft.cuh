// The kernels of Soft-DTW in tiles, a macro for each. SQUARED: of squared Euclidean costs, else of the cost that the
// option says; BYTES is what a block shares, as src/catalog.rs has it.
#pragma once

#include "soft_backward.cuh"

#define DTW_SOFT_FORWARD(symbol, T, MANY, SQUARED, BLOCKS, BYTES)                                    \
    static_assert(sizeof(dtw::TileMemory<T, 2>) == BYTES, "build/expand.rs says what blocks share"); \
    DTW_KERNEL_SHARING(symbol, BLOCKS, BYTES, dtw::Soft, dtw::soft_forward<T, MANY, SQUARED>(p))
#define DTW_SOFT_BACKWARD(symbol, T, MANY, SQUARED, BLOCKS, BYTES)                                   \
    static_assert(sizeof(dtw::TileMemory<T, 3>) == BYTES, "build/expand.rs says what blocks share"); \
    DTW_KERNEL_SHARING(symbol, BLOCKS, BYTES, dtw::Soft, dtw::soft_backward<T, MANY, SQUARED>(p))
