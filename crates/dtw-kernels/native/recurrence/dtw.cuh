// DTW: D(i,j) = c(x_i, y_j) + min(D(i-1,j-1), D(i-1,j), D(i,j-1)); D(0,0) = 0, other borders infinite.
// Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

// A local cost: its norm, and how a compared pair of points is added to a total.
struct SquaredEuclidean {
    template <class T, bool kMany>
    using Norm = typename std::conditional<kMany, Squared<T>, Difference<T>>::type;
    template <bool kMany, class T>
    static DTW_DEVICE T add(T base, T between) { return kMany ? base + between : fma_(between, between, base); }
};
struct Euclidean {
    template <class T, bool>
    using Norm = Rooted<T>;
    template <bool, class T>
    static DTW_DEVICE T add(T base, T between) { return base + between; }
};
struct Manhattan {
    template <class T, bool>
    using Norm = Absolute<T>;
    template <bool, class T>
    static DTW_DEVICE T add(T base, T between) { return base + between; }
};

template <class T, class Cost, bool kMany>
struct Dtw : TotalBase<T> {
    using Price = T;
    using Norm = typename Cost::template Norm<T, kMany>;
    static constexpr bool kPaddingSafe = true, kPriceForbids = true;
    template <class R, int K>
    using Cells = PointCells<R, K>;
    template <class R, int K>
    using StripCells = PointCells<R, K>;
    Norm norm;
    explicit DTW_DEVICE Dtw(const Sweep&) : norm{} {}
    DTW_DEVICE T price(T between, T, const Sample<T>&, const Sample<T>&, T) const { return between; }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return Cost::template add<kMany>(min3_nonnegative(diagonal, up, left), price);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T) const { return first_least(diagonal, up, left); }
};

// DTW whose path may start in any row: the border column is 0. With the last column kept, the costs of subsequence DTW
// without the starts (rows: the reference, columns: the query).
template <class T, class Cost, bool kMany>
struct OpenDtw : Dtw<T, Cost, kMany> {
    static constexpr bool kOpen = true;
    explicit DTW_DEVICE OpenDtw(const Sweep& p) : Dtw<T, Cost, kMany>(p) {}
    DTW_DEVICE T border_down(uint32_t, T) const { return T(0); }
};

}  // namespace dtw
