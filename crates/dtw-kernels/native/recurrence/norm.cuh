// How points are compared: what is summed over the channels, and what is made of the sum.
#pragma once

#include "arithmetic.cuh"

namespace dtw {

// Sum of squared differences.
template <class T>
struct Squared {
    DTW_DEVICE T one(T a, T b) const { return (a - b) * (a - b); }
    DTW_DEVICE T add(T sum, T a, T b) const { return fma_(a - b, a - b, sum); }
    DTW_DEVICE T done(T sum) const { return sum; }
};

// Root of the sum of squared differences, rounded as a plain loop rounds it, so that thresholds agree everywhere.
template <class T>
struct Rooted {
    DTW_DEVICE T one(T a, T b) const { return abs_(a - b); }
    DTW_DEVICE T add(T sum, T a, T b) const { return add_exact(sum, mul_exact(a - b, a - b)); }
    DTW_DEVICE T done(T sum) const { return sqrt_(sum); }
};

// Sum of absolute differences.
template <class T>
struct Absolute {
    DTW_DEVICE T one(T a, T b) const { return abs_(a - b); }
    DTW_DEVICE T add(T sum, T a, T b) const { return sum + abs_(a - b); }
    DTW_DEVICE T done(T sum) const { return sum; }
};

// p-th root of the sum of p-th powers.
template <class T>
struct Powered {
    T degree;
    DTW_DEVICE T one(T a, T b) const { return abs_(a - b); }
    DTW_DEVICE T add(T sum, T a, T b) const {
        const T d = abs_(a - b);
        return sum + (degree == T(2) ? d * d : degree == T(1) ? d : pow_(d, degree));
    }
    DTW_DEVICE T done(T sum) const {
        return degree == T(2) ? sqrt_(sum) : degree == T(1) ? sum : pow_(sum, T(1) / degree);
    }
};

// The difference itself, for recurrences that square it in a fused multiply-add. One channel only.
template <class T>
struct Difference {
    DTW_DEVICE T one(T a, T b) const { return a - b; }
    DTW_DEVICE T add(T sum, T a, T b) const { return fma_(a - b, a - b, sum); }
    DTW_DEVICE T done(T sum) const { return sum; }
};

}  // namespace dtw
