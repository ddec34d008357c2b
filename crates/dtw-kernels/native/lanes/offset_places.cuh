// Which lane of a group owns which offsets c = j - i + below of a band along the diagonal (sweeps/diagonal.cuh).
//
// A group has places for G * K offsets, and the band may have fewer. Then some places at the start of a lane hold no
// cell: they pass on what comes from the left. A fine shape has one or two of them (Kernel::least_offsets in
// src/catalog.rs), and all lanes take part; of a coarse one lanes behind the last offset are idle.
#pragma once

#include "band.cuh"
#include "task.cuh"

namespace dtw {

// Places of a lane without a cell, at most: a coarse shape holds more than half as many offsets as it has places, with
// more than half of its lanes, or any number from three on, if it has four lanes.
template <int G, int K, bool kCoarse>
DTW_DEVICE constexpr uint32_t most_idle() {
    return !kCoarse ? (G == 8 ? 1 : 2) : G == 4 ? K - 2 : (K + G / 2 - 1) / (G / 2 + 1);
}

template <int G, int K, bool kCoarse>
struct OffsetPlaces {
    static_assert(K > most_idle<G, K, kCoarse>() + 1, "a lane has a cell between its first and its last");
    uint32_t lanes;  // that own offsets
    uint32_t idle;   // places of this lane without a cell
    int32_t first;   // the offset of this lane's first place, counted as if idle ones had one

    DTW_DEVICE OffsetPlaces(const Band& band, uint32_t inside) {
        const uint32_t offsets = band.below + band.above + 1;
        lanes = kCoarse ? (offsets + K - 1) / K : G;
        const uint32_t all = lanes * K - offsets, each = all / lanes, extra = all % lanes;
        idle = each + (inside < extra ? 1 : 0);
        first = static_cast<int32_t>(inside * (K - each) - (inside < extra ? inside : extra) - idle);
    }
};

// The lane and its place of the pair's last cell.
struct LastPlace {
    uint32_t owner;
    int32_t place;  // of the owner

    template <int G, int K, bool kCoarse>
    DTW_DEVICE LastPlace(const OffsetPlaces<G, K, kCoarse>& places, const Task& task, const Band& band, uint32_t inside) {
        const uint32_t target = task.m - task.n + band.below;
        place = static_cast<int32_t>(target) - places.first;
        const bool owns = inside < places.lanes && place >= static_cast<int32_t>(places.idle) && place < K;
        owner = owns ? inside : 0;
        for (int mask = 1; mask < G; mask *= 2) {
            const uint32_t other = exchange(owner, mask);
            owner = other > owner ? other : owner;
        }
    }
};

}  // namespace dtw
