// MSM: D(i,j) = min(D(i-1,j-1) + |x_i - y_j|, D(i-1,j) + C(x_i; x_(i-1), y_j), D(i,j-1) + C(y_j; y_(j-1), x_i)), where
// C(a; b, c) is c0 plus the distance of a to the interval between b and c. One channel.
// Stefan, Athitsos & Das 2013, 10.1109/TKDE.2012.88.
#pragma once

#include "msm_cells.cuh"
#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T>
struct Msm : TotalBase<T> {
    using Price = Prices<T>;
    using Norm = Absolute<T>;
    static constexpr bool kPrevious = true, kPaddingSafe = true;
    template <class R, int K>
    using Cells = MsmCells<R, K>;
    template <class R, int K>
    using StripCells = MsmCells<R, K>;
    template <class R>
    using Offsets = MsmOffsets<R>;
    Norm norm;
    T c;
    explicit DTW_DEVICE Msm(const Sweep& p) : norm{}, c(static_cast<T>(p.parameters[0])) {}
    DTW_DEVICE T split(T added, T before, T opposite) const {
        const T low = min_(before, opposite), high = max_(before, opposite);
        return c + max_(max_(low - added, added - high), T(0));
    }
    DTW_DEVICE Price price(T distance, T, const Sample<T>& x, const Sample<T>& y, T) const {
        return {distance, split(x.point, x.previous, y.point), split(y.point, y.previous, x.point)};
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, Price price) const {
        return min3_nonnegative(diagonal + price.match, up + price.up, left + price.left);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, Price price) const {
        return first_least(diagonal + price.match, up + price.up, left + price.left);
    }
};

}  // namespace dtw
