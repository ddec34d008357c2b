// WDTW's cells at full speed (see lanes/cells.cuh): a weight depends on how far a cell is from the diagonal, so a lane
// keeps the weights of its columns, moves them on by a column with every row, and reads one more.
//
//   row i        w(f - i - 1)  w(f - i)  w(f - i + 1)  ...      f: the lane's first column
//   row i + 1      w(f - i - 2)  w(f - i - 1)  w(f - i)  ...
#pragma once

#include "../lanes/cells.cuh"

namespace dtw {

template <class R, int K>
struct WeightedCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = false, kBorders = false;
    static constexpr int kWeighted = 2;
    T cell[K], point[K];
    T weight[K + 1];      // weight[e] is of column first + e - 1 beside the next row
    T coming[kWeighted];  // of the columns before these, from the right
    const T* table;
    int32_t offset, limit;  // column less row of weight[0]; the farthest from the diagonal

    DTW_DEVICE void load(const R& r, const Points<T>& x, const Points<T>& y, uint32_t first) {
        limit = static_cast<int32_t>(max_(x.length, y.length));
        table = r.weights - limit;
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
    // The next row is `row`, the lane's first column `first`.
    DTW_DEVICE void begin(int32_t row, uint32_t first) {
        offset = static_cast<int32_t>(first) - 1 - row;
        DTW_UNROLL
        for (int e = 0; e <= K; ++e) {
            weight[e] = weight_of(offset + e);
        }
        fetch();
    }

    template <int kMost, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const EdgeColumn& at) {
        static_assert(kRows == kWeighted, "weights are of two rows: of one, nvcc 13.0 keeps them in memory");
        const Sample<T> none{};
        T row[kRows];
        EdgeCell<K, kMost, T> edges[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
        }
        visit_cells<K, kRows>([&](int q, int k) {
            const T up = cell[k];
            const T price = r.price(r.norm.one(x[q].point, point[k]), T(0), none, none, weight[k - q + 1]);
            const T here = r.combine(diagonal[q], up, row[q], price);
            diagonal[q] = up;
            cell[k] = row[q] = here;
            edges[q].take(k, here, at);
        });
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edges[q].value;
        }
        DTW_UNROLL
        for (int e = K; e >= kRows; --e) {
            weight[e] = weight[e - kRows];
        }
        weight[1] = coming[0];
        weight[0] = coming[1];
        offset -= kRows;
        fetch();
    }

private:
    DTW_DEVICE T weight_of(int32_t from_diagonal) const {
        return table[2 * static_cast<int64_t>(min_(abs_(from_diagonal), limit))];
    }
    DTW_DEVICE void fetch() {
        DTW_UNROLL
        for (int q = 0; q < kWeighted; ++q) {
            coming[q] = weight_of(offset - 1 - q);
        }
    }
    static DTW_DEVICE int32_t abs_(int32_t v) { return v < 0 ? -v : v; }
};

}  // namespace dtw
