// The narrow sweep at full speed: one strip, one channel, no band, and a recurrence that only looks at points and whose
// cells are numbers (kAbsorbs). In rows of padding before a series all cells stay forbidden, so lanes that have not started
// need no test at all.
//
// A cell costs its own arithmetic and nothing else; a row costs one lane shift, one load and one selection more, which is
// why few lanes with many columns are best. The loop body takes rows in pairs (kRows), so that two chains of dependent
// cells are under way at once.
#pragma once

#include "columns.cuh"

namespace dtw {

// kRows rows of a lane, anti-diagonal by anti-diagonal; `left` and the cells
// above it in, `edge` out.
template <class R, int K, int kRows, class T>
DTW_DEVICE void absorb(const R& r, T (&cell)[K], const T (&y)[K], const T (&x)[kRows], const T (&left)[kRows],
                       T (&diagonal)[kRows], T (&edge)[kRows]) {
    const Sample<T> none{};
    T row[kRows];
    DTW_UNROLL
    for (int q = 0; q < kRows; ++q) {
        row[q] = left[q];
    }
    DTW_UNROLL
    for (int s = 0; s < K + kRows - 1; ++s) {
        // Rows from the bottom up: row q is in column s - q, below what row q - 1 wrote one column step before.
        DTW_UNROLL
        for (int q = kRows - 1; q >= 0; --q) {
            const int k = s - q;
            if (k >= 0 && k < K) {
                const T up = cell[k];
                const T here = r.combine(diagonal[q], up, row[q], r.price(r.norm.one(x[q], y[k]), T(0), none, none, T(1)));
                diagonal[q] = up;
                cell[k] = row[q] = here;
            }
        }
    }
    DTW_UNROLL
    for (int q = 0; q < kRows; ++q) {
        edge[q] = row[q];
    }
}

template <class R, int G, int K, int kRows>
DTW_DEVICE void sweep_narrow_absorbing(const Sweep& p) {
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
        T cell[K], column[K];
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            column[q] = y.values[y.clamped(inside * K + q)];
            cell[q] = r.forbidden();
        }
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
        T edge[kRows], corner = r.forbidden();
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = r.forbidden();
        }
        auto step = [&](const T* rows, bool begins) {
            T value[kRows], left[kRows], diagonal[kRows];
            DTW_UNROLL
            for (int q = 0; q < kRows; ++q) {
                value[q] = rows[q];
                const T received = shift_up<G>(edge[q]);
                left[q] = inside == 0 ? r.forbidden() : received;
                diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
            }
            if (begins) {
                diagonal[0] = early == 0 ? r.origin() : diagonal[0];
                diagonal[kRows - 1] = early == 1 ? r.origin() : diagonal[kRows - 1];
            }
            absorb<R, K, kRows>(r, cell, column, value, left, diagonal, edge);
            corner = left[kRows - 1];
        };
        static_assert(kRows <= 2, "the first bundle begins with the first row, or with one of padding");
        uint32_t t = 0;
        for (; t <= most - least && t < most; ++t, at += kRows) {
            const int64_t padding = -static_cast<int64_t>(kRows + early);
            step(x.values + (at < padding ? padding : at), inside == 0 && t == wait);
        }
        const T* rows = x.values + at;
        DTW_UNROLL2
        for (; t < most; ++t, rows += kRows) {
            step(rows, false);
        }
        if (busy && inside == last_lane) {
            const uint32_t last = (task.m - 1) % K;
            T value = cell[K - 1];
            DTW_UNROLL
            for (int q = 0; q < K - 1; ++q) {
                value = choose(static_cast<uint32_t>(q) == last, cell[q], value);
            }
            write_result(p, k, task, r.finish(value, task.n, task.m));
        }
    }
}

}  // namespace dtw
