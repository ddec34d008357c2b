// Envelope: one step on the way to the least and the largest of the points around each point.
//
//   for each point k, by a lane:
//       new_lower[k] = the least of lower[k + places[q]], q = 0 .. 3; new_upper likewise, the largest
//
// With places 0, 1, 2, 3, then 0, 4, 8, 12 and so on, the extremes are of 4, 16, ... points from k on: of a run. A last
// step joins two runs, one that begins `before` before k and one that ends `after` behind it, to those of the points
// k - before .. k + after. Places are held to the stretch, so that at its ends an envelope may be of some points more,
// never of fewer.
#pragma once

#include "../params.h"
#include "../recurrence/arithmetic.cuh"

namespace dtw {

template <class T>
DTW_DEVICE void envelope(const Envelope& p) {
    const T* lower = static_cast<const T*>(p.lower);
    const T* upper = static_cast<const T*>(p.upper);
    const int64_t last = static_cast<int64_t>(p.points) - 1;
    for (uint64_t group = warp(); group * 32 < p.points; group += warps()) {
        const int64_t k = static_cast<int64_t>(group * 32) + lane();
        if (k <= last) {
            T least = Limits<T>::infinity(), most = -Limits<T>::infinity();
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                const int64_t at = min_<int64_t>(max_<int64_t>(k + p.places[q], 0), last);
                least = min_(least, lower[at]);
                most = max_(most, upper[at]);
            }
            static_cast<T*>(p.new_lower)[k] = least;
            static_cast<T*>(p.new_upper)[k] = most;
        }
    }
}

}  // namespace dtw
