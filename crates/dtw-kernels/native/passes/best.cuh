// Best: the hits of a search, chosen from the last column of its sweep. A hit is the end with the least cost; the ends
// near a hit (p.exclusion) are no further hits.
//
//   for each task (a query and its reference), by a warp:
//       up to top_k times:
//           each lane: its least cost among the ends j = lane, lane + 32, lane + 64, ... that are not excluded
//           the least of all lanes; of equal costs that with the smaller end; none: no more hits
//           lane 0 writes cost, start and end
//           exclude the ends from end - exclusion to end + exclusion
//
//     end      0   1   2  ...  31 | 32  33  34 ...          a lane reads every 32nd cost, many loads at once
//     lane     0   1   2  ...  31 |  0   1   2 ...
//     bit                 . . 1 1   1 1 1 . .               p.excluded: a bit for each end, 32 in a word
//                               <-- hit -->
#pragma once

#include "../recurrence/arithmetic.cuh"
#include "../params.h"

namespace dtw {

template <class T>
DTW_DEVICE void best(const Best& p) {
    for (uint64_t k = warp(); k < p.tasks; k += warps()) {
        const T* totals = static_cast<const T*>(p.totals) + k * p.stride;
        const uint32_t length = p.lengths ? p.lengths[k] : p.length;
        uint32_t* excluded = p.excluded ? p.excluded + k * ((p.stride + 31) / 32) : nullptr;
        uint32_t hits = 0;
        for (; hits < p.top_k; ++hits) {
            T cost = Limits<T>::infinity();
            uint32_t end = 0xffffffffu;
            // Several loads under way at once.
            constexpr int kAtOnce = 32;
            for (uint32_t first = 0; first < length; first += 32 * kAtOnce) {
                T values[kAtOnce];
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    const uint32_t j = first + 32 * q + static_cast<uint32_t>(lane());
                    values[q] = j < length ? totals[j] : Limits<T>::infinity();
                }
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    const uint32_t j = first + 32 * q + static_cast<uint32_t>(lane());
                    if (values[q] < cost && !(excluded && (load_fresh(excluded + j / 32) >> (j % 32) & 1u))) {
                        cost = values[q];
                        end = j;
                    }
                }
            }
            DTW_UNROLL
            for (int mask = 16; mask > 0; mask /= 2) {
                const T other = exchange(cost, mask);
                const uint32_t other_end = exchange(end, mask);
                const bool better = other < cost || (other == cost && other_end < end);
                cost = better ? other : cost;
                end = better ? other_end : end;
            }
            if (end == 0xffffffffu) {
                break;
            }
            if (lane() == 0) {
                static_cast<T*>(p.costs)[k * p.top_k + hits] = cost;
                if (p.found) {
                    p.found[2 * (k * p.top_k + hits)] = p.starts ? p.starts[k * p.stride + end] : 0;
                    p.found[2 * (k * p.top_k + hits) + 1] = end;
                }
            }
            if (excluded) {
                const uint64_t from = end > p.exclusion ? end - p.exclusion : 0;
                const uint64_t beyond = p.exclusion < length - end ? end + p.exclusion + 1 : length;
                const uint64_t to = beyond < length ? beyond : length;
                for (uint64_t w = from / 32 + static_cast<uint32_t>(lane()); w * 32 < to; w += 32) {
                    const uint32_t low = from > w * 32 ? 0xffffffffu << (from - w * 32) : 0xffffffffu;
                    const uint32_t high = to < w * 32 + 32 ? (1u << (to - w * 32)) - 1u : 0xffffffffu;
                    set_bits(excluded + w, low & high);
                }
                sync();
            }
        }
        if (lane() == 0 && p.counts) {
            p.counts[k] = hits;
        }
        // Where there are fewer hits, their costs are infinite.
        for (uint32_t hit = hits; lane() == 0 && hit < p.top_k; ++hit) {
            static_cast<T*>(p.costs)[k * p.top_k + hit] = Limits<T>::infinity();
        }
    }
}

}  // namespace dtw
