// Backward: gradients of Soft-DTW, from the edges that soft_forward kept.
//
//   for each ticket (a strip of a pair, the last strips first), by a block:
//       for each tile of the strip, from the right:
//           costs of the tile, by all threads
//           one warp: sweep the tile again from its edges: each cell's shares of its three predecessors to cells[0 .. 2]
//           divide them by their sum, by all threads
//           one warp: wait until the strip below has handed up what flows into the last row
//                     sweep back: E(i,j) = what its three successors hand to it, to cells[0]; hand up; publish
//           products of E with x and y, by all threads, added to grad_x and grad_y (products.cuh)
//       a tile into which nothing flows but zeros is left out: its E is 0
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

// Whether anything but zeros flows into a tile from the strip below, where nothing comes from the right. If not, zeros
// are handed on. With `guesses` it does, as long as that is not known. All threads call it and get the same.
template <class T, class Memory>
DTW_DEVICE bool flows_up(Memory& memory, uint32_t* passed, uint32_t done, bool is_handed, bool hands_corner,
                         bool guesses, T* handed) {
    if (thread() < 32) {
        const uint32_t inside = static_cast<uint32_t>(lane());
        bool quiet = true;
        if (is_handed) {
            if (inside == 0 && !guesses) {
                wait_for(passed + 1, done);
            }
            quiet = broadcast(inside == 0 && load_acquire(passed + 1) >= done ? 1u : 0u, 0) != 0;
            sync();
            if (quiet) {
                quiet = !any(load_fresh(handed + 2 * inside) != T(0) || load_fresh(handed + 2 * inside + 1) != T(0));
            }
        }
        if (quiet) {
            DTW_UNROLL
            for (int q = 0; q < 2; ++q) {
                handed[2 * inside + q] = T(0);
                if (hands_corner) {
                    handed[2 * static_cast<int>(inside) + q - kTile] = T(0);
                }
            }
            sync();
        }
        if (inside == 0) {
            memory.flows = !quiet;
            if (quiet) {
                store_release(passed, hands_corner ? done + 1 : done);
            }
        }
    }
    sync_block();
    const bool flows = memory.flows != 0;
    sync_block();
    return flows;
}

// Zeros for the gradient of `count` points from `first`, by all threads.
template <class T>
DTW_DEVICE void clear_gradient(T* gradient, uint32_t channels, uint32_t first, uint32_t count) {
    T* from = gradient + static_cast<uint64_t>(first) * channels;
    for (uint32_t e = thread(); e < count * channels; e += 128) {
        from[e] = T(0);
    }
}

// What a tile hands on, without what is too little to matter. The shares of a row, and of a column, add up to 1 at least,
// and no gradient is known to more than a rounding of what it is a sum of.
template <class T>
DTW_DEVICE T worth_handing(T share) {
    constexpr T kTooLittle = sizeof(T) == 8 ? T(1.0 / (1ull << 63) / (1ull << 63)) : T(1.0 / (1ull << 63));
    return share < kTooLittle ? T(0) : share;
}

