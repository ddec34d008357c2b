// Backward: gradients of Soft-DTW, from the edges that soft_forward kept.
//
//   for each ticket (a tile of a pair, by antidiagonals from the last), by a block:
//       if nothing but zeros flows in from the right and from below: its E is 0; hand on zeros, and no more
//       costs of the tile, by all threads
//       one warp: sweep the tile again from its edges: each cell's shares of its three predecessors to cells[0 .. 2]
//       divide them by their sum, by all threads
//       one warp: wait until the tiles to the right and below have handed on what flows into this one
//                 sweep back: E(i,j) = what its three successors hand to it, to cells[0]; hand on; publish
//       products of E with x and y, by all threads, added to grad_x and grad_y after those of the tiles to the right
//       and below (products.cuh, matrix_products.cuh)
//
//     E(i,j) = E(i,j+1) left(i,j+1) + E(i+1,j) up(i+1,j) + E(i+1,j+1) diagonal(i+1,j+1),   E(n,m) = 1
//
//          lane 30         lane 31       | tile to the right    lane l has columns 2 l and 2 l + 1, as forward;
//   row i   e0 <- e1  <--  e0 <- e1  <---| left(row), from it   at step t it takes row rows - 1 - (t - (31 - l))
//              \ up \  /     \ up \      | diagonal(row)
//   row i - 1  inflow of two columns     |                       inflow: what the row below hands to each column
//
// No number is ever larger than 1, and there is no logarithm, exponential or difference of large numbers on the way
// back. Nothing is added to a gradient in an order that depends on who comes first.
#pragma once

#include "matrix_products.cuh"
#include "soft_forward.cuh"

namespace dtw {

// Divides the shares of each cell by their sum, by all threads, each four columns of every eighth row.
template <class T, class Memory>
DTW_DEVICE void divide_shares(Memory& memory, uint32_t rows) {
    sync_block();
    DTW_UNROLL2
    for (uint32_t row = thread() / 16; row < rows; row += 8) {
        const uint32_t place = row * kTileStride<T> + thread() % 16 * 4;
        Four<T> diagonal = four(memory.cells[0] + place), up = four(memory.cells[1] + place);
        Four<T> left = four(memory.cells[2] + place);
        DTW_UNROLL
        for (int k = 0; k < 4; ++k) {
            const T of_sum = reciprocal(diagonal.v[k] + up.v[k] + left.v[k]);
            diagonal.v[k] *= of_sum;
            up.v[k] *= of_sum;
            left.v[k] *= of_sum;
        }
        four(memory.cells[0] + place) = diagonal;
        four(memory.cells[1] + place) = up;
        four(memory.cells[2] + place) = left;
    }
    sync_block();
}

// Sweeps a tile back by one warp. `inflow` is what flows into the last row of the lane's two columns, and afterwards
// what the first row hands up. `from` holds what the tile to the right hands to each row: from its own row, then from
// the row below; what this tile hands on goes to `to`, likewise.
template <class T>
DTW_DEVICE void sweep_back(T* diagonals, const T* ups, const T* lefts, uint32_t rows, T (&inflow)[2], const T* from,
                           T* to) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    // As in sweep_cells: read a step ahead.
    struct Read {
        Two<T> diagonal, up, left;
        T edge[2];
    };
    const auto read = [&](uint32_t done) {
        const uint32_t row = done < rows ? rows - 1 - done : 0, place = row * kTileStride<T> + 2 * inside;
        return Read{two(diagonals + place), two(ups + place), two(lefts + place),
                    {load_always(from + row), load_always(from + kTile + row)}};
    };
    T to_left = T(0), to_corner = T(0);
    Read now = read(0 - (31 - inside));
    DTW_UNROLL4
    for (uint32_t t = 0; t < rows + 31; ++t) {
        const uint32_t done = t - (31 - inside), row = rows - 1 - done;  // wraps round before the last row
        const bool active = done < rows;
        const Read next = read(done + 1);
        const Two<T> &diagonal = now.diagonal, &up = now.up, &left = now.left;
        T from_right = shift_down<32>(to_left), from_corner = shift_down<32>(to_corner);
        from_right = inside == 31 ? now.edge[0] : from_right;
        from_corner = inside == 31 ? now.edge[1] : from_corner;
        const T second = inflow[1] + from_right;
        const T first = fma_(second, left.v[1], inflow[0]);
        to_left = first * left.v[0];
        to_corner = first * diagonal.v[0];
        inflow[0] = active ? fma_(second, diagonal.v[1], first * up.v[0]) : inflow[0];
        inflow[1] = active ? fma_(second, up.v[1], from_corner) : inflow[1];
        if (active) {
            two(diagonals + row * kTileStride<T> + 2 * inside) = {{first, second}};
        }
        if (active && inside == 0) {
            to[row] = to_left;
            to[kTile + row] = to_corner;
        }
        now = next;
    }
}

