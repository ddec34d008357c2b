// The kernels, one macro for each kind; generated sources hold one line for each kernel, and include the
// recurrences that they name.
#pragma once

#include "passes/agree.cuh"
#include "passes/best.cuh"
#include "passes/bounds.cuh"
#include "passes/envelope.cuh"
#include "passes/normalize.cuh"
#include "passes/prepare.cuh"
#include "passes/trace.cuh"
#include "sweeps/diagonal.cuh"
#include "sweeps/general.cuh"
#include "sweeps/narrow.cuh"
#include "sweeps/strips.cuh"
#include "sweeps/wide.cuh"

namespace dtw {

// Whether a recurrence of type R is for several channels: its last template argument.
template <class R>
struct Channels;
template <template <class, bool> class R, class T, bool kMany>
struct Channels<R<T, kMany>> {
    static constexpr bool many = kMany;
};
template <template <class, class, bool> class R, class T, class Cost, bool kMany>
struct Channels<R<T, Cost, kMany>> {
    static constexpr bool many = kMany;
};
template <template <class> class R, class T>
struct Channels<R<T>> {
    static constexpr bool many = false;
};

}  // namespace dtw

#define DTW_ARGUMENTS(...) __VA_ARGS__
// BLOCKS: blocks that a multiprocessor must have room for; tuning/ says which.
#define DTW_GENERAL(symbol, R, G, K, BAND, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep,      \
                  dtw::sweep_general<DTW_ARGUMENTS R, G, K, BAND, dtw::Channels<DTW_ARGUMENTS R>::many>(p))
#define DTW_STRIPS(symbol, R, K, BAND, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep,  \
                  dtw::sweep_strips<DTW_ARGUMENTS R, K, BAND, dtw::Channels<DTW_ARGUMENTS R>::many>(p))
#define DTW_NARROW(symbol, R, G, K, ROWS, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep, dtw::sweep_narrow<DTW_ARGUMENTS R, G, K, ROWS>(p))
#define DTW_WIDE(symbol, R, K, ROWS, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep, dtw::sweep_wide<DTW_ARGUMENTS R, K, ROWS>(p))
#define DTW_DIAGONAL(symbol, R, G, K, COARSE) \
    DTW_KERNEL_OF(symbol, 1, dtw::Sweep, dtw::sweep_diagonal<DTW_ARGUMENTS R, G, K, COARSE>(p))
#define DTW_PREPARE(symbol, T) DTW_KERNEL(symbol, dtw::Prepare, dtw::prepare<T, dtw::Packed<T>>(p))
#define DTW_PREPARE_STRIDED(symbol, T) DTW_KERNEL(symbol, dtw::Prepare, dtw::prepare<T, dtw::Strided<T>>(p))
#define DTW_AGREE(symbol, T) DTW_KERNEL(symbol, dtw::Agree, dtw::agree<T>(p))
#define DTW_MOMENTS(symbol, T) DTW_KERNEL(symbol, dtw::Moments, dtw::moments<T>(p))
#define DTW_ENVELOPE(symbol, T) DTW_KERNEL(symbol, dtw::Envelope, dtw::envelope<T>(p))
#define DTW_BOUNDS(symbol, T) DTW_KERNEL(symbol, dtw::Bounds, dtw::bounds<T>(p))
#define DTW_BEST(symbol, T) DTW_KERNEL(symbol, dtw::Best, dtw::best<T>(p))
#define DTW_NORMALIZE(symbol, T) DTW_KERNEL(symbol, dtw::Normalize, dtw::normalize<T>(p))
#define DTW_TRACE(symbol, R) \
    DTW_KERNEL(symbol, dtw::Sweep, dtw::trace<DTW_ARGUMENTS R, dtw::Channels<DTW_ARGUMENTS R>::many>(p))
#define DTW_WALK(symbol) DTW_KERNEL(symbol, dtw::Walk, dtw::walk(p))