template <class T, bool kMany>
DTW_DEVICE void soft_backward(const Soft& p) {
    using Memory = TileMemory<T, 3>;
    Memory& memory = *static_cast<Memory*>(shared_memory());
    const T rate = soft_rate<T>(p);
    // With few strips for a block there is nothing better to do than to sweep a tile that may turn out empty.
    const bool guesses = warps() >= p.sweep.tasks * p.down;
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
        // Whether the tile before has handed on anything but zeros, and whether one has added to grad_x. How far the
        // strip below must have added to grad_y.
        bool flows = is_last, begun = false;
        uint32_t awaited = 0;
        for (uint32_t c = own.last + 1; c-- > own.first;) {
            const uint32_t done = p.across - c, j0 = c * kTile;
            // A path can come from the strip below through the corner alone.
            const bool is_shared = below.has(c), is_handed = is_shared || c + 1 == below.first;
            const bool hands_corner = c == own.first && c > 0;
            T* handed = static_cast<T*>(p.inflow) + (k * p.across + c) * kTile;
            awaited = is_shared ? done : awaited;
            const auto leave_out = [&] {
                if (!is_shared && !p.costs) {
                    clear_gradient(grad_y, p.sweep.channels, j0, min_(task.m - j0, static_cast<uint32_t>(kTile)));
                    sync_block();
                }
                if (thread() == 0 && (awaited == 0 || load_acquire(added + 1) >= awaited)) {
                    store_release(added, done);
                }
            };
            if (!flows && !flows_up(memory, passed, done, is_handed, hands_corner, guesses, handed)) {
                leave_out();
                continue;
            }
            const Known known = costs_of_tile<T, kMany>(memory, p, k, x, y, i0, j0, rate);
            if (thread() < 32) {
                const uint32_t inside = static_cast<uint32_t>(lane());
                TileEdges<T> edges = kept_edges<T>(p, k, strip, c, own, above);
                const auto record = [&](bool active, uint32_t place, const SoftShares<T>(&shares)[2]) {
                    if (active) {
                        two(memory.cells[0] + place) = {{shares[0].diagonal, shares[1].diagonal}};
                        two(memory.cells[1] + place) = {{shares[0].up, shares[1].up}};
                        two(memory.cells[2] + place) = {{shares[0].left, shares[1].left}};
                    }
                };
                // `to` is not needed before this tile hands on.
                sweep_tile<false>(memory.cells[0], memory.cells[1], rows, edges, to, to, known.quick, record);
            }
            divide_shares<T>(memory, rows);
            if (thread() < 32) {
                const uint32_t inside = static_cast<uint32_t>(lane());
                if (is_handed) {
                    if (inside == 0) {
                        wait_for(passed + 1, done);
                    }
                    sync();
                }
                handed += 2 * inside;
                T inflow[2];
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    inflow[q] = is_handed ? load_fresh(handed + q) : T(0);
                    inflow[q] = is_last && j0 + 2 * inside + q + 1 == task.m ? T(1) : inflow[q];
                }
                // It may turn out only now that nothing flows in.
                const bool is_empty = !flows && !any(inflow[0] != T(0) || inflow[1] != T(0));
                bool hands_on = false;
                if (!is_empty) {
                    sweep_back(memory.cells[0], memory.cells[1], memory.cells[2], rows, inflow, from, to);
                    sync();
                }
                DTW_UNROLL
                for (int q = 0; q < 2; ++q) {
                    const uint32_t row = 2 * inside + q;
                    const bool is_there = !is_empty && row < rows;
                    to[row] = is_there ? worth_handing(to[row]) : T(0);
                    to[kTile + row] = is_there ? worth_handing(to[kTile + row]) : T(0);
                    hands_on = hands_on || to[row] != T(0) || to[kTile + row] != T(0);
                    handed[q] = worth_handing(inflow[q]);
                }
                sync();
                if (hands_corner) {
                    handed[-kTile] = T(0);
                    handed[1 - kTile] = inside == 31 ? to[kTile] : T(0);
                }
                hands_on = any(hands_on);
                sync();
                if (inside == 0) {
                    memory.flows = hands_on;
                    memory.empty = is_empty;
                    store_release(passed, hands_corner ? done + 1 : done);
                }
            }
            T* handed_on = to;
            to = from;
            from = handed_on;
            sync_block();
            flows = memory.flows != 0;
            if (memory.empty != 0) {
                leave_out();
                sync_block();
                continue;
            }
            if (p.alignment) {
                write_alignment<T>(memory, p, k, i0, j0, rows, task.m, factor);
            }
            if (p.costs) {
                continue;
            }
            const Place place{i0, j0, rows, !begun, !is_shared};
            begun = true;
            const auto turn = [&] {
                if (awaited > 0 && thread() == 0) {
                    wait_for(added + 1, awaited);
                }
                sync_block();
            };
            if constexpr (kMany && kMatrixUnits && sizeof(T) == sizeof(float)) {
                if (known.far) {
                    for (uint32_t channel = 0; channel < p.sweep.channels; channel += kStaged) {
                        multiply_by_matrix(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
                    }
                }
            }
            if (known.far) {
                // They are multiplied.
            } else if constexpr (kMany) {
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
        if (!begun && !p.costs) {
            clear_gradient(grad_x, p.sweep.channels, i0, rows);
        }
        if (thread() == 0) {
            if (awaited > 0) {
                wait_for(added + 1, awaited);
            }
            store_release(added, p.across - own.first);
        }
    }
}

}  // namespace dtw
