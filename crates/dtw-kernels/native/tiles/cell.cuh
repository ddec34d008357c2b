// A cell of Soft-DTW as sums over all paths: Z = mantissa * 2^-exponent, both of the number type.
//
//   Z(i,j) = 2^-c (Z(i-1,j-1) + Z(i-1,j) + Z(i,j-1)),   c = cost * log2(e) / gamma = whole + fraction
//
//   exponent(i,j) = whole + least,            least = min of the three exponents
//   mantissa(i,j) = 2^-fraction * sum of mantissa * 2^(least - exponent) of the three
//
// Exponents are integral: they add up without rounding, and a weight 2^(least - exponent) is exact. There is no
// logarithm, and no gamma is too small. Mantissas grow and shrink by a few bits a cell; `rescale` brings them back to
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
                                    SoftShares<T>& shares) {
    // What is there first comes first.
    const T least = least_of(least_of(diagonal.exponent, up.exponent), left.exponent);
    shares.diagonal = diagonal.mantissa * soft_weight(least - diagonal.exponent);
    shares.up = up.mantissa * soft_weight(least - up.exponent);
    shares.left = left.mantissa * soft_weight(least - left.exponent);
    const T sum = shares.diagonal + shares.up + shares.left;
    return {least_of(least + whole, soft_never<T>()), sum * factor};
}

// The same number with a mantissa in [1, 2).
template <class T>
DTW_DEVICE void rescale(SoftCell<T>& cell) {
    using Bits = typename Limits<T>::Bits;
    constexpr Bits kFraction = (static_cast<Bits>(1) << Limits<T>::kMantissaBits) - 1;
    const Bits bits = bits_of(cell.mantissa);
    cell.exponent -= exponent_of(cell.mantissa);
    cell.mantissa = from_bits((bits & kFraction) | static_cast<Bits>(Limits<T>::kBias) << Limits<T>::kMantissaBits);
}

// A cell whose exponent is a small integer, as in most tiles: Z = mantissa * 2^power. A weight 2^d is made of its bits,
// and is 0 for what vanishes.
template <class T>
struct QuickCell {
    int32_t power;
    T mantissa;
};

// The power of what no path reaches; what is less by a sum of costs is still a number. Costs of a tile are quick up to
// kQuickCost, and edges up to kQuickEdge, so that all powers of a tile are whole numbers of any type.
constexpr int32_t kQuickNever = -(1 << 29), kQuickCost = 1 << 16, kQuickEdge = 1 << 22;

// The whole number next to a number from 0 to kQuickCost, as both types: adding 1.5 * 2^b, where b bits are behind the
// first of a mantissa, leaves it in the last bits.
template <class T>
DTW_DEVICE int32_t round_small(T v, T& rounded) {
    constexpr T kBig = sizeof(T) == 8 ? T(6755399441055744.0) : T(12582912.0);
    const T shifted = v + kBig;
    rounded = shifted - kBig;
    return static_cast<int32_t>(static_cast<uint32_t>(bits_of(shifted)) - static_cast<uint32_t>(bits_of(kBig)));
}

// 2^(biased - bias), or 0.
DTW_DEVICE float quick_weight(int32_t biased, float) {
    return from_bits(static_cast<int32_t>(static_cast<uint32_t>(biased) << 23));
}
DTW_DEVICE double quick_weight(int32_t biased, double) { return from_words(static_cast<uint32_t>(biased) << 20, 0); }

template <class T>
DTW_DEVICE QuickCell<T> soft_combine(QuickCell<T> diagonal, QuickCell<T> up, QuickCell<T> left, int32_t whole, T factor,
                                     SoftShares<T>& shares) {
    const int32_t most = max3_bits(diagonal.power, up.power, left.power);
    const int32_t base = static_cast<int32_t>(Limits<T>::kBias - static_cast<uint32_t>(most));
    shares.diagonal = diagonal.mantissa * quick_weight(add_max_bits(diagonal.power, base, 0), T());
    shares.up = up.mantissa * quick_weight(add_max_bits(up.power, base, 0), T());
    shares.left = left.mantissa * quick_weight(add_max_bits(left.power, base, 0), T());
    const T sum = shares.diagonal + shares.up + shares.left;
    // Of a lane without a row `whole` is anything, and so is the cell.
    const int32_t less = static_cast<int32_t>(0u - static_cast<uint32_t>(whole));
    return {add_max_bits(most, less, kQuickNever), sum * factor};
}

