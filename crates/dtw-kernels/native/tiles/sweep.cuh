// Sweeping a tile by one warp, which knows what its cells cost.
#pragma once

#include "tile.cuh"

namespace dtw {

// Steps between two that rescale.
constexpr uint32_t kRescale = 16;

// The whole number of bits of a cost, for either kind of cell. `quick`: how the tile has it.
template <class T>
DTW_DEVICE int32_t whole_of(const QuickCell<T>&, T slot, bool) { return from_slot(slot); }
template <class T>
DTW_DEVICE T whole_of(const SoftCell<T>&, T slot, bool quick) {
    const int32_t whole = from_slot(slot);
    return !quick ? slot : whole >= -kQuickNever ? soft_never<T>() : T(whole);
}

// The steps of sweep_tile with cells of one kind; edges are in the kind's slots.
template <class Cell, bool kKeepsRight, class T, class Each>
DTW_DEVICE void sweep_cells(const T* wholes, const T* factors, uint32_t rows, TileEdges<T>& edges, T* left, T* right,
                            bool quick, const Each& each) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    Cell first, second, corner, edge;
    DTW_UNROLL
    for (int q = 0; q < 2; ++q) {
        convert(edges.left[q], edge);
        left[2 * inside + q] = exponent_slot(edge);
        left[kTile + 2 * inside + q] = edge.mantissa;
    }
    convert(edges.up[0], first);
    convert(edges.up[1], second);
    convert(edges.corner, corner);
    Cell before = select(inside == 0, corner, cell_below(second));
    sync();
    // What a step reads is loaded in the step before, ahead of what that one writes.
    struct Read {
        Two<T> whole, factor;
        T edge[2];
    };
    const auto read = [&](uint32_t row) {
        const uint32_t at = row < rows ? row : 0, place = at * kTileStride<T> + 2 * inside;
        return Read{two(wholes + place), two(factors + place), {load_always(left + at), load_always(left + kTile + at)}};
    };
    Read now = read(0 - inside);
    for (uint32_t from = 0; from < rows + 31; from += kRescale) {
        DTW_UNROLL4
        for (uint32_t step = 0; step < kRescale; ++step) {
            const uint32_t row = from + step - inside;  // wraps round before the first
            const bool active = row < rows;
            const Read next = read(row + 1);
            Cell entering;
            load_cell(now.edge[0], now.edge[1], entering);
            const Cell beside = select(inside == 0, entering, cell_below(second));
            SoftShares<T> shares[2];
            const Cell a = soft_combine(before, first, beside, whole_of(first, now.whole.v[0], quick), now.factor.v[0],
                                        shares[0]);
            const Cell b = soft_combine(first, second, a, whole_of(first, now.whole.v[1], quick), now.factor.v[1],
                                        shares[1]);
            each(active, row * kTileStride<T> + 2 * inside, shares);
            if (kKeepsRight && active && inside == 31) {
                right[row] = exponent_slot(b);
                right[kTile + row] = b.mantissa;
            }
            first = select(active, a, first);
            second = select(active, b, second);
            // Before a lane's first row this is the last cell of the row above in the lane below; see `before`.
            before = beside;
            now = next;
        }
        rescale(first);
        rescale(second);
        rescale(before);
    }
    convert(first, edges.up[0]);
    convert(second, edges.up[1]);
    sync();
    if (kKeepsRight) {
        DTW_UNROLL
        for (int q = 0; q < 2; ++q) {
            const uint32_t row = 2 * inside + q;
            Cell last;
            SoftCell<T> kept;
            load_cell(right[row], right[kTile + row], last);
            convert(last, kept);
            right[row] = kept.exponent;
        }
        sync();
    }
}

// Sweeps `rows` rows of a tile by one warp: lane l has columns 2 l and 2 l + 1 and takes row t - l at step t. Its last
// cells are in edges.up afterwards. `left` is room for the left edge, exponents and then mantissas; with kKeepsRight
// the last cell of each row goes to `right`, likewise, not rescaled. `each(active, place, shares)` is called at
// every step for the two cells of a lane, which lie at `place` and behind it if the lane is active, that is, has a row.
template <bool kKeepsRight, class T, class Each>
DTW_DEVICE void sweep_tile(const T* wholes, const T* factors, uint32_t rows, TileEdges<T>& edges, T* left, T* right,
                           bool quick, const Each& each) {
    bool fits = quick && is_quick(edges.corner);
    DTW_UNROLL
    for (int q = 0; q < 2; ++q) {
        fits = fits && is_quick(edges.up[q]) && is_quick(edges.left[q]);
    }
    if (any(!fits)) {
        sweep_cells<SoftCell<T>, kKeepsRight>(wholes, factors, rows, edges, left, right, quick, each);
    } else {
        sweep_cells<QuickCell<T>, kKeepsRight>(wholes, factors, rows, edges, left, right, quick, each);
    }
}

}  // namespace dtw
