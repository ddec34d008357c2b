// Tiles of 64 x 64 cells: which of them a strip has, and what their cells cost.
//
//                 64 columns of y
//              | tile 0 | tile 1 | tile 2 |    a strip is a row of tiles; a block takes a strip at a time, as tickets
//   strip 0    |        |        |  out   |    in the order of dependence (lanes/tickets.cuh), and does its tiles
//   strip 1    |        |        |        |    one after the other; tiles wholly outside the band are left out
//   strip 2    |  out   |        |        |
//
// Costs of a tile, by all 128 threads: thread t has rows t / 8 + 16 q (q = 0 .. 3) and columns 4 (t % 8) + 0 .. 3 and
// 32 further:
//
//   for each 32 channels: x and y of the tile go to shared memory, channel by channel
//       for each channel: 4 numbers of x and 8 of y, 32 squares of differences
//   cost * log2(e) / gamma = whole + fraction; cells[0] = whole, cells[1] = 2^-fraction
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

// Four numbers that are loaded and stored as one.
template <class T>
struct alignas(16) Four {
    T v[4];
};
template <class T>
DTW_DEVICE Four<T>& four(T* p) { return *reinterpret_cast<Four<T>*>(p); }
template <class T>
DTW_DEVICE const Four<T>& four(const T* p) { return *reinterpret_cast<const Four<T>*>(p); }

// Two, likewise.
template <class T>
struct alignas(2 * sizeof(T)) Two {
    T v[2];
};
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
    uint64_t ticket;
    uint64_t reserved;
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

// The next ticket of this block; all threads get it.
template <class Memory>
DTW_DEVICE uint64_t block_ticket(const Sweep& p, Memory& memory) {
    sync_block();
    if (thread() == 0) {
        memory.ticket = take(p.ticket);
    }
    sync_block();
    return memory.ticket;
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

// 64 points from `first` to staged[channel * kTileStride + point], `width` channels from `channel`. Behind the last
// point it is repeated. A warp takes four points and eight channels at a time, which all go to different banks; all
// that a thread reads is on its way before anything is written.
template <class T>
DTW_DEVICE void stage_channels(T* staged, const T* values, uint32_t length, uint32_t channels, uint32_t first,
                               uint32_t channel, uint32_t width) {
    const uint32_t inside = thread() % 32, c = inside % 8, point = thread() / 32 * 4 + inside / 8;
    T held[kStaged / 8][4];
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        const uint64_t i = min_(first + point + 16 * q, length - 1);
        const T* from = values + i * channels + channel + c;
        DTW_UNROLL
        for (int g = 0; g < kStaged / 8; ++g) {
            held[g][q] = c + 8 * g < width ? from[8 * g] : T(0);
        }
    }
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int g = 0; g < kStaged / 8; ++g) {
            if (8u * g < width) {
                staged[(c + 8 * g) * kTileStride<T> + point + 16 * q] = held[g][q];
            }
        }
    }
}

