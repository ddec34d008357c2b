// Total: weighted sums of rows of numbers, in double precision and in an order that follows from their shape. No
// sweep's unit includes this header.
//
//   for each piece of the rows, and each eight columns of it, by a warp:
//       out (piece, column) = sum of weights[row] * in (row, column)      over the rows of the piece
//
//     lane      0 1 .. 7     8 9 .. 15    16 17 .. 23    24 25 .. 31
//     column    0 1 .. 7     0 1 .. 7      0  1 .. 7      0  1 .. 7
//     rows      0, 4, 8 ..   1, 5, 9 ..   2, 6, 10 ..    3, 7, 11 ..       then the four sums of each column together
//
// What several pieces give is summed in a second launch, as rows of doubles.
#pragma once

#include "../recurrence/arithmetic.cuh"
#include "../total.h"

namespace dtw {

// Columns of a warp.
constexpr uint32_t kTotalColumns = 8;

template <class T>
DTW_DEVICE void total(const Total& p) {
    const uint64_t columns = p.columns + (p.beside ? 1 : 0);
    const uint64_t groups = (columns + 7) / 8, pieces = (p.rows + p.piece - 1) / p.piece;
    for (uint64_t k = static_cast<uint64_t>(warp()); k < groups * pieces; k += static_cast<uint64_t>(warps())) {
        const uint64_t piece = k / groups, column = k % groups * 8 + static_cast<uint64_t>(lane() % 8);
        const uint64_t end = min_(p.rows, (piece + 1) * p.piece);
        double sum = 0.0;
        if (column < columns) {
            const bool beside = column == p.columns;
            const T* from = beside ? static_cast<const T*>(p.beside) : static_cast<const T*>(p.in) + column;
            const uint64_t stride = beside ? 1 : p.columns;
            DTW_UNROLL4
            for (uint64_t row = piece * p.piece + static_cast<uint64_t>(lane() / 8); row < end; row += 4) {
                sum = fma_(p.weights ? p.weights[row] : 1.0, static_cast<double>(from[row * stride]), sum);
            }
        }
        sum += exchange(sum, 8);
        sum += exchange(sum, 16);
        if (lane() < 8 && column < columns) {
            p.out[piece * columns + column] = sum;
        }
    }
}

}  // namespace dtw

#define DTW_TOTAL(symbol, T) DTW_KERNEL(symbol, dtw::Total, dtw::total<T>(p))
