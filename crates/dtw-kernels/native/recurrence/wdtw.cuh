// WDTW: DTW of squared Euclidean cost, each cell weighted by 1 / (1 + e^(-g(|i-j| - max(n,m)/2))).
// The weights come in a table. Jeong, Jeong & Omitaomu 2011, 10.1016/j.patcog.2010.09.022.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Wdtw : TotalBase<T> {
    using Price = T;
    using Norm = Squared<T>;
    static constexpr bool kWeights = true;
    Norm norm;
    explicit DTW_DEVICE Wdtw(const Sweep&) : norm{} {}
    // Without weight a cell is free: 0 times a cost that overflowed would be no number.
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T weight) const {
        return weight == T(0) ? T(0) : weight * distance;
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return price + min3_nonnegative(diagonal, up, left);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T) const { return first_least(diagonal, up, left); }
};

}  // namespace dtw
