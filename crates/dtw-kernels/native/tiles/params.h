// What the kernels of tiles are told: as ../params.h.
#pragma once

#include "../params.h"

namespace dtw {

// One launch of `soft_forward` or `soft_backward`: pairs in tiles of 64 x 64 cells. Tile (r, c) of task k (counted from
// first_task) has the number (k * down + r) * across + c, or k * across + c where edges are not kept.
struct Soft {
    Sweep sweep;           // its pairs, grid, ticket and measure
    void* bottoms;         // last row of each tile: 64 exponents, 64 mantissas
    void* rights;          // last column of each tile, likewise; null: edges are not kept
    double* bases;         // what is added to the exponents of a tile
    uint32_t* progress;    // forward: tiles done, k * down + r; backward: tiles whose inflow is there; zeroed before
    uint32_t* added;       // backward: tiles whose part of grad_y is there, likewise; zeroed before
    void* inflow;          // backward: what the strip below hands up to each column, (k * across + c) * 64 + column
    void* grad_x;          // where the values of sweep.x are, in memory of the same shape
    void* grad_y;          // likewise; not looked at with costs
    const void* upstream;  // per task: what gradients are multiplied by; null: 1
    void* alignment;       // times upstream: the expected alignment of the first task; null: none wanted
    uint64_t alignment_task;  // numbers from task to task
    uint64_t alignment_row;   // from row to row
    const void* costs;     // of the first cell of the first task: costs of the caller's; null: those of x and y
    int64_t costs_task;    // numbers from task to task
    int64_t costs_row;     // from row to row
    int64_t costs_column;  // from column to column
    uint32_t down;         // most tiles below each other of any task
    uint32_t across;       // most tiles beside each other
};

}  // namespace dtw
