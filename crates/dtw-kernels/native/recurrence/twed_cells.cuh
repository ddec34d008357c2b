// TWED's cells at full speed (see lanes/cells.cuh), for series without timestamps: beside its points and cells a lane
// keeps what its columns cost to delete, and how far their points were from the point of the row before.
#pragma once

#include "../lanes/cells.cuh"

namespace dtw {

// Cells of twed without timestamps: what a column costs to delete, and how far its point was from the row's before.
template <class R, int K>
struct LaggedCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = false, kBorders = false;
    T cell[K], point[K], gap[K], apart[K];
    T point_before, apart_before;
    T lag;  // the next row's place less the first column's

    DTW_DEVICE void load(const R& r, const Points<T>&, const Points<T>& y, uint32_t first) {
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
                         const EdgeColumn& at) {
        T row[kRows];
        T latest[kRows], older[kRows];  // how far each row's point is from its last column's, and from the one before
        T above = apart_before;         // the same for the row before the first, one column back
        EdgeCell<K, kMost, T> edges[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
            latest[q] = older[q] = x[q].point - point_before;
        }
        apart_before = latest[kRows - 1];
        visit_cells<K, kRows>([&](int q, int k) {
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
            edges[q].take(k, here, at);
        });
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edges[q].value;
        }
        lag += T(kRows);
    }
};

// The same for few, narrow lanes, where nothing but the wait for the left neighbour counts: what comes to a row from
// above is made as soon as the row above is, so that a cell is one addition and one comparison behind the cell to its
// left.
template <class R, int K>
struct EarlyCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = true, kBorders = false;
    using Row = typename LaggedCells<R, K>::Row;
    T cell[K], point[K], gap[K], apart[K], above[K];  // above: the least of what comes to the next row not from its left
    T point_before, apart_before;
    T lag;  // the row after the next, less the first column

    DTW_DEVICE void load(const R& r, const Points<T>& x, const Points<T>& y, uint32_t first) {
        LaggedCells<R, K> same;
        same.load(r, x, y, first);
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
