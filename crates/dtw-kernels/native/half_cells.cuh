// The columns that a lane owns in half precision: two cells in a register, of two queries.
//
// Totals of thousands of steps have no digits left in a half, so a lane keeps an offset for each query, a float: what is meant
// is offset + cell. Every chunk of rows it is set anew, to the least of the lane's cells and of those that the lanes to the left
// are about to hand over. Cells are then small where paths are good, and a good path loses no more than a few units of the last
// place of what it has cost within the lane. Points are taken from the middle of the range of all three series and scaled by
// a power of two to within kMostPoint, so that their squared differences are far from both ends of a half's range.
//
// A cell that is 65504 or more above its offset becomes infinite. A finite cell is right all the same, since no path through
// an infinite one can cost less. So it matters only where an infinite cell is handed on, to the next lane or the next chunk.
// A cell far below its offset, of a path that came faster than was looked ahead, has lost digits. This, too, is looked for where
// cells are handed on: none may be further below its offset than eight times its total, or eight times the least total at the
// end of its strip, so that no rounding is more than 2^-8 of either; or else by so little that it comes to no more than the
// rounding of points does (kFloor).
#pragma once

#include "columns.cuh"
#include "half.cuh"

namespace dtw {

constexpr float kMostPoint = 4.0f;
// Beyond these the scale would leave the range of a float with its square.
constexpr float kLeastReach = 1e-12f, kMostReach = 1e12f;
// A cell below its offset has lost digits if its total is less than this part of how far below it is.
constexpr float kLoss = 0.125f;
// The same in absolute terms, for every column of a query: a cell that far below its offset is rounded by half of what the
// rounding of points may add, which is by 2^-10 for each, so (2 * 2^-10)^2 for a column.
constexpr float kFloor = 1.0f / 2048.0f;

// How the points of a couple are made halves: point * rate + shift.
struct Scaling {
    float rate, shift;
    float unit;  // of a total
    bool fits;

    DTW_DEVICE Scaling(const Points<float>& x, const Points<float>& y, const Points<float>& z) {
        float least = y.values[0], most = least, spoilt = 0.0f;
        const auto look = [&](const Points<float>& series) {
            // Several loads under way at once; the last point is looked at again where there are none.
            constexpr int kAtOnce = 16;
            for (uint32_t i = static_cast<uint32_t>(lane()); i < series.length; i += 32 * kAtOnce) {
                float values[kAtOnce];
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    values[q] = series.values[series.clamped(i + 32 * q)];
                }
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    least = fmin_(values[q], least);
                    most = fmax_(values[q], most);
                    spoilt = fma_(values[q], 0.0f, spoilt);  // not zero after what is not finite
                }
            }
        };
        look(x);
        look(y);
        look(z);
        for (int mask = 1; mask < 32; mask *= 2) {
            least = fmin_(least, exchange(least, mask));
            most = fmax_(most, exchange(most, mask));
        }
        const float reach = most * 0.5f - least * 0.5f;
        // Alike points need no scale; their differences are zero.
        const float scaled = reach >= kLeastReach && reach <= kMostReach ? reach : kMostPoint;
        fits = !any(spoilt != 0.0f) && (scaled == reach || reach == 0.0f);
        // The largest power of two that leaves them below kMostPoint.
        rate = pow2(-exponent_of(scaled)) * (kMostPoint * 0.5f);
        shift = -(most * 0.5f + least * 0.5f) * rate;
        unit = 1.0f / (rate * rate);
        const auto hardly = [&](const Points<float>& series, uint32_t every) {
            return hardly_changes<32>(series, rate, static_cast<uint32_t>(lane()), every);
        };
        // A sample of a long reference will do.
        const bool still = hardly(x, 256), y_still = hardly(y, 32), z_still = hardly(z, 32);
        fits = fits && (reach == 0.0f || !still || !(y_still || z_still));
    }
};

// The least and the largest of many numbers, in four chains at once.
template <int N>
DTW_DEVICE Half2 least_of(const Half2 (&v)[N], Half2 of) {
    static_assert(N % 8 == 0, "chains take two at a time");
    Half2 chain[4] = {of, of, of, of};
    DTW_UNROLL
    for (int k = 0; k < N; k += 2) {
        chain[k / 2 % 4] = min3_(chain[k / 2 % 4], v[k], v[k + 1]);
    }
    return min_(min3_(chain[0], chain[1], chain[2]), chain[3]);
}
template <int N>
DTW_DEVICE Half2 largest_of(const Half2 (&v)[N], Half2 of) {
    static_assert(N % 8 == 0, "chains take two at a time");
    Half2 chain[4] = {of, of, of, of};
    DTW_UNROLL
    for (int k = 0; k < N; k += 2) {
        chain[k / 2 % 4] = max3_(chain[k / 2 % 4], v[k], v[k + 1]);
    }
    return max_(max3_(chain[0], chain[1], chain[2]), chain[3]);
}

