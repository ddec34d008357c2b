// The kernels, one macro for each kind; generated sources hold one line for each kernel.
#pragma once

#include "best.cuh"
#include "narrow.cuh"
#include "normalize.cuh"
#include "prepare.cuh"
#include "recurrence/adtw.cuh"
#include "recurrence/dtw.cuh"
#include "recurrence/edr.cuh"
#include "recurrence/erp.cuh"
#include "recurrence/lcss.cuh"
#include "recurrence/log_gak.cuh"
#include "recurrence/msm.cuh"
#include "recurrence/soft_dtw.cuh"
#include "recurrence/soft_excess.cuh"
#include "recurrence/subsequence.cuh"
#include "recurrence/twed.cuh"
#include "recurrence/wdtw.cuh"
#include "slope.cuh"
#include "soft.cuh"
#include "sweep.cuh"
#include "trace.cuh"

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

template <class R, int G, int K, int kRows, bool kEdges, bool kBand>
DTW_DEVICE void sweep(const Sweep& p) {
    constexpr bool kMany = Channels<R>::many;
    if constexpr (kEdges) {
        static_assert(G == 32, "strips are 32 lanes wide");
        sweep_wide<R, K, kRows, kBand, kMany>(p);
    } else if constexpr (R::kAbsorbs && !kBand && !kMany) {
        sweep_narrow_absorbing<R, G, K, kRows, (K >= 32 ? 4 : 2)>(p);
    } else {
        sweep_narrow<R, G, K, kBand, kMany>(p);
    }
}

// Measured on sm_90: left to itself the compiler saves registers at the cost of spills, or, for these two widths, spends
// some more to good effect.
constexpr int least_blocks(int columns) { return columns == 32 || columns == 48 ? 0 : 1; }

}  // namespace dtw

#define DTW_ARGUMENTS(...) __VA_ARGS__
#define DTW_SWEEP(symbol, R, G, K, ROWS, EDGES, BAND) \
    DTW_KERNEL_OF(symbol, dtw::least_blocks(K), dtw::Sweep, dtw::sweep<DTW_ARGUMENTS R, G, K, ROWS, EDGES, BAND>(p))
#define DTW_SLOPE(symbol, R, G, K) DTW_KERNEL_OF(symbol, 1, dtw::Sweep, dtw::sweep_slope<DTW_ARGUMENTS R, G, K>(p))
#define DTW_SOFT(symbol, R, G, K) DTW_KERNEL_OF(symbol, 1, dtw::Sweep, dtw::sweep_narrow_shared<DTW_ARGUMENTS R, G, K>(p))
#define DTW_PREPARE(symbol, T) DTW_KERNEL(symbol, dtw::Prepare, dtw::prepare<T>(p))
#define DTW_BEST(symbol, T) DTW_KERNEL(symbol, dtw::Best, dtw::best<T>(p))
#define DTW_NORMALIZE(symbol, T) DTW_KERNEL(symbol, dtw::Normalize, dtw::normalize<T>(p))
#define DTW_TRACE(symbol, R, BAND) \
    DTW_KERNEL(symbol, dtw::Sweep, dtw::trace<DTW_ARGUMENTS R, dtw::Channels<DTW_ARGUMENTS R>::many>(p))
#define DTW_WALK(symbol) DTW_KERNEL(symbol, dtw::Walk, dtw::walk(p))