// Zeros for the gradient of `count` points from `first`, by all threads.
template <class T>
DTW_DEVICE void clear_gradient(T* gradient, uint32_t channels, uint32_t first, uint32_t count) {
    T* from = gradient + static_cast<uint64_t>(first) * channels;
    for (uint32_t e = thread(); e < count * channels; e += 128) {
        from[e] = T(0);
    }
}

// A tile and its neighbours.
template <class T>
struct BackwardTile {
    uint64_t k;
    uint32_t strip, c, rows, done;  // done: tiles of the strip from the right, this one included, that are there or not
    Span own, above, below;
    bool has_end;

    // A path can come from the strip below through the corner alone.
    DTW_DEVICE bool is_first() const { return c == own.last; }
    DTW_DEVICE bool is_shared() const { return below.has(c); }
    DTW_DEVICE bool is_handed() const { return is_shared() || c + 1 == below.first; }
    DTW_DEVICE bool hands_corner() const { return c == own.first && c > 0; }
};

// What flows into a tile, as a lane has it: into the last row of its two columns; from the right, into its two rows
// from their own row and from the row below.
template <class T>
struct Inflow {
    T up[2], left[2], corner[2];
};

// Called by one warp, once it is there.
template <class T>
DTW_DEVICE Inflow<T> load_inflow(const Soft& p, const BackwardTile<T>& tile, uint32_t m) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    const T* up = static_cast<const T*>(p.inflow) + (tile.k * p.across + tile.c) * kTile + 2 * inside;
    // The edge that the tile to the right has swept from is not needed any more.
    const uint64_t number = tile_number(p, tile.k, tile.strip, tile.c);
    const T* right = static_cast<const T*>(p.rights) + number * (2 * kTile) + 2 * inside;
    Inflow<T> inflow;
    DTW_UNROLL
    for (uint32_t q = 0; q < 2; ++q) {
        const bool is_there = !tile.is_first() && 2 * inside + q < tile.rows;
        inflow.up[q] = tile.is_handed() ? load_fresh(up + q) : T(0);
        inflow.left[q] = is_there ? load_fresh(right + q) : T(0);
        inflow.corner[q] = is_there ? load_fresh(right + kTile + q) : T(0);
        inflow.up[q] = tile.has_end && tile.c * kTile + 2 * inside + q + 1 == m ? T(1) : inflow.up[q];
    }
    return inflow;
}
template <class T>
DTW_DEVICE bool is_nothing(const Inflow<T>& inflow) {
    const T sum = inflow.up[0] + inflow.up[1] + inflow.left[0] + inflow.left[1] + inflow.corner[0] + inflow.corner[1];
    return !any(sum != T(0));
}

// What a tile hands on, without what is too little to matter. The shares of a row, and of a column, add up to 1 at
// least, and no gradient is known to more than a rounding of what it is a sum of.
template <class T>
DTW_DEVICE T worth_handing(T share) {
    constexpr T kTooLittle = sizeof(T) == 8 ? T(1.0 / (1ull << 63) / (1ull << 63)) : T(1.0 / (1ull << 63));
    return share < kTooLittle ? T(0) : share;
}