// A lane's columns.
template <int K, int kRows>
struct HalfCells {
    Half2 cell[K], point[K];
    Half2 edge[kRows];  // of the latest rows
    Half2 corner;       // left of the first cell in the latest row
    Half2 most, least;  // of what was handed on to the next lane since the last settling
    Two lowest;         // of cells that have lost digits, and were handed on, the least
    Two best;           // the least total of what was handed on to the next lane
    Two offset, base;   // base: the offset in the unit of what is passed on
    Half2 apart;        // the left neighbour's offset less this lane's
    bool lost;

    static DTW_DEVICE Half2 zero() { return half2_of(0.0f, 0.0f); }
    static DTW_DEVICE Half2 forbidden() { return half2_of(Limits<float>::infinity(), Limits<float>::infinity()); }

    DTW_DEVICE void load(const Points<float>& y, const Points<float>& z, const Scaling& scaling, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = y.clamped(first + k);
            point[k] = half2_of(fma_(y.values[j], scaling.rate, scaling.shift),
                                fma_(z.values[j], scaling.rate, scaling.shift));
            cell[k] = forbidden();
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = forbidden();
        }
        corner = least = forbidden();
        most = apart = zero();
        best = {Limits<float>::infinity(), Limits<float>::infinity()};
        lowest = offset = base = {0.0f, 0.0f};
        lost = false;
    }

    // kRows rows. `shares`: the next lane follows the last column but one.
    DTW_DEVICE void take(const Half2 (&x)[kRows], const Half2 (&left)[kRows], bool shares) {
        Half2 row[kRows], diagonal[kRows], before[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
            diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
        }
        corner = left[kRows - 1];
        DTW_UNROLL
        for (int s = 0; s < K + kRows - 1; ++s) {
            // Rows from the bottom up, as in cells.cuh.
            DTW_UNROLL
            for (int q = kRows - 1; q >= 0; --q) {
                const int k = s - q;
                if (k >= 0 && k < K) {
                    const Half2 up = cell[k], between = x[q] - point[k];
                    if (k == K - 1) {
                        before[q] = row[q];
                    }
                    row[q] = fma_(between, between, min3_(diagonal[q], up, row[q]));
                    diagonal[q] = up;
                    cell[k] = row[q];
                }
            }
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = shares ? before[q] : row[q];
        }
    }

    // Looks at what was handed on: the least and the largest of it.
    DTW_DEVICE void hand_on(Half2 low, Half2 high) {
        most = max_(most, high);
        least = min_(least, low);
    }

    // Looks at the least of some cells that were handed on.
    DTW_DEVICE void look(Half2 v) {
        const auto depth = [](float v, float offset) { return v * (1.0f + kLoss) < -offset ? v : 0.0f; };
        lowest.first = fmin_(lowest.first, depth(first_of(v), offset.first));
        lowest.second = fmin_(lowest.second, depth(second_of(v), offset.second));
    }

    // What was handed on to the next lane since the last time.
    DTW_DEVICE void note() {
        const Two total = offset + floats_of(least);
        best = {fmin_(best.first, total.first), fmin_(best.second, total.second)};
        look(least);
        lost = lost | is_infinite(most);
        most = zero();
        least = forbidden();
    }

    // Sets the offset before a chunk of rows. `next`: the least total that will come to lane 0. The first `begun` lanes have
    // some rows behind them; those for which `counts` holds, none but rows of the series.
    DTW_DEVICE void settle(Two next, int begun, bool counts) {
        const Half2 low = least_of(cell, least_of(edge, forbidden())), high = largest_of(cell, zero());
        note();
        look(counts ? low : zero());
        lost = lost | (counts & is_infinite(high));
        // The lane's own cells, and what comes from the left: a path may come from lanes further away, yet its total should not be
        // far below the offset that it finds. Lanes that have not begun follow the last that has.
        const int inside = lane();
        const Two own = offset + floats_of(low);
        Two one = broadcast(own, max_(min_(inside, begun) - 1, 0)), two = broadcast(own, max_(inside - 2, 0)),
            three = broadcast(own, max_(inside - 3, 0));
        one = inside == 0 || begun == 0 ? next : one;
        two = inside == 1 ? next : two;
        three = inside == 2 ? next : three;
        const auto wanted = [](float own, float one, float two, float three) {
            return fmin_(fmin_(own, one), fmin_(2.0f * two, 4.0f * three));
        };
        const Two before = offset, found = {wanted(own.first, one.first, two.first, three.first),
                                            wanted(own.second, one.second, two.second, three.second)};
        // Where there are no totals yet, the offset stays.
        const float infinity = Limits<float>::infinity();
        offset = {found.first < infinity ? found.first : before.first, found.second < infinity ? found.second : before.second};
        const Two moved = offset - before, step = broadcast(offset, max_(inside - 1, 0)) - offset;
        const Half2 by = half2_of(within(moved.first), within(moved.second));
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = cell[k] - by;
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edge[q] - by;
        }
        corner = corner - by;
        apart = half2_of(within(step.first), within(step.second));
        // What was not moved by all of this.
        const auto is_far = [](float v) { return abs_(v) > kMostShift; };
        lost = lost | (counts & (is_far(moved.first) | is_far(moved.second) | is_far(step.first) | is_far(step.second)));
    }
};

}  // namespace dtw
