// Cells at full speed (see lanes/cells.cuh) of recurrences that count matches: EDR and LCSS. A cell is a whole number
//
//   C(i, j) = max(C(i-1, j-1) + kMismatch + [match], C(i-1, j), C(i, j-1)), borders 0
//
// LCSS is that with kMismatch = 0. EDR is i + j - C with kMismatch = 1: what a deletion costs is in i + j.
#pragma once

#include "../lanes/cells.cuh"
#include "../lanes/offset_cells.cuh"

namespace dtw {

template <class R, int K>
struct CountCells {
    using T = typename R::Number;
    using Cell = int32_t;
    static constexpr bool kEarly = false, kBorders = true;
    T point[K];
    Cell cell[K];

    DTW_DEVICE void load(const R&, const Points<T>&, const Points<T>& y, uint32_t first) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            point[k] = y.values[y.clamped(first + k)];
            cell[k] = 0;
        }
    }
    // The border cells of row i and of the column before `first`; the cell as a number, and back.
    DTW_DEVICE Cell border(const R&, const Points<T>&, uint32_t) const { return 0; }
    static DTW_DEVICE Cell corner(const R&, const Points<T>&, uint32_t) { return 0; }
    static DTW_DEVICE T number(Cell cell) {
        typename Limits<T>::Bits bits = cell;
        return from_bits(bits);
    }
    static DTW_DEVICE Cell cell_of(T number) { return static_cast<Cell>(bits_of(number)); }
    DTW_DEVICE T finish(const R& r, Cell count, uint32_t n, uint32_t m) const { return r.finish_count(count, n, m); }

    struct Row {
        T point;
        DTW_DEVICE void read(const T* values, const T*, int32_t i) { point = values[i]; }
    };

    // kRows rows. kAll: all of them are of the pair; otherwise those that are `begun`.
    template <bool kAll, int kRows>
    DTW_DEVICE void take(const R& r, const Row (&x)[kRows], const Cell (&left)[kRows], Cell (&diagonal)[kRows],
                         Cell (&edge)[kRows], const bool (&begun)[kRows]) {
        Cell row[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
        }
        visit_cells<K, kRows>([&](int q, int k) {
            const Cell up = cell[k], match = r.norm.one(x[q].point, point[k]) <= r.epsilon ? 1 : 0;
            const Cell counted = add_max_bits(diagonal[q], R::kMismatch + match, max_(up, row[q]));
            const Cell here = choose(kAll || begun[q], counted, up);
            diagonal[q] = up;
            cell[k] = row[q] = here;
        });
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = row[q];
        }
    }
};

// The same in a band along the diagonal: C(i, j) - kMismatch j, so that a mismatch costs nothing, and a step to the
// right kMismatch. Before the first column, where nothing matches, every cell is then the border's: 0. Beyond the band
// counts are less than any, also LCSS's: what it has there is no more than what comes from the diagonal.
template <class R>
struct CountOffsets {
    using T = typename R::Number;
    using Cell = int32_t;
    static constexpr bool kAddsUp = false;

    static DTW_DEVICE Cell forbidden(const R&) { return -0x40000000; }
    // The cell of the row above the first, above and to the left of column j.
    static DTW_DEVICE Cell above(const R&, const Points<T>&, int32_t j) { return j > 0 ? -R::kMismatch * j : 0; }
    static DTW_DEVICE Cell combine(const R& r, Cell diagonal, Cell up, Cell left, T distance, T, const Sample<T>&,
                                   const Sample<T>&) {
        const Cell matched = distance <= r.epsilon ? diagonal + 1 : diagonal;
        return max3_bits(matched, up, left - R::kMismatch);
    }
    static DTW_DEVICE T finish(const R& r, Cell count, uint32_t n, uint32_t m) {
        return r.finish_count(count + R::kMismatch * static_cast<int32_t>(m), n, m);
    }
};

}  // namespace dtw
