// Tiles of 64 x 64 cells: which of them a strip has, what a block shares, and the edges of a tile.
//
//                 64 columns of y
//              | tile 0 | tile 1 | tile 2 |    a strip is a row of tiles; a block takes a strip at a time, as tickets
//   strip 0    |        |        |  out   |    in the order of dependence (lanes/tickets.cuh), and does its tiles
//   strip 1    |        |        |        |    one after the other; tiles wholly outside the band are left out
//   strip 2    |  out   |        |        |
//
// A row of floats is 68 numbers apart from the next, so that neither threads of one column of a warp nor the lanes of a
// sweep (two columns each, one row apart) want the same bank.
#pragma once

#include "../lanes/band.cuh"
#include "../lanes/columns.cuh"
#include "../vendor/block.cuh"
#include "cell.cuh"
#include "params.h"

namespace dtw {

constexpr int kTile = 64, kStaged = 32;

// Numbers from a row of a tile to the next. Three tiles of doubles must fit what a block of any GPU can have (99 KiB).
template <class T>
constexpr int kTileStride = sizeof(T) == 8 ? 64 : 68;

// A few numbers that are loaded and stored as one.
template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Few {
    T v[kCount];
};
template <class T>
using Four = Few<T, 4>;
template <class T>
using Two = Few<T, 2>;
template <class T>
DTW_DEVICE Four<T>& four(T* p) { return *reinterpret_cast<Four<T>*>(p); }
template <class T>
DTW_DEVICE const Four<T>& four(const T* p) { return *reinterpret_cast<const Four<T>*>(p); }
template <class T>
DTW_DEVICE Two<T>& two(T* p) { return *reinterpret_cast<Two<T>*>(p); }
template <class T>
DTW_DEVICE const Two<T>& two(const T* p) { return *reinterpret_cast<const Two<T>*>(p); }

// What a block shares: kLayers numbers for each cell of a tile, and its edges.
template <class T, int kLayers>
struct alignas(16) TileMemory {
    T cells[kLayers][kTile * kTileStride<T>];
    T edges[4][kTile];
    Range bounds[kTile];
    uint32_t notes[2][4];  // of each warp
    uint64_t ticket;
    uint64_t empty;  // whether nothing flows into a tile, backward
};

// The tiles of a strip.
struct Span {
    uint32_t first, last;
    DTW_DEVICE bool has(uint32_t tile) const { return first <= tile && tile <= last; }
};

DTW_DEVICE Span span_of(const Band& band, uint32_t strip) {
    const uint32_t top = strip * kTile, bottom = min_(top + kTile, band.n) - 1;
    return {band.row(top).start / kTile, (band.row(bottom).end - 1) / kTile};
}

// The next ticket of this block; all threads get it. A loop that takes tickets ends with join_wave(), as in
// lanes/tickets.cuh: lanes of a wave that went back alone would come to a barrier without the others.
template <class Memory>
DTW_DEVICE uint64_t block_ticket(const Sweep& p, Memory& memory) {
    sync_block();
    if (thread() == 0) {
        memory.ticket = take(p.ticket);
    }
    sync_block();
    return same_in_wave(memory.ticket);
}

// What the warps of the block say, a bit for each thing; `notes`: of each warp. All have come here before any goes on.
DTW_DEVICE uint32_t said_by_any(uint32_t of_warp, uint32_t* notes) {
    if (lane() == 0) {
        notes[thread() / 32] = of_warp;
    }
    sync_block();
    return notes[0] | notes[1] | notes[2] | notes[3];
}

// Called by one thread: waits until a flag says at least so much.
DTW_DEVICE void wait_for(const uint32_t* flag, uint32_t least) {
    begin_wait();
    while (load_acquire(flag) < least) {
        pause();
    }
    end_wait();
}

// Fills memory.bounds with the columns of the strip's rows; none for rows behind the last.
template <class Memory>
DTW_DEVICE void fill_bounds(Memory& memory, const Band& band, uint32_t strip) {
    const uint32_t row = thread();
    if (row < kTile) {
        const uint32_t i = strip * kTile + row;
        memory.bounds[row] = i < band.n ? band.row(i) : Range{0, 0};
    }
    sync_block();
}

// The edges above and to the left of a tile, as a lane sees them: its two columns, the cell before them in the row
// above, and its two rows; exponents are counted from `base`.
template <class T>
struct TileEdges {
    SoftCell<T> up[2], corner, left[2];
    double base;
};

// Counts all exponents from the least of them. `bases` are those of the edge above, of the corner and of the left edge.
template <class T>
DTW_DEVICE void rebase(TileEdges<T>& edges, double above, double of_corner, double before) {
    double least = Limits<double>::infinity();
    const auto look = [&](const SoftCell<T>& cell, double base) {
        const double exponent = static_cast<double>(cell.exponent) + base;
        least = is_never(cell.exponent) || exponent > least ? least : exponent;
    };
    look(edges.up[0], above), look(edges.up[1], above);
    look(edges.left[0], before), look(edges.left[1], before);
    look(edges.corner, of_corner);
    DTW_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) {
        least = min_(least, exchange(least, mask));
    }
    edges.base = least < Limits<double>::infinity() ? least : 0.0;
    DTW_UNROLL
    for (int k = 0; k < 2; ++k) {
        edges.up[k].exponent = rebased(edges.up[k].exponent, above - edges.base);
        edges.left[k].exponent = rebased(edges.left[k].exponent, before - edges.base);
    }
    edges.corner.exponent = rebased(edges.corner.exponent, of_corner - edges.base);
}

}  // namespace dtw
