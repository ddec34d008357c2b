// Costs of subsequence DTW in half precision: squared differences, one channel, no band, float series.
//
// A cell is two halves, of two queries of the same length that are sought in the same reference (a couple; the last of an odd
// number goes twice). Queries are cut into strips of 32 lanes, which hand their right edges on as in wide.cuh.
//
// What halves cannot do is noticed (half_cells.cuh). Then, and for couples whose points or lengths do not fit, the places of both
// tasks in `out` (zeros before) become NaN: what was found is not to be used. A launch of open_dtw with only_missing does
// these tasks.
//
// A warp may be alone with its scheduler, so nothing may wait long: rows come in chunks, and whatever a chunk needs besides its
// cells is done once for all of it, by all lanes, a row or two each. What they give each other lies on a shelf in shared memory.
#pragma once

#include "half_cells.cuh"
#include "wide.cuh"

namespace dtw {

// As one number that only carries them.
DTW_DEVICE double packed(Two v) {
    return from_words(static_cast<uint32_t>(bits_of(v.second)), static_cast<uint32_t>(bits_of(v.first)));
}
DTW_DEVICE Two unpacked(double v) {
    return {from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits_of(v)))), from_bits(static_cast<int32_t>(high_of(v)))};
}

// Two tasks that are done as one.
struct Couple {
    uint32_t i, j[2];
    uint64_t task[2];
    bool alike;  // in length

    DTW_DEVICE Couple(const Sweep& p, uint64_t number) {
        const uint64_t of_row = (static_cast<uint64_t>(p.y.count) + 1) / 2;
        i = static_cast<uint32_t>(number / of_row);
        j[0] = 2 * static_cast<uint32_t>(number % of_row);
        j[1] = min_(j[0] + 1, p.y.count - 1);
        for (int h = 0; h < 2; ++h) {
            task[h] = static_cast<uint64_t>(i) * p.y.count + j[h];
        }
        alike = length_of(p.y, j[0]) == length_of(p.y, j[1]);
    }
};

// What the lanes of a warp share: points of the reference, what comes to the first lane in a chunk of rows, and what the last
// hands on.
template <int kRows, int kAhead>
struct Shelf {
    struct alignas(16) Four {
        Half2 v[4];
    };
    static constexpr uint32_t kBundles = 64;  // more than 32 lanes and a chunk are apart
    static_assert(32 + kAhead / kRows <= kBundles, "points stay until the last lane has seen them");
    Four points[kRows / 4][kBundles], in[kAhead / 4], out[kAhead / 4];

    DTW_DEVICE Half2& point(uint32_t row) { return points[row % kRows / 4][row / kRows % kBundles].v[row % 4]; }
    DTW_DEVICE Half2& coming(uint32_t row) { return in[row / 4].v[row % 4]; }
    DTW_DEVICE Half2 going(uint32_t row) const { return out[row / 4].v[row % 4]; }
};

