// What the soft sweeps (soft.cuh, soft_diagonal.cuh) know of their numbers: a lane's cells are doubles with an exponent
// that they share, and the range of a pair's points says how small a weight may be.
#pragma once

#include "../lanes/columns.cuh"

namespace dtw {

constexpr int kFaint = 900;               // cells below 2^-kFaint may have lost something
constexpr int kVanish = 1074;             // what underflow takes away is below 2^-kVanish
constexpr int32_t kCounted = 1 << 30;     // exponents stay within
constexpr int32_t kAbove = 0x7fffffff;    // above every upper word

// The upper word of 2^e.
DTW_DEVICE constexpr uint32_t high_of_pow2(int e) { return static_cast<uint32_t>(1023 + e) << 20; }

// 2^e, for a normal result.
DTW_DEVICE double double_pow2(int32_t e) { return from_words(high_of_pow2(e), 0); }

// The natural logarithm of cell * 2^exponent, of a normal cell. Exponents are added first: what is left is near 1.
DTW_DEVICE double log_of_cell(double cell, int32_t exponent) {
    const uint32_t high = high_of(cell);
    const bool above = (high & 0xfffff) > 0x6a09e;  // 2^(1/2)
    const int32_t own = static_cast<int32_t>(high >> 20) - 1023 + (above ? 1 : 0);
    return log_(cell * double_pow2(-own)) + (exponent + own) * 0.69314718055994530942;
}

// The points of a series of so many channels.
template <int kChannels, class T>
DTW_DEVICE const Channeled<T, kChannels>* points_of(const Points<T>& series) {
    return reinterpret_cast<const Channeled<T, kChannels>*>(series.values);
}

// The least and the largest number of each channel in a group's two series; the largest is NaN if any number is.
template <int G, class T, int kChannels>
DTW_DEVICE void find_range(const Points<T>& x, const Points<T>& y, uint32_t inside, Channeled<T, kChannels>& least,
                           Channeled<T, kChannels>& most) {
    T nothing = T(0);
    least = most = points_of<kChannels>(y)[0];
    const auto look = [&](const Points<T>& series) {
        DTW_UNROLL4
        for (uint32_t i = inside; i < series.length; i += G) {
            const Channeled<T, kChannels> point = points_of<kChannels>(series)[i];
            DTW_UNROLL
            for (int c = 0; c < kChannels; ++c) {
                const T v = point.v[c];
                least.v[c] = v < least.v[c] ? v : least.v[c];
                most.v[c] = v > most.v[c] ? v : most.v[c];
                nothing += v - v;
            }
        }
    };
    look(x);
    look(y);
    for (int mask = 1; mask < G; mask *= 2) {
        DTW_UNROLL
        for (int c = 0; c < kChannels; ++c) {
            least.v[c] = min_(least.v[c], exchange(least.v[c], mask));
            most.v[c] = max_(most.v[c], exchange(most.v[c], mask));
        }
        nothing += exchange(nothing, mask);
    }
    DTW_UNROLL
    for (int c = 0; c < kChannels; ++c) {
        most.v[c] += nothing;
    }
}

// Whether something holds in all lanes of a group.
template <int G>
DTW_DEVICE bool all_of_group(bool holds) {
    for (int mask = 1; mask < G; mask *= 2) {
        holds = exchange(holds ? 1 : 0, mask) != 0 && holds;
    }
    return holds;
}

}  // namespace dtw
