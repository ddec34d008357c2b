// Strips: pairs of any width, any recurrence, any number of channels, any band.
//
//   for each ticket (a pair; with p.spread a strip of a pair):
//       for each of its strips of 32 K columns, from the left:
//           every 32 steps: wait until the strip to the left has done the rows that come next; read its right edge
//           at step t, lane l takes row i = t - l as in general.cuh; lane 0's left cells come from that edge
//           the last lane writes its last cell of each row to the edge
//           every 32 steps: publish how many rows are done
//
//        strip 0        strip 1        strip 2
//      | 32 x K cells | 32 x K cells | ...          one edge of n states serves all strips of a pair: a row of it is
//      |            --e->          --e->            read by the strip to the right before that strip overwrites it
//
// Spread strips ("grid sweep") are tasks of their own, of many warps at once. Warps take them as tickets, in the order
// of their dependence (lanes/tickets.cuh). When a warp takes a strip, a warp that is already running has the strip to
// the left. So blocks cannot block each other, whatever the order in which they start. The number of rows done is
// stored with release and loaded with acquire.
#pragma once

#include "../lanes/lane.cuh"
#include "../lanes/tickets.cuh"

namespace dtw {

constexpr uint32_t kChunk = 32;  // steps between two looks at the neighbours' progress

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
            begin_wait();
            while (load_acquire(before) < (top < left_bottom ? top : left_bottom)) {
                pause();
            }
            end_wait();
        }
        if (top - 1 >= left_top && top - 1 < left_bottom) {
            own.corner = load_state(left_edge, p.edge_part_stride, top - 1, own.corner);
        }
    } else if (kBand && inside == 0 && top > 0) {
        own.corner = r.border_down(top, x.sum(static_cast<int64_t>(top) - 1));
    }
    sync();
    const uint32_t rows = bottom - top, steps = rows + last_lane;
    recorder.begin(strip, top);
    // Without borders or a band no number can appear in rows before the first: all there is forbidden, whatever the
    // points. So lanes that have not begun take rows of padding, and no lane needs to ask whether it has begun.
    constexpr bool kFree = !R::kBorders && !kBand;
    Rows<R, kMany, kFree> row(x, kFree ? -static_cast<int32_t>(inside) : static_cast<int32_t>(top));
    const bool writes = inside == last_lane && (!is_last || p.keep_last);
    for (uint32_t t0 = 0; t0 < steps; t0 += kChunk) {
        // The left edge of the next rows, one in each lane.
        State edge = r.forbidden();
        if (strip > 0) {
            const uint32_t needed = top + t0 + kChunk < left_bottom ? top + t0 + kChunk : left_bottom;
            if (before != nullptr && t0 < rows) {
                begin_wait();
                while (load_acquire(before) < (needed < bottom ? needed : bottom)) {
                    pause();
                }
                end_wait();
            }
            sync();
            const uint32_t i = top + t0 + inside;
            if (i < bottom && i < left_bottom && (!kBand || i >= left_top)) {
                edge = load_state(left_edge, p.edge_part_stride, i, edge);
            }
        } else if (top + t0 + inside < bottom) {
            const uint32_t i = top + t0 + inside;
            edge = r.border_down(i + 1, x.sum(i));
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
                if (R::kRescales) {
                    own.rescale(r);
                }
            }
        } else {
            for (uint32_t s = 0; s < count; ++s) {
                step(s);
                if (R::kRescales && (s & 7) == 7) {
                    own.rescale(r);
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

// Pairs of any width, strip by strip.
template <class R, int K, bool kBand, bool kMany>
DTW_DEVICE void sweep_strips(const Sweep& p) {
    using T = typename R::Number;
    const R r(p);
    Unrecorded none;
    constexpr uint32_t kWidth = 32 * K;
    DTW_FOR_EACH_TICKET(ticket, p, p.spread ? p.tasks * p.most_strips : p.tasks) {
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
        T* edge = static_cast<T*>(p.edges) + slot * p.edge_stride;
        if (p.spread) {
            if (strip < strips) {
                uint32_t* done = p.progress + k * p.most_strips + strip;
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

}  // namespace dtw
