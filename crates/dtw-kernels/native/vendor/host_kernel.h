// A kernel on the processor: a function that launches its fibers, of the name that src/host.rs looks for.
#pragma once

#include "fibers.h"

#define DTW_KERNEL_OF(symbol, blocks, Params, ...) DTW_KERNEL(symbol, Params, __VA_ARGS__)
#define DTW_KERNEL(symbol, Params, ...)                                                                      \
    static void symbol##_lane(const void* params) {                                                          \
        const Params& p = *static_cast<const Params*>(params);                                               \
        __VA_ARGS__;                                                                                         \
    }                                                                                                        \
    extern "C" bool symbol##_host(const void* params, uint32_t blocks, uint32_t interleaved, uint32_t seed) { \
        return dtw::fibers::launch(#symbol, symbol##_lane, params, blocks, interleaved, seed);               \
    }
