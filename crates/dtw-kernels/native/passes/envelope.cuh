// Envelope: one step on the way to the least and the largest of the points around each point.
//
//   for each point k, by a lane:
//       new_lower[k] = the lesser of lower[k - back] and lower[k + ahead]; new_upper likewise
//
// With back = 0 and ahead = 1, 2, 4, ... the extremes are of 2, 4, 8, ... points from k on. A last step with
// back = before and ahead = after + 1 - 2^t joins two such runs to those of the points k - before .. k + after. Places
// are held to the stretch, so that at its ends an envelope may be of some points more, never of fewer.
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
            const int64_t a = max_<int64_t>(k - p.back, 0);
            const int64_t b = min_<int64_t>(max_<int64_t>(k + p.ahead, 0), last);
            static_cast<T*>(p.new_lower)[k] = min_(lower[a], lower[b]);
            static_cast<T*>(p.new_upper)[k] = max_(upper[a], upper[b]);
        }
    }
}

}  // namespace dtw