// Hands on what flows out of a tile, and says so; called by one warp. `corner`: what flows to the corner, of lane 0.
template <class T>
DTW_DEVICE void hand_on(const Soft& p, const BackwardTile<T>& tile, const Inflow<T>& out, uint32_t* passed) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    T* up = static_cast<T*>(p.inflow) + (tile.k * p.across + tile.c) * kTile + 2 * inside;
    const T corner = broadcast(worth_handing(out.corner[0]), 0);
    DTW_UNROLL
    for (int q = 0; q < 2; ++q) {
        up[q] = worth_handing(out.up[q]);
    }
    if (tile.c > tile.own.first) {
        T* left = static_cast<T*>(p.rights) + tile_number(p, tile.k, tile.strip, tile.c - 1) * (2 * kTile) + 2 * inside;
        DTW_UNROLL
        for (int q = 0; q < 2; ++q) {
            left[q] = worth_handing(out.left[q]);
            left[kTile + q] = worth_handing(out.corner[q]);
        }
    } else if (tile.hands_corner()) {
        up[-kTile] = T(0);
        up[1 - kTile] = inside == 31 ? corner : T(0);
    }
    sync();
    if (inside == 0) {
        store_release(passed, tile.hands_corner() ? tile.done + 1 : tile.done);
    }
}

