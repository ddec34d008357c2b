// General sweep: pairs of one strip, any recurrence, any number of channels, any band.
//
//   for each pair, by a group of G lanes:
//       lane l loads its columns l K .. l K + K - 1 of y, and the border above them
//       at step t, lane l takes row i = t - l, if the pair has such a row:
//           left = last cell that lane l - 1 made a step before (lane 0: the border)
//           for k = 0 .. K - 1:  cell[k] = combine(diagonal, up = cell[k], left, price(x_i, y_k))
//       the lane of the last column writes the result after the last row
//
//                 columns of y ->
//                lane 0    lane 1    lane 2
//   row i      | cells   | to come | to come |      step t = i: what each lane holds of the row above stays in its
//   row i - 1  | done    | cells   | to come |      registers; only the right edge moves, by one lane shift a row
//   row i - 2  | done    | done    | cells   |
//
// Groups of a warp end together: those with shorter pairs start later.
#pragma once

#include "../lanes/lane.cuh"

namespace dtw {

// Pairs of one strip, a group of G lanes each. Groups of a warp end together: shorter ones start later.
template <class R, int G, int K, bool kBand, bool kMany>
DTW_DEVICE void sweep_general(const Sweep& p) {
    using T = typename R::Number;
    using State = typename R::State;
    const R r(p);
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, p.channels), y(p.y, task.j, p.channels);
        if (!any(busy && is_wanted<T>(p, k, task))) {
            continue;
        }
        const Band band = band_of(p, busy ? k : p.tasks - 1, task.n, task.m);
        Lane<R, K, kBand, kMany> own;
        own.start(r, y, inside * K, true);
        const uint32_t last_lane = (task.m - 1) / K;
        const uint32_t steps = task.n + last_lane;
        uint32_t most = steps;
        for (int mask = G; mask < 32; mask *= 2) {
            const uint32_t other = exchange(most, mask);
            most = other > most ? other : most;
        }
        // Row of this lane at step t: t - delay.
        const uint32_t delay = most - steps + inside;
        Unrecorded none;
        Rows<R, kMany, false> rows(x, 0);
        for (uint32_t t = 0; t < most; ++t) {
            const uint32_t i = t - delay;  // wraps round before the first row
            const State received = shift_state<G>(own.cell[K - 1]);
            const State left = inside == 0 && i < task.n ? r.border_down(i + 1, x.sum(i)) : received;
            if (i < task.n) {
                own.step(r, p, band, x, y, static_cast<int32_t>(i), rows.here, left, none);
                rows.advance();
                own.corner = left;
            } else if (inside > 0) {
                own.corner = received;
            }
            if (R::kRescales && (t & 7) == 7) {
                own.rescale(r);
            }
        }
        if (busy && inside == last_lane) {
            write_result(p, k, task, r.finish(own.at((task.m - 1) % K), task.n, task.m));
        }
    }
}

}  // namespace dtw
