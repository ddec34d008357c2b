// Forward: values of Soft-DTW or log_gak, and the edges of every tile where a backward sweep wants them.
//
//   for each ticket, by a block: a tile of a pair, by antidiagonals, or where edges are not kept a strip, tile by tile
//       costs of the tile, by all threads
//       one warp: wait until the tiles above and to the left are done; sweep (sweep.cuh)
//                 write the last row, and the last column if it is kept; publish
//       the last tile writes the value
//
//              tile c - 1            tile c                 what a tile needs:
//        corner |    bottoms of the strip above   |         *  corner: end of the row above tile c - 1
//      ---------*=================================|            =  last row of the strip above, from memory
//               #  lane 0: 2   lane 1: 2   ...    |            #  last column of tile c - 1, in memory, or in
//               #  columns     columns            |               shared memory where edges are not kept
//
// Where edges are not kept, one row of bottoms serves all strips of a pair: a tile reads its part before it writes it.
#pragma once

#include "matrices.cuh"
#include "order.cuh"
#include "sweep.cuh"

namespace dtw {

// Number of a tile among those whose edges are in memory.
DTW_DEVICE uint64_t tile_number(const Soft& p, uint64_t k, uint32_t strip, uint32_t tile) {
    return p.rights ? (k * p.down + strip) * p.across + tile : k * p.across + tile;
}

// The part of an edge at `number` that a lane has: cells 2 l and 2 l + 1.
template <class T>
DTW_DEVICE void load_edge(const void* edges, uint64_t number, SoftCell<T> (&cells)[2]) {
    const T* edge = static_cast<const T*>(edges) + number * (2 * kTile) + 2 * lane();
    DTW_UNROLL
    for (int k = 0; k < 2; ++k) {
        cells[k] = {load_fresh(edge + k), load_fresh(edge + kTile + k)};
    }
}
template <class T>
DTW_DEVICE void store_edge(void* edges, uint64_t number, const SoftCell<T> (&cells)[2]) {
    T* edge = static_cast<T*>(edges) + number * (2 * kTile) + 2 * lane();
    DTW_UNROLL
    for (int k = 0; k < 2; ++k) {
        edge[k] = cells[k].exponent;
        edge[kTile + k] = cells[k].mantissa;
    }
}

// The last cell of the edge at `number`, and its base.
template <class T>
DTW_DEVICE SoftCell<T> load_corner(const Soft& p, uint64_t number, double& base) {
    const T* edge = static_cast<const T*>(p.bottoms) + number * (2 * kTile) + kTile - 1;
    base = load_fresh(p.bases + number);
    return {load_fresh(edge), load_fresh(edge + kTile)};
}

// The edges of a tile, all from memory.
template <class T>
DTW_DEVICE TileEdges<T> kept_edges(const Soft& p, uint64_t k, uint32_t strip, uint32_t c, const Span& own,
                                   const Span& above) {
    TileEdges<T> edges{{never_cell<T>(), never_cell<T>()}, never_cell<T>(), {never_cell<T>(), never_cell<T>()}, 0.0};
    double of_above = 0.0, of_corner = 0.0, before = 0.0;
    if (strip > 0) {
        if (above.has(c)) {
            const uint64_t number = tile_number(p, k, strip - 1, c);
            load_edge(p.bottoms, number, edges.up);
            of_above = load_fresh(p.bases + number);
        }
        if (c > 0 && above.has(c - 1)) {
            edges.corner = load_corner<T>(p, tile_number(p, k, strip - 1, c - 1), of_corner);
        }
    } else if (c == 0) {
        edges.corner = {T(0), T(1)};
    }
    if (c > own.first) {
        const uint64_t number = tile_number(p, k, strip, c - 1);
        load_edge(p.rights, number, edges.left);
        before = load_fresh(p.bases + number);
    }
    rebase(edges, of_above, of_corner, before);
    return edges;
}

// What is carried from a tile of a strip to the next where edges are not kept: the last cell of the row above the tile
// before, and its base; base of the tile before.
template <class T>
struct Carried {
    SoftCell<T> corner;
    double of_corner, before;
};

// The edges of the next tile of a strip: from memory above it, and from `left`.
template <class T>
DTW_DEVICE TileEdges<T> next_edges(const Soft& p, uint64_t k, uint32_t strip, uint32_t c, const Span& own,
                                   const Span& above, uint32_t rows, const T* left, Carried<T>& carried) {
    const bool is_first = c == own.first;
    TileEdges<T> edges{{never_cell<T>(), never_cell<T>()}, carried.corner, {never_cell<T>(), never_cell<T>()}, 0.0};
    double of_above = 0.0;
    if (strip > 0) {
        if (above.has(c)) {
            const uint64_t number = tile_number(p, k, strip - 1, c);
            load_edge(p.bottoms, number, edges.up);
            of_above = load_fresh(p.bases + number);
        }
        if (is_first && c > 0 && above.has(c - 1)) {
            edges.corner = load_corner<T>(p, tile_number(p, k, strip - 1, c - 1), carried.of_corner);
        }
    } else if (c == 0) {
        edges.corner = {T(0), T(1)};
    }
    DTW_UNROLL
    for (int q = 0; q < 2; ++q) {
        const uint32_t row = 2 * static_cast<uint32_t>(lane()) + q;
        if (!is_first && row < rows) {
            edges.left[q] = {left[row], left[kTile + row]};
            rescale(edges.left[q]);
        }
    }
    carried.corner = {broadcast(edges.up[1].exponent, 31), broadcast(edges.up[1].mantissa, 31)};
    rebase(edges, of_above, carried.of_corner, carried.before);
    carried.of_corner = of_above;
    carried.before = edges.base;
    return edges;
}

template <class T>
DTW_DEVICE void write_soft_value(const Soft& p, uint64_t k, const Task& task, double base, SoftCell<T> cell,
                                 double scale) {
    const double bits = base + static_cast<double>(cell.exponent);
    const double log = is_never(cell.exponent)
                           ? Limits<double>::infinity()
                           : bits * 0.69314718055994530942 - log_(static_cast<double>(cell.mantissa));
    // Adding 0 makes 0 of -0.
    write_result(p.sweep, k, task, static_cast<T>(scale * log) + T(0));
}

// What costs are multiplied with, to have 2 as the base of weights.
template <class T, TileCosts kCosts>
DTW_DEVICE T soft_rate(const Soft& p) {
    const double parameter = p.sweep.parameters[0];
    return static_cast<T>(1.44269504088896340736 /
                          (kCosts == TileCosts::kKernel ? 2.0 * parameter * parameter : parameter));
}

template <class T, bool kMany, TileCosts kCosts>
DTW_DEVICE void soft_forward(const Soft& p) {
    using Memory = TileMemory<T, 2>;
    Memory& memory = *static_cast<Memory*>(shared_memory<sizeof(Memory)>());
    const T rate = soft_rate<T, kCosts>(p);
    const double scale = kCosts == TileCosts::kKernel ? -1.0 : p.sweep.parameters[0];
    const bool keeps = p.rights != nullptr;
    for (uint64_t ticket; (ticket = block_ticket(p.sweep, memory)) <
                          p.sweep.tasks * (keeps ? static_cast<uint64_t>(p.down) * p.across : p.down); join_wave()) {
        const uint64_t k = ticket % p.sweep.tasks, number_of = ticket / p.sweep.tasks;
        const TilePlace at = keeps ? tile_in_order(number_of, p.down, p.across)
                                   : TilePlace{static_cast<uint32_t>(number_of), 0};
        const uint32_t strip = at.row, i0 = strip * kTile;
        const Task task = task_of(p.sweep, k);
        // The result stays what it is until all strips of the task have begun.
        if (i0 >= task.n || !is_wanted<T>(p.sweep, k, task)) {
            continue;
        }
        const Points<T> x(p.sweep.x, task.i, p.sweep.channels), y(p.sweep.y, task.j, p.sweep.channels);
        const Band band = band_of(p.sweep, k, task.n, task.m);
        const uint32_t rows = min_(task.n - i0, static_cast<uint32_t>(kTile));
        const bool is_last = task.n - i0 <= kTile;
        const Span own = span_of(band, strip), above = strip > 0 ? span_of(band, strip - 1) : Span{1, 0};
        uint32_t* progress = p.progress + k * p.down + strip;
        if (keeps && !own.has(at.column)) {
            continue;
        }
        fill_bounds(memory, band, strip);
        Carried<T> carried{never_cell<T>(), 0.0, 0.0};
        const uint32_t last = keeps ? at.column : own.last;
        // Half a wave sweeps where lanes are 64, and both halves price.
        for (uint32_t c = keeps ? at.column : own.first; c <= last; join_wave(), ++c) {
            const bool quick = costs_of_tile<T, kMany, kCosts>(memory, p, k, x, y, i0, c * kTile, rate).quick;
            if (thread() >= 32) {
                continue;
            }
            const uint32_t inside = static_cast<uint32_t>(lane());
            // Edges of this tile and of the one before take turns.
            T* left = memory.edges[c % 2 * 2];
            T* right = memory.edges[2 - c % 2 * 2];
            if (inside == 0) {
                if (keeps && c > own.first) {
                    wait_for(progress, c);
                }
                if (strip > 0) {
                    wait_for(progress - 1, min_(c, above.last) + 1);
                }
            }
            sync();
            TileEdges<T> edges;
            if (keeps) {
                edges = kept_edges<T>(p, k, strip, c, own, above);
            } else {
                edges = next_edges(p, k, strip, c, own, above, rows, left, carried);
            }
            const auto ignore = [](bool, uint32_t, const SoftShares<T>(&)[2]) {};
            sweep_tile<true>(memory.cells[0], memory.cells[1], rows, edges, left, right, quick, ignore);
            const uint64_t number = tile_number(p, k, strip, c);
            if (inside == 0) {
                p.bases[number] = edges.base;
            }
            store_edge(p.bottoms, number, edges.up);
            if (p.rights) {
                SoftCell<T> cells[2];
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    const uint32_t row = 2 * inside + q;
                    cells[q] = row < rows ? SoftCell<T>{right[row], right[kTile + row]} : never_cell<T>();
                    rescale(cells[q]);
                }
                store_edge(p.rights, number, cells);
            }
            const uint32_t end = task.m - 1 - c * kTile;
            if (is_last && end < kTile && inside == end / 2) {
                write_soft_value(p, k, task, edges.base, end % 2 == 0 ? edges.up[0] : edges.up[1], scale);
            }
            sync();
            if (inside == 0) {
                store_release(progress, c + 1);
            }
        }
    }
}

}  // namespace dtw
