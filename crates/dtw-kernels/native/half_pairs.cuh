// DTW in half precision: squared differences, one channel, one strip, no band, float series.
//
// A group of lanes does two tasks that follow each other (a couple; the last of an odd number goes twice), one in each half of
// its registers. They share nothing but the instructions: series, lengths and scales are their own.
//
// What is meant by a cell is offset + cell, with an offset for each lane and task, a float, that is set anew every few rows
// (settle): to the least of the lane's cells, or less if better paths may come from the left. Offsets are multiples of
// 1/4, so that moving cells by differences of them costs no digits; every step of a good path is rounded by half a unit of the
// last place of what it has cost above the offset. Points are taken from the middle of the range of both series and scaled
// by a power of two to within kReachOfPoints, so that squared differences are far from both ends of a half's range.
//
// Columns end with the last one of the last lane, and columns before the first have infinite points: their cells are infinite,
// but for zeros above the first row. Rows begin at once, so that nothing is tested before the result.
//
// NaN ("not done") for two series that hardly change from point to point, and where what is judged at the end does not hold: The
// result is at most kMostTotal. A cell is infinite only if
// its total is more, so infinite cells have lost nothing that counts. It is not so small that it may come of the rounding of
// points (kLeastOfStep). And no cell was further below its offset than kDepth times its own total or the result, so that no
// rounding was more than 2^-8 of either.
#pragma once

#include "cells.cuh"
#include "half.cuh"

namespace dtw {

constexpr float kReachOfPoints = 4.0f;
// Ranges of which the square, and the scale's, are floats.
constexpr float kNarrowest = 1e-12f, kWidest = 1e12f;
// Totals are not above; the largest finite half is 65504.
constexpr float kMostTotal = 60000.0f;
// Adding and taking it away rounds to multiples of 1/4.
constexpr float kQuarters = 3145728.0f;
// How far below its offset a cell may be, as a multiple of its total or the result.
constexpr float kDepth = 8.0f;
// Totals are not below, for every row or column: the rounding of points comes to a 400th of that on average.
constexpr float kLeastOfStep = 1.0f / 4096.0f;
// Pairs up to here may be of plateaus: few roundings.
constexpr uint32_t kShort = 64;
// Rows between two settlings.
constexpr int kRowsOfOffset = 32;
// Neighbours from which paths are looked for, by powers of two.
constexpr int kLookedFor = 4;

// The task after this one.
DTW_DEVICE Task task_after(const Sweep& p, uint64_t k, const Task& t) {
    Task next = t;
    if (p.pairing == kListed) {
        return task_of(p, k + 1);
    }
    const bool ends = p.pairing == kZipped || t.j + 1 == p.y.count;
    next.i = t.i + (ends ? 1 : 0);
    next.j = !ends ? t.j + 1 : p.pairing == kCross ? 0 : next.i;
    next.n = length_of(p.x, next.i);
    next.m = length_of(p.y, next.j);
    return next;
}

// How the points of a task are made halves: point * rate + shift.
struct PointScale {
    float rate, shift;
    bool fits, alike;

