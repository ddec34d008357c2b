// A strip of a wide pair at full speed: one channel, no band, and a recurrence that absorbs (see narrow.cuh). The same
// hand-over as sweep.cuh's general strip.
#pragma once

#include "narrow.cuh"

namespace dtw {

constexpr uint32_t kChunk = 32;  // steps between two looks at the neighbours' progress

// Waits until `rows` rows are done; a null flag never waits.
DTW_DEVICE void wait_for(const uint32_t* done, uint32_t rows) {
    if (done != nullptr) {
        while (load_acquire(done) < rows) {
            pause();
        }
    }
}

template <class R, int K>
DTW_DEVICE void absorb_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, uint32_t strip,
                             typename R::Number* edges, const uint32_t* before, uint32_t* done) {
    using T = typename R::Number;
    constexpr uint32_t kWidth = 32 * K;
    const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
    const uint32_t first = strip * kWidth, inside = static_cast<uint32_t>(lane());
    const bool is_last = task.m - first <= kWidth;
    const uint32_t last_lane = is_last ? (task.m - 1 - first) / K : 31;
    const uint32_t last_k = is_last ? (task.m - 1 - first) % K : K - 1;
    T cell[K], column[K];
    DTW_UNROLL
    for (int q = 0; q < K; ++q) {
        column[q] = y.values[y.clamped(first + inside * K + q)];
        cell[q] = r.forbidden();
    }
    T corner = inside == 0 && strip == 0 ? r.origin() : r.forbidden();
    const uint32_t steps = task.n + last_lane;
    const bool writes = inside == last_lane && (!is_last || p.keep_last);
    const auto last_cell = [&]() {
        T value = cell[K - 1];
        if (last_k != K - 1) {
            DTW_UNROLL
            for (int q = 0; q < K - 1; ++q) {
                value = static_cast<uint32_t>(q) == last_k ? cell[q] : value;
            }
        }
        return value;
    };
    // `plain`: the right edge is in the last register.
    const auto step = [&](auto plain, uint32_t s, T point, T edge, T* out, bool stores) {
        const T received = shift_up<32>(cell[K - 1]), from_edge = broadcast(edge, static_cast<int>(s));
        const T left[1] = {inside == 0 ? from_edge : received};
        const T value[1] = {point};
        T right[1], diagonal[1] = {corner};
        absorb<R, K, 1>(r, cell, column, value, left, diagonal, right);
        corner = left[0];
        if (stores) {
            *out = decltype(plain)::value ? right[0] : last_cell();
        }
    };
    // Row of this lane at step t: t - inside.
    const T* rows = x.values - inside;
    T* out = edges - inside;
    for (uint32_t t0 = 0; t0 < steps; t0 += kChunk) {
        // The left edge of the next rows, one in each lane.
        T edge = strip == 0 ? r.column(0, T(0)) : r.forbidden();
        if (strip > 0 && t0 < task.n) {
            wait_for(before, t0 + kChunk < task.n ? t0 + kChunk : task.n);
            sync();
            if (t0 + inside < task.n) {
                edge = load_fresh(edges + t0 + inside);
            }
        }
        const uint32_t count = steps - t0 < kChunk ? steps - t0 : kChunk;
        // Lanes of the first chunk have not all begun, those of the last have not all ended: these test their rows.
        if (last_k == K - 1 && t0 >= kChunk && t0 + kChunk <= task.n) {
            DTW_UNROLL2
            for (uint32_t s = 0; s < kChunk; ++s) {
                step(std::true_type{}, s, rows[t0 + s], edge, out + t0 + s, writes);
            }
        } else {
            for (uint32_t s = 0; s < count; ++s) {
                step(std::false_type{}, s, rows[t0 + s], edge, out + t0 + s, writes && t0 + s - inside < task.n);
            }
        }
        if (done != nullptr) {
            sync();
            const uint32_t passed = t0 + kChunk < steps ? t0 + kChunk : steps;
            if (inside == 0 && passed > last_lane) {
                store_release(done, passed - last_lane);
            }
        }
    }
    if (is_last && inside == last_lane) {
        write_result(p, k, task, r.finish(last_cell(), task.n, task.m));
    }
    sync();
}

}  // namespace dtw
