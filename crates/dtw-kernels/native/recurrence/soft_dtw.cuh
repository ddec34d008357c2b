// Soft-DTW: D(i,j) = c(x_i, y_j) + softmin_gamma(D(i-1,j-1), D(i-1,j), D(i,j-1)), squared Euclidean c, kept as
// Z = e^(-D/gamma). Cuturi & Blondel 2017, arXiv 1703.01541.
#pragma once

#include "norm.cuh"
#include "scaled.cuh"

namespace dtw {

template <class T, bool kMany>
struct SoftDtw : ScaledBase<T> {
    using State = Scaled<T>;
    using Norm = Squared<T>;
    Norm norm;
    double gamma;
    T rate;  // -log2(e) / gamma
    explicit DTW_DEVICE SoftDtw(const Sweep& p)
        : norm{}, gamma(p.parameters[0]), rate(static_cast<T>(-1.44269504088896340736 / p.parameters[0])) {}
    DTW_DEVICE State price(T distance, T, const Sample<T>&, const Sample<T>&, T) const {
        return exp2_parts(distance * rate);
    }
    DTW_DEVICE T finish(State state, uint32_t, uint32_t) const { return value_of(log_of(state)); }
    // A cell's weight is e^(-steepness() d^2), of a difference d.
    static constexpr bool kGeometric = false;
    DTW_DEVICE double steepness() const { return 1.0 / gamma; }
    // Of the natural logarithm of the sum. Adding 0 makes 0 of -0.
    DTW_DEVICE T value_of(double log) const { return static_cast<T>(-gamma * log) + T(0); }
};

}  // namespace dtw