    // For points between these; one that is not finite lies beyond all others.
    DTW_DEVICE PointScale(float least, float most) {
        const float reach = most * 0.5f - least * 0.5f;
        // Alike points need no scale; their differences are zero.
        alike = least == most && reach == 0.0f;
        fits = alike || (reach >= kNarrowest && reach <= kWidest);
        // The largest power of two that leaves them below kReachOfPoints.
        rate = pow2(-exponent_of(fits && !alike ? reach : kReachOfPoints)) * (kReachOfPoints * 0.5f);
        shift = -(most * 0.5f + least * 0.5f) * rate;
    }
    DTW_DEVICE float operator()(float point) const { return fma_(point, rate, shift); }
    DTW_DEVICE float unit() const { return 1.0f / (rate * rate); }
};

// Looks at a task's points, together with the other lanes of the group.
template <int G>
DTW_DEVICE PointScale scale_of(const Points<float>& x, const Points<float>& y, uint32_t inside) {
    // Numbers that are ordered as floats are: negative ones have their other bits turned. Its own inverse.
    const auto turned = [](int32_t bits) { return bits ^ (bits >> 31 & 0x7fffffff); };
    int32_t least = turned(bits_of(y.values[0])), most = least;
    const auto look = [&](const Points<float>& series) {
        DTW_UNROLL4
        for (uint32_t i = inside; i < series.length; i += 2 * G) {
            const int32_t v = turned(bits_of(series.values[i]));
            const int32_t w = turned(bits_of(series.values[series.clamped(i + G)]));
            least = min3_bits(least, v, w);
            most = max3_bits(most, v, w);
        }
    };
    look(x);
    look(y);
    for (int mask = 1; mask < G; mask *= 2) {
        least = min_(least, exchange(least, mask));
        most = max_(most, exchange(most, mask));
    }
    PointScale scale(from_bits(turned(least)), from_bits(turned(most)));
    const bool changes = !hardly_changes<G>(x, scale.rate, inside), other_changes = !hardly_changes<G>(y, scale.rate, inside);
    const bool is_short = x.length <= kShort && y.length <= kShort;
    scale.fits = scale.fits && (scale.alike || is_short || changes || other_changes);
    return scale;
}

// A lane's columns.
template <int G, int K, int kRows>
struct PairCells {
    Half2 cell[K], point[K];
    Half2 edge[kRows];  // the last column of the latest rows
    Half2 corner;       // left of the first cell in the latest row
    Half2 least;        // of what came from the left since the last settling
    Half2 apart;        // the left neighbour's offset less this lane's
    Two offset;
    Two lowest;         // of what came from the left too far below the offset for its total

