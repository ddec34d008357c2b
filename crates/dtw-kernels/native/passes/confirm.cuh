// Confirm: what proposals of a search (sweeps/propose.cuh) cost in truth, once windows that end there have been swept
// in full precision (sweeps/block.cuh, as if a path came from above each window at no cost).
//
//   for each window, by a warp:
//       each lane: ends lane, lane + 32, ... of the window's last rows:
//           the exact cost takes the place of the proposal, and the start of its path is noted
//           where the path comes from above the window, the cost is a lower bound, and that is noted
//       lane 0 writes the largest part that a proposal was of its exact cost: above 1, it was too high
//
//   known   0 0 0 | 17 17 18 kCarried | 0 0 0        0: proposed; kCarried: costs no less; else 1 + start, exact
//
// Windows of a task may overlap: two that are certain of an end say the same.
#pragma once

#include "../params.h"
#include "../recurrence/arithmetic.cuh"

namespace dtw {

DTW_DEVICE void confirm(const Confirm& p) {
    constexpr uint32_t kFromAbove = 0x80000000u;  // kCarried of sweeps/block.cuh
    for (uint64_t w = warp(); w < p.count; w += warps()) {
        const uint32_t* window = p.windows + 4 * w;
        const uint64_t column = window[0] * p.stride;
        const uint32_t begin = window[1], first = window[2], count = window[3];
        const float* exact = static_cast<const float*>(p.exact) + w * p.exact_stride + first;
        const uint32_t* starts = p.starts + w * p.exact_stride + first;
        float* proposals = static_cast<float*>(p.proposals) + column + begin + first;
        uint32_t* known = p.known + column + begin + first;
        float excess = 0.0f;
        for (uint32_t i = static_cast<uint32_t>(lane()); i < count; i += 32) {
            const uint32_t before = load_fresh(known + i), start = starts[i];
            const float cost = exact[i], proposed = load_fresh(proposals + i);
            if (before == 0 || before == kFromAbove) {
                if (start < kFromAbove && before == 0 && proposed > 0.0f) {
                    excess = fmax_(excess, proposed / cost);
                }
                proposals[i] = cost;
                known[i] = start < kFromAbove ? begin + start + 1 : kFromAbove;
            }
        }
        DTW_UNROLL
        for (int mask = 1; mask < 32; mask *= 2) {
            excess = fmax_(excess, exchange(excess, mask));
        }
        if (lane() == 0) {
            static_cast<float*>(p.excess)[w] = excess;
        }
    }
}

}  // namespace dtw

#define DTW_CONFIRM(symbol) DTW_KERNEL(symbol, dtw::Confirm, dtw::confirm(p))
