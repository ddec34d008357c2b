// What the kernel `combine` is told. Apart from params.h, so that a change here recompiles no sweep.
#pragma once

#include <stdint.h>

namespace dtw {

// One launch of `combine`: results of a tile of pairs, put in their places or together; see passes/combine.cuh.
struct Combine {
    const void* first;           // row after row of the tile
    const void* second;          // likewise: plain values, for places where `first` is not finite; null: none
    const void* own_x;           // of a divergence: the excess of each row of `out` with itself; null: no divergence
    const void* own_y;           // of each column
    void* out;                   // all results
    const uint32_t* classes_x;   // class of each row of `out`; null: all 0
    const uint32_t* classes_y;   // of each column; null: all 0
    const double* log_paths;     // class of x * classes + class of y: logarithm of the number of paths
    const double* divergences;   // likewise: what a divergence has too much
    const double* least;         // likewise: the least logarithm that keeps its digits. Not null: `second` is judged,
                                 // and the excess of what kept its digits goes to `out`, a tile as well, else NaN
    uint64_t tile_stride;        // numbers from row to row of the tile
    uint64_t out_stride;         // numbers from row to row of `out`
    uint64_t row, column;        // of the tile's first pair, in `out`
    uint64_t rows, columns;      // of the tile; zipped: rows alone
    double unit;                 // of logarithms in results
    uint32_t classes;            // of y
    uint32_t pairing;            // kCross; kSymmetric: the upper triangle of `out`, and its mirror image; kZipped
    uint32_t adds;               // 1: added to what is in `out`
    uint32_t reserved;           // 0
};

}  // namespace dtw
