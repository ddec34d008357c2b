// LCSS: L(i,j) = L(i-1,j-1) + 1 if |x_i - y_j| <= e, else max(L(i-1,j), L(i,j-1)); borders 0. Kept as -L, so that the
// best arrival is the least. A band restricts matches: outside it L is the larger of L(i-1,j) and L(i,j-1). Vlachos,
// Kollios & Gunopulos 2002, 10.1109/ICDE.2002.994784.
#pragma once

#include "count_cells.cuh"
#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Lcss : TotalBase<T> {
    using Price = T;
    using Norm = Rooted<T>;
    static constexpr bool kBorders = true, kLeavesBand = true, kThreshold = true;
    static constexpr int32_t kMismatch = 0;
    template <class R, int K>
    using Cells = CountCells<R, K>;
    template <class R, int K>
    using StripCells = CountCells<R, K>;
    template <class R>
    using Offsets = CountOffsets<R>;
    Norm norm;
    T epsilon;
    bool length;
    explicit DTW_DEVICE Lcss(const Sweep& p)
        : norm{}, epsilon(static_cast<T>(p.parameters[0])), length(p.option == 1) {}
    DTW_DEVICE T border_right(uint32_t, T) const { return T(0); }
    DTW_DEVICE T border_down(uint32_t, T) const { return T(0); }
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T) const {
        return distance <= epsilon ? T(-1) : T(0);
    }
    DTW_DEVICE T outside(T up, T left) const { return min_(up, left); }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const { return min3(diagonal + price, up, left); }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T price) const {
        return first_least(diagonal + price, up, left);
    }
    DTW_DEVICE T finish_count(int32_t count, uint32_t n, uint32_t m) const {
        return finish(T(0) - static_cast<T>(count), n, m);
    }
    DTW_DEVICE T finish(T state, uint32_t n, uint32_t m) const {
        const T matched = T(0) - state;
        return length ? matched : T(1) - matched / static_cast<T>(n < m ? n : m);
    }
};

}  // namespace dtw
