// EDR: D(i,j) = min(D(i-1,j-1) + [|x_i - y_j| > e], D(i-1,j) + 1, D(i,j-1) + 1); borders i and j.
// Chen, Ozsu & Oria 2005, 10.1145/1066157.1066213.
#pragma once

#include "count_cells.cuh"
#include "norm.cuh"
#include "recurrence.cuh"

namespace dtw {

template <class T, bool kMany>
struct Edr : TotalBase<T> {
    using Price = T;
    using Norm = Rooted<T>;
    static constexpr bool kBorders = true, kThreshold = true;
    static constexpr int32_t kMismatch = 1;
    template <class R, int K>
    using Cells = CountCells<R, K>;
    template <class R, int K>
    using StripCells = CountCells<R, K>;
    template <class R>
    using Offsets = CountOffsets<R>;
    Norm norm;
    T epsilon;
    bool normalized;
    explicit DTW_DEVICE Edr(const Sweep& p)
        : norm{}, epsilon(static_cast<T>(p.parameters[0])), normalized(p.option == 1) {}
    DTW_DEVICE T border_right(uint32_t j, T) const { return static_cast<T>(j); }
    DTW_DEVICE T border_down(uint32_t i, T) const { return static_cast<T>(i); }
    DTW_DEVICE T price(T distance, T, const Sample<T>&, const Sample<T>&, T) const {
        return distance <= epsilon ? T(0) : T(1);
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, T price) const {
        return min3_nonnegative(diagonal + price, up + T(1), left + T(1));
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, T price) const {
        return first_least(diagonal + price, up + T(1), left + T(1));
    }
    DTW_DEVICE T finish_count(int32_t count, uint32_t n, uint32_t m) const {
        return finish(static_cast<T>(n + m - static_cast<uint32_t>(count)), n, m);
    }
    DTW_DEVICE T finish(T state, uint32_t n, uint32_t m) const {
        return normalized ? state / static_cast<T>(n > m ? n : m) : state;
    }
};

}  // namespace dtw
