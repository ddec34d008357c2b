// Priced strips: pairs of any width and any band, points of several channels, of recurrences whose cells are numbers
// and whose prices are made of distances of points.
//
//   for each ticket (a pair; with p.spread a strip of a pair), by a warp:
//       for each of its strips of 32 K columns, from the left:
//           every 32 steps:
//               read the left edge of the next 32 rows, as in strips.cuh
//               all lanes: the distances of these rows, to shared memory: price_products.cuh or prices.cuh
//               32 steps as in strips.cuh: at step t, lane l takes row t - l, and its K distances from shared memory
//
//                 64 columns of y (K = 2)
//   rows t - 64  | these prices are read   |              sweeping: lane l has columns K l .. K l + K - 1
//   rows t - 32  | by the lanes behind     |              so lanes are at 32 rows at once, and two times 32 are kept
//   rows t       | the next 32, priced now |
//
// Rows are priced by products where there are enough channels, and again by differences where products lose digits.
// Then the next rows are priced by differences at once, and after each further time twice as many, for series are alike
// for a while, or all along.
//
// Other kernels do not include this header.
#pragma once

#include "price_products.cuh"
#include "priced_cells.cuh"

namespace dtw {

// When to price by products: `wait` times 32 rows are not, and how many after the next time that it fails.
struct Patience {
    uint32_t wait, next;