    // Columns of y from `first` on and of z from `second` on. Those below zero are not of the series.
    DTW_DEVICE void load(const Points<float>& y, const Points<float>& z, const PointScale& of_y, const PointScale& of_z,
                         int32_t first, int32_t second) {
        const float infinity = Limits<float>::infinity();
        const Half2 zero = half2_of(0.0f, 0.0f), forbidden = half2_of(infinity, infinity);
        const float *from_y = y.values + first, *from_z = z.values + second;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = half2_of(k < -first ? infinity : of_y(from_y[k]), k < -second ? infinity : of_z(from_z[k]));
            // Zero (NaN, that is not larger) where the point is infinite: an origin for the next column's diagonal.
            cell[k] = max_(fma_(point[k], zero, forbidden), zero);
        }
        corner = half2_of(first == 0 ? 0.0f : infinity, second == 0 ? 0.0f : infinity);
        least = half2_of(infinity, infinity);
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = least;
        }
        apart = half2_of(0.0f, 0.0f);
        offset = lowest = {0.0f, 0.0f};
    }

    DTW_DEVICE void take(const Half2 (&x)[kRows]) {
        Half2 row[kRows], diagonal[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = shift_up<G>(edge[q]) + apart;
            diagonal[q] = q == 0 ? corner : row[q > 0 ? q - 1 : 0];
        }
        corner = row[kRows - 1];
        static_assert(kRows % 2 == 0, "rows are looked at in twos");
        DTW_UNROLL
        for (int q = 0; q < kRows; q += 2) {
            least = min3_(least, row[q], row[q + 1]);
        }
        DTW_UNROLL
        for (int s = 0; s < K + kRows - 1; ++s) {
            // Rows from the bottom up, as in cells.cuh.
            DTW_UNROLL
            for (int q = kRows - 1; q >= 0; --q) {
                const int k = s - q;
                if (k >= 0 && k < K) {
                    const Half2 up = cell[k], between = x[q] - point[k];
                    row[q] = fma_(between, between, min3_(diagonal[q], up, row[q]));
                    diagonal[q] = up;
                    cell[k] = row[q];
                }
            }
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = row[q];
        }
    }

    // The least of `low` and the cells from kFrom to kTo.
    template <int kFrom, int kTo>
    DTW_DEVICE Half2 least_cell(Half2 low) const {
        constexpr int kChains = 4;
        static_assert((kTo - kFrom) % (2 * kChains) == 0, "cells are looked at in twos");
        if (kFrom == kTo) {
            return low;
        }
        Half2 least[kChains];
        DTW_UNROLL
        for (int c = 0; c < kChains; ++c) {
            const int k = (kFrom + 2 * c) % K;
            least[c] = min_(cell[k], cell[k + 1]);
        }
        DTW_UNROLL
        for (int k = kFrom + 2 * kChains; k < kTo; k += 2) {
            least[k / 2 % kChains] = min3_(least[k / 2 % kChains], cell[k], cell[k + 1]);
        }
        return min3_(low, min3_(least[0], least[1], least[2]), least[3]);
    }

    // Sets the offsets. A task counts whose rows have come since the last time.
    DTW_DEVICE void settle(uint32_t inside, bool first_counts, bool second_counts) {
        const auto deep = [](float v, float offset, bool counts) {
            return counts && v * (1.0f + 1.0f / kDepth) < -offset ? v : 0.0f;
        };
        lowest.first = min_(lowest.first, deep(first_of(least), offset.first, first_counts));
        lowest.second = min_(lowest.second, deep(second_of(least), offset.second, second_counts));
        const float infinity = Limits<float>::infinity();
        least = half2_of(infinity, infinity);
        // The next rows come from all of these, and what is handed over meanwhile, most likely, from those that are near.
        constexpr int kNear = K > kRowsOfOffset ? K - kRowsOfOffset : 0;
        Half2 low = min_(edge[0], edge[1]);
        DTW_UNROLL
        for (int q = 2; q < kRows; q += 2) {
            low = min3_(low, edge[q], edge[q + 1]);
        }
        low = least_cell<kNear, K>(low);
        const Two near = offset + floats_of(low), total = offset + floats_of(least_cell<0, kNear>(min_(low, corner)));
        const int own = lane();
        Two left = broadcast(near, inside == 0 ? own : own - 1);
        left = {inside == 0 ? infinity : left.first, inside == 0 ? infinity : left.second};
        // A path may come from further away, yet its total should not be far below the offset that it finds.
        float rate = 2.0f;
        DTW_UNROLL
        for (int away = 1; away <= kLookedFor && away < G; away *= 2) {
            const Two other = broadcast(left, inside < static_cast<uint32_t>(away) ? own : own - away);
            left = {min_(left.first, rate * other.first), min_(left.second, rate * other.second)};
            rate *= rate;
        }
        const auto rounded = [](float a, float b) { return (min_(min_(a, b), kMostTotal) + kQuarters) - kQuarters; };
        const Two next = {rounded(total.first, left.first), rounded(total.second, left.second)};
        const Half2 by = halves_of(next - offset);
        offset = next;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = cell[k] - by;
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edge[q] - by;
        }
        corner = corner - by;
        const Half2 step = halves_of(broadcast(offset, inside == 0 ? own : own - 1) - offset);
        apart = inside == 0 ? half2_of(infinity, infinity) : step;
    }
};

