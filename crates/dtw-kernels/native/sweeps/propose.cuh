// Proposals of a search: what matches cost, nearly, for every end in a reference, in half precision. Which places are
// then looked at is decided by the host; no number from here is anybody's result.
//
// Squared differences, one channel, no band, floats. A cell is two halves, of two queries of one length that are sought
// in the same reference (a couple; the last of an odd number goes twice). p.tasks counts couples.
//
//   for each ticket (a strip of a couple), by a warp:
//       for each chunk of 64 rows:
//           lane l has the points and the left edges of rows l and l + 32 of the chunk; each lane's offset is set anew
//           at step t, lane l takes 8 rows; what it hands on is shifted by the difference of two offsets
//       the last strip writes the last column to p.edges, task by task: floats, lowered by a margin: times
//       p.parameters[0], less p.parameters[1] squares of a scaled point
//
// Where a query's values do not fit halves, its whole column becomes zero: no end is ruled out.
//
// A warp may be alone with its scheduler, so nothing may wait long: whatever a chunk needs besides its cells is done
// once for all of it, by all lanes, two rows each. What they give each other lies in memory that the block shares.
#pragma once

#include "../kernels.cuh"
#include "../lanes/half_cells.cuh"
#include "../lanes/tickets.cuh"
#include "../passes/confirm.cuh"
#include "../vendor/block.cuh"

namespace dtw {

// What a strip hands on of a row: the totals of both queries, and a mark in place of their last bits. So it is 8 bytes,
// which memory stores as one, and totals are 2^-15 lower at most.
constexpr uint32_t kMarkBits = 8, kMarkMask = (1u << kMarkBits) - 1;
DTW_DEVICE Link<float> marked(Two totals, uint32_t mark) {
    const auto word = [](float total, uint32_t part) {
        return (static_cast<uint32_t>(bits_of(total)) & ~kMarkMask) | (part & kMarkMask);
    };
    const uint32_t first = word(totals.first, mark);
    return {from_bits(static_cast<int32_t>(first)), word(totals.second, mark >> kMarkBits)};
}
DTW_DEVICE uint32_t mark_of(Link<float> link) {
    return (static_cast<uint32_t>(bits_of(link.value)) & kMarkMask) | (link.mark & kMarkMask) << kMarkBits;
}
DTW_DEVICE Two totals_of(Link<float> link) {
    const uint32_t first = static_cast<uint32_t>(bits_of(link.value)) & ~kMarkMask;
    return {from_bits(static_cast<int32_t>(first)), from_bits(static_cast<int32_t>(link.mark & ~kMarkMask))};
}

// Two tasks that are done as one.
struct Couple {
    uint32_t i, j[2];
    uint64_t task[2];

    DTW_DEVICE Couple(const Sweep& p, uint64_t number) {
        const uint64_t of_row = (static_cast<uint64_t>(p.y.count) + 1) / 2;
        i = static_cast<uint32_t>(number / of_row);
        j[0] = 2 * static_cast<uint32_t>(number % of_row);
        j[1] = min_(j[0] + 1, p.y.count - 1);
        for (int h = 0; h < 2; ++h) {
            task[h] = static_cast<uint64_t>(i) * p.y.count + j[h];
        }
    }
};

constexpr int kHalfColumns = 32, kHalfRows = 8;
// Rows of a chunk, those of a lane, and steps: roundings add up until offsets are set.
constexpr int kHalfChunk = 2 * kHalfColumns, kHalfTurns = kHalfChunk / 32, kHalfSteps = kHalfChunk / kHalfRows;

// What the lanes of a warp share: points of the reference, what comes to the first lane in a chunk of rows, and what
// the last hands on.
struct HalfMemory {
    struct alignas(16) Four {
        Half2 v[4];
    };
    static constexpr uint32_t kBundles = 64;  // more than 32 lanes and a chunk are apart
    static_assert(32 + kHalfChunk / kHalfRows <= kBundles, "points stay until the last lane has seen them");
    Four points[kHalfRows / 4][kBundles], in[kHalfChunk / 4], out[kHalfChunk / 4];

