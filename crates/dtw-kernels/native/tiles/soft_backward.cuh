// Backward: gradients of Soft-DTW, from the edges that soft_forward kept.
//
//   for each ticket (a strip of a pair, the last strips first), by a block:
//       for each tile of the strip, from the right:
//           costs of the tile, by all threads
//           one warp: sweep the tile again from its edges: each cell's shares of its three predecessors, divided by
//                     their sum, to cells[0 .. 2]
//                     wait until the strip below has handed up what flows into the last row
//                     sweep back: E(i,j) = what its three successors hand to it, to cells[0]; hand up; publish
//           products of E with x and y, by all threads, added to grad_x and grad_y (products.cuh)
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

#include "products.cuh"
#include "soft_forward.cuh"

namespace dtw {

// The edges of a tile that the forward sweep kept.
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

// Sweeps a tile back by one warp. `inflow` is what flows into the last row of the lane's two columns, and afterwards
// what the first row hands up. `from` holds what the tile to the right hands to each row: from its own row, then from
// the row below; what this tile hands on goes to `to`, likewise.
template <class T>
DTW_DEVICE void sweep_back(T* diagonals, const T* ups, const T* lefts, uint32_t rows, T (&inflow)[2], const T* from,
                           T* to) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    T to_left = T(0), to_corner = T(0);
    DTW_UNROLL4
    for (uint32_t t = 0; t < rows + 31; ++t) {
        const uint32_t done = t - (31 - inside);  // wraps round before the last row
        const bool active = done < rows;
        const uint32_t row = active ? rows - 1 - done : 0, place = row * kTileStride<T> + 2 * inside;
        const Two<T> diagonal = two(diagonals + place), up = two(ups + place), left = two(lefts + place);
        const T entering = from[row], at_corner = from[kTile + row];
        T from_right = shift_down<32>(to_left), from_corner = shift_down<32>(to_corner);
        from_right = inside == 31 ? entering : from_right;
        from_corner = inside == 31 ? at_corner : from_corner;
        const T second = inflow[1] + from_right;
        const T first = fma_(second, left.v[1], inflow[0]);
        to_left = first * left.v[0];
        to_corner = first * diagonal.v[0];
        inflow[0] = active ? fma_(second, diagonal.v[1], first * up.v[0]) : inflow[0];
        inflow[1] = active ? fma_(second, up.v[1], from_corner) : inflow[1];
        if (active) {
            two(diagonals + place) = {{first, second}};
        }
        if (active && inside == 0) {
            to[row] = to_left;
            to[kTile + row] = to_corner;
        }
    }
}

