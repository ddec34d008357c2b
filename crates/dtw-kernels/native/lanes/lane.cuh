// A lane's share of a strip for any recurrence: K cells, what it holds of its columns, and how it takes a row.
#pragma once

#include "band.cuh"
#include "columns.cuh"
#include "recorder.cuh"

namespace dtw {

// One lane's share of a strip.
template <class R, int K, bool kBand, bool kMany>
struct Lane {
    using T = typename R::Number;
    using State = typename R::State;
    State cell[K];  // the row above, then the row
    State corner;   // the cell above and to the left of the first
    Columns<R, kMany, K> columns;
    uint32_t first;  // first column, 0-based

    // The border above row `top`.
    DTW_DEVICE void start(const R& r, const Points<T>& y, uint32_t first_column, bool at_border) {
        first = first_column;
        columns.load(y, first);
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = first + k + 1;
            cell[k] = at_border ? r.border_right(j, y.sum(y.clamped(j - 1))) : r.forbidden();
        }
        corner = !at_border   ? r.forbidden()
                 : first == 0 ? r.origin()
                              : r.border_right(first, y.sum(y.clamped(first - 1)));
    }

    // Row i, with `left` the cell to the left of the first column.
    template <class Recorder>
    DTW_DEVICE void step(const R& r, const Sweep& p, const Band& band, const Points<T>& x, const Points<T>& y, int32_t i,
                         const Sample<T>& row, State left, Recorder& recorder) {
        T distance[kMany ? K : 1], previous[kMany && R::kPrevious ? K : 1];
        if constexpr (kMany) {
            distances_of<R, K>(r, x, i, y, first, distance);
            if constexpr (R::kPrevious) {
                distances_of<R, K>(r, x, static_cast<int64_t>(i) - 1, y, static_cast<int64_t>(first) - 1, previous);
            }
        }
        const T* weights = nullptr;
        if (R::kWeights) {
            const int64_t longer = x.length > y.length ? x.length : y.length;
            weights = static_cast<const T*>(p.weights) + p.weight_center - longer;
        }
        // Columns of the band, counted from the lane's first.
        int64_t from = 0, to = K;
        if (kBand) {
            const Range columns_of_row = band.row(i);
            from = static_cast<int64_t>(columns_of_row.start) - first;
            to = static_cast<int64_t>(columns_of_row.end) - first;
        }
        State diagonal = corner;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const Sample<T> column = columns.sample(k);
            T apart, before = T(0), weight = T(1);
            if constexpr (kMany) {
                apart = distance[k];
                if constexpr (R::kPrevious) {
                    before = previous[k];
                }
            } else {
                apart = r.norm.one(row.point, column.point);
                if constexpr (R::kPrevious) {
                    before = r.norm.one(row.previous, column.previous);
                }
            }
            if (R::kWeights) {
                const int64_t j = static_cast<int64_t>(first) + k, offset = j > i ? j - i : i - j;
                const int64_t limit = x.length > y.length ? x.length : y.length;
                weight = weights[2 * (offset < limit ? offset : limit)];
            }
            const typename R::Price price = r.price(apart, before, row, column, weight);
            const State up = cell[k];
            const bool allowed = !kBand || (k >= from && k < to);
            if (R::kLeavesBand && !allowed) {
                recorder.outside(k, k >= to);
            } else {
                recorder.record(k, r, diagonal, up, left, price);
            }
            State here = r.combine(diagonal, up, left, price);
            if (R::kRescales && (k & 3) == 3) {
                here = r.rescale(here);
            }
            if (kBand) {
                if constexpr (R::kLeavesBand) {
                    here = choose(allowed, here, r.outside(up, left));
                } else {
                    here = choose(allowed, here, r.forbidden());
                }
            }
            diagonal = up;
            cell[k] = left = here;
        }
    }

    DTW_DEVICE void rescale(const R& r) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = r.rescale(cell[k]);
        }
    }

    // Cell k, for k that the compiler does not know.
    DTW_DEVICE State at(uint32_t k) const {
        State v = cell[K - 1];
        DTW_UNROLL
        for (int q = 0; q < K - 1; ++q) {
            v = choose(static_cast<uint32_t>(q) == k, cell[q], v);
        }
        return v;
    }
};

}  // namespace dtw
