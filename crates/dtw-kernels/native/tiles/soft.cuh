// The kernels of Soft-DTW and log_gak in tiles, a macro for each. COSTS: one of TileCosts, where the option says which
// norm; BYTES is what a block shares, as src/catalog.rs has it.
#pragma once

#include "soft_backward.cuh"

#define DTW_SOFT_FORWARD(symbol, T, MANY, COSTS, BLOCKS, BYTES)                                      \
    static_assert(sizeof(dtw::TileMemory<T, 2>) == BYTES, "build/expand.rs says what blocks share"); \
    DTW_KERNEL_SHARING(symbol, BLOCKS, BYTES, dtw::Soft, dtw::soft_forward<T, MANY, dtw::TileCosts::COSTS>(p))
#define DTW_SOFT_BACKWARD(symbol, T, MANY, COSTS, BLOCKS, BYTES)                                     \
    static_assert(sizeof(dtw::TileMemory<T, 3>) == BYTES, "build/expand.rs says what blocks share"); \
    DTW_KERNEL_SHARING(symbol, BLOCKS, BYTES, dtw::Soft, dtw::soft_backward<T, MANY, dtw::TileCosts::COSTS>(p))
