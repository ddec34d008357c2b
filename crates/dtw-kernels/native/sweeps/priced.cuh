// Priced strips: pairs of any width and any band, points of several channels, of recurrences whose price is the
// distance of two points (kPriced below).
//
//   for each ticket (a pair; with p.spread a strip of a pair), by a warp:
//       for each of its strips of 32 K columns, from the left:
//           every 32 steps:
//               read the left edge of the next 32 rows, as in strips.cuh
//               all lanes: the prices of these rows, 8 x 4 K of them each, to shared memory
//                   for each few channels: the points go to shared memory; each lane reads 8 of x and 4 K of y
//               32 steps as in strips.cuh: at step t, lane l takes row t - l, and its K prices from shared memory
//
//                 64 columns of y (K = 2)                 pricing: lane 8 g + j has rows 8 g .. 8 g + 7 and columns
//   rows t - 64  | these prices are read   |              4 j .. 4 j + 3, and 32 further
//   rows t - 32  | by the lanes behind     |              sweeping: lane l has columns K l .. K l + K - 1
//   rows t       | the next 32, priced now |              so lanes are at 32 rows at once, and two times 32 are kept
//
// A point that was read is used for 8 or 4 K cells, so a cell costs little beside the arithmetic of its channels.
// Channels are added one by one in their order, as in other sweeps: so results have the same bits, but for products.
//
// Products: |x - y|^2 = |x|^2 + |y|^2 - 2 x y takes one instruction for a channel instead of two. It loses digits where
// the distance is small beside |x|^2 + |y|^2, so from kLeastProducts channels on the rows are priced by products first,
// and again by differences if any price of them is below kLeastShare of that sum. Then the next rows are priced by
// differences at once, and after each further time twice as many, for series are alike for a while, or all along.
//
// Other kernels do not include this header.
#pragma once

#include "../kernels.cuh"
#include "../vendor/block.cuh"

