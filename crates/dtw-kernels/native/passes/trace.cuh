// Trace: warping paths. Which arrival every cell chose, two bits a cell, and the walk back.
//
//   1. trace, keep_edges = 1, spread = 1: sweep all strips of kTraceColumns columns, keep
//      every right edge, write the distances
//   2. for strip = strips - 1 .. 0:
//          trace, keep_edges = 0, only_strip = strip: sweep that strip of every task again, from the edge to
//          its left, and record its arrivals
//          walk, same strip: go back from where the walk of the strip to the right has stopped
//
//      strip 0       strip 1       strip 2
//    |           | |           | |        *|      edges (|) of all strips are kept, arrivals of one strip at a time:
//    |           | |        *--|-|--*--*   |      linear memory for the grid, 2 bits a cell for the strip being walked
//    |  *--*--*--|-|--*--*     | |         |
//
// Edge slot: task * strips + strip. arrival_stride is at least 32 * longest n words a task. Tickets and progress are
// zeroed before each launch. A walk's state is (i, j, steps, 0), 1-based, and starts at the cell where the path ends;
// it is done when i or j is 0. The same sweep computes the same bits both times, so a path does not depend on the
// memory it was found in.
#pragma once

#include "../sweeps/strips.cuh"

namespace dtw {

constexpr uint32_t kTraceColumns = 512;

template <class R, bool kMany>
DTW_DEVICE void trace(const Sweep& p) {
    using T = typename R::Number;
    constexpr int K = kTraceColumns / 32;
    const R r(p);
    const bool records = p.keep_edges == 0;
    DTW_FOR_EACH_TICKET(ticket, p, records ? p.tasks : p.tasks * p.most_strips) {
        const uint64_t k = ticket % p.tasks;
        const uint32_t strip = records ? p.only_strip : static_cast<uint32_t>(ticket / p.tasks);
        const Task task = task_of(p, k);
        if (strip >= (task.m + kTraceColumns - 1) / kTraceColumns) {
            continue;
        }
        const Band band = band_of(p, k, task.n, task.m);
        T* right = static_cast<T*>(p.edges) + (k * p.most_strips + strip) * p.edge_stride;
        T* left = strip > 0 ? right - p.edge_stride : right;
        if (records) {
            Arrivals arrivals{p.arrivals + k * p.arrival_stride, 0};
            sweep_strip<R, K, true, kMany>(r, p, k, task, band, strip, left, right, nullptr, nullptr, arrivals);
        } else {
            uint32_t* done = p.progress + k * p.most_strips + strip;
            Unrecorded none;
            sweep_strip<R, K, true, kMany>(r, p, k, task, band, strip, left, right, strip > 0 ? done - 1 : nullptr, done,
                                           none);
        }
    }
}

// One lane walks one task through one strip.
DTW_DEVICE void walk(const Walk& p) {
    constexpr uint32_t K = kTraceColumns / 32;
    const uint64_t first = static_cast<uint64_t>(warp()) * 32 + static_cast<uint32_t>(lane());
    for (uint64_t k = first; k < p.tasks; k += static_cast<uint64_t>(warps()) * 32) {
        uint32_t* state = p.state + 4 * k;
        const uint32_t* arrivals = p.arrivals + k * p.arrival_stride;
        uint32_t i = state[0], j = state[1], steps = state[2];
        while (i > 0 && j > p.strip * kTraceColumns && j <= (p.strip + 1) * kTraceColumns) {
            uint32_t* point = p.points + 2 * (k * p.path_stride + steps);
            point[0] = i - 1;
            point[1] = j - 1;
            ++steps;
            const uint32_t column = j - 1 - p.strip * kTraceColumns;
            const uint32_t word = arrivals[static_cast<uint64_t>(i - 1) * 32 + column / K];
            const uint32_t arrival = word >> (2 * (column % K)) & 3u;
            i -= arrival != 2u ? 1u : 0u;
            j -= arrival != 1u ? 1u : 0u;
        }
        state[0] = i;
        state[1] = j;
        state[2] = steps;
    }
}

}  // namespace dtw
