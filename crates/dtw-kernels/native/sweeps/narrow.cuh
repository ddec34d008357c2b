// Narrow sweep: pairs of one strip at full speed, of padding-safe recurrences (recurrence.cuh): one channel, no band.
//
//   for each pair, by a group of G lanes:
//       lane l loads its K columns of y; all its cells are forbidden
//       at step t, lane l takes the kRows rows from (t - l) kRows on, whether or not the pair has them:
//           left = last cells of these rows, from lane l - 1 (lane 0: forbidden)
//           cells anti-diagonal by anti-diagonal, so that kRows chains of dependent cells are under way at once
//       the lane of the last column writes the result after the last row
//
//                lane 0    lane 1    lane 2
//   rows 4, 5  | cells   | to come | to come |      in rows of padding before row 0 all cells stay forbidden, so lanes
//   rows 2, 3  | done    | cells   | to come |      that have not begun need no test
//   rows 0, 1  | done    | done    | cells   |
//
// A cell costs its own arithmetic and nothing else; a row costs one lane shift, one load and one selection more, which
// is why few lanes with many columns are best.
#pragma once

#include "../lanes/cells.cuh"

namespace dtw {

template <class R, int G, int K, int kRows>
DTW_DEVICE void sweep_narrow(const Sweep& p) {
    using T = typename R::Number;
    constexpr int kUnroll = K >= 32 ? 4 : 2;
    const R r(p);
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
        typename R::template Cells<R, K> own;
        own.load(r, y, inside * K);
        using Row = typename R::template Cells<R, K>::Row;
        // Rows come in bundles of kRows and end with the last one, so the first bundle may begin in the padding.
        const uint32_t last_lane = (task.m - 1) / K;
        const uint32_t bundles = (task.n + kRows - 1) / kRows, early = bundles * kRows - task.n;
        const uint32_t steps = bundles + last_lane;
        // Groups of a warp end together: shorter ones wait first.
        uint32_t most = steps, least = steps;
        for (int mask = G; mask < 32; mask *= 2) {
            const uint32_t other = exchange(most, mask), lower = exchange(least, mask);
            most = other > most ? other : most;
            least = lower < least ? lower : least;
        }
        const uint32_t wait = most - steps;
        // First row of the bundle at step 0.
        int64_t at = -static_cast<int64_t>((inside + wait) * kRows + early);
        own.begin(static_cast<int32_t>(at), inside * K);
        T edge[kRows], corner = r.forbidden();
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = r.forbidden();
        }
        // The next bundle, read from row `from` on.
        const auto step = [&](int64_t from, bool begins) {
            Row rows[kRows];
            T left[kRows], diagonal[kRows];
            DTW_UNROLL
            for (int q = 0; q < kRows; ++q) {
                rows[q].read(x.values + from, x.gaps + from, q);
                const T received = shift_up<G>(edge[q]);
                left[q] = inside == 0 ? r.forbidden() : received;
                diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
            }
            if (begins) {
                diagonal[0] = early == 0 ? r.origin() : diagonal[0];
                diagonal[kRows - 1] = early == 1 ? r.origin() : diagonal[kRows - 1];
            }
            own.template take<0, kRows>(r, rows, left, diagonal, edge, EdgeColumn(0));
            corner = left[kRows - 1];
        };
        static_assert(kRows <= 2, "the first bundle begins with the first row, or with one of padding");
        uint32_t t = 0;
        for (; t <= most - least && t < most; ++t, at += kRows) {
            const int64_t padding = -static_cast<int64_t>(kRows + early);
            step(at < padding ? padding : at, inside == 0 && t == wait);
        }
        DTW_UNROLL_BY(kUnroll)
        for (; t < most; ++t, at += kRows) {
            step(at, false);
        }
        if (busy && inside == last_lane) {
            const T value = pick<K>(own.cell, (task.m - 1) % K);
            write_result(p, k, task, r.finish(value, task.n, task.m));
        }
    }
}

}  // namespace dtw