template <class T>
DTW_DEVICE void rescale(QuickCell<T>& cell) {
    using Bits = typename Limits<T>::Bits;
    constexpr Bits kFraction = (static_cast<Bits>(1) << Limits<T>::kMantissaBits) - 1;
    const Bits bits = bits_of(cell.mantissa);
    cell.power += static_cast<int32_t>(bits >> Limits<T>::kMantissaBits) - Limits<T>::kBias;
    cell.mantissa = from_bits((bits & kFraction) | static_cast<Bits>(Limits<T>::kBias) << Limits<T>::kMantissaBits);
}

// Either kind of cell in two numbers of the type T, as tiles and edges have them in shared memory.
DTW_DEVICE float slot_of(int32_t v, float) { return from_bits(v); }
DTW_DEVICE double slot_of(int32_t v, double) { return from_bits(static_cast<int64_t>(v)); }
template <class T>
DTW_DEVICE int32_t from_slot(T slot) { return static_cast<int32_t>(bits_of(slot)); }
template <class T>
DTW_DEVICE T exponent_slot(const SoftCell<T>& cell) { return cell.exponent; }
template <class T>
DTW_DEVICE T exponent_slot(const QuickCell<T>& cell) { return slot_of(cell.power, T()); }
template <class T>
DTW_DEVICE void load_cell(T slot, T mantissa, SoftCell<T>& cell) { cell = {slot, mantissa}; }
template <class T>
DTW_DEVICE void load_cell(T slot, T mantissa, QuickCell<T>& cell) { cell = {from_slot(slot), mantissa}; }

// A cell as the other kind.
template <class T>
DTW_DEVICE bool is_quick(const SoftCell<T>& cell) {
    return is_never(cell.exponent) || abs_(cell.exponent) <= T(kQuickEdge);
}
template <class T>
DTW_DEVICE void convert(const SoftCell<T>& from, SoftCell<T>& to) { to = from; }
template <class T>
DTW_DEVICE void convert(const SoftCell<T>& from, QuickCell<T>& to) {
    to = {is_never(from.exponent) ? kQuickNever : -static_cast<int32_t>(from.exponent), from.mantissa};
}
template <class T>
DTW_DEVICE void convert(const QuickCell<T>& from, SoftCell<T>& to) {
    to = {from.power < kQuickNever / 2 ? soft_never<T>() : T(-from.power), from.mantissa};
}

// A cell of the lane below, and one of two cells.
template <class T>
DTW_DEVICE SoftCell<T> cell_below(SoftCell<T> v) { return {shift_up<32>(v.exponent), shift_up<32>(v.mantissa)}; }
template <class T>
DTW_DEVICE QuickCell<T> cell_below(QuickCell<T> v) { return {shift_up<32>(v.power), shift_up<32>(v.mantissa)}; }
template <class T>
DTW_DEVICE SoftCell<T> select(bool first, SoftCell<T> a, SoftCell<T> b) {
    return {first ? a.exponent : b.exponent, first ? a.mantissa : b.mantissa};
}
template <class T>
DTW_DEVICE QuickCell<T> select(bool first, QuickCell<T> a, QuickCell<T> b) {
    return {first ? a.power : b.power, first ? a.mantissa : b.mantissa};
}

// The same number where exponents are counted from another base.
template <class T>
DTW_DEVICE T rebased(T exponent, double difference) {
    return is_never(exponent) ? soft_never<T>() : static_cast<T>(static_cast<double>(exponent) + difference);
}

}  // namespace dtw