// Strip `strip` of a couple whose columns fill `lanes` lanes.
template <int K, int kRows>
DTW_DEVICE void sweep_strip_of_halves(const Sweep& p, const Couple& couple, uint32_t strip, uint32_t lanes,
                                      const Points<float>& x, const Points<float>& y, const Points<float>& z,
                                      const Scaling& scaling, Link<double>* links, bool& lost) {
    constexpr int kAhead = 2 * K, kTurns = kAhead / 32;  // rows that are looked at ahead, and those of a lane
    constexpr int kSteps = (K < 32 ? 32 : 48) / kRows;  // of a chunk: roundings add up until offsets are set
    static_assert(kRows % 8 == 0 && K % 8 == 0 && kAhead >= K, "rows and cells are looked at in bundles");
    Shelf<kRows, kAhead>& shelf = *shared<Shelf<kRows, kAhead>>();
    const uint32_t inside = static_cast<uint32_t>(lane()), all = strip * 32 + inside;
    const uint32_t idle = lanes * K - y.length;
    const bool shares = all < idle, is_last = lanes - strip * 32 <= 32;
    const uint32_t last_lane = is_last ? lanes - 1 - strip * 32 : 31;
    HalfCells<K, kRows> own;
    own.load(y, z, scaling, all * K - min_(all, idle));
    const int32_t n = static_cast<int32_t>(x.length);
    const int32_t steps = (n + kRows - 1) / kRows + static_cast<int32_t>(last_lane);
    const bool ends = inside == last_lane;
    const auto is_row = [&](int32_t i) { return static_cast<uint32_t>(i) < static_cast<uint32_t>(n); };

    // Rows of the next chunk, some in each lane: their points, and their left edges (see absorb_strip). The latter are asked for
    // anew in every step, so that none waits for the answer.
    int32_t row_in = static_cast<int32_t>(inside);
    float ahead[kTurns];
    Link<double> arriving[kTurns];
    const Link<double>* from[kTurns];
    const auto ask = [&] {
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            arriving[h] = receive(from[h]);
        }
    };
    const auto look_for = [&] {
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            const int32_t i = row_in + 32 * h;
            ahead[h] = x.values[x.clamped(i)];
            from[h] = strip > 0 && is_row(i) ? links + i : static_cast<const Link<double>*>(p.links);
        }
    };
    float* const kept[2] = {static_cast<float*>(p.edges) + couple.task[0] * p.edge_stride,
                            static_cast<float*>(p.edges) + couple.task[1] * p.edge_stride};
    const float unit = is_last ? scaling.unit : 1.0f;
    // Step s of the chunk; this lane's bundle of rows.
    const auto step = [&](int32_t s, int32_t bundle) {
        Half2 rows[kRows], left[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; q += 4) {
            const auto points = shelf.points[q / 4][static_cast<uint32_t>(bundle) % shelf.kBundles];
            const auto four = shelf.in[(s * kRows + q) / 4];
            DTW_UNROLL
            for (int r = 0; r < 4; ++r) {
                rows[q + r] = points.v[r];
                const Half2 received = shift_up<32>(own.edge[q + r]) + own.apart;
                left[q + r] = inside == 0 ? four.v[r] : received;
            }
        }
        ask();
        own.take(rows, left, shares);
        if (ends) {
            DTW_UNROLL
            for (int q = 0; q < kRows; q += 4) {
                shelf.out[(s * kRows + q) / 4] = {{own.edge[q], own.edge[q + 1], own.edge[q + 2], own.edge[q + 3]}};
            }
        }
        // Rows beyond the last repeat it, and do no harm.
        const bool within = is_row(bundle * kRows);
        const Half2 low = least_of(own.edge, own.forbidden()), high = largest_of(own.edge, own.zero());
        own.hand_on(within ? low : own.forbidden(), within ? high : own.zero());
    };
    // The last column of the latest steps, and where it goes.
    Two gone[kTurns];
    const auto collect = [&] {
        const Two base = broadcast(own.base, static_cast<int>(last_lane));
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            const Two cell = floats_of(shelf.going(inside + 32 * h));
            gone[h] = {fmax_(fma_(cell.first, unit, base.first), 0.0f), fmax_(fma_(cell.second, unit, base.second), 0.0f)};
        }
    };
    // Passes on what `count` steps up to step t have left.
    const auto pass_on = [&](int32_t t, int32_t count) {
        const int32_t first = (t - count - static_cast<int32_t>(last_lane)) * kRows;
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            const int32_t r = static_cast<int32_t>(inside) + 32 * h, i = first + r;
            const bool is_new = (r < count * kRows) & is_row(i);
            if (is_new && is_last) {
                kept[0][i] = gone[h].first;
                kept[1][i] = gone[h].second;
            }
            if (is_new && !is_last) {
                send(links + i, Link<double>{packed(gone[h]), strip + 1});
            }
        }
    };
    // Lanes that have not begun see points, if none of the series.
    DTW_UNROLL
    for (int q = 0; q < kRows; ++q) {
        for (uint32_t bundle = inside; bundle < shelf.kBundles; bundle += 32) {
            shelf.point(bundle * kRows + q) = half2_of(0.0f, 0.0f);
        }
    }
    int32_t t = 0, count = 0;
    look_for();
    ask();
    for (; t < steps; t += count) {
        sync();
        collect();
        const auto is_awaited = [&] {
            bool waits = false;
            DTW_UNROLL
            for (int h = 0; h < kTurns; ++h) {
                waits = waits | (is_row(row_in + 32 * h) & (arriving[h].mark != strip));
            }
            return strip > 0 && waits;
        };
        while (any(is_awaited())) {
            pause();
            ask();
        }
        const int32_t done = count;
        // One step at a time until all lanes have begun, so that they begin with an offset that fits.
        count = t < 32 ? 1 : kSteps;
        const float none = Limits<float>::infinity();
        Two totals[kTurns], least = {none, none};
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            const float point = fma_(ahead[h], scaling.rate, scaling.shift);
            shelf.point(row_in + 32 * h) = half2_of(point, point);
            totals[h] = strip == 0 ? Two{0.0f, 0.0f} : unpacked(arriving[h].value);
            totals[h] = is_row(row_in + 32 * h) ? totals[h] : Two{none, none};
            least = {fmin_(least.first, totals[h].first), fmin_(least.second, totals[h].second)};
        }
        least = {least_of_lanes(least.first), least_of_lanes(least.second)};
        row_in += count * kRows;
        look_for();
        // Lanes behind the last one have nothing to lose.
        const int32_t bundle = t - static_cast<int32_t>(inside), row = bundle * kRows;
        const bool counts = (row > 0) & (row <= n) & (inside <= last_lane);
        own.settle(least, min_(t, 32), counts);
        own.base = {own.offset.first * unit, own.offset.second * unit};
        const Two first = broadcast(own.offset, 0);
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            shelf.coming(inside + 32 * h) = halves_of(totals[h] - first);
        }
        pass_on(t, done);
        sync();
        if (t < 32) {
            step(0, bundle);
        } else {
            // Always as many, some of them behind the last row: a loop that all lanes leave together costs less.
            DTW_UNROLL_BY(1)
            for (int32_t s = 0; s < kSteps; ++s) {
                step(s, bundle + s);
            }
        }
    }
    sync();
    collect();
    pass_on(t, count);
    own.note();
    // Cells far below their offsets have lost digits: none that a total here would show.
    const Two best = broadcast(own.best, static_cast<int>(last_lane)), low = own.lowest;
    const float floor = kFloor * static_cast<float>(y.length);
    const bool shows = best.first + floor < low.first * -kLoss || best.second + floor < low.second * -kLoss;
    lost = (own.lost || shows) && inside <= last_lane;
    sync();
}