// Costs of the tile whose first cell is (i0, j0): cells[0] = whole, cells[1] = 2^-fraction.
template <class T, bool kMany, class Memory>
DTW_DEVICE void tile_costs(Memory& memory, const Points<T>& x, const Points<T>& y, uint32_t i0, uint32_t j0, T rate) {
    const uint32_t column = thread() % 8 * 4, row = thread() / 8;
    T sum[4][8];
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            sum[q][k] = T(0);
        }
    }
    const auto add = [&](const T(&a)[4], const T(&b)[8]) {
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int k = 0; k < 8; ++k) {
                const T difference = a[q] - b[k];
                sum[q][k] = fma_(difference, difference, sum[q][k]);
            }
        }
    };
    if constexpr (kMany) {
        T* staged_x = memory.cells[1];
        T* staged_y = staged_x + kStaged * kTileStride<T>;
        for (uint32_t c0 = 0; c0 < x.channels; c0 += kStaged) {
            const uint32_t width = min_(x.channels - c0, static_cast<uint32_t>(kStaged));
            sync_block();
            stage_channels(staged_x, x.values, x.length, x.channels, i0, c0, width);
            stage_channels(staged_y, y.values, y.length, y.channels, j0, c0, width);
            sync_block();
            DTW_UNROLL2
            for (uint32_t c = 0; c < width; ++c) {
                T a[4], b[8];
                DTW_UNROLL
                for (int q = 0; q < 4; ++q) {
                    a[q] = staged_x[c * kTileStride<T> + row + 16 * q];
                }
                DTW_UNROLL
                for (int h = 0; h < 2; ++h) {
                    const Four<T> some = four(staged_y + c * kTileStride<T> + column + 32 * h);
                    DTW_UNROLL
                    for (int k = 0; k < 4; ++k) {
                        b[4 * h + k] = some.v[k];
                    }
                }
                add(a, b);
            }
        }
    } else {
        T a[4], b[8];
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            a[q] = x.values[x.clamped(i0 + row + 16 * q)];
        }
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            b[k] = y.values[y.clamped(j0 + column + k % 4 + k / 4 * 32)];
        }
        add(a, b);
    }
    // Nobody reads what was staged, or the tile before, any more.
    sync_block();
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        const Range bounds = memory.bounds[row + 16 * q];
        DTW_UNROLL
        for (int h = 0; h < 2; ++h) {
            Four<T> wholes, factors;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                const uint32_t j = j0 + column + 32 * h + k;
                const T cost = min_(sum[q][4 * h + k] * rate, soft_never<T>());
                const bool inside = j >= bounds.start && j < bounds.end;
                const T whole = inside ? round_(cost) : soft_never<T>();
                wholes.v[k] = whole;
                factors.v[k] = inside ? exp2_(whole - cost) : T(1);
            }
            const int at = static_cast<int>((row + 16 * q) * kTileStride<T> + column + 32 * h);
            four(memory.cells[0] + at) = wholes;
            four(memory.cells[1] + at) = factors;
        }
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

// Steps between two that settle.
constexpr uint32_t kSettle = 16;

// Sweeps `rows` rows of a tile by one warp: lane l has columns 2 l and 2 l + 1 and takes row t - l at step t. Its last
// cells are in edges.up afterwards. `left` holds the exponents of the left edge, then its mantissas; with kKeepsRight
// the last cell of each row goes to `right`, likewise, not settled. `each(active, place, shares, sums)` is called at
// every step for the two cells of a lane, which lie at `place` and behind it if the lane is active, that is, has a row.
template <bool kKeepsRight, class T, class Each>
DTW_DEVICE void sweep_tile(const T* wholes, const T* factors, uint32_t rows, TileEdges<T>& edges, const T* left,
                           T* right, const Each& each) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    SoftCell<T> before{shift_up<32>(edges.up[1].exponent), shift_up<32>(edges.up[1].mantissa)};
    before = inside == 0 ? edges.corner : before;
    SoftCell<T> first = edges.up[0], second = edges.up[1];
    for (uint32_t from = 0; from < rows + 31; from += kSettle) {
        DTW_UNROLL4
        for (uint32_t step = 0; step < kSettle; ++step) {
            const uint32_t row = from + step - inside;  // wraps round before the first
            const bool active = row < rows;
            const uint32_t at = active ? row : 0, place = at * kTileStride<T> + 2 * inside;
            const Two<T> whole = two(wholes + place), factor = two(factors + place);
            const SoftCell<T> entering{left[at], left[kTile + at]};
            SoftCell<T> beside{shift_up<32>(second.exponent), shift_up<32>(second.mantissa)};
            beside.exponent = inside == 0 ? entering.exponent : beside.exponent;
            beside.mantissa = inside == 0 ? entering.mantissa : beside.mantissa;
            SoftShares<T> shares[2];
            T sums[2];
            const SoftCell<T> a = soft_combine(before, first, beside, whole.v[0], factor.v[0], shares[0], sums[0]);
            const SoftCell<T> b = soft_combine(first, second, a, whole.v[1], factor.v[1], shares[1], sums[1]);
            each(active, place, shares, sums);
            if (kKeepsRight && active && inside == 31) {
                right[at] = b.exponent;
                right[kTile + at] = b.mantissa;
            }
            first.exponent = active ? a.exponent : first.exponent;
            first.mantissa = active ? a.mantissa : first.mantissa;
            second.exponent = active ? b.exponent : second.exponent;
            second.mantissa = active ? b.mantissa : second.mantissa;
            before.exponent = active ? beside.exponent : before.exponent;
            before.mantissa = active ? beside.mantissa : before.mantissa;
        }
        settle(first);
        settle(second);
        settle(before);
    }
    edges.up[0] = first;
    edges.up[1] = second;
}

}  // namespace dtw
