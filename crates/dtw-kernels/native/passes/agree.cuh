// Agree: whether each stretch of a reference begins with the states with which the stretch before it ends
// (sweeps/block.cuh): the same totals, and the same starts if there are some, counted from the same point.
//
//   for each task (a stretch and a query), by a warp:
//       each lane: whether states j = lane, lane + 32, ... of the run-up's last row are those of the last row before
//       lane 0 writes whether all are
//
// The first stretch has none before it.
#pragma once

#include "../params.h"
#include "../vendor/vendor.cuh"

namespace dtw {

template <class T>
DTW_DEVICE void agree(const Agree& p) {
    const uint64_t part = p.tasks * p.stride;
    for (uint64_t k = warp(); k < p.tasks; k += warps()) {
        bool same = true;
        if (k >= p.queries) {
            const uint64_t before = k - p.queries;
            const uint32_t length = p.lengths ? p.lengths[k % p.queries] : p.length;
            const T* last = static_cast<const T*>(p.states) + before * p.stride;
            const T* here = static_cast<const T*>(p.states) + 2 * part + k * p.stride;
            const uint32_t* last_starts = reinterpret_cast<const uint32_t*>(last + part);
            const uint32_t* starts = reinterpret_cast<const uint32_t*>(here + part);
            const uint64_t apart = p.offsets[k / p.queries] - p.offsets[before / p.queries];
            for (uint32_t j = static_cast<uint32_t>(lane()); j < length; j += 32) {
                same = same && last[j] == here[j] && (!p.has_starts || last_starts[j] == starts[j] + apart);
            }
        }
        const bool differs = any(!same);
        if (lane() == 0) {
            p.agreed[k] = differs ? 0 : 1;
        }
    }
}

}  // namespace dtw
