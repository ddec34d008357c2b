// Log of the global alignment kernel: Z(i,j) = k (Z(i-1,j-1) + Z(i-1,j) + Z(i,j-1)), k = q / (2 - q), q = e^(-d/2s^2)
// with d the squared Euclidean distance; the result is ln Z(n,m). Cuturi 2011, "Fast Global Alignment Kernels", ICML.
#pragma once

#include "norm.cuh"
#include "scaled.cuh"

namespace dtw {

template <class T, bool kMany>
struct LogGak : ScaledBase<T> {
    using State = Scaled<T>;
    using Norm = Squared<T>;
    Norm norm;
    double sigma;
    T rate;
    explicit DTW_DEVICE LogGak(const Sweep& p)
        : norm{},
          sigma(p.parameters[0]),
          rate(static_cast<T>(-1.44269504088896340736 / (2.0 * p.parameters[0] * p.parameters[0]))) {}
    DTW_DEVICE State price(T distance, T, const Sample<T>&, const Sample<T>&, T) const {
        const Scaled<T> parts = exp2_parts(distance * rate);
        return {parts.mantissa / (T(2) - scale_down(parts.mantissa, parts.exponent)), parts.exponent};
    }
    // A cell's weight is q / (2 - q), q = e^(-steepness() d^2), of a difference d.
    static constexpr bool kGeometric = true;
    DTW_DEVICE double steepness() const { return 0.5 / (sigma * sigma); }
    // Of the natural logarithm of the sum.
    DTW_DEVICE T value_of(double log) const { return static_cast<T>(log); }
    DTW_DEVICE T finish(State state, uint32_t, uint32_t) const { return value_of(log_of(state)); }
};

}  // namespace dtw
