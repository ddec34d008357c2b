// A cell of Soft-DTW as sums over all paths: Z = mantissa * 2^-exponent, both of the number type.
//
//   Z(i,j) = 2^-c (Z(i-1,j-1) + Z(i-1,j) + Z(i,j-1)),   c = cost * log2(e) / gamma = whole + fraction
//
//   exponent(i,j) = whole + least,            least = min of the three exponents
//   mantissa(i,j) = 2^-fraction * sum of mantissa * 2^(least - exponent) of the three
//
// Exponents are integral: they add up without rounding, and a weight 2^(least - exponent) is exact. There is no
// logarithm, and no gamma is too small. Mantissas grow and shrink by a few bits a cell; `settle` brings them back to
// [1, 2) every few steps.
#pragma once

#include "../recurrence/arithmetic.cuh"
#include "../vendor/block.cuh"

namespace dtw {

template <class T>
struct SoftCell {
    T exponent, mantissa;
};

// The exponent of what no path reaches; twice as much is still a number.
template <class T>
DTW_DEVICE T soft_never() { return -T(Limits<T>::kZeroExponent); }
template <class T>
DTW_DEVICE bool is_never(T exponent) { return exponent >= -T(Limits<T>::kZeroExponent) / T(2); }
template <class T>
DTW_DEVICE SoftCell<T> never_cell() { return {soft_never<T>(), T(1)}; }

// 2^d for integral d <= 0; 0 for what vanishes.
DTW_DEVICE float soft_weight(float d) { return exp2_(d); }
DTW_DEVICE double soft_weight(double d) { return pow2(max_(d, -1000.0)); }

// The shares of the three predecessors in a cell, not yet divided by their sum.
template <class T>
struct SoftShares {
    T diagonal, up, left;
};

template <class T>
DTW_DEVICE SoftCell<T> soft_combine(SoftCell<T> diagonal, SoftCell<T> up, SoftCell<T> left, T whole, T factor,
                                    SoftShares<T>& shares, T& sum) {
    // What is there first comes first.
    const T least = least_of(least_of(diagonal.exponent, up.exponent), left.exponent);
    shares.diagonal = diagonal.mantissa * soft_weight(least - diagonal.exponent);
    shares.up = up.mantissa * soft_weight(least - up.exponent);
    shares.left = left.mantissa * soft_weight(least - left.exponent);
    sum = shares.diagonal + shares.up + shares.left;
    return {least_of(least + whole, soft_never<T>()), sum * factor};
}

// The same number with a mantissa in [1, 2).
template <class T>
DTW_DEVICE void settle(SoftCell<T>& cell) {
    using Bits = typename Limits<T>::Bits;
    constexpr Bits kFraction = (static_cast<Bits>(1) << Limits<T>::kMantissaBits) - 1;
    const Bits bits = bits_of(cell.mantissa);
    cell.exponent -= exponent_of(cell.mantissa);
    cell.mantissa = from_bits((bits & kFraction) | static_cast<Bits>(Limits<T>::kBias) << Limits<T>::kMantissaBits);
}

// The same number where exponents are counted from another base.
template <class T>
DTW_DEVICE T rebased(T exponent, double difference) {
    return is_never(exponent) ? soft_never<T>() : static_cast<T>(static_cast<double>(exponent) + difference);
}

}  // namespace dtw
