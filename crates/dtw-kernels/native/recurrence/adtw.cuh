// ADTW: D(i,j) = c(x_i, y_j) + min(D(i-1,j-1), D(i-1,j) + w, D(i,j-1) + w), squared Euclidean c.
// Herrmann & Webb 2023, 10.1016/j.patcog.2023.109333.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Adtw : TotalBase<T> {
    using Price = T;
    using Norm = Squared<T>;
    static constexpr bool kPaddingSafe = true, kPriceForbids = true;
    template <class R, int K>
    using Cells = PointCells<R, K>;
    template <class R, int K>
    using StripCells = PointCells<R, K>;
    Norm norm;
    T penalty;
    explicit DTW_DEVICE Adtw(const Sweep& p) : norm{}, penalty(static_cast<T>(p.parameters[0])) {}
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T) const { return distance; }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return price + min3_nonnegative(diagonal, up + penalty, left + penalty);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T) const {
        return first_least(diagonal, up + penalty, left + penalty);
    }
};

}  // namespace dtw
