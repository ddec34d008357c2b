// WDTW: DTW of squared Euclidean cost, each cell weighted by 1 / (1 + e^(-g(|i-j| - max(n,m)/2))).
// The weights come in a table. Jeong, Jeong & Omitaomu 2011, 10.1016/j.patcog.2010.09.022.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"
#include "wdtw_cells.cuh"

namespace dtw {

template <class T, bool kMany>
struct Wdtw : TotalBase<T> {
    using Price = T;
    using Norm = Squared<T>;
    static constexpr bool kWeights = true, kPaddingSafe = true;
    template <class R, int K>
    using Cells = WeightedCells<R, K>;
    template <class R, int K>
    using StripCells = WeightedCells<R, K>;
    Norm norm;
    const T* weights;  // of offsets from the diagonal, less half the longer length: two numbers an offset
    explicit DTW_DEVICE Wdtw(const Sweep& p)
        : norm{}, weights(static_cast<const T*>(p.weights) + p.weight_center) {}
    // Without weight a cell is free: 0 times a cost that overflowed is no number, and then the
    // price is the zero.
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T weight) const {
        return larger(weight * distance, T(0));
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return price + min3_nonnegative(diagonal, up, left);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T) const { return first_least(diagonal, up, left); }
};

}  // namespace dtw
