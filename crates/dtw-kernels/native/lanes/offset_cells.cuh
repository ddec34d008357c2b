// What a place of a diagonal sweep holds, of one offset from the diagonal: a number, for recurrences that forbid border
// cells. Recurrences with borders bring their own (recurrence/*_cells.cuh).
#pragma once

#include "columns.cuh"

namespace dtw {

template <class R>
struct NumberOffsets {
    using T = typename R::Number;
    using Cell = T;
    // Whether the border column adds up costs, and so must be set row by row.
    static constexpr bool kAddsUp = false;

    static DTW_DEVICE Cell forbidden(const R& r) { return r.forbidden(); }
    // The cell of the row above the first, above and to the left of column j, which may be before the first.
    static DTW_DEVICE Cell above(const R& r, const Points<T>&, int32_t j) {
        return R::kPriceForbids && j == 0 ? r.origin() : r.forbidden();
    }
    static DTW_DEVICE Cell combine(const R& r, Cell diagonal, Cell up, Cell left, T, typename R::Price price,
                                   const Sample<T>&, const Sample<T>&) {
        return r.combine(diagonal, up, left, price);
    }
    static DTW_DEVICE T finish(const R& r, Cell value, uint32_t n, uint32_t m) { return r.finish(value, n, m); }
};

}  // namespace dtw