    DTW_DEVICE Half2& point(uint32_t row) {
        return points[row % kHalfRows / 4][row / kHalfRows % kBundles].v[row % 4];
    }
    DTW_DEVICE Half2& coming(uint32_t row) { return in[row / 4].v[row % 4]; }
    DTW_DEVICE Half2 going(uint32_t row) const { return out[row / 4].v[row % 4]; }
};

// Strip `strip` of a couple whose columns fill `lanes` lanes.
DTW_DEVICE void propose_strip(const Sweep& p, const Couple& couple, uint32_t strip, uint32_t lanes, const Points<float>& x,
                              const Points<float> (&y)[2], const Scaling (&scaling)[2], Link<float>* links,
                              HalfMemory& memory) {
    constexpr int K = kHalfColumns, kRows = kHalfRows, kTurns = kHalfTurns;
    const uint32_t inside = static_cast<uint32_t>(lane()), all = strip * 32 + inside;
    const uint32_t idle = lanes * K - y[0].length;
    const bool shares = all < idle, is_last = lanes - strip * 32 <= 32;
    const uint32_t last_lane = is_last ? lanes - 1 - strip * 32 : 31;
    HalfCells<K, kRows> own;
    own.load(y[0], y[1], scaling[0], scaling[1], all * K - min_(all, idle));
    const int32_t n = static_cast<int32_t>(x.length);
    const int32_t steps = (n + kRows - 1) / kRows + static_cast<int32_t>(last_lane);
    const bool ends = inside == last_lane;
    const auto is_row = [&](int32_t i) { return static_cast<uint32_t>(i) < static_cast<uint32_t>(n); };

    // Rows of the next chunk, some in each lane: their points, and their left edges (see wide.cuh). The latter are
    // asked for anew in every step, so that none waits for the answer.
    int32_t row_in = static_cast<int32_t>(inside);
    float ahead[kTurns];
    Link<float> arriving[kTurns];
    const Link<float>* from[kTurns];
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
            ahead[h] = x.values[x.clamped(static_cast<uint32_t>(i))];
            from[h] = strip > 0 && is_row(i) ? links + i : static_cast<const Link<float>*>(p.links);
        }
    };
    float* const kept[2] = {static_cast<float*>(p.edges) + couple.task[0] * p.edge_stride,
                            static_cast<float*>(p.edges) + couple.task[1] * p.edge_stride};
    const Two unit = is_last ? Two{scaling[0].unit, scaling[1].unit} : Two{1.0f, 1.0f};
    // Step s of the chunk; this lane's bundle of rows.
    const auto step = [&](int32_t s, int32_t bundle) {
        Half2 rows[kRows], left[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; q += 4) {
            const auto points = memory.points[q / 4][static_cast<uint32_t>(bundle) % memory.kBundles];
            const auto four = memory.in[(s * kRows + q) / 4];
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
                memory.out[(s * kRows + q) / 4] = {{own.edge[q], own.edge[q + 1], own.edge[q + 2], own.edge[q + 3]}};
            }
        }
    };
    // Proposals are lowered by a margin.
    const float part = static_cast<float>(p.parameters[0]), less = static_cast<float>(p.parameters[1]);
    const auto lowered = [&](float total, int h) {
        const float least_total = fma_(total, part, -less * scaling[h].unit);
        return scaling[h].fits ? fmax_(least_total, 0.0f) : 0.0f;
    };
    // The last column of the latest steps, and where it goes.
    Two gone[kTurns], base = {0.0f, 0.0f};
    const auto collect = [&] {
        const Two of_last = broadcast_two(base, static_cast<int>(last_lane));
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            const Two cell = floats_of(memory.going(inside + 32 * h));
            gone[h] = {fmax_(fma_(cell.first, unit.first, of_last.first), 0.0f),
                       fmax_(fma_(cell.second, unit.second, of_last.second), 0.0f)};
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
                kept[0][i] = lowered(gone[h].first, 0);
                kept[1][i] = lowered(gone[h].second, 1);
            }
            if (is_new && !is_last) {
                send(links + i, marked(gone[h], strip + 1));
            }
        }
    };
    // Lanes that have not begun see points, if none of the series.
    DTW_UNROLL
    for (int q = 0; q < kRows; ++q) {
        for (uint32_t bundle = inside; bundle < memory.kBundles; bundle += 32) {
            memory.point(bundle * kRows + q) = half2_of(0.0f, 0.0f);
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
                waits = waits | (is_row(row_in + 32 * h) & (mark_of(arriving[h]) != strip));
            }
            return strip > 0 && waits;
        };
        begin_wait();
        while (any(is_awaited())) {
            pause();
            ask();
        }
        end_wait();
        const int32_t done = count;
        // One step at a time until all lanes have begun, so that they begin with an offset that fits.
        count = t < 32 ? 1 : kHalfSteps;
        const float none = Limits<float>::infinity();
        Two totals[kTurns], coming = {none, none};
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            memory.point(static_cast<uint32_t>(row_in + 32 * h)) =
                half2_of(scaling[0].held(ahead[h]), scaling[1].held(ahead[h]));
            totals[h] = strip == 0 ? Two{0.0f, 0.0f} : totals_of(arriving[h]);
            totals[h] = is_row(row_in + 32 * h) ? totals[h] : Two{none, none};
            coming = least(coming, totals[h]);
        }
        row_in += count * kRows;
        look_for();
        own.set_offset(least_of_lanes(coming), min_(t, 32));
        base = {own.offset.first * unit.first, own.offset.second * unit.second};
        const Two first = broadcast_two(own.offset, 0);
        DTW_UNROLL
        for (int h = 0; h < kTurns; ++h) {
            memory.coming(inside + 32 * h) = halves_of(totals[h] - first);
        }
        pass_on(t, done);
        sync();
        const int32_t bundle = t - static_cast<int32_t>(inside);
        if (t < 32) {
            step(0, bundle);
        } else {
            // Always as many, some of them behind the last row: a loop that all lanes leave together costs less.
            DTW_UNROLL_BY(1)
            for (int32_t s = 0; s < kHalfSteps; ++s) {
                step(s, bundle + s);
            }
        }
    }
    sync();
    collect();
    pass_on(t, count);
    sync();
}

