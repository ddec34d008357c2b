// Bands as column ranges of rows; both ends never decrease from row to row.
#pragma once

#include "../params.h"
#include "../vendor/vendor.cuh"

namespace dtw {

struct Band {
    uint32_t kind;
    uint32_t n, m;
    uint32_t below, above;  // kBandSakoe
    const Range* ranges;    // kBandTable, of this task

    // The columns of row `i`, 0-based.
    DTW_DEVICE Range row(uint32_t i) const {
        if (kind == kBandTable) {
            return ranges[i];
        }
        if (kind == kBandSakoe) {
            const uint64_t end = static_cast<uint64_t>(i) + above + 1;
            return {i > below ? i - below : 0u, end < m ? static_cast<uint32_t>(end) : m};
        }
        return {0, m};
    }

    // First row whose columns reach beyond column `c`, i.e. end > c.
    DTW_DEVICE uint32_t first_row_beyond(uint32_t c) const {
        if (kind == kBandFull) {
            return 0;
        }
        if (kind == kBandSakoe) {
            return c > above ? (c - above < n ? c - above : n) : 0u;
        }
        uint32_t low = 0, high = n;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (ranges[middle].end > c) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // First row that starts at column `c` or later.
    DTW_DEVICE uint32_t first_row_from(uint32_t c) const {
        if (kind == kBandFull) {
            return n;
        }
        if (kind == kBandSakoe) {
            const uint64_t row = static_cast<uint64_t>(c) + below;
            return row < n ? static_cast<uint32_t>(row) : n;
        }
        uint32_t low = 0, high = n;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (ranges[middle].start >= c) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
};

// The band of task `k` for lengths n and m.
DTW_DEVICE Band band_of(const Sweep& p, uint64_t k, uint32_t n, uint32_t m) {
    Band band{p.band, n, m, 0, 0, nullptr};
    if (p.band == kBandSakoe) {
        const uint32_t longer = n > m ? n : m;
        const uint64_t radius =
            p.radius_is_fraction ? static_cast<uint64_t>(p.radius) * longer / 1000000u : p.radius;
        const uint32_t r = radius < longer ? static_cast<uint32_t>(radius) : longer;
        band.below = r + (n > m ? n - m : 0u);
        band.above = r + (m > n ? m - n : 0u);
    } else if (p.band == kBandTable) {
        band.ranges = p.ranges + (p.range_offsets ? p.range_offsets[k] : 0);
    }
    return band;
}

}  // namespace dtw
