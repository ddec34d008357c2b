// What a lane keeps of its K columns, and how it takes rows: for the sweeps at full speed (narrow.cuh, wide.cuh), which serve
// recurrences whose cells are numbers and whose prices come from the points of the row and the column (kPaddingSafe).
//
// Rows come in bundles of kRows, swept anti-diagonal by anti-diagonal, so that kRows chains of dependent cells are under way
// at once.
#pragma once

#include "columns.cuh"

namespace dtw {

// Most columns that two neighbouring lanes may share; see `Layout` in wide.cuh.
constexpr int kShared = 7;

// Which cell of a lane goes to the next: the last, or one up to kShared before it. Bits of that distance.
struct Outlet {
    bool one, two, four;

    DTW_DEVICE explicit Outlet(uint32_t before_last)
        : one((before_last & 1) != 0), two((before_last & 2) != 0), four((before_last & 4) != 0) {}
};

// The cell that leaves a row, picked as the row is made: `take` is told every cell in turn. Neighbours share up to kMost columns:
// none, one, or kShared.
template <int K, int kMost, class T>
struct Leaving {
    T value, odd, pair;

    // Cells from the last back: 7, 6, 5, 4, 3, 2, 1, 0 columns before it, in this order.
    DTW_DEVICE void take(int k, T cell, const Outlet& outlet) {
        const int back = K - 1 - k;
        if (kMost == 0 || back > kMost) {
            value = cell;
            return;
        }
        if (back % 2 == 1) {
            odd = cell;
            return;
        }
        const T of_two = outlet.one && back + 1 < K ? odd : cell;
        if (kMost == 1) {
            value = of_two;
        } else if (back % 4 == 2) {
            pair = of_two;
        } else {
            const T of_four = outlet.two && back + 2 < K ? pair : of_two;
            value = back == 4 || !outlet.four || K <= 4 ? of_four : value;
        }
    }
};

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
    static constexpr bool kEarly = false;
    T cell[K], point[K];

    DTW_DEVICE void load(const R& r, const Points<T>& y, uint32_t first) {
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

    // kRows rows; `left` and the cells above it in, the cells that leave in `edge` out.
    template <int kMost, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const Outlet& outlet) {
        const Sample<T> none{};
        T row[kRows];
        Leaving<K, kMost, T> leaving[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
        }
        DTW_UNROLL
        for (int s = 0; s < K + kRows - 1; ++s) {
            // Rows from the bottom up: row q is in column s - q, below what row q - 1 wrote one column step before.
            DTW_UNROLL
            for (int q = kRows - 1; q >= 0; --q) {
                const int k = s - q;
                if (k >= 0 && k < K) {
                    const T up = cell[k];
                    const T price = r.price(r.norm.one(x[q].point, point[k]), T(0), none, none, T(1));
                    const T here = r.combine(diagonal[q], up, row[q], price);
                    diagonal[q] = up;
                    cell[k] = row[q] = here;
                    leaving[q].take(k, here, outlet);
                }
            }
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = leaving[q].value;
        }
    }
};

// Cells of twed without timestamps: what a column costs to delete, and how far its point was from the row's before.
template <class R, int K>
struct LaggedCells {
    using T = typename R::Number;
    static constexpr bool kEarly = false;
    T cell[K], point[K], gap[K], apart[K];
    T point_before, apart_before;
    T lag;  // the next row's place less the first column's

    DTW_DEVICE void load(const R& r, const Points<T>& y, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = y.values[y.clamped(first + k)];
            gap[k] = y.gaps[y.clamped(first + k)];
            cell[k] = r.forbidden();
            apart[k] = point[k];  // from zero, which comes before the first row
        }
        point_before = first > 0 ? y.values[y.clamped(first - 1)] : T(0);
        apart_before = point_before;
    }

    struct Row {
        T point, gap;
        DTW_DEVICE void read(const T* values, const T* gaps, int32_t i) {
            point = values[i];
            gap = gaps[i];
        }
    };
    // The next row is `row`, the lane's first column `first`.
    DTW_DEVICE void begin(int32_t row, uint32_t first) { lag = static_cast<T>(row - static_cast<int32_t>(first)); }

    template <int kMost, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const Outlet& outlet) {
        T row[kRows];
        T latest[kRows], older[kRows];  // how far each row's point is from its last column's, and from the one before
        T above = apart_before;         // the same for the row before the first, one column back
        Leaving<K, kMost, T> leaving[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
            latest[q] = older[q] = x[q].point - point_before;
        }
        apart_before = latest[kRows - 1];
        DTW_UNROLL
        for (int s = 0; s < K + kRows - 1; ++s) {
            DTW_UNROLL
            for (int q = kRows - 1; q >= 0; --q) {
                const int k = s - q;
                if (k >= 0 && k < K) {
                    const T up = cell[k], between = x[q].point - point[k];
                    const T price = r.match(between, q == 0 ? above : older[q > 0 ? q - 1 : 0], lag + T(q - k));
                    if (q == 0) {
                        above = apart[k];
                    }
                    older[q] = latest[q];
                    latest[q] = between;
                    if (q == kRows - 1) {
                        apart[k] = between;
                    }
                    const T here = min3_nonnegative(diagonal[q] + price, up + x[q].gap, row[q] + gap[k]);
                    diagonal[q] = up;
                    cell[k] = row[q] = here;
                    leaving[q].take(k, here, outlet);
                }
            }
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = leaving[q].value;
        }
        lag += T(kRows);
    }
};

// The same for few, narrow lanes, where nothing but the wait for the left neighbour counts: what comes to a row from above is
// made as soon as the row above is, so that a cell is one addition and one comparison behind the cell to its left.
template <class R, int K>
struct EarlyCells {
    using T = typename R::Number;
    static constexpr bool kEarly = true;
    using Row = typename LaggedCells<R, K>::Row;
    T cell[K], point[K], gap[K], apart[K], above[K];  // above: the least of what comes to the next row not from its left
    T point_before, apart_before;
    T lag;  // the row after the next, less the first column

    DTW_DEVICE void load(const R& r, const Points<T>& y, uint32_t first) {
        LaggedCells<R, K> same;
        same.load(r, y, first);
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = same.point[k];
            gap[k] = same.gap[k];
            cell[k] = same.cell[k];
            apart[k] = same.apart[k];
        }
        point_before = same.point_before;
        apart_before = same.apart_before;
    }
    // The next row is `row`, which is x; the cell above the first column's left neighbour is `corner`.
    DTW_DEVICE void begin(const R& r, const Row& x, int32_t row, uint32_t first, T corner) {
        lag = static_cast<T>(row - static_cast<int32_t>(first));
        T previous = apart_before, diagonal = corner;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            arrive(r, x, k, previous, diagonal);
        }
        advance(x);
    }
    // One row with `left`, when the row after it is x.
    DTW_DEVICE T take(const R& r, const Row& x, T left) {
        T row = left, previous = apart_before, diagonal = left;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = row = min_nonnegative(above[k], row + gap[k]);
            arrive(r, x, k, previous, diagonal);
        }
        advance(x);
        return row;
    }

private:
    DTW_DEVICE void arrive(const R& r, const Row& x, int k, T& previous, T& diagonal) {
        const T between = x.point - point[k], price = r.match(between, previous, lag - T(k));
        previous = apart[k];
        apart[k] = between;
        above[k] = min_nonnegative(diagonal + price, cell[k] + x.gap);
        diagonal = cell[k];
    }
    DTW_DEVICE void advance(const Row& x) {
        apart_before = x.point - point_before;
        lag += T(1);
    }
};

}  // namespace dtw