    DTW_DEVICE bool is_over() {
        wait -= wait > 0 ? 1 : 0;
        return wait == 0;
    }
    DTW_DEVICE void judge(bool well) {
        wait = well ? 0 : next + 1;
        next = well ? 1 : min_(2 * next, 32u);
    }
};

// Of the four warps of a block.
template <class R, int K>
constexpr uint32_t kPriceBytes = 4 * sizeof(PriceMemory<typename R::Number, K>);

// The distances of rows i0 .. i0 + 31 in columns j0 .. j0 + 32 K - 1, to `prices`; cells outside the band are masked.
template <class R, int K>
DTW_DEVICE void price_rows(const R& r, typename R::Number* prices, const double* halves,
                           const Points<typename R::Number>& x, const Points<typename R::Number>& y, const Band& band,
                           uint32_t i0, uint32_t j0, bool by_products, Patience& patience) {
    bool is_done = false;
    if constexpr (kSuitsProducts<R>) {
        if (by_products && patience.is_over()) {
            is_done = price_by_products<R, K>(r, prices, halves, x, y, i0, j0);
            patience.judge(is_done);
        }
    }
    if (!is_done) {
        price_by<typename R::Number, K>(r.norm, prices, x, y, i0, j0);
    }
    const uint32_t end = min_(j0 + 32 * K, y.length);
    if (band.kind != kBandFull &&
        !(band.row(i0).end >= end && band.row(x.clamped(i0 + kPricedRows - 1)).start <= j0)) {
        sync();
        mask_outside<R, K>(prices, x, band, i0, j0);
    }
}

// One strip of a pair; `edge` is where its edges are kept, `done` counts rows done (null: nobody waits).
template <class R, int K>
DTW_DEVICE void sweep_priced_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, const Band& band,
                                   uint32_t strip, typename R::Number* edge, const uint32_t* before, uint32_t* done,
                                   PriceMemory<typename R::Number, K>& memory) {
    using T = typename R::Number;
    using Memory = PriceMemory<T, K>;
    constexpr uint32_t kWidth = Memory::kWidth, kStride = Memory::kStride, kHalf = Memory::kHalf;
    const Points<T> x(p.x, task.i, p.channels), y(p.y, task.j, p.channels);
    const uint32_t first = strip * kWidth;
    const bool is_last = task.m - first <= kWidth;
    const uint32_t inside = static_cast<uint32_t>(lane());
    const uint32_t last_lane = is_last ? (task.m - 1 - first) / K : 31;
    const uint32_t last_column = is_last ? (task.m - 1 - first) % K : K - 1;
    // Rows of the strip, and the rows in which the strip to the left has an edge. Where cells outside the band have
    // values, all rows have; from a band of constant slope nothing can come back.
    const bool skips = !(R::kLeavesBand && band.kind == kBandTable);
    const uint32_t top = skips ? band.first_row_beyond(first) : 0;
    const uint32_t bottom = skips && !is_last ? band.first_row_from(first + kWidth) : task.n;
    const uint32_t left_top = skips && strip > 0 ? band.first_row_beyond(first - kWidth) : 0;
    const uint32_t left_bottom = skips && strip > 0 ? band.first_row_from(first) : task.n;
    const auto wait = [&](uint32_t rows) {
        if (before != nullptr) {
            begin_wait();
            while (load_acquire(before) < min_(rows, left_bottom)) {
                pause();
            }
            end_wait();
        }
    };
    // The distance beside the first column.
    const auto beside = [&](uint32_t i) {
        T distance[1];
        distances_of<R, 1>(r, x, i, y, static_cast<int64_t>(first) - 1, distance);
        return distance[0];
    };
    PricedCells<R, K> own;
    own.start(r, x, y, first + inside * K, top, inside);
    if (inside == 0) {
        if (strip == 0) {
            own.corner = top == 0 ? r.origin() : r.border_down(top, x.sum(static_cast<int64_t>(top) - 1));
        } else if (top > 0) {
            wait(top);
            if (top - 1 >= left_top && top - 1 < left_bottom) {
                own.corner = load_fresh(edge + top - 1);
            }
            if constexpr (R::kPrevious) {
                own.apart_left = beside(top - 1);
            }
        }
    }
    sync();
    const uint32_t rows = bottom - top, steps = rows + last_lane;
    const bool writes = inside == 31 && !is_last;
    const bool keeps = R::kOpen && p.keep_last && is_last && inside == last_lane;
    Patience patience{0, 1};
    const bool by_products = suits_products<R>(p.channels);
    if (by_products) {
        square_columns<T, K>(memory.halves, y, first);
    }
    // Distances before the first row.
    for (uint32_t q = inside; q < kHalf; q += 32) {
        memory.prices[kHalf + q] = masked<R>(T(0));
    }
    for (uint32_t t0 = 0; t0 < steps; t0 += kPricedRows) {
        T entering = r.forbidden();
        const uint32_t i = top + t0 + inside;
        if (strip > 0) {
            if (t0 < rows) {
                wait(min_(top + t0 + kPricedRows, bottom));
            }
        } else if (i < bottom) {
            entering = r.border_down(i + 1, x.sum(i));
        }
        sync();
        if (strip > 0) {
            if (i < bottom && i < left_bottom && i >= left_top) {
                entering = load_fresh(edge + i);
            }
        }
        const uint32_t half = t0 / kPricedRows % 2;
        if (t0 < rows) {
            price_rows<R, K>(r, memory.prices + half * kHalf, memory.halves, x, y, band, top + t0, first, by_products,
                             patience);
        }
        memory.edge[inside / 4].v[inside % 4] = entering;
        if constexpr (R::kPrevious) {
            memory.beside[inside] = strip > 0 && i < bottom ? beside(i) : T(0);
        }
        sync();
        // Where a lane's prices would be at step 0: in the half just priced from the step on in which it comes to these
        // rows. Where the last lane's cells go.
        const T* const here = memory.prices + K * inside - inside * kStride;
        const T *const newer = here + half * kHalf, *const older = here + (1 - half) * kHalf + kHalf;
        const int64_t at_once = static_cast<int64_t>(top) + t0 - inside;
        T* const out = edge + at_once;
        const bool writes_all = writes && t0 > 0;
        // Step s, where the left edge is `entering`. Lanes that have no row take one all the same: before the first,
        // cells are masked (with borders, they stay), and behind the last nobody looks at what comes out.
        const auto step = [&](uint32_t s, T entering, bool has_begun) {
            const T* const at = s < inside ? older : newer;
            const auto distances = *reinterpret_cast<const Bundle<T, K>*>(at + s * kStride);
            const T received = shift_up<32>(own.cell[K - 1]);
            T apart = T(0);
            if constexpr (R::kPrevious) {
                const T other = shift_up<32>(own.apart[K - 1]);
                apart = inside == 0 ? memory.beside[s] : other;
            }
            Sample<T> row{};
            if constexpr (R::kGaps) {
                row.gap = x.gaps[at_once + s];
            }
            if constexpr (R::kTimes) {
                row.time = x.time(at_once + s);
                row.previous_time = x.time(at_once + s - 1);
            }
            own.take(r, distances, row, inside == 0 ? entering : received, apart, has_begun);
            // The last lane comes to its first row with the last step of the first 32.
            if (s + 1 == kPricedRows ? writes : writes_all) {
                out[s] = own.cell[K - 1];
            }
            if constexpr (R::kOpen) {
                if (keeps && t0 + s - inside < rows) {
                    out[s] = own.at(last_column);
                }
            }
        };
        const uint32_t count = min_(steps - t0, kPricedRows);
        if (count == kPricedRows && !(R::kBorders && t0 == 0)) {
            DTW_UNROLL
            for (uint32_t s = 0; s < kPricedRows; s += 4) {
                const Bundle<T, 4> entering = memory.edge[s / 4];
                DTW_UNROLL
                for (uint32_t u = 0; u < 4; ++u) {
                    step(s + u, entering.v[u], true);
                }
            }
        } else {
            DTW_UNROLL_BY(1)
            for (uint32_t s = 0; s < count; ++s) {
                step(s, memory.edge[s / 4].v[s % 4], !R::kBorders || t0 + s >= inside);
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
        write_result(p, k, task, r.finish(own.at(last_column), task.n, task.m));
    }
    sync();
}

// Pairs of any width, strip by strip.
template <class R, int K>
DTW_DEVICE void sweep_priced(const Sweep& p) {
    using T = typename R::Number;
    const R r(p);
    auto& memory = static_cast<PriceMemory<T, K>*>(shared_memory<kPriceBytes<R, K>>())[thread() / 32];
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
        T* edge = static_cast<T*>(p.edges) + (p.spread ? k : warp()) * p.edge_stride;
        uint32_t* done = p.spread ? p.progress + k * p.most_strips + strip : nullptr;
        const uint32_t* before = p.spread && strip > 0 ? done - 1 : nullptr;
        for (uint32_t s = strip; s < (p.spread ? min_(strip + 1, strips) : strips); ++s) {
            sweep_priced_strip<R, K>(r, p, k, task, band, s, edge, before, done, memory);
        }
    }
}

}  // namespace dtw

// BYTES is what a block shares, as src/catalog.rs has it.
#define DTW_PRICED(symbol, R, K, BLOCKS, BYTES)                                                             \
    static_assert(dtw::kPriceBytes<DTW_ARGUMENTS R, K> == BYTES, "build/expand.rs says what blocks share"); \
    DTW_KERNEL_SHARING(symbol, BLOCKS, BYTES, dtw::Sweep, dtw::sweep_priced<DTW_ARGUMENTS R, K>(p))
