// TWED: match D(i-1,j-1) + |x_i - y_j|_p + |x_(i-1) - y_(j-1)|_p + nu (|t_i - s_j| + |t_(i-1) - s_(j-1)|); delete in x
// D(i-1,j) + |x_i - x_(i-1)|_p + nu (t_i - t_(i-1)) + lambda, likewise in y; x_0 = y_0 = 0 at time 0; borders infinite.
// Marteau 2009, 10.1109/TPAMI.2008.76.
#pragma once

#include "norm.cuh"
#include "recurrence.cuh"
#include "twed_cells.cuh"

namespace dtw {

// kUnit: no timestamps but 1, 2, ..., for which both lags are the same.
template <class T, bool kMany, bool kUnit>
struct TwedTimed : TotalBase<T> {
    using Price = Prices<T>;
    using Norm = Powered<T>;
    static constexpr bool kGaps = true, kTimes = true, kPrevious = true;
    Norm norm;
    T nu;
    explicit DTW_DEVICE TwedTimed(const Sweep& p)
        : norm{static_cast<T>(p.parameters[2])}, nu(static_cast<T>(p.parameters[0])) {}
    DTW_DEVICE Price price(T distance, T previous, const Sample<T>& x, const Sample<T>& y, T) const {
        const T lag = abs_(x.time - y.time);
        const T lags = kUnit ? lag + lag : lag + abs_(x.previous_time - y.previous_time);
        return {fma_(nu, lags, distance + previous), x.gap, y.gap};
    }
    DTW_DEVICE T combine(T diagonal, T up, T left, Price price) const {
        return min3_nonnegative(diagonal + price.match, up + price.up, left + price.left);
    }
    DTW_DEVICE uint32_t arrival(T diagonal, T up, T left, Price price) const {
        return first_least(diagonal + price.match, up + price.up, left + price.left);
    }
};

template <class T, bool kMany>
struct Twed : TwedTimed<T, kMany, false> {
    explicit DTW_DEVICE Twed(const Sweep& p) : TwedTimed<T, kMany, false>(p) {}
};
template <class T, bool kMany>
struct TwedUnit : TwedTimed<T, kMany, true> {
    static constexpr bool kPaddingSafe = true;
    template <class R, int K>
    using Cells = LaggedCells<R, K>;
    template <class R, int K>
    using StripCells = typename std::conditional<(K < 12), EarlyCells<R, K>, LaggedCells<R, K>>::type;
    explicit DTW_DEVICE TwedUnit(const Sweep& p) : TwedTimed<T, kMany, true>(p) {}
    // The price of a match of points that are `between` apart, those before them `previous`, with `lag` rows between.
    DTW_DEVICE T match(T between, T previous, T lag) const {
        return fma_(this->nu + this->nu, abs_(lag), abs_(between) + abs_(previous));
    }
};

}  // namespace dtw
