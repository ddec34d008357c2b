// Matrices of the caller's, [task, n, m]: costs that are read, and the expected alignment that is written.
//
// Thread t has column t % 64 and rows t / 64 + 2 q (q = 0 .. 31) of a tile, so that the lanes of a warp read what lies
// side by side where columns do. Costs outside the band, and behind the lengths, are not read.
#pragma once

#include "costs.cuh"

namespace dtw {

// Costs of the tile whose first cell is (i0, j0), from the matrix of task k, as tile_costs leaves them. All that a
// thread reads at first is on its way before the others have done with the tile before.
template <class T, class Memory>
DTW_DEVICE void matrix_costs(Memory& memory, const Soft& p, uint64_t k, uint32_t i0, uint32_t j0, T rate) {
    constexpr uint32_t kAtOnce = 16;
    const uint32_t column = thread() % kTile, top = thread() / kTile;
    const int64_t i = i0 + top, j = j0 + column;
    const T* from = static_cast<const T*>(p.costs) + static_cast<int64_t>(k) * p.costs_task + i * p.costs_row +
                    j * p.costs_column;
    T costs[kAtOnce];
    const auto fetch = [&](uint32_t first) {
        DTW_UNROLL
        for (uint32_t q = 0; q < kAtOnce; ++q) {
            const Range bounds = memory.bounds[first + top + 2 * q];
            const bool inside = j0 + column >= bounds.start && j0 + column < bounds.end;
            costs[q] = inside ? min_(*from * rate, soft_never<T>()) : soft_never<T>();
            from += 2 * p.costs_row;
        }
    };
    fetch(0);
    sync_block();
    DTW_UNROLL_BY(1)
    for (uint32_t first = 0; first < kTile; first += 2 * kAtOnce) {
        DTW_UNROLL
        for (uint32_t q = 0; q < kAtOnce; ++q) {
            const uint32_t at = (first + top + 2 * q) * kTileStride<T> + column;
            const T whole = round_(costs[q]);
            memory.cells[0][at] = whole;
            memory.cells[1][at] = exp2_(whole - costs[q]);
        }
        if (first + 2 * kAtOnce < kTile) {
            fetch(first + 2 * kAtOnce);
        }
    }
    sync_block();
}

// Costs of a tile, of the caller's matrix where there is one, else of the series.
template <class T, bool kMany, TileCosts kCosts, class Memory>
DTW_DEVICE Known costs_of_tile(Memory& memory, const Soft& p, uint64_t k, const Points<T>& x, const Points<T>& y,
                              uint32_t i0, uint32_t j0, T rate) {
    if constexpr (!kMany) {
        if (p.costs) {
            matrix_costs<T>(memory, p, k, i0, j0, rate);
            return {false, false};
        }
    }
    return tile_costs<T, kMany, kCosts>(memory, x, y, i0, j0, rate, p.sweep.option);
}

// Writes the expected alignment of a tile, which is in memory.cells[0], times `factor` to the matrix of task k with m
// columns.
template <class T, class Memory>
DTW_DEVICE void write_alignment(const Memory& memory, const Soft& p, uint64_t k, uint32_t i0, uint32_t j0,
                                uint32_t rows, uint32_t m, T factor) {
    const uint32_t column = thread() % kTile;
    const uint64_t first = k * p.alignment_task + i0 * p.alignment_row;
    T* to = static_cast<T*>(p.alignment) + first + j0 + column;
    if (j0 + column < m) {
        for (uint32_t row = thread() / kTile; row < rows; row += 2) {
            const Range bounds = memory.bounds[row];
            // The least weight of doubles is not 0.
            const bool inside = j0 + column >= bounds.start && j0 + column < bounds.end;
            to[row * p.alignment_row] = inside ? factor * memory.cells[0][row * kTileStride<T> + column] : T(0);
        }
    }
}

}  // namespace dtw
