// Normalize: z-normalisation of whole series at the speed of copying.
//
//   for each series, by a warp:
//       read it: each lane keeps the first kKept of its points in registers
//       middle = (least + largest) / 2
//       mean of the points - middle; then the mean of the squares of their distances from this mean
//       write (point - middle - mean) / deviation; 0 if all points are equal
//
//     point         0   1  ...  31 | 32  33 ...  63 | ... | 32 kKept ...
//     lane          0   1  ...  31 |  0   1 ...  31 | ... |  0 ...
//     is kept in    register 0     |  register 1    | ... | memory: read again for each sum, and to be written
//
// A series that fits the registers is read once and written once. The rest of a longer one is read again from the
// cache. Subtracting the middle first means that an offset of all points costs no digits in the sums.
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