// Strips of all couples, spread as those of sweep_wide.
DTW_DEVICE void propose(const Sweep& p) {
    HalfMemory& memory = static_cast<HalfMemory*>(shared_memory<4 * sizeof(HalfMemory)>())[thread() / 32];
    DTW_FOR_EACH_TICKET(ticket, p, p.tasks * p.most_strips) {
        const uint64_t number = ticket % p.tasks;
        const uint32_t strip = static_cast<uint32_t>(ticket / p.tasks);
        const Couple couple(p, number);
        const Points<float> x(p.x, couple.i, 1), y[2] = {{p.y, couple.j[0], 1}, {p.y, couple.j[1], 1}};
        const Scaling scaling[2] = {Scaling(y[0]), Scaling(y[1])};
        // Columns fill all lanes of a couple; up to one a lane is left over and shared with the next.
        const uint32_t lanes = (y[0].length + kHalfColumns - 1) / kHalfColumns;
        Link<float>* links = static_cast<Link<float>*>(p.links) + number * p.edge_stride;
        propose_strip(p, couple, strip, lanes, x, y, scaling, links, memory);
    }
}

}  // namespace dtw

// BYTES is what a block shares, as src/catalog.rs has it.
#define DTW_PROPOSE(symbol, BYTES)                                                         \
    static_assert(dtw::kHalfBytes > 2 || 4 * sizeof(dtw::HalfMemory) == BYTES,            \
                  "build/expand.rs says what blocks share");                               \
    DTW_KERNEL_SHARING(symbol, 1, BYTES, dtw::Sweep, dtw::propose(p))
