// z-normalisation at the speed of copying: a warp keeps a whole series in registers, so that it is read once and
// written once. Series longer than that are read again from the cache. Points are taken from the middle of their range
// before they are added up, so that an offset of all of them costs no digits.
#pragma once

#include "prepare.cuh"

namespace dtw {

template <class T>
DTW_DEVICE void normalize(const Normalize& p) {
    constexpr int kKept = 128 / sizeof(T);  // values a lane keeps: 128 bytes
    for (uint64_t s = warp(); s < p.count; s += warps()) {
        const T* in = static_cast<const T*>(p.in) + s * p.length;
        T* out = static_cast<T*>(p.out) + s * p.length;
        const uint64_t inside = static_cast<uint64_t>(lane());
        T kept[kKept];
        DTW_UNROLL
        for (int q = 0; q < kKept; ++q) {
            const uint64_t i = static_cast<uint64_t>(q) * 32 + inside;
            kept[q] = i < p.length ? in[i] : T(0);
        }
        constexpr uint64_t kSpan = static_cast<uint64_t>(kKept) * 32;
        T low = kept[0], high = kept[0];
        DTW_UNROLL
        for (int q = 0; q < kKept; ++q) {
            const bool there = static_cast<uint64_t>(q) * 32 + inside < p.length;
            low = there ? min_(low, kept[q]) : low;
            high = there ? max_(high, kept[q]) : high;
        }
        for (uint64_t i = kSpan + inside; i < p.length; i += 32) {
            low = min_(low, in[i]);
            high = max_(high, in[i]);
        }
        const bool starts = inside < p.length;
        low = starts ? low : Limits<T>::infinity();
        high = starts ? high : -Limits<T>::infinity();
        DTW_UNROLL
        for (int mask = 16; mask > 0; mask /= 2) {
            low = min_(low, exchange(low, mask));
            high = max_(high, exchange(high, mask));
        }
        const T middle = low * T(0.5) + high * T(0.5);
        T sum = T(0);
        DTW_UNROLL
        for (int q = 0; q < kKept; ++q) {
            kept[q] = static_cast<uint64_t>(q) * 32 + inside < p.length ? kept[q] - middle : T(0);
            sum += kept[q];
        }
        for (uint64_t i = kSpan + inside; i < p.length; i += 32) {
            sum += in[i] - middle;
        }
        const T mean = sum_of_lanes(sum) / static_cast<T>(p.length);
        T squares = T(0);
        DTW_UNROLL
        for (int q = 0; q < kKept; ++q) {
            const T d = kept[q] - mean;
            squares = static_cast<uint64_t>(q) * 32 + inside < p.length ? fma_(d, d, squares) : squares;
        }
        for (uint64_t i = kSpan + inside; i < p.length; i += 32) {
            const T d = (in[i] - middle) - mean;
            squares = fma_(d, d, squares);
        }
        const T deviation = sqrt_(sum_of_lanes(squares) / static_cast<T>(p.length));
        const T inverse = low < high && deviation > T(0) ? T(1) / deviation : T(0);
        DTW_UNROLL
        for (int q = 0; q < kKept; ++q) {
            const uint64_t i = static_cast<uint64_t>(q) * 32 + inside;
            if (i < p.length) {
                out[i] = (kept[q] - mean) * inverse;
            }
        }
        for (uint64_t i = kSpan + inside; i < p.length; i += 32) {
            out[i] = ((in[i] - middle) - mean) * inverse;
        }
    }
}

}  // namespace dtw
