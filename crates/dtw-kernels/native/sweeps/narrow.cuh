// Narrow sweep: pairs of one strip at full speed: one channel, no band.
//
//   for each pair, by a group of G lanes:
//       lane l loads its K columns of y; all its cells are forbidden
//       at step t, lane l takes the kRows rows from (t - l) kRows on, whether or not the pair has them:
//           left = last cells of these rows, from lane l - 1 (lane 0: the border; forbidden without one)
//           cells anti-diagonal by anti-diagonal, so that kRows chains of dependent cells are under way at once
//       the lane of the last column writes the result after the last row
//
//                lane 0    lane 1    lane 2
//   rows 4, 5  | cells   | to come | to come |      in rows of padding before row 0 all cells stay forbidden, so lanes
//   rows 2, 3  | done    | cells   | to come |      that have not begun need no test
//   rows 0, 1  | done    | done    | cells   |
//
// With a border (ERP, EDR, LCSS) cells of the padding are those of the border above, so lanes keep theirs until they
// begin, which is asked in the first G steps alone.
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
        using Own = typename R::template Cells<R, K>;
        using Row = typename Own::Row;
        using Cell = typename Own::Cell;
        Own own;
        own.load(r, x, y, inside * K);
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
        if constexpr (!Own::kBorders) {
            own.begin(static_cast<int32_t>(at), inside * K);
        }
        // Before its first row a lane hands on the border above.
        Cell edge[kRows], corner, above = own.cell[K - 1];
        if constexpr (Own::kBorders) {
            corner = Own::corner(r, y, 0);
        } else {
            corner = above = r.forbidden();
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = above;
        }
        // The bundle at `at`, read from row `from` on. kAll: all lanes have begun.
        const auto step = [&](auto is_all, int64_t from, bool begins) {
            constexpr bool kAll = decltype(is_all)::value;
            Row rows[kRows];
            Cell left[kRows], diagonal[kRows];
            [[maybe_unused]] bool begun[kRows];
            DTW_UNROLL
            for (int q = 0; q < kRows; ++q) {
                rows[q].read(x.values + from, x.gaps + from, q);
                const Cell received = shift_up<G>(edge[q]);
                if constexpr (Own::kBorders) {
                    begun[q] = kAll || at + q >= 0;
                    const uint32_t row = min_(static_cast<uint32_t>(begun[q] ? at + q : 0), task.n - 1);
                    const Cell border = begun[q] ? own.border(r, x, row) : Own::corner(r, y, 0);
                    left[q] = inside == 0 ? border : received;
                } else {
                    left[q] = inside == 0 ? r.forbidden() : received;
                }
                diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
            }
            if constexpr (Own::kBorders) {
                own.template take<kAll, kRows>(r, rows, left, diagonal, edge, begun);
            } else {
                if (begins) {
                    diagonal[0] = early == 0 ? r.origin() : diagonal[0];
                    diagonal[kRows - 1] = early == 1 ? r.origin() : diagonal[kRows - 1];
                }
                own.template take<0, kRows>(r, rows, left, diagonal, edge, EdgeColumn(0));
            }
            corner = left[kRows - 1];
        };
        static_assert(kRows <= 2, "the first bundle begins with the first row, or with one of padding");
        // With borders until all lanes have begun; else until the first has.
        const uint32_t starting = min_(most - least + (Own::kBorders ? G : 1), most);
        uint32_t t = 0;
        DTW_UNROLL_BY(1)
        for (; t < starting; ++t, at += kRows) {
            const int64_t padding = -static_cast<int64_t>(kRows + early);
            step(std::false_type{}, at < padding ? padding : at, inside == 0 && t == wait);
        }
        DTW_UNROLL_BY(kUnroll)
        for (; t < most; ++t, at += kRows) {
            step(std::true_type{}, at, false);
        }
        if (busy && inside == last_lane) {
            const Cell value = pick<K>(own.cell, (task.m - 1) % K);
            if constexpr (Own::kBorders) {
                write_result(p, k, task, own.finish(r, value, task.n, task.m));
            } else {
                write_result(p, k, task, r.finish(value, task.n, task.m));
            }
        }
    }
}

}  // namespace dtw
