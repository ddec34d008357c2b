// What the kernel `total` is told. Apart from params.h, so that a change here recompiles no sweep.
#pragma once

#include <stdint.h>

namespace dtw {

// One launch of `total`: weighted sums of rows of numbers; see passes/total.cuh.
struct Total {
    const void* in;         // row after row
    const void* beside;     // a last column: a number for each row; null: none
    const double* weights;  // of each row; null: all 1
    double* out;            // piece after piece of the rows: the sum of each column
    uint64_t rows;
    uint64_t columns;       // numbers of a row of `in`
    uint64_t piece;         // rows of a piece; the last one may have fewer
};

}  // namespace dtw