template <class T, bool kMany, TileCosts kCosts>
DTW_DEVICE void soft_backward(const Soft& p) {
    using Memory = TileMemory<T, 3>;
    Memory& memory = *static_cast<Memory*>(shared_memory<sizeof(Memory)>());
    const T rate = soft_rate<T, kCosts>(p);
    const uint64_t tiles = static_cast<uint64_t>(p.down) * p.across;
    // With few tiles at a time for a block there is nothing better to do than to sweep one that may turn out empty.
    const bool guesses = warps() >= p.sweep.tasks * min_(p.down, p.across);
    for (uint64_t ticket; (ticket = block_ticket(p.sweep, memory)) < p.sweep.tasks * tiles; join_wave()) {
        BackwardTile<T> tile;
        tile.k = ticket % p.sweep.tasks;
        const TilePlace from_last = tile_in_order(ticket / p.sweep.tasks, p.down, p.across);
        const Task task = task_of(p.sweep, tile.k);
        const uint32_t strips = (task.n + kTile - 1) / kTile, across = (task.m + kTile - 1) / kTile;
        if (from_last.row >= strips || from_last.column >= across) {
            continue;
        }
        const Band band = band_of(p.sweep, tile.k, task.n, task.m);
        tile.strip = strips - 1 - from_last.row;
        tile.c = across - 1 - from_last.column;
        tile.own = span_of(band, tile.strip);
        if (!tile.own.has(tile.c)) {
            continue;
        }
        const uint32_t i0 = tile.strip * kTile, j0 = tile.c * kTile;
        const bool is_last = from_last.row == 0;
        tile.rows = min_(task.n - i0, static_cast<uint32_t>(kTile));
        tile.done = p.across - tile.c;
        tile.above = tile.strip > 0 ? span_of(band, tile.strip - 1) : Span{1, 0};
        tile.below = is_last ? Span{~0u, 0} : span_of(band, tile.strip + 1);
        tile.has_end = is_last && tile.is_first();
        const Points<T> x(p.sweep.x, task.i, p.sweep.channels), y(p.sweep.y, task.j, p.sweep.channels);
        T* grad_x = static_cast<T*>(p.grad_x) + first_point(p.sweep.x, task.i) * p.sweep.channels;
        T* grad_y = static_cast<T*>(p.grad_y) + first_point(p.sweep.y, task.j) * p.sweep.channels;
        const T factor = p.upstream ? static_cast<const T*>(p.upstream)[p.sweep.first_task + tile.k] : T(1);
        uint32_t* passed = p.progress + tile.k * p.down + tile.strip;
        uint32_t* added = p.added + tile.k * p.down + tile.strip;
        const auto wait_for_inflow = [&] {
            if (lane() == 0) {
                if (!tile.is_first()) {
                    wait_for(passed, tile.done - 1);
                }
                if (tile.is_handed()) {
                    wait_for(passed + 1, tile.done);
                }
            }
            sync();
        };
        fill_bounds(memory, band, tile.strip);
        if (thread() < 32) {
            bool is_known = true;
            if (lane() == 0 && guesses) {
                is_known = (tile.is_first() || load_acquire(passed) >= tile.done - 1) &&
                           (!tile.is_handed() || load_acquire(passed + 1) >= tile.done);
            }
            is_known = broadcast(is_known ? 1u : 0u, 0) != 0;
            if (!guesses) {
                wait_for_inflow();
            }
            sync();
            const bool is_empty = is_known && is_nothing(load_inflow(p, tile, task.m));
            if (is_empty) {
                hand_on(p, tile, Inflow<T>{}, passed);
            }
            if (lane() == 0) {
                memory.empty = is_empty;
            }
        }
        sync_block();
        bool is_empty = memory.empty != 0;
        Known known{false, false};
        if (!is_empty) {
            known = costs_of_tile<T, kMany, kCosts>(memory, p, tile.k, x, y, i0, j0, rate);
            T *from = memory.edges[0], *to = memory.edges[2];
            if (thread() < 32) {
                TileEdges<T> edges = kept_edges<T>(p, tile.k, tile.strip, tile.c, tile.own, tile.above);
                const auto record = [&](bool active, uint32_t place, const SoftShares<T>(&shares)[2]) {
                    if (active) {
                        two(memory.cells[0] + place) = {{shares[0].diagonal, shares[1].diagonal}};
                        two(memory.cells[1] + place) = {{shares[0].up, shares[1].up}};
                        two(memory.cells[2] + place) = {{shares[0].left, shares[1].left}};
                    }
                };
                // `to` is not needed before this tile hands on.
                sweep_tile<false>(memory.cells[0], memory.cells[1], tile.rows, edges, to, to, known.quick, record);
            }
            divide_shares<T>(memory, tile.rows);
            if (thread() < 32) {
                wait_for_inflow();
                Inflow<T> flow = load_inflow(p, tile, task.m);
                // It may turn out only now that nothing flows in.
                const bool is_nothing_there = is_nothing(flow);
                const uint32_t first = 2 * static_cast<uint32_t>(lane());
                if (!is_nothing_there) {
                    DTW_UNROLL
                    for (int q = 0; q < 2; ++q) {
                        from[first + q] = flow.left[q];
                        from[kTile + first + q] = flow.corner[q];
                    }
                    sync();
                    sweep_back(memory.cells[0], memory.cells[1], memory.cells[2], tile.rows, flow.up, from, to);
                    sync();
                    DTW_UNROLL
                    for (uint32_t q = 0; q < 2; ++q) {
                        const bool is_there = first + q < tile.rows;
                        flow.left[q] = is_there ? to[first + q] : T(0);
                        flow.corner[q] = is_there ? to[kTile + first + q] : T(0);
                    }
                }
                hand_on(p, tile, flow, passed);
                if (lane() == 0) {
                    memory.empty = is_nothing_there;
                }
            }
            sync_block();
            is_empty = memory.empty != 0;
        }
        if (p.alignment && !is_empty) {
            write_alignment<T>(memory, p, tile.k, i0, j0, tile.rows, task.m, factor);
        }
        if (p.costs) {
            continue;
        }
        const Place place{i0, j0, tile.rows, tile.is_first(), !tile.is_shared()};
        // What the tiles to the right and below add comes first.
        const auto turn = [&] {
            if (thread() == 0) {
                if (!tile.is_first()) {
                    wait_for(added, tile.done - 1);
                }
                if (tile.is_shared()) {
                    wait_for(added + 1, tile.done);
                }
            }
            sync_block();
        };
        if (is_empty) {
            if (place.begins_x) {
                clear_gradient(grad_x, x.channels, i0, tile.rows);
            }
            if (place.begins_y) {
                clear_gradient(grad_y, y.channels, j0, min_(task.m - j0, static_cast<uint32_t>(kTile)));
            }
            turn();
        } else {
            multiply_tile<T, kMany, kCosts == TileCosts::kSquared>(memory, x, y, grad_x, grad_y, place, p.sweep.option,
                                                                   known.far, factor, turn);
        }
        sync_block();
        if (thread() == 0) {
            store_release(added, tile.done);
        }
    }
}

}  // namespace dtw
