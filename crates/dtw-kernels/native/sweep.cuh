// The sweep: a group of G lanes owns one pair; each lane keeps K columns of y in registers and takes the rows of x one
// after the other, one step behind the lane to its left, which hands over the right edge of its columns by a lane shift.
//
// Pairs wider than G * K columns are swept strip by strip (kEdges, G = 32): the right edge of a strip goes to memory, row by
// row, and is read as the left edge of the next. Both live in one buffer: a row is read before it is overwritten.
//
// With p.spread strips are tasks of their own ("grid sweep"). They are taken from an atomic ticket in the order of their
// dependence, so the strip that a strip waits for has always been taken before, by a warp that runs: no order in which
// blocks start can block the others. Rows done are published every 32 steps with release, and read with acquire.
#pragma once

#include "band.cuh"
#include "columns.cuh"
#include "recorder.cuh"
#include "wide.cuh"

namespace dtw {

constexpr uint32_t kChunk = 32;  // steps between two looks at the neighbours' progress

// One lane's share of a strip.
template <class R, int K, bool kBand, bool kMany>
struct Lane {
    using T = typename R::Number;
    using State = typename R::State;
    State cell[K];  // the row above, then the row
    State corner;   // the cell above and to the left of the first
    Columns<R, kMany, K> columns;
    uint32_t first;  // first column, 0-based

    // The border above row `top`.
    DTW_DEVICE void start(const R& r, const Points<T>& y, uint32_t first_column, bool at_border) {
        first = first_column;
        columns.load(y, first);
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = first + k + 1;
            cell[k] = at_border ? r.row(j, y.sum(y.clamped(j - 1))) : r.forbidden();
        }
        corner = !at_border ? r.forbidden() : first == 0 ? r.origin() : r.row(first, y.sum(y.clamped(first - 1)));
    }

    // Row i, with `left` the cell to the left of the first column.
    template <class Recorder>
    DTW_DEVICE void step(const R& r, const Sweep& p, const Band& band, const Points<T>& x, const Points<T>& y, int32_t i,
                         const Sample<T>& row, State left, Recorder& recorder) {
        T distance[kMany ? K : 1], previous[kMany && R::kPrevious ? K : 1];
        if constexpr (kMany) {
            distances_of<R, K>(r, x, i, y, first, distance);
            if constexpr (R::kPrevious) {
                distances_of<R, K>(r, x, static_cast<int64_t>(i) - 1, y, static_cast<int64_t>(first) - 1, previous);
            }
        }
        const T* weights = nullptr;
        if (R::kWeights) {
            const int64_t longer = x.length > y.length ? x.length : y.length;
            weights = static_cast<const T*>(p.weights) + p.weight_center - longer;
        }
        // Columns of the band, counted from the lane's first.
        int64_t from = 0, to = K;
        if (kBand) {
            const Range columns_of_row = band.row(i);
            from = static_cast<int64_t>(columns_of_row.start) - first;
            to = static_cast<int64_t>(columns_of_row.end) - first;
        }
        State diagonal = corner;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const Sample<T> column = columns.sample(k);
            T apart, before = T(0), weight = T(1);
            if constexpr (kMany) {
                apart = distance[k];
                if constexpr (R::kPrevious) {
                    before = previous[k];
                }
            } else {
                apart = r.norm.one(row.point, column.point);
                if constexpr (R::kPrevious) {
                    before = r.norm.one(row.previous, column.previous);
                }
            }
            if (R::kWeights) {
                const int64_t j = static_cast<int64_t>(first) + k, offset = j > i ? j - i : i - j;
                const int64_t limit = x.length > y.length ? x.length : y.length;
                weight = weights[2 * (offset < limit ? offset : limit)];
            }
            const typename R::Price price = r.price(apart, before, row, column, weight);
            const State up = cell[k];
            const bool allowed = !kBand || (k >= from && k < to);
            if (R::kLeavesBand && !allowed) {
                recorder.outside(k, k >= to);
            } else {
                recorder.record(k, r, diagonal, up, left, price);
            }
            State here = r.combine(diagonal, up, left, price);
            if (R::kSettles && (k & 3) == 3) {
                here = r.settle(here);
            }
            if (kBand) {
                if constexpr (R::kLeavesBand) {
                    here = choose(allowed, here, r.outside(up, left));
                } else {
                    here = choose(allowed, here, r.forbidden());
                }
            }
            diagonal = up;
            cell[k] = left = here;
        }
    }

    DTW_DEVICE void settle(const R& r) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = r.settle(cell[k]);
        }
    }

    // Cell k, for k that the compiler does not know.
    DTW_DEVICE State at(uint32_t k) const {
        State v = cell[K - 1];
        DTW_UNROLL
        for (int q = 0; q < K - 1; ++q) {
            v = choose(static_cast<uint32_t>(q) == k, cell[q], v);
        }
        return v;
    }
};

