// Discrete Frechet distance: D(i,j) = max(|x_i - y_j|, min(D(i-1,j-1), D(i-1,j), D(i,j-1))); D(0,0) = 0, other borders
// infinite. Eiter & Mannila 1994, technical report CD-TR 94/64, Technische Universitaet Wien.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Frechet : TotalBase<T> {
    using Price = T;
    using Norm = Rooted<T>;
    static constexpr bool kPriceForbids = true;
    Norm norm;
    explicit DTW_DEVICE Frechet(const Sweep&) : norm{} {}
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T) const { return distance; }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return max_(price, min3_nonnegative(diagonal, up, left));
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T) const { return first_least(diagonal, up, left); }
};

}  // namespace dtw
