// What the kernels of tiles are told: as ../params.h.
#pragma once

#include "../params.h"

namespace dtw {

// One launch of `soft_forward` or `soft_backward`: pairs in tiles of 64 x 64 cells. Tile (r, c) of task k (counted from
// first_task) has the number (k * strips + r) * tiles + c, or k * tiles + c where edges are not kept.
struct Soft {
    Sweep sweep;           // its pairs, grid, ticket and measure
    void* bottoms;         // last row of each tile: 64 exponents, 64 mantissas
    void* rights;          // last column of each tile, likewise; null: edges are not kept
    double* bases;         // what is added to the exponents of a tile
    uint32_t* progress;    // forward: tiles done, k * strips + r; backward: tiles whose inflow is there; zeroed before
    uint32_t* added;       // backward: tiles whose part of grad_y is there, likewise; zeroed before
    void* inflow;          // backward: what the strip below hands up to each column, (k * tiles + c) * 64 + column
    void* grad_x;          // where the values of sweep.x are, in memory of the same shape
    void* grad_y;          // likewise
    const void* upstream;  // per task: what gradients are multiplied by; null: 1
    void* alignment;       // of a single task: the expected alignment, n x m; null: none wanted
    uint32_t strips;       // most rows of tiles of any task
    uint32_t tiles;        // most tiles of a row
};

}  // namespace dtw
