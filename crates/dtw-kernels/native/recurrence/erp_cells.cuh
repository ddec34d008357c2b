// ERP's cells at full speed (see lanes/cells.cuh): beside its points and cells a lane keeps what its columns cost to
// delete. Borders add up these costs, so a lane that has not begun keeps its cells.
#pragma once

#include "../lanes/cells.cuh"
#include "../lanes/offset_cells.cuh"

namespace dtw {

template <class R, int K>
struct GapCells {
    using T = typename R::Number;
    using Cell = T;
    static constexpr bool kEarly = false, kBorders = true;
    T cell[K], point[K], gap[K];

    DTW_DEVICE void load(const R& r, const Points<T>&, const Points<T>& y, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = y.clamped(first + k);
            point[k] = y.values[j];
            gap[k] = y.gaps[j];
            cell[k] = r.border_right(j + 1, y.sum(j));
        }
    }
    // The border cells of row i and of the column before `first`; the cell as a number, and back.
    DTW_DEVICE T border(const R& r, const Points<T>& x, uint32_t i) const { return r.border_down(i + 1, x.sum(i)); }
    static DTW_DEVICE T corner(const R& r, const Points<T>& y, uint32_t first) {
        return first == 0 ? r.origin() : r.border_right(first, y.sum(y.clamped(first - 1)));
    }
    static DTW_DEVICE T number(T cell) { return cell; }
    static DTW_DEVICE T cell_of(T number) { return number; }
    DTW_DEVICE T finish(const R& r, T value, uint32_t n, uint32_t m) const { return r.finish(value, n, m); }

    struct Row {
        T point, gap;
        DTW_DEVICE void read(const T* values, const T* gaps, int32_t i) {
            point = values[i];
            gap = gaps[i];
        }
    };

    // kRows rows. kAll: all of them are of the pair; otherwise those that are `begun`.
    template <bool kAll, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const T (&left)[kRows], T (&diagonal)[kRows], T (&edge)[kRows],
                         const bool (&begun)[kRows]) {
        T row[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
        }
        visit_cells<K, kRows>([&](int q, int k) {
            const T up = cell[k];
            const Prices<T> price{r.norm.one(x[q].point, point[k]), x[q].gap, gap[k]};
            const T here = choose(kAll || begun[q], r.combine(diagonal[q], up, row[q], price), up);
            diagonal[q] = up;
            cell[k] = row[q] = here;
        });
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = row[q];
        }
    }
};

// The same in a band along the diagonal.
template <class R>
struct GapOffsets : NumberOffsets<R> {
    using T = typename R::Number;
    static constexpr bool kAddsUp = true;

    static DTW_DEVICE T above(const R& r, const Points<T>& y, int32_t j) {
        const T sum = y.sum(j > 0 ? y.clamped(static_cast<uint32_t>(j - 1)) : 0);
        return j == 0 ? r.origin() : j > 0 ? r.border_right(static_cast<uint32_t>(j), sum) : r.forbidden();
    }
    // The border cell of row i, or of the series' first or last, if that is nearer.
    static DTW_DEVICE T border(const R& r, const Points<T>& x, int32_t i) {
        const uint32_t row = x.clamped(i > 0 ? static_cast<uint32_t>(i) : 0);
        return r.border_down(row + 1, x.sum(row));
    }
};

}  // namespace dtw