// Couples of a group of G lanes each.
template <int G, int K, int kRows>
DTW_DEVICE void sweep_half_pairs(const Sweep& p) {
    constexpr uint32_t kSteps = kRowsOfOffset / kRows;
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t couples = (p.tasks + 1) / 2;
    for (uint64_t begin = static_cast<uint64_t>(warp()) * (32 / G); begin < couples;
         begin += static_cast<uint64_t>(warps()) * (32 / G)) {
        const uint64_t couple = min_(begin + static_cast<uint32_t>(lane()) / G, couples - 1), k = 2 * couple;
        const bool is_odd = k + 1 == p.tasks;
        const Task task = task_of(p, k), other = is_odd ? task : task_after(p, k, task);
        const Points<float> x(p.x, task.i, 1), y(p.y, task.j, 1), v(p.x, other.i, 1), w(p.y, other.j, 1);
        const PointScale scale = scale_of<G>(x, y, inside), scale_w = scale_of<G>(v, w, inside);
        PairCells<G, K, kRows> own;
        // Lanes behind the last do the same as it.
        const auto last_lane = [](uint32_t m) { return (m - 1) / K; };
        const auto first_of_lane = [&](uint32_t m) {
            return static_cast<int32_t>(min_(inside, last_lane(m)) * K + m) - static_cast<int32_t>((last_lane(m) + 1) * K);
        };
        own.load(y, w, scale, scale_w, first_of_lane(task.m), first_of_lane(other.m));
        // A result is there after so many steps, in the last lane.
        const auto steps_of = [&](const Task& t) { return (t.n + kRows - 1) / kRows + last_lane(t.m); };
        const uint32_t steps = steps_of(task), steps_w = steps_of(other);
        uint32_t most = max_(steps, steps_w), fewest = min_(steps, steps_w);
        for (int mask = G; mask < 32; mask *= 2) {
            most = max_(most, exchange(most, mask));
            fewest = min_(fewest, exchange(fewest, mask));
        }
        Two result{};
        int32_t row = -static_cast<int32_t>(inside) * kRows;
        const int32_t last = static_cast<int32_t>(task.n) - 1, last_v = static_cast<int32_t>(other.n) - 1;
        const auto counts = [&](uint32_t n) { return static_cast<uint32_t>(row - 1) < n; };
        uint32_t count;
        for (uint32_t t = 0; t < most; t += count) {
            own.settle(inside, counts(task.n + kRowsOfOffset), counts(other.n + kRowsOfOffset));
            // One step at a time until all lanes have begun, so that they begin with an offset that fits.
            count = t < G || t >= fewest ? 1 : min_(kSteps, fewest - t);
            DTW_UNROLL_BY(1)
            for (uint32_t s = 0; s < count; ++s) {
                Half2 rows[kRows];
                if (any(row + kRows - 1 > min_(last, last_v))) {
                    // Rows behind the last repeat it: no total gets lower by that.
                    DTW_UNROLL
                    for (int q = 0; q < kRows; ++q) {
                        const int32_t i = max_(row + q, 0);
                        rows[q] = half2_of(scale(x.values[min_(i, last)]), scale_w(v.values[min_(i, last_v)]));
                    }
                } else {
                    const float *from = x.values + max_(row, 0), *from_v = v.values + max_(row, 0);
                    DTW_UNROLL
                    for (int q = 0; q < kRows; ++q) {
                        rows[q] = half2_of(scale(from[q]), scale_w(from_v[q]));
                    }
                }
                own.take(rows);
                row += kRows;
            }
            if (t + count == steps) {
                result.first = own.offset.first + first_of(pick<kRows>(own.edge, (task.n - 1) % kRows));
            }
            if (t + count == steps_w) {
                result.second = own.offset.second + second_of(pick<kRows>(own.edge, (other.n - 1) % kRows));
            }
        }
        own.settle(inside, counts(task.n + kRowsOfOffset), counts(other.n + kRowsOfOffset));
        // The deepest cell of the group's lanes.
        Two lowest = {inside <= last_lane(task.m) ? own.lowest.first : 0.0f,
                      inside <= last_lane(other.m) ? own.lowest.second : 0.0f};
        for (int mask = 1; mask < G; mask *= 2) {
            lowest = {min_(lowest.first, exchange(lowest.first, mask)), min_(lowest.second, exchange(lowest.second, mask))};
        }
        const bool busy = begin + static_cast<uint32_t>(lane()) / G < couples;
        const auto write = [&](uint64_t number, const Task& t, const PointScale& of, float total, float low) {
            if (busy && inside == last_lane(t.m)) {
                const float least = of.alike ? 0.0f : kLeastOfStep * static_cast<float>(max_(t.n, t.m));
                const bool done = of.fits && total >= least && total <= kMostTotal && -low <= kDepth * total;
                write_result(p, number, t, done ? max_(total, 0.0f) * of.unit() : from_bits(int32_t{0x7fffffff}));
            }
        };
        write(k, task, scale, result.first, lowest.first);
        if (!is_odd) {
            write(k + 1, other, scale_w, result.second, lowest.second);
        }
    }
}

}  // namespace dtw