// Pairs of one strip, a group of G lanes each. Groups of a warp end together: shorter ones start later.
template <class R, int G, int K, bool kBand, bool kMany>
DTW_DEVICE void sweep_narrow(const Sweep& p) {
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
            const State left = inside == 0 && i < task.n ? r.column(i + 1, x.sum(i)) : received;
            if (i < task.n) {
                own.step(r, p, band, x, y, static_cast<int32_t>(i), rows.here, left, none);
                rows.advance();
                own.corner = left;
            } else if (inside > 0) {
                own.corner = received;
            }
            if (R::kSettles && (t & 7) == 7) {
                own.settle(r);
            }
        }
        if (busy && inside == last_lane) {
            write_result(p, k, task, r.finish(own.at((task.m - 1) % K), task.n, task.m));
        }
    }
}

// One strip of a wide pair; `slot` is where its edge is kept, `progress` counts rows done (null: nobody waits).
template <class R, int K, bool kBand, bool kMany, class Recorder>
DTW_DEVICE void sweep_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, const Band& band, uint32_t strip,
                            typename R::Number* left_edge, typename R::Number* right_edge, const uint32_t* before,
                            uint32_t* done, Recorder& recorder) {
    using T = typename R::Number;
    using State = typename R::State;
    constexpr uint32_t kWidth = 32 * K;
    const Points<T> x(p.x, task.i, p.channels), y(p.y, task.j, p.channels);
    const uint32_t first = strip * kWidth;
    const bool is_last = task.m - first <= kWidth;
    const uint32_t inside = static_cast<uint32_t>(lane());
    const uint32_t last_lane = is_last ? (task.m - 1 - first) / K : 31;
    const uint32_t last_k = is_last ? (task.m - 1 - first) % K : K - 1;
    // Rows of the strip, and the rows in which the strip to the left has an edge.
    // Where cells outside the band have values, all rows have; from a band of constant slope nothing can come back.
    const bool skips = kBand && !(R::kLeavesBand && band.kind == kBandTable);
    const uint32_t top = skips ? band.first_row_beyond(first) : 0;
    const uint32_t bottom = skips && !is_last ? band.first_row_from(first + kWidth) : task.n;
    const uint32_t left_top = skips && strip > 0 ? band.first_row_beyond(first - kWidth) : 0;
    const uint32_t left_bottom = skips && strip > 0 ? band.first_row_from(first) : task.n;

    Lane<R, K, kBand, kMany> own;
    own.start(r, y, first + inside * K, top == 0);
    if (kBand && inside == 0 && top > 0 && strip > 0) {
        if (before != nullptr) {
            while (load_acquire(before) < (top < left_bottom ? top : left_bottom)) {
                pause();
            }
        }
        if (top - 1 >= left_top && top - 1 < left_bottom) {
            own.corner = load_state(left_edge, p.edge_part_stride, top - 1, own.corner);
        }
    } else if (kBand && inside == 0 && top > 0) {
        own.corner = r.column(top, x.sum(static_cast<int64_t>(top) - 1));
    }
    sync();
    const uint32_t rows = bottom - top, steps = rows + last_lane;
    recorder.begin(strip, top);
    // Without borders or a band no number can appear in rows before the first: all there is forbidden, whatever the points.
    // So lanes that have not begun take rows of padding, and no lane needs to ask whether it has begun.
    constexpr bool kFree = !R::kBorders && !kBand;
    Rows<R, kMany, kFree> row(x, kFree ? -static_cast<int32_t>(inside) : static_cast<int32_t>(top));
    const bool writes = inside == last_lane && (!is_last || p.keep_last);
    for (uint32_t t0 = 0; t0 < steps; t0 += kChunk) {
        // The left edge of the next rows, one in each lane.
        State edge = r.forbidden();
        if (strip > 0) {
            const uint32_t needed = top + t0 + kChunk < left_bottom ? top + t0 + kChunk : left_bottom;
            if (before != nullptr && t0 < rows) {
                while (load_acquire(before) < (needed < bottom ? needed : bottom)) {
                    pause();
                }
            }
            sync();
            const uint32_t i = top + t0 + inside;
            if (i < bottom && i < left_bottom && (!kBand || i >= left_top)) {
                edge = load_state(left_edge, p.edge_part_stride, i, edge);
            }
        } else if (top + t0 + inside < bottom) {
            const uint32_t i = top + t0 + inside;
            edge = r.column(i + 1, x.sum(i));
        }
        const uint32_t count = steps - t0 < kChunk ? steps - t0 : kChunk;
        const auto step = [&](uint32_t s) {
            const State received = shift_state<32>(own.cell[K - 1]);
            const State from_edge = broadcast_state(edge, static_cast<int>(s));
            const uint32_t q = t0 + s - inside;  // wraps round before the first row
            const State left = choose(inside == 0, from_edge, received);
            if (kFree || q < rows) {
                own.step(r, p, band, x, y, static_cast<int32_t>(top + q), row.here, left, recorder);
                row.advance();
            }
            recorder.row(q < rows, top + q);
            if (writes && q < rows) {
                store_state(right_edge, p.edge_part_stride, top + q, last_k == K - 1 ? own.cell[K - 1] : own.at(last_k));
            }
            own.corner = choose(q < rows || inside > 0, left, own.corner);
        };
        if (count == kChunk) {
            for (uint32_t s = 0; s < kChunk; s += 8) {
                DTW_UNROLL2
                for (uint32_t u = 0; u < 8; ++u) {
                    step(s + u);
                }
                if (R::kSettles) {
                    own.settle(r);
                }
            }
        } else {
            for (uint32_t s = 0; s < count; ++s) {
                step(s);
                if (R::kSettles && (s & 7) == 7) {
                    own.settle(r);
                }
            }
        }
        if (done != nullptr) {
            sync();
            const uint32_t passed = t0 + count;
            if (inside == 0 && passed > last_lane) {
                store_release(done, top + passed - last_lane);
            }
        }
    }
    if (is_last && inside == last_lane) {
        write_result(p, k, task, r.finish(own.at(last_k), task.n, task.m));
    }
    sync();
}

