// Logarithms, exponentials and powers of doubles, for GPUs whose compiler has no library of them.
//
// Wants of a vendor header: DTW_DEVICE, DTW_APART (a function that is called, not copied to where it is wanted), fma_,
// abs_, round_, bits_of, from_bits. Beside the C library's functions (src/host/contract.rs) exp2, log and log1p are off
// by 2 units in the last place at most, pow by 4.
//
// Fused only where the source says fma_: a rounding that is added back must be the one that was made.
#pragma once

#include <stdint.h>

namespace dtw {
namespace functions {

constexpr double kLn2High = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56;

DTW_DEVICE double infinity() { return from_bits(int64_t{0x7ff0000000000000}); }
DTW_DEVICE double not_a_number() { return from_bits(int64_t{0x7ff8000000000000}); }

// 2^n of a whole n from -1022 to 1023.
DTW_DEVICE double power_of_two(int32_t n) { return from_bits(static_cast<int64_t>(n + 1023) << 52); }

// v 2^n, rounded once.
DTW_DEVICE double scaled(double v, int32_t n) {
    // In two steps beyond the normal numbers: the first is exact.
    const int32_t first = n > 1000 ? 1000 : n < -1000 ? -1000 : n;
    const int32_t second = n - first > 1000 ? 1000 : n - first < -1000 ? -1000 : n - first;
    return v * power_of_two(first) * power_of_two(second);
}

// 2^(whole + part), where |part| is a half at most: the exponential series of part ln 2, up to its 14th term.
DTW_DEVICE double exp2_of(double whole, double part) {
#pragma clang fp contract(off)
    constexpr double kTerms[] = {
        1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
        1.0 / 40320.0,       1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,
        0.5};
    const double high = part * kLn2High, low = fma_(part, kLn2High, -high) + part * kLn2Low;
    double sum = kTerms[0];
    DTW_UNROLL
    for (int k = 1; k < 13; ++k) {
        sum = fma_(sum, high, kTerms[k]);
    }
    // 1 + high + (high^2 sum + low (1 + high))
    return scaled(1.0 + (high + fma_(high * high, sum, fma_(low, high, low))), static_cast<int32_t>(whole));
}

DTW_DEVICE double exp2(double a) {
    if (!(a > -1100.0 && a < 1024.0)) {
        return a != a ? a : a < 0.0 ? 0.0 : infinity();
    }
    const double whole = round_(a);
    return exp2_of(whole, a - whole);
}

// A logarithm in two parts: high + low, of which low is small.
struct Pair {
    double high, low;
};

// high + low of a + b, exactly, if |a| >= |b|.
DTW_DEVICE Pair sum_of(double a, double b) {
#pragma clang fp contract(off)
    const double high = a + b;
    return {high, b - (high - a)};
}

// ln a of a positive, finite number, to some 70 bits: a = 2^e m, and ln m = 2 artanh(s) of s = (m - 1) / (m + 1).
DTW_DEVICE Pair log_parts(double a) {
#pragma clang fp contract(off)
    int32_t exponent = 0;
    if (a < 0x1p-1022) {
        a *= 0x1p54;
        exponent = -54;
    }
    // m from about sqrt(1/2) to sqrt(2)
    const int64_t bits = bits_of(a), root = 0x3fe6a09e00000000;
    const int32_t shift = static_cast<int32_t>((bits - root) >> 52);
    exponent += shift;
    const double m = from_bits(bits - (static_cast<int64_t>(shift) << 52));
    const double above = m - 1.0, below = m + 1.0;  // the first is exact
    const double below_low = m - (below - 1.0);
    const double s = above / below;
    const double s_low = (fma_(-s, below, above) - s * below_low) / below;
    const double square = s * s;
    // 1/3 + square / 5 + square^2 / 7 ...
    double sum = 1.0 / 25.0;
    DTW_UNROLL
    for (int k = 23; k >= 3; k -= 2) {
        sum = fma_(sum, square, 1.0 / k);
    }
    const double tail = fma_(2.0 * s * square, sum, 2.0 * s_low);
    const double e = static_cast<double>(exponent), whole = e * kLn2High;
    const double whole_low = fma_(e, kLn2High, -whole) + e * kLn2Low;
    const Pair first = exponent == 0 ? Pair{2.0 * s, 0.0} : sum_of(whole, 2.0 * s);
    const Pair all = sum_of(first.high, first.low + (tail + whole_low));
    return all;
}

DTW_DEVICE double log(double a) {
#pragma clang fp contract(off)
    if (!(a > 0.0 && a < infinity())) {
        return a == 0.0 ? -infinity() : a == infinity() ? a : not_a_number();
    }
    const Pair parts = log_parts(a);
    return parts.high + parts.low;
}

DTW_DEVICE double log1p(double a) {
#pragma clang fp contract(off)
    const double one = 1.0 + a;
    if (!(one > 0.0 && one < infinity())) {
        return log(one);
    }
    // What 1 + a rounds away is a - (1 + a - 1), and the logarithm changes by that over 1 + a.
    const double lost = abs_(a) < 1.0 ? a - (one - 1.0) : 1.0 - (one - a);
    const Pair parts = log_parts(one);
    return parts.high + (parts.low + lost / one);
}

// a^b of a >= 0.
DTW_APART double pow(double a, double b) {
#pragma clang fp contract(off)
    if (b == 0.0 || a == 1.0) {
        return 1.0;
    }
    if (!(a > 0.0 && a < infinity() && abs_(b) < infinity())) {
        if (a != a || b != b || a < 0.0) {
            return not_a_number();
        }
        // To zero or to infinity, from either side of 1.
        return (a > 1.0) == (b > 0.0) ? infinity() : 0.0;
    }
    // log2 a = ln a / ln 2, in two parts
    constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;
    const Pair ln = log_parts(a);
    const double high = ln.high * kHigh;
    const double low = fma_(ln.high, kHigh, -high) + fma_(ln.high, kLow, ln.low * kHigh);
    const double product = high * b, rest = fma_(high, b, -product) + low * b;
    if (!(product > -1100.0 && product < 1025.0)) {
        return product < 0.0 ? 0.0 : infinity();
    }
    const double whole = round_(product);
    return exp2_of(whole, (product - whole) + rest);
}

}  // namespace functions
}  // namespace dtw
