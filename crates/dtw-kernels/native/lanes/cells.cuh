// Cells at full speed: what a lane keeps of its K columns, and how it takes rows, in narrow, wide and diagonal sweeps.
// PointCells are of padding-safe recurrences (recurrence.cuh) whose price is made of two points; other recurrences
// bring cells of their own (recurrence/*_cells.cuh).
//
// Rows come in bundles of kRows, swept anti-diagonal by anti-diagonal, so that kRows chains of dependent cells are
// under way at once:
//
//            k = 0  1  2  3                numbers: the step in which a cell is made; within a step, the rows from the
//   row 0      | 0  1  2  3                bottom up, so that a row reads what the row above it wrote a step before
//   row 1      | 1  2  3  4
#pragma once

#include "../recurrence/norm.cuh"
#include "columns.cuh"

namespace dtw {

// Most columns that two neighbouring lanes may share; see `Layout` in wide.cuh.
constexpr int kShared = 7;

// Which column is a lane's right edge, whose cells go to the next lane: the last, or one up to kShared before it. Bits
// of that distance.
struct EdgeColumn {
    bool one, two, four;

    DTW_DEVICE explicit EdgeColumn(uint32_t before_last)
        : one((before_last & 1) != 0), two((before_last & 2) != 0), four((before_last & 4) != 0) {}
};

// The cell of a row that is in the edge column, picked as the row is made: `take` is told every cell in turn.
// Neighbours share up to kMost columns: none, one, or kShared.
template <int K, int kMost, class T>
struct EdgeCell {
    T value, odd, pair;

    // Cells from the last back: 7, 6, 5, 4, 3, 2, 1, 0 columns before it, in this order.
    DTW_DEVICE void take(int k, T cell, const EdgeColumn& at) {
        const int back = K - 1 - k;
        if (kMost == 0 || back > kMost) {
            value = cell;
            return;
        }
        if (back % 2 == 1) {
            odd = cell;
            return;
        }
        const T of_two = at.one && back + 1 < K ? odd : cell;
        if (kMost == 1) {
            value = of_two;
        } else if (back % 4 == 2) {
            pair = of_two;
        } else {
            const T of_four = at.two && back + 2 < K ? pair : of_two;
            value = back == 4 || !at.four || K <= 4 ? of_four : value;
        }
    }
};

// Calls visit(q, k) for the cells of kRows rows and K columns, anti-diagonal by anti-diagonal as above.
template <int K, int kRows, class Visit>
DTW_DEVICE void visit_cells(const Visit& visit) {
    DTW_UNROLL
    for (int s = 0; s < K + kRows - 1; ++s) {
        // Rows from the bottom up: row q is in column s - q, below what row q - 1 wrote one column step before.
        DTW_UNROLL
        for (int q = kRows - 1; q >= 0; --q) {
            const int k = s - q;
            if (k >= 0 && k < K) {
                visit(q, k);
            }
        }
    }
}

// The cell of this number, for a number that the compiler does not know.
template <int K, class T>
DTW_DEVICE T pick(const T (&cell)[K], uint32_t k) {
    T value = cell[K - 1];
    if (k != K - 1) {
        DTW_UNROLL
        for (int q = 0; q < K - 1; ++q) {
            value = static_cast<uint32_t>(q) == k ? cell[q] : value;
        }
    }
    return value;
}

// Points and cells: dtw.
template <class R, int K>
struct PointCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = false, kBorders = false;
    // Whether differences come in twos: of a row's point and those of two columns.
    static constexpr bool kTwos = kPackedFloats && std::is_same<typename R::Norm, Difference<float>>::value;
    T cell[K], point[K];

    DTW_DEVICE void load(const R& r, const Points<T>&, const Points<T>& y, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = y.values[y.clamped(first + k)];
            cell[k] = r.forbidden();
        }
    }

    struct Row {
        T point;
        DTW_DEVICE void read(const T* values, const T*, int32_t i) { point = values[i]; }
    };
    DTW_DEVICE void begin(int32_t, uint32_t) {}

    // How far a row's point is from that of column k; `next` keeps it for column k + 1.
    DTW_DEVICE T between(const R& r, T x, int k, T& next) const {
        if constexpr (kTwos) {
            if (k % 2 == 0 && k + 1 < K) {
                T both[2];
                subtract_both(x, point[k], point[k + 1], both);
                next = both[1];
                return both[0];
            }
            return k % 2 == 1 ? next : x - point[k];
        } else {
            return r.norm.one(x, point[k]);
        }
    }

    // kRows rows; `left` and the cells above it in, those of the edge column in `edge` out.
    template <int kMost, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const EdgeColumn& at) {
        const Sample<T> none{};
        T row[kRows], next[kRows];
        EdgeCell<K, kMost, T> edges[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
        }
        visit_cells<K, kRows>([&](int q, int k) {
            const T up = cell[k];
            const T price = r.price(between(r, x[q].point, k, next[q]), T(0), none, none, T(1));
            const T here = r.combine(diagonal[q], up, row[q], price);
            diagonal[q] = up;
            cell[k] = row[q] = here;
            edges[q].take(k, here, at);
        });
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edges[q].value;
        }
    }
};

}  // namespace dtw
