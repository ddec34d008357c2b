// Diagonal sweep: a Sakoe-Chiba band along the diagonal at full speed. All pairs have the same two lengths, points have
// one channel, and a cell of the recurrence is one number that is computed from one point of each series and from its
// three neighbours (PointCells).
//
//   for each pair, by a group of G lanes:
//       lane l owns K offsets c = j - i + below of the band; its cells are those of row -1
//       at step t, lane l takes row i = t - l:
//           left = last cell of row i, from lane l - 1 (lane 0: forbidden)
//           for each offset c:
//               cell[c] = combine(diagonal = cell[c], up = cell[c + 1], left, price(x_i, y_(i + c - below)))
//           up of the last offset = first cell of row i - 1, from lane l + 1, which computes it in this step
//       the lane of the last cell's offset writes the result after the last row
//
//   row i        . . [ l0 | l1 | l2 ]              offsets stay with their lanes, and columns move past them by one
//   row i + 1    . . . [ l0 | l1 | l2 ]            a row: no cell is outside the band, so nothing is masked
//   row i + 2    . . . . [ l0 | l1 | l2 ]
//
// A group has places for G * K offsets, and the band may have fewer. Then up to kIdle places at the start of a lane
// hold no cell: they pass on what comes from the left. Before the first and after the last column of the series, points
// are infinite. So their cells are infinite, too, and no path goes through them.
#pragma once

#include "../lanes/band.cuh"
#include "../lanes/cells.cuh"

namespace dtw {

// Rows between two moves of the columns in their registers.
constexpr int kMoves = 12;

template <class R, int G, int K>
DTW_DEVICE void sweep_diagonal(const Sweep& p) {
    constexpr uint32_t kIdle = G == 8 ? 1 : 2;  // Kernel::idle in src/catalog.rs
    static_assert(K > static_cast<int>(kIdle) + 1, "a lane has a cell between its first and its last");
    using T = typename R::Number;
    const R r(p);
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
        const Band band = band_of(p, busy ? k : p.tasks - 1, task.n, task.m);
        const uint32_t all = G * K - (band.below + band.above + 1), each = all / G, extra = all % G;
        const uint32_t idle = each + (inside < extra ? 1 : 0);
        // The offset of this lane's first place, counted as if idle ones had one.
        const int32_t first = static_cast<int32_t>(inside * (K - each) - (inside < extra ? inside : extra) - idle);
        const int32_t n = static_cast<int32_t>(task.n);
        // Column of place q in row 0.
        const int32_t column = first - static_cast<int32_t>(band.below);
        const auto point_of = [&](int32_t j) {
            const bool there = static_cast<uint32_t>(j) < task.m;
            const T value = y.values[there ? j : 0];
            return there ? value : Limits<T>::infinity();
        };
        T cell[K], point[K + kMoves];
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            // The row above the first, in which every place stands for one column earlier: the corner is the one before
            // column 0.
            cell[q] = column + q == 0 && q >= static_cast<int>(idle) ? r.origin() : r.forbidden();
        }
        DTW_UNROLL
        for (int q = 0; q < K + kMoves - 1; ++q) {
            point[q] = point_of(column + q);
        }
        T edge = r.forbidden();
        // Row i with the points from place `moved` on; `begun`: no lane waits for its first row.
        const auto step = [&](auto begun, int moved, int32_t i) {
            const Sample<T> none{};
            const bool counts = decltype(begun)::value || i >= 0;
            const T row = x.values[i];
            const T received = shift_up<G>(edge);
            T left = inside == 0 ? r.forbidden() : received;
            const T before = left;
            T above_last = r.forbidden();
            DTW_UNROLL
            for (int q = 0; q < K; ++q) {
                const T up = q + 1 < K ? cell[q + 1 < K ? q + 1 : 0] : above_last;
                const T price = r.price(r.norm.one(row, point[moved + q]), T(0), none, none, T(1));
                T here = r.combine(cell[q], up, left, price);
                if (q < static_cast<int>(kIdle)) {
                    here = q < static_cast<int>(idle) ? before : here;
                }
                cell[q] = left = counts ? here : cell[q];
                if (q == static_cast<int>(kIdle)) {
                    // The lane's first cell goes to the lane to the left.
                    T own = cell[kIdle];
                    DTW_UNROLL
                    for (int c = 0; c < static_cast<int>(kIdle); ++c) {
                        own = idle == static_cast<uint32_t>(c) ? cell[c] : own;
                    }
                    const T next = shift_down<G>(own);
                    above_last = inside == G - 1 ? r.forbidden() : next;
                }
            }
            edge = left;
        };
        // The lane and the place of the last cell.
        const uint32_t target = task.m - task.n + band.below;
        const int32_t place = static_cast<int32_t>(target) - first;
        const bool owns = place >= static_cast<int32_t>(idle) && place < K;
        uint32_t owner = owns ? inside : 0;
        for (int mask = 1; mask < G; mask *= 2) {
            const uint32_t other = exchange(owner, mask);
            owner = other > owner ? other : owner;
        }
        const int32_t steps = n + static_cast<int32_t>(owner);
        int32_t i = -static_cast<int32_t>(inside), t = 0;
        // Lanes begin one after the other.
        for (; t < static_cast<int32_t>(G) && t < steps; ++t, ++i) {
            step(std::false_type{}, 0, i);
            if (i >= 0) {
                DTW_UNROLL
                for (int q = 0; q < K - 1; ++q) {
                    point[q] = point[q + 1];
                }
                point[K - 1] = point_of(column + i + K);
            }
        }
        DTW_UNROLL
        for (int a = 0; a < kMoves - 1; ++a) {
            point[K + a] = point_of(column + i + K + a);
        }
        for (; t + kMoves <= steps; t += kMoves, i += kMoves) {
            // Points that come next. Only near the ends of the series must each be asked whether it is there.
            T coming[kMoves];
            const int32_t next = column + i + K + kMoves - 1;
            if (any(next < 0 || next + kMoves > static_cast<int32_t>(task.m))) {
                DTW_UNROLL
                for (int a = 0; a < kMoves; ++a) {
                    coming[a] = point_of(next + a);
                }
            } else {
                const T* points = y.values + next;
                DTW_UNROLL
                for (int a = 0; a < kMoves; ++a) {
                    coming[a] = points[a];
                }
            }
            DTW_UNROLL
            for (int a = 0; a < kMoves; ++a) {
                step(std::true_type{}, a, i + a);
            }
            DTW_UNROLL
            for (int q = 0; q < K - 1; ++q) {
                point[q] = point[q + kMoves];
            }
            DTW_UNROLL
            for (int a = 0; a < kMoves; ++a) {
                point[K - 1 + a] = coming[a];
            }
        }
        DTW_UNROLL
        for (int a = 0; a < kMoves - 1; ++a) {
            if (t + a < steps) {
                step(std::true_type{}, a, i + a);
            }
        }
        if (busy && inside == owner) {
            write_result(p, k, task, r.finish(pick<K>(cell, static_cast<uint32_t>(place)), task.n, task.m));
        }
    }
}

}  // namespace dtw