template <class T, bool kMany>
DTW_DEVICE void soft_backward(const Soft& p) {
    using Memory = TileMemory<T, 3>;
    Memory& memory = *static_cast<Memory*>(shared_memory());
    const T rate = soft_rate<T>(p);
    while (true) {
        const uint64_t ticket = block_ticket(p.sweep, memory);
        if (ticket >= p.sweep.tasks * p.down) {
            return;
        }
        const uint64_t k = ticket % p.sweep.tasks;
        const uint32_t from_last = static_cast<uint32_t>(ticket / p.sweep.tasks);
        const Task task = task_of(p.sweep, k);
        const uint32_t strips = (task.n + kTile - 1) / kTile;
        if (from_last >= strips) {
            continue;
        }
        const uint32_t strip = strips - 1 - from_last, i0 = strip * kTile;
        const Points<T> x(p.sweep.x, task.i, p.sweep.channels), y(p.sweep.y, task.j, p.sweep.channels);
        T* grad_x = static_cast<T*>(p.grad_x) + first_point(p.sweep.x, task.i) * p.sweep.channels;
        T* grad_y = static_cast<T*>(p.grad_y) + first_point(p.sweep.y, task.j) * p.sweep.channels;
        const T factor = p.upstream ? static_cast<const T*>(p.upstream)[p.sweep.first_task + k] : T(1);
        const Band band = band_of(p.sweep, k, task.n, task.m);
        const uint32_t rows = min_(task.n - i0, static_cast<uint32_t>(kTile));
        const bool is_last = from_last == 0;
        const Span own = span_of(band, strip), above = strip > 0 ? span_of(band, strip - 1) : Span{1, 0};
        const Span below = is_last ? Span{~0u, 0} : span_of(band, strip + 1);
        uint32_t* passed = p.progress + k * p.down + strip;
        uint32_t* added = p.added + k * p.down + strip;
        fill_bounds(memory, band, strip);
        // What the tile before has handed on, and what this one hands on, take turns.
        T *from = memory.edges[0], *to = memory.edges[2];
        if (thread() < kTile) {
            from[thread()] = T(0);
            from[kTile + thread()] = T(0);
        }
        for (uint32_t c = own.last + 1; c-- > own.first;) {
            const uint32_t done = p.across - c, j0 = c * kTile;
            // A path can come from the strip below through the corner alone.
            const bool is_shared = below.has(c), is_handed = is_shared || c + 1 == below.first;
            const bool hands_corner = c == own.first && c > 0;
            costs_of_tile<T, kMany>(memory, p, k, x, y, i0, j0, rate);
            if (thread() < 32) {
                const uint32_t inside = static_cast<uint32_t>(lane());
                TileEdges<T> edges = kept_edges<T>(p, k, strip, c, own, above);
                // Needed no more when this tile hands on.
                T* left = to;
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    left[2 * inside + q] = edges.left[q].exponent;
                    left[kTile + 2 * inside + q] = edges.left[q].mantissa;
                }
                sync();
                const auto record = [&](bool active, uint32_t place, const SoftShares<T>(&shares)[2],
                                        const T(&sums)[2]) {
                    const T of_first = reciprocal(sums[0]), of_second = reciprocal(sums[1]);
                    if (active) {
                        two(memory.cells[0] + place) = {{shares[0].diagonal * of_first, shares[1].diagonal * of_second}};
                        two(memory.cells[1] + place) = {{shares[0].up * of_first, shares[1].up * of_second}};
                        two(memory.cells[2] + place) = {{shares[0].left * of_first, shares[1].left * of_second}};
                    }
                };
                sweep_tile<false>(memory.cells[0], memory.cells[1], rows, edges, left, left, record);
                sync();
                if (is_handed) {
                    if (inside == 0) {
                        wait_for(passed + 1, done);
                    }
                    sync();
                }
                T* handed = static_cast<T*>(p.inflow) + (k * p.across + c) * kTile + 2 * inside;
                T inflow[2];
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    inflow[q] = is_handed ? load_fresh(handed + q) : T(0);
                    inflow[q] = is_last && j0 + 2 * inside + q + 1 == task.m ? T(1) : inflow[q];
                }
                sweep_back(memory.cells[0], memory.cells[1], memory.cells[2], rows, inflow, from,
                           to);
                sync();
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    handed[q] = inflow[q];
                }
                if (hands_corner) {
                    handed[-kTile] = T(0);
                    handed[1 - kTile] = inside == 31 ? to[kTile] : T(0);
                }
                sync();
                if (inside == 0) {
                    store_release(passed, hands_corner ? done + 1 : done);
                }
            }
            T* handed_on = to;
            to = from;
            from = handed_on;
            sync_block();
            if (p.alignment) {
                write_alignment<T>(memory, p, k, i0, j0, rows, task.m, factor);
            }
            if (p.costs) {
                continue;
            }
            const Place place{i0, j0, rows, c == own.last, !is_shared};
            const auto turn = [&] {
                if (is_shared && thread() == 0) {
                    wait_for(added + 1, done);
                }
                sync_block();
            };
            if constexpr (kMany) {
                for (uint32_t channel = 0; channel < p.sweep.channels; channel += 64) {
                    if (p.sweep.channels - channel > 32) {
                        multiply<T, 2>(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
                    } else {
                        multiply<T, 1>(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
                    }
                }
            } else {
                multiply_one<T>(memory, x, y, grad_x, grad_y, place, factor, turn);
            }
            sync_block();
            if (thread() == 0) {
                store_release(added, done);
            }
        }
    }
}

}  // namespace dtw