namespace dtw {

// Numbers that are loaded and stored as one.
template <class T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Bundle {
    T v[N];
};

// Rows that are priced at once; lanes take as many steps then.
constexpr uint32_t kPricedRows = 32;

// Channels from which on products are tried; the least share of |x|^2 + |y|^2 that a price may be: with |x|^2 and |y|^2
// added up without loss, products are then as near as differences.
constexpr uint32_t kLeastProducts = 64;
constexpr double kLeastShare = 0.5;

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

// What a warp has of the memory that its block shares.
template <class T, int K>
struct PriceMemory {
    // Channels of a point that are read at once.
    static constexpr int kChannels = 16 / sizeof(T);
    static constexpr int kWidth = 32 * K;
    T prices[2 * kPricedRows * kWidth];
    // Row 8 g + q at 4 q + g, column 32 h + 4 j + k at 8 (4 h + k) + j: those that lanes read at once lie side by side.
    Bundle<T, kChannels> x[kPricedRows], y[kWidth];
    // The left edge of the rows that come next.
    Bundle<T, 4> edge[kPricedRows / 4];
};

// Of the four warps of a block.
template <class R, int K>
constexpr uint32_t kPriceBytes = 4 * sizeof(PriceMemory<typename R::Number, K>);

// The prices of rows i0 .. i0 + 31 in columns j0 .. j0 + 32 K - 1, to `prices`; cells outside the band have infinite
// ones.
template <class R, int K>
DTW_DEVICE void price_rows(const R& r, PriceMemory<typename R::Number, K>& memory, typename R::Number* prices,
                           const Points<typename R::Number>& x, const Points<typename R::Number>& y, const Band& band,
                           uint32_t i0, uint32_t j0, Patience& patience) {
    using T = typename R::Number;
    constexpr int kChannels = PriceMemory<T, K>::kChannels, kWidth = PriceMemory<T, K>::kWidth;
    using Some = Bundle<T, kChannels>;
    const uint32_t inside = static_cast<uint32_t>(lane()), group = inside / 8, column = inside % 8;
    const uint32_t channels = x.channels;
    // The points that this lane brings: one of x, K of y.
    const T* from[1 + K];
    from[0] = x.values + static_cast<uint64_t>(x.clamped(i0 + inside)) * channels;
    DTW_UNROLL
    for (int h = 0; h < K; ++h) {
        from[1 + h] = y.values + static_cast<uint64_t>(y.clamped(j0 + inside + 32 * h)) * channels;
    }
    const bool as_one = channels % kChannels == 0 &&
                        (reinterpret_cast<uintptr_t>(x.values) | reinterpret_cast<uintptr_t>(y.values)) % sizeof(Some) == 0;
    Some coming[1 + K];
    const auto fetch = [&](uint32_t c) {
        if (as_one) {
            DTW_UNROLL
            for (int s = 0; s < 1 + K; ++s) {
                coming[s] = *reinterpret_cast<const Some*>(from[s] + c);
            }
            return;
        }
        DTW_UNROLL
        for (int s = 0; s < 1 + K; ++s) {
            DTW_UNROLL
            for (int v = 0; v < kChannels; ++v) {
                coming[s].v[v] = c + v < channels ? from[s][c + v] : T(0);
            }
        }
    };
    T sum[8][4 * K];
    // Brings all channels to shared memory, a few at a time, and adds them up; `see` is told what this lane brings.
    const auto add_up = [&](const auto& add, const auto& see) {
        DTW_UNROLL
        for (int q = 0; q < 8; ++q) {
            DTW_UNROLL
            for (int k = 0; k < 4 * K; ++k) {
                sum[q][k] = T(0);
            }
        }
        fetch(0);
        DTW_UNROLL_BY(1)
        for (uint32_t c = 0; c < channels; c += kChannels) {
            sync();
            memory.x[inside % 8 * 4 + group] = coming[0];
            DTW_UNROLL
            for (int h = 0; h < K; ++h) {
                memory.y[(4 * h + inside % 4) * 8 + inside / 4] = coming[1 + h];
            }
            see();
            sync();
            const uint32_t left = channels - c;
            if (left > kChannels) {
                fetch(c + kChannels);
            }
            const auto all = [&](auto is_whole) {
                Some a[8];
                DTW_UNROLL
                for (int q = 0; q < 8; ++q) {
                    a[q] = memory.x[4 * q + group];
                }
                DTW_UNROLL
                for (int k = 0; k < 4 * K; ++k) {
                    const Some b = memory.y[8 * k + column];
                    DTW_UNROLL
                    for (int v = 0; v < kChannels; ++v) {
                        if (decltype(is_whole)::value || v == 0 || static_cast<uint32_t>(v) < left) {
                            DTW_UNROLL
                            for (int q = 0; q < 8; ++q) {
                                sum[q][k] = add(sum[q][k], a[q].v[v], b.v[v]);
                            }
                        }
                    }
                }
            };
            if (left >= kChannels) {
                all(std::true_type{});
            } else {
                all(std::false_type{});
            }
        }
    };
    bool is_done = false;
    if constexpr (std::is_same<typename R::Norm, Squared<T>>::value) {
        if (channels >= kLeastProducts && patience.is_over()) {
            // Their sums, and what was lost of each (Kahan).
            T squares[1 + K] = {}, lost[1 + K] = {};
            add_up([](T so_far, T a, T b) { return fma_(a, b, so_far); },
                   [&] {
                       DTW_UNROLL
                       for (int s = 0; s < 1 + K; ++s) {
                           T some = -lost[s];
                           DTW_UNROLL
                           for (int v = 0; v < kChannels; ++v) {
                               some = fma_(coming[s].v[v], coming[s].v[v], some);
                           }
                           const T all = add_exact(squares[s], some);
                           lost[s] = add_exact(add_exact(all, -squares[s]), -some);
                           squares[s] = all;
                       }
                   });
            // |x|^2 and |y|^2 take the places of points.
            T *const of_x = memory.x[0].v, *const of_y = memory.y[0].v;
            sync();
            of_x[inside] = squares[0];
            DTW_UNROLL
            for (int h = 0; h < K; ++h) {
                of_y[32 * h + inside] = squares[1 + h];
            }
            sync();
            bool keeps_digits = true;
            DTW_UNROLL
            for (int q = 0; q < 8; ++q) {
                const T own = of_x[8 * group + q];
                DTW_UNROLL
                for (int k = 0; k < 4 * K; ++k) {
                    const T both = own + of_y[k / 4 * 32 + 4 * column + k % 4];
                    sum[q][k] = fma_(T(-2), sum[q][k], both);
                    // Not for what is no number, either.
                    keeps_digits = keeps_digits && fma_(T(-kLeastShare), both, sum[q][k]) >= T(0);
                }
            }
            is_done = !any(!keeps_digits);
            patience.judge(is_done);
        }
    }
    if (!is_done) {
        add_up([&](T so_far, T a, T b) { return r.norm.add(so_far, a, b); }, [] {});
    }
    const uint32_t end = min_(j0 + kWidth, y.length);
    const bool masks = band.kind != kBandFull &&
                       !(band.row(i0).end >= end && band.row(x.clamped(i0 + kPricedRows - 1)).start <= j0);
    const Sample<T> none{};
    // Two copies of it: choosing between prices takes longer than writing them.
    const auto write = [&](auto in_band) {
        DTW_UNROLL
        for (int q = 0; q < 8; ++q) {
            const uint32_t row = 8 * group + q;
            Range allowed{0, 0};
            if constexpr (!decltype(in_band)::value) {
                allowed = band.row(x.clamped(i0 + row));
            }
            DTW_UNROLL
            for (int h = 0; h < K; ++h) {
                Bundle<T, 4> some;
                DTW_UNROLL
                for (int k = 0; k < 4; ++k) {
                    some.v[k] = r.price(r.norm.done(sum[q][4 * h + k]), T(0), none, none, T(1));
                    if constexpr (!decltype(in_band)::value) {
                        const uint32_t j = j0 + 32 * h + 4 * column + k;
                        some.v[k] = j >= allowed.start && j < allowed.end ? some.v[k] : r.forbidden();
                    }
                }
                *reinterpret_cast<Bundle<T, 4>*>(prices + row * kWidth + 32 * h + 4 * column) = some;
            }
        }
    };
    if (masks) {
        write(std::false_type{});
    } else {
        write(std::true_type{});
    }
}

// One strip of a pair; `edge` is where its edges are kept, `done` counts rows done (null: nobody waits).
template <class R, int K>
DTW_DEVICE void sweep_priced_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, const Band& band,
                                   uint32_t strip, typename R::Number* edge, const uint32_t* before, uint32_t* done,
                                   PriceMemory<typename R::Number, K>& memory) {
    using T = typename R::Number;
    constexpr bool kPriced = R::kParts == 1 && !R::kGaps && !R::kTimes && !R::kPrevious && !R::kWeights && !R::kBorders &&
                             !R::kOpen && !R::kSettles && !R::kLeavesBand;
    static_assert(kPriced, "a cell is a number, its price is the distance of two points, and borders are forbidden");
    constexpr uint32_t kWidth = 32 * K, kHalf = kPricedRows * kWidth;
    const Points<T> x(p.x, task.i, p.channels), y(p.y, task.j, p.channels);
    const uint32_t first = strip * kWidth;
    const bool is_last = task.m - first <= kWidth;
    const uint32_t inside = static_cast<uint32_t>(lane());
    const uint32_t last_lane = is_last ? (task.m - 1 - first) / K : 31;
    // Rows of the strip, and the rows in which the strip to the left has an edge.
    const uint32_t top = band.first_row_beyond(first);
    const uint32_t bottom = is_last ? task.n : band.first_row_from(first + kWidth);
    const uint32_t left_top = strip > 0 ? band.first_row_beyond(first - kWidth) : 0;
    const uint32_t left_bottom = strip > 0 ? band.first_row_from(first) : task.n;
    const auto wait = [&](uint32_t rows) {
        if (before != nullptr) {
            begin_wait();
            while (load_acquire(before) < min_(rows, left_bottom)) {
                pause();
            }
            end_wait();
        }
    };
    T cell[K], corner = r.forbidden();
    DTW_UNROLL
    for (int q = 0; q < K; ++q) {
        cell[q] = r.forbidden();
    }
    if (inside == 0) {
        if (strip == 0 && top == 0) {
            corner = r.origin();
        } else if (strip > 0 && top > 0) {
            wait(top);
            if (top - 1 >= left_top && top - 1 < left_bottom) {
                corner = load_fresh(edge + top - 1);
            }
        }
    }
    sync();
    const uint32_t rows = bottom - top, steps = rows + last_lane;
    const bool writes = inside == 31 && !is_last;
    Patience patience{0, 1};
    // Prices before the first row.
    sync();
    DTW_UNROLL
    for (uint32_t q = 0; q < kHalf / 128; ++q) {
        Bundle<T, 4> never;
        DTW_UNROLL
        for (int v = 0; v < 4; ++v) {
            never.v[v] = r.forbidden();
        }
        *reinterpret_cast<Bundle<T, 4>*>(memory.prices + kHalf + 128 * q + 4 * inside) = never;
    }
    for (uint32_t t0 = 0; t0 < steps; t0 += kPricedRows) {
        T entering = r.forbidden();
        if (strip > 0) {
            if (t0 < rows) {
                wait(min_(top + t0 + kPricedRows, bottom));
            }
        }
        sync();
        if (strip > 0) {
            const uint32_t i = top + t0 + inside;
            if (i < bottom && i < left_bottom && i >= left_top) {
                entering = load_fresh(edge + i);
            }
        }
        const uint32_t half = t0 / kPricedRows % 2;
        if (t0 < rows) {
            price_rows<R, K>(r, memory, memory.prices + half * kHalf, x, y, band, top + t0, first,
                             patience);
        }
        memory.edge[inside / 4].v[inside % 4] = entering;
        sync();
        // Where a lane's prices would be at step 0: in the half just priced from the step on in which it comes to these
        // rows. Where the last lane's cells go.
        const T* const own = memory.prices + K * inside - inside * kWidth;
        const T *const newer = own + half * kHalf, *const older = own + (1 - half) * kHalf + kHalf;
        T* const out = edge + (static_cast<int64_t>(top) + t0 - inside);
        const bool writes_all = writes && t0 > 0;
        // Step s, where the left edge is `entering`. Lanes that have no row take one all the same: before the first,
        // prices are infinite, and behind the last nobody looks at what comes out.
        const auto step = [&](uint32_t s, T entering) {
            const T* const at = s < inside ? older : newer;
            const auto price = *reinterpret_cast<const Bundle<T, K>*>(at + s * kWidth);
            const T received = shift_up<32>(cell[K - 1]);
            T left = inside == 0 ? entering : received, diagonal = corner;
            corner = left;
            DTW_UNROLL
            for (int q = 0; q < K; ++q) {
                const T up = cell[q];
                left = r.combine(diagonal, up, left, price.v[q]);
                diagonal = up;
                cell[q] = left;
            }
            // The last lane comes to its first row with the last step of the first 32.
            if (s + 1 == kPricedRows ? writes : writes_all) {
                out[s] = left;
            }
        };
        const uint32_t count = min_(steps - t0, kPricedRows);
        if (count == kPricedRows) {
            DTW_UNROLL
            for (uint32_t s = 0; s < kPricedRows; s += 4) {
                const Bundle<T, 4> entering = memory.edge[s / 4];
                DTW_UNROLL
                for (uint32_t u = 0; u < 4; ++u) {
                    step(s + u, entering.v[u]);
                }
            }
        } else {
            DTW_UNROLL_BY(1)
            for (uint32_t s = 0; s < count; ++s) {
                step(s, memory.edge[s / 4].v[s % 4]);
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
        T value = cell[0];
        DTW_UNROLL
        for (uint32_t q = 1; q < K; ++q) {
            value = choose((task.m - 1 - first) % K == q, cell[q], value);
        }
        write_result(p, k, task, r.finish(value, task.n, task.m));
    }
    sync();
}

// Pairs of any width, strip by strip.
template <class R, int K>
DTW_DEVICE void sweep_priced(const Sweep& p) {
    using T = typename R::Number;
    const R r(p);
    auto& memory = static_cast<PriceMemory<T, K>*>(shared_memory())[thread() / 32];
    constexpr uint32_t kWidth = 32 * K;
    while (true) {
        DTW_TAKE_TICKET(ticket, p, p.spread ? p.tasks * p.most_strips : p.tasks);
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
#define DTW_PRICED(symbol, R, K, BLOCKS, BYTES)                                                                        \
    static_assert(dtw::kPriceBytes<DTW_ARGUMENTS R, K> == BYTES, "build/expand.rs says what blocks share");            \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep, dtw::sweep_priced<DTW_ARGUMENTS R, K>(p))
