// MSM's cells at full speed (see lanes/cells.cuh): how far a point is from the interval between the point before it and
// the opposite one takes two comparisons, where both differences are at hand.
//
//   d = x_i - y_j, s = x_i - x_(i-1). If their signs differ, x_i lies between, and the distance is 0; else it is the
//   smaller of both. So it is |d clamped to the interval from min(s, 0) to max(s, 0)|, the same number bit by bit.
#pragma once

#include "../lanes/cells.cuh"
#include "../lanes/offset_cells.cuh"

namespace dtw {

template <class T>
DTW_DEVICE T clamp(T value, T low, T high) { return lesser(larger(value, low), high); }

template <class R, int K>
struct MsmCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = false, kBorders = false;
    T cell[K], point[K];
    T low[K], high[K];  // of a column's point: the span of a sample, from y_(j-1) - y_j to 0
    T before;           // the row's point before the next

    DTW_DEVICE void load(const R& r, const Points<T>&, const Points<T>& y, uint32_t first) {
        before = T(0);
        T previous = first > 0 ? y.values[y.clamped(first - 1)] : T(0);
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = y.values[y.clamped(first + k)];
            const T step = previous - point[k];
            low[k] = lesser(step, T(0));
            high[k] = larger(step, T(0));
            previous = point[k];
            cell[k] = r.forbidden();
        }
    }

    struct Row {
        T point;
        DTW_DEVICE void read(const T* values, const T*, int32_t i) { point = values[i]; }
    };
    DTW_DEVICE void begin(int32_t, uint32_t) {}

    // What comes before the first row does not matter: cells above it are forbidden.
    template <int kMost, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const EdgeColumn& at) {
        T row[kRows], least[kRows], most[kRows];
        EdgeCell<K, kMost, T> edges[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
            const T step = x[q].point - (q == 0 ? before : x[q > 0 ? q - 1 : 0].point);
            least[q] = lesser(step, T(0));
            most[q] = larger(step, T(0));
        }
        before = x[kRows - 1].point;
        visit_cells<K, kRows>([&](int q, int k) {
            const T up = cell[k], between = x[q].point - point[k];
            const T split = r.c + abs_(clamp(between, least[q], most[q]));
            const T merge = r.c + abs_(clamp(between, low[k], high[k]));
            const T here = min3_nonnegative(diagonal[q] + abs_(between), up + split, row[q] + merge);
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

// The same in a band along the diagonal.
template <class R>
struct MsmOffsets : NumberOffsets<R> {
    using T = typename R::Number;

    static DTW_DEVICE T combine(const R& r, T diagonal, T up, T left, T distance, typename R::Price, const Sample<T>& x,
                                const Sample<T>& y) {
        const T between = x.point - y.point;
        const T split = r.c + abs_(clamp(between, x.low, x.high));
        const T merge = r.c + abs_(clamp(between, y.low, y.high));
        return min3_nonnegative(diagonal + distance, up + split, left + merge);
    }
};

}  // namespace dtw
