// Few channels: pairs of one strip whose points have kChannels channels, a number that the compiler knows; no band, of
// padding-safe recurrences (recurrence.cuh). Other kernels do not include this header.
//
//   for each pair, by a group of G lanes:
//       lane l loads its K columns of y, all channels of them; all its cells are forbidden
//       at step t, lane l takes row t - l, whether or not the pair has it:
//           left = last cell of the row, from lane l - 1 (lane 0: forbidden)
//           for k = 0 .. K - 1: the price of the cell, from registers; the cell
//       the lane of the last column writes the result after the last row
//
// It is narrow.cuh with more registers for a column: a cell costs the arithmetic of its channels and two instructions.
#pragma once

#include "../kernels.cuh"

namespace dtw {

template <class R, int kChannels, int G, int K>
DTW_DEVICE void sweep_few(const Sweep& p) {
    using T = typename R::Number;
    using Point = Channeled<T, kChannels>;
    const R r(p);
    const Sample<T> none{};
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, kChannels), y(p.y, task.j, kChannels);
        T cell[K];
        Point column[K];
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            column[q] = reinterpret_cast<const Point*>(y.values)[y.clamped(inside * K + q)];
            cell[q] = r.forbidden();
        }
        const uint32_t last_lane = (task.m - 1) / K, steps = task.n + last_lane;
        // Groups of a warp end together: shorter ones wait first.
        uint32_t most = steps, least = steps;
        for (int mask = G; mask < 32; mask *= 2) {
            most = max_(most, exchange(most, mask));
            least = min_(least, exchange(least, mask));
        }
        const uint32_t wait = most - steps;
        const Point* const rows = reinterpret_cast<const Point*>(x.values);
        // The row of step 0; rows that are read are at most as far from the series as there is padding.
        int64_t row = -static_cast<int64_t>(inside + wait);
        Point next = rows[max_(row, static_cast<int64_t>(-1))];
        T corner = r.forbidden();
        const auto step = [&](int64_t following, bool begins) {
            const Point here = next;
            next = rows[following];
            const T received = shift_up<G>(cell[K - 1]);
            T left = inside == 0 ? r.forbidden() : received;
            T diagonal = begins ? r.origin() : corner;
            corner = left;
            DTW_UNROLL
            for (int q = 0; q < K; ++q) {
                T sum = T(0);
                DTW_UNROLL
                for (int c = 0; c < kChannels; ++c) {
                    sum = r.norm.add(sum, here.v[c], column[q].v[c]);
                }
                const T price = r.price(r.norm.done(sum), T(0), none, none, T(1)), up = cell[q];
                left = r.combine(diagonal, up, left, price);
                diagonal = up;
                cell[q] = left;
            }
        };
        uint32_t t = 0;
        for (; t <= most - least && t < most; ++t, ++row) {
            step(max_(row + 1, static_cast<int64_t>(-1)), inside == 0 && t == wait);
        }
        DTW_UNROLL_BY(2)
        for (; t < most; ++t, ++row) {
            step(row + 1, false);
        }
        if (busy && inside == last_lane) {
            write_result(p, k, task, r.finish(pick<K>(cell, (task.m - 1) % K), task.n, task.m));
        }
    }
}

}  // namespace dtw

#define DTW_FEW(symbol, R, CHANNELS, G, K, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep, dtw::sweep_few<DTW_ARGUMENTS R, CHANNELS, G, K>(p))
