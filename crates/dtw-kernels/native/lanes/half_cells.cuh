// The columns that a lane owns in half precision: two cells in a register, of two queries.
//
// Totals of thousands of steps have no digits left in a half, so a lane keeps an offset for each query, a float: what
// is meant is offset + cell. After some rows it is set anew, to the least of the lane's cells and of those that the
// lanes to the left are about to hand over. Cells are then small where paths are good. This costs one addition a row a
// lane, where the edge is handed over, and none a cell.
//
// Points come to within kMostPoint: a query's by a scale and a shift of its own, and the reference's by the same,
// held to no further from the middle than kFarthest. A point that is held is nearer to all points of the query than in
// truth, never further.
//
// Nothing overflows: from a lane's least cell to any other of its cells in the same row there are 31 steps at most, of
// at most (kMostPoint + kFarthest)^2 = 64 each; offsets are set again after 64 rows, and the offsets of neighbours are
// as near. Before they have begun, lanes have infinite cells, whatever their offset.
#pragma once

#include "../vendor/half.cuh"
#include "columns.cuh"

namespace dtw {

constexpr float kMostPoint = 2.0f, kFarthest = 6.0f;
// More than offsets are ever moved at once, or apart, where there are cells; less than what a half can hold.
constexpr float kMostShift = 60000.0f;
// Beyond these the square of a scale leaves the range of floats.
constexpr float kLeastReach = 1e-12f, kMostReach = 1e12f;

// A float for each of two queries.
struct Two {
    float first, second;
};
DTW_DEVICE Two operator+(Two a, Two b) { return {a.first + b.first, a.second + b.second}; }
DTW_DEVICE Two operator-(Two a, Two b) { return {a.first - b.first, a.second - b.second}; }
DTW_DEVICE Two least(Two a, Two b) { return {fmin_(a.first, b.first), fmin_(a.second, b.second)}; }
DTW_DEVICE Two floats_of(Half2 v) { return {first_of(v), second_of(v)}; }
DTW_DEVICE Half2 halves_of(Two v) { return half2_of(v.first, v.second); }
// A shift of cells. Where it had to be cut off, cells are infinite, and stay so.
DTW_DEVICE Half2 shift_of(Two v) {
    const auto within = [](float shift) { return fmin_(fmax_(shift, -kMostShift), kMostShift); };
    return half2_of(within(v.first), within(v.second));
}
DTW_DEVICE Two broadcast_two(Two v, int l) { return {broadcast(v.first, l), broadcast(v.second, l)}; }
DTW_DEVICE Two least_of_lanes(Two v) {
    DTW_UNROLL
    for (int mask = 1; mask < 32; mask *= 2) {
        v = least(v, {exchange(v.first, mask), exchange(v.second, mask)});
    }
    return v;
}

// How points of a query, and of the reference beside it, become halves: point * rate + shift.
struct Scaling {
    float rate, shift;
    float unit;  // of a total
    bool fits;   // whether the query has several values, neither very near nor very far from each other

    DTW_DEVICE explicit Scaling(const Points<float>& query) {
        float low = query.values[0], high = low;
        bool finite = true;
        for (uint32_t j = static_cast<uint32_t>(lane()); j < query.length; j += 32) {
            const float value = query.values[j];
            low = fmin_(value, low), high = fmax_(value, high);
            finite = finite && value - value == 0.0f;
        }
        DTW_UNROLL
        for (int mask = 1; mask < 32; mask *= 2) {
            low = fmin_(low, exchange(low, mask)), high = fmax_(high, exchange(high, mask));
        }
        const float reach = high * 0.5f - low * 0.5f;
        fits = !any(!finite) && reach >= kLeastReach && reach <= kMostReach;
        rate = kMostPoint / (fits ? reach : 1.0f);
        shift = -(high * 0.5f + low * 0.5f) * rate;
        unit = 1.0f / (rate * rate);
    }
    DTW_DEVICE float scaled(float point) const { return fma_(point, rate, shift); }
    DTW_DEVICE float held(float point) const { return fmin_(fmax_(scaled(point), -kFarthest), kFarthest); }
};

// The least of many numbers, in two chains at once.
template <int N>
DTW_DEVICE Half2 least_of_all(const Half2 (&v)[N], Half2 of) {
    static_assert(N % 4 == 0, "chains take two at a time");
    Half2 chain[2] = {of, of};
    DTW_UNROLL
    for (int k = 0; k < N; k += 2) {
        chain[k / 2 % 2] = min3_(chain[k / 2 % 2], v[k], v[k + 1]);
    }
    return min3_(chain[0], chain[1], of);
}

// A lane's columns.
template <int K, int kRows>
struct HalfCells {
    Half2 cell[K], point[K];
    Half2 edge[kRows];  // of the latest rows
    Half2 corner;       // left of the first cell in the latest row
    Two offset;
    Half2 apart;  // the left neighbour's offset less this lane's

    static DTW_DEVICE Half2 forbidden() { return half2_of(Limits<float>::infinity(), Limits<float>::infinity()); }

    DTW_DEVICE void load(const Points<float>& first_query, const Points<float>& second_query, const Scaling& of_first,
                         const Scaling& of_second, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = first_query.clamped(first + k);
            point[k] = half2_of(of_first.scaled(first_query.values[j]), of_second.scaled(second_query.values[j]));
            cell[k] = forbidden();
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = forbidden();
        }
        corner = forbidden();
        offset = {0.0f, 0.0f};
        apart = half2_of(0.0f, 0.0f);
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

    // Sets the offset anew. `next`: the least total that will come to lane 0. The first `begun` lanes have some rows
    // behind them.
    DTW_DEVICE void set_offset(Two next, int begun) {
        const Two own = offset + floats_of(least_of_all(cell, least_of_all(edge, forbidden())));
        // The lane's own cells, and what comes from the left: a path may come from lanes further away, yet its total
        // should not be far below the offset that it finds. Lanes that have not begun follow the last that has.
        const int inside = lane();
        Two one = broadcast_two(own, max_(min_(inside, begun) - 1, 0)), two = broadcast_two(own, max_(inside - 2, 0)),
            three = broadcast_two(own, max_(inside - 3, 0));
        one = inside == 0 || begun == 0 ? next : one;
        two = inside == 1 ? next : two;
        three = inside == 2 ? next : three;
        const Two before = offset;
        const Two wanted = least(least(own, one), least(two + two, {4.0f * three.first, 4.0f * three.second}));
        // Where there are no totals yet, the offset stays.
        const float infinity = Limits<float>::infinity();
        offset = {wanted.first < infinity ? wanted.first : before.first,
                  wanted.second < infinity ? wanted.second : before.second};
        const Half2 by = shift_of(offset - before);
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = cell[k] - by;
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edge[q] - by;
        }
        corner = corner - by;
        apart = shift_of(broadcast_two(offset, max_(inside - 1, 0)) - offset);
    }
};

}  // namespace dtw
