// What a sweep records on its way: nothing, or the arrival that every cell chose.
#pragma once

#include "../vendor/vendor.cuh"

namespace dtw {

// Records nothing.
struct Unrecorded {
    DTW_DEVICE void begin(uint32_t, uint32_t) {}
    template <class R, class S, class P>
    DTW_DEVICE void record(int, const R&, const S&, const S&, const S&, const P&) {}
    DTW_DEVICE void outside(int, bool) {}
    DTW_DEVICE void row(bool, uint32_t) {}
};

// Two bits a cell: one word per row and lane of up to 16 columns.
struct Arrivals {
    uint32_t* words;  // of this task and strip: row * 32 + lane
    uint32_t word;
    DTW_DEVICE void begin(uint32_t, uint32_t) { word = 0; }
    template <class R, class S, class P>
    DTW_DEVICE void record(int k, const R& r, const S& diagonal, const S& up, const S& left, const P& price) {
        word |= r.arrival(diagonal, up, left, price) << (2 * k);
    }
    // A cell outside the band, from which a path goes straight back: left from the right of the band, up from its left.
    DTW_DEVICE void outside(int k, bool right) { word |= (right ? 2u : 1u) << (2 * k); }
    // The end of row `i`, if there is such a row.
    DTW_DEVICE void row(bool there, uint32_t i) {
        if (there) {
            words[static_cast<uint64_t>(i) * 32 + static_cast<uint32_t>(lane())] = word;
        }
        word = 0;
    }
};

}  // namespace dtw
