// The order of tiles by antidiagonals: what a tile needs of its neighbours comes before it.
//
//        0  1  3  6
//        2  4  7  9        each antidiagonal from its uppermost tile
//        5  8 10 11
#pragma once

#include "../vendor/vendor.cuh"

namespace dtw {

struct TilePlace {
    uint32_t row, column;
};

// The largest a with a (a + 1) / 2 <= t.
DTW_DEVICE uint64_t triangle_root(uint64_t t) {
    uint64_t a = static_cast<uint64_t>((sqrt_(8.0 * static_cast<double>(t) + 1.0) - 1.0) * 0.5);
    while (a * (a + 1) / 2 > t) {
        --a;
    }
    while ((a + 1) * (a + 2) / 2 <= t) {
        ++a;
    }
    return a;
}

// Tile `t` of down x across.
DTW_DEVICE TilePlace tile_in_order(uint64_t t, uint32_t down, uint32_t across) {
    const uint64_t least = down < across ? down : across, most = down < across ? across : down;
    const uint64_t growing = least * (least - 1) / 2, all = least * most;
    uint64_t diagonal, inside;
    if (t < growing) {
        diagonal = triangle_root(t);
        inside = t - diagonal * (diagonal + 1) / 2;
    } else if (t < all - growing) {
        diagonal = least - 1 + (t - growing) / least;
        inside = (t - growing) % least;
    } else {
        // As many from the end.
        const uint64_t after = all - 1 - t, last = triangle_root(after);
        diagonal = least + most - 2 - last;
        inside = last - (after - last * (last + 1) / 2);
    }
    const uint64_t top = diagonal >= across ? diagonal - (across - 1) : 0;
    const uint32_t row = static_cast<uint32_t>(top + inside);
    return {row, static_cast<uint32_t>(diagonal) - row};
}

}  // namespace dtw