// Pairs of any width, strip by strip; kRows rows at once where the recurrence absorbs.
template <class R, int K, int kRows, bool kBand, bool kMany>
DTW_DEVICE void sweep_wide(const Sweep& p) {
    using T = typename R::Number;
    const R r(p);
    Unrecorded none;
    constexpr uint32_t kWidth = 32 * K;
    while (true) {
        uint64_t ticket = 0;
        if (lane() == 0) {
            ticket = take(p.ticket);
        }
        ticket = broadcast(ticket, 0);
        if (ticket >= (p.spread ? p.tasks * p.strips : p.tasks)) {
            return;
        }
        // Strips of all tasks side by side, so that a strip's turn comes well after the one it waits for.
        const uint64_t k = p.spread ? ticket % p.tasks : ticket;
        const uint32_t strip = p.spread ? static_cast<uint32_t>(ticket / p.tasks) : 0;
        const Task task = task_of(p, k);
        // Not done before its last strip, so that all its strips come to the same answer.
        if (!is_wanted<T>(p, k, task)) {
            continue;
        }
        const Band band = band_of(p, k, task.n, task.m);
        const uint32_t strips = (task.m + kWidth - 1) / kWidth;
        const uint64_t slot = p.spread ? k : warp();
        if constexpr (R::kAbsorbs && !kBand && !kMany) {
            Link<T>* links = static_cast<Link<T>*>(p.links) + slot * p.edge_stride;
            T* last_column = static_cast<T*>(p.edges) + k * p.edge_stride;
            for (uint32_t s = strip; s < (p.spread ? min_(strip + 1, strips) : strips); ++s) {
                absorb_strip<R, K, kRows>(r, p, k, task, s, links, last_column);
            }
        } else {
            T* edge = static_cast<T*>(p.edges) + slot * p.edge_stride;
            if (p.spread) {
                if (strip < strips) {
                    uint32_t* done = p.progress + k * p.strips + strip;
                    const uint32_t* before = strip > 0 ? done - 1 : nullptr;
                    sweep_strip<R, K, kBand, kMany>(r, p, k, task, band, strip, edge, edge, before, done, none);
                }
            } else {
                for (uint32_t s = 0; s < strips; ++s) {
                    sweep_strip<R, K, kBand, kMany>(r, p, k, task, band, s, edge, edge, nullptr, nullptr, none);
                }
            }
        }
    }
}

}  // namespace dtw