// Strips of all couples, as in sweep_wide with p.spread.
template <int K, int kRows>
DTW_DEVICE void sweep_halves(const Sweep& p) {
    const uint64_t couples = static_cast<uint64_t>(p.x.count) * ((static_cast<uint64_t>(p.y.count) + 1) / 2);
    while (true) {
        uint64_t ticket = 0;
        if (lane() == 0) {
            ticket = take(p.ticket);
        }
        ticket = broadcast(ticket, 0);
        if (ticket >= couples * p.strips) {
            return;
        }
        const uint64_t number = ticket % couples;
        const uint32_t strip = static_cast<uint32_t>(ticket / couples);
        const Couple couple(p, number);
        const Points<float> x(p.x, couple.i, 1), y(p.y, couple.j[0], 1), z(p.y, couple.j[1], 1);
        // Columns fill all lanes of a couple; up to one a lane is left over and shared with the next.
        const uint32_t lanes = (y.length + K - 1) / K;
        if (strip * 32 >= lanes) {
            continue;
        }
        bool lost = !couple.alike || lanes * K - y.length >= lanes;
        if (!lost) {
            const Scaling scaling(x, y, z);
            lost = !scaling.fits;
            if (!lost) {
                Link<double>* links = static_cast<Link<double>*>(p.links) + number * p.edge_stride;
                sweep_strip_of_halves<K, kRows>(p, couple, strip, lanes, x, y, z, scaling, links, lost);
            }
        }
        if (any(lost) && lane() == 0) {
            for (int h = 0; h < 2; ++h) {
                uint32_t* place = static_cast<uint32_t*>(p.out) + couple.i * p.out_stride + couple.j[h];
                set_bits(place, 0x7fffffffu);
            }
        }
    }
}

}  // namespace dtw
