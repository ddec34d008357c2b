// ERP: D(i,j) = min(D(i-1,j-1) + |x_i - y_j|, D(i-1,j) + |x_i - g|, D(i,j-1) + |y_j - g|); the borders add up the gap
// costs. Chen & Ng 2004, 10.1016/B978-012088469-8.50070-X.
#pragma once

#include "erp_cells.cuh"
#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Erp : TotalBase<T> {
    using Price = Prices<T>;
    using Norm = Rooted<T>;
    static constexpr bool kGaps = true, kBorders = true;
    template <class R, int K>
    using Cells = GapCells<R, K>;
    template <class R, int K>
    using StripCells = GapCells<R, K>;
    template <class R>
    using Offsets = GapOffsets<R>;
    Norm norm;
    explicit DTW_DEVICE Erp(const Sweep&) : norm{} {}
    DTW_DEVICE T border_right(uint32_t, T sum) const { return sum; }
    DTW_DEVICE T border_down(uint32_t, T sum) const { return sum; }
    DTW_DEVICE Price price(T distance, T, const Sample<T>& x, const Sample<T>& y, T) const {
        return {distance, x.gap, y.gap};
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, Price price) const {
        return min3_nonnegative(diagonal + price.match, up + price.up, left + price.left);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, Price price) const {
        return first_least(diagonal + price.match, up + price.up, left + price.left);
    }
};

}  // namespace dtw
