// Combine: the results of one tile of pairs go to their places among all results, and results of several sweeps are put
// together on the way. No sweep's unit includes this header.
//
//   for each pair (i, j) of the tile, by a thread:
//       if judging:                    which values of a plain sweep have kept the digits of their excess?
//           excess = second / unit + log_paths, in logarithms
//           out = unit * excess if that is large enough, else NaN: a sweep for the missing ones follows
//           next pair
//       result = first
//       if not finite, and there is a second:     a sum over all paths, given up by the sweep for its excess
//           result = second + unit * log_paths, at least 0        the excess, from the value of the plain sweep
//       if of a divergence:
//           result = result - (own_x + own_y) / 2 - unit * divergences
//       out (i, j) = result, or out (i, j) + result; of a symmetric matrix (j, i) too
//
//     tile of first, second        out
//     . . . .                      . . . . . . . .
//     . . . .        --->          . . . * * * * .  row
//     . . . .                      . . . * * * * .
//                                  . . . * * * * .
//                                     column
//
// Numbers are put together in double precision. What differs from pair to pair by lengths alone is in tables, by
// classes of series of one length.
#pragma once

#include "../recurrence/arithmetic.cuh"
#include "../params.h"
#include "../combine.h"

namespace dtw {

// How many times its excess a value in float may be, as dtw-core has it.
constexpr double kMostCancelled = 8.0;

template <class T>
DTW_DEVICE void combine(const Combine& p) {
    const bool zipped = p.pairing == kZipped;
    const uint64_t columns = zipped ? 1 : p.columns;
    const uint64_t pairs = p.rows * columns;
    const T* first = static_cast<const T*>(p.first);
    const T* second = static_cast<const T*>(p.second);
    const T* own_x = static_cast<const T*>(p.own_x);
    const T* own_y = static_cast<const T*>(p.own_y);
    T* out = static_cast<T*>(p.out);
    for (uint64_t k = static_cast<uint64_t>(warp()) * 32 + static_cast<uint64_t>(lane()); k < pairs;
         k += static_cast<uint64_t>(warps()) * 32) {
        const uint64_t r = k / columns, c = k % columns;
        const uint64_t i = p.row + r, j = zipped ? i : p.column + c;
        if (p.pairing == kSymmetric && j < i) {
            continue;
        }
        const uint64_t at = zipped ? r : r * p.tile_stride + c;
        const uint64_t place = (p.classes_x ? static_cast<uint64_t>(p.classes_x[i]) * p.classes : 0) +
                               (p.classes_y ? p.classes_y[j] : 0);
        if (p.least) {
            const double logarithm = static_cast<double>(second[at]) / p.unit;
            const double excess = logarithm + p.log_paths[place];
            // What was rounded in a float stays: dtw_core::SoftResult says how much of it may cancel.
            const double size = logarithm < 0.0 ? -logarithm : logarithm;
            const bool rounded = sizeof(T) == 4 && size > kMostCancelled * excess;
            const bool kept = excess >= p.least[place] && !rounded;
            out[at] = kept ? static_cast<T>(p.unit * excess) : Limits<T>::infinity() - Limits<T>::infinity();
            continue;
        }
        T result = first[at];
        const T magnitude = result < T(0) ? -result : result;
        if (second && !(magnitude < Limits<T>::infinity())) {
            const double excess = static_cast<double>(second[at]) + p.unit * p.log_paths[place];
            result = static_cast<T>(excess > 0.0 ? excess : 0.0);
        }
        if (own_x) {
            const double own = static_cast<double>(own_x[i]) + static_cast<double>(own_y[j]);
            // What is 0 then is not -0.
            result = static_cast<T>(static_cast<double>(result) - 0.5 * own - p.unit * p.divergences[place]) + T(0);
        }
        T* to = out + (zipped ? i : i * p.out_stride + j);
        *to = p.adds ? *to + result : result;
        if (p.pairing == kSymmetric && i != j) {
            out[j * p.out_stride + i] = *to;
        }
    }
}

}  // namespace dtw

#define DTW_COMBINE(symbol, T) DTW_KERNEL(symbol, dtw::Combine, dtw::combine<T>(p))
