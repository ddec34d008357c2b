// A lane's share of a priced strip (priced.cuh): its cells, what it holds of its columns, and how it takes a row whose
// distances are known.
#pragma once

#include "../lanes/bundle.cuh"
#include "../lanes/columns.cuh"

namespace dtw {

template <class R, int K>
struct PricedCells {
    using T = typename R::Number;
    static_assert(R::kParts == 1 && !R::kRescales, "a cell is a number");
    T cell[K];  // the row above, then the row
    T corner;   // the cell above and to the left of the first
    Columns<R, true, K> columns;
    // Of twed: distances of the row before, and of it beside the first column.
    T apart[R::kPrevious ? K : 1], apart_left;
    // Of wdtw: weights beside the next row; the table; column less row of the first, and the farthest from the
    // diagonal.
    T weight[R::kWeights ? K : 1];
    const T* table;
    int32_t offset, limit;

    // Before row `row`, whose first is the pair's or not; the lane begins `late` rows later than the first lane.
    DTW_DEVICE void start(const R& r, const Points<T>& x, const Points<T>& y, uint32_t first, uint32_t row,
                          uint32_t late) {
        columns.load(y, first);
        const bool at_border = R::kBorders && row == 0;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = at_border ? r.border_right(first + k + 1, y.sum(y.clamped(first + k))) : r.forbidden();
            if constexpr (R::kPrevious) {
                apart[k] = T(0);
            }
        }
        apart_left = T(0);
        const T before = first == 0 ? r.origin() : r.border_right(first, y.sum(y.clamped(first - 1)));
        corner = at_border ? before : r.forbidden();
        if constexpr (R::kWeights) {
            limit = static_cast<int32_t>(max_(x.length, y.length));
            table = r.weights - limit;
            offset = static_cast<int32_t>(first) - static_cast<int32_t>(row) + static_cast<int32_t>(late);
            DTW_UNROLL
            for (int k = 0; k < K; ++k) {
                weight[k] = weight_of(offset + k);
            }
        }
    }

    // A row with these distances to its columns; those of cells that are masked bear a sign. `left`: the cell to the
    // left of the first column, `beside` the distance there. A lane that has not begun keeps its cells.
    DTW_DEVICE void take(const R& r, const Bundle<T, K>& distances, const Sample<T>& row, T left, T beside,
                         bool has_begun) {
        T diagonal = corner, before = apart_left;
        corner = left;
        apart_left = beside;
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const T up = cell[k], distance = R::kPriceForbids ? distances.v[k] : abs_(distances.v[k]);
            const T its_weight = R::kWeights ? weight[R::kWeights ? k : 0] : T(1);
            const auto price = r.price(distance, before, row, columns.sample(k), its_weight);
            T here = r.combine(diagonal, up, left, price);
            if constexpr (!R::kPriceForbids) {
                T masked = r.forbidden();
                if constexpr (R::kLeavesBand) {
                    masked = r.outside(up, left);
                }
                here = choose(bits_of(distances.v[k]) < 0, masked, here);
            }
            if constexpr (R::kPrevious) {
                before = apart[k];
                apart[k] = distance;
            }
            diagonal = up;
            cell[k] = left = choose(has_begun, here, up);
        }
        if constexpr (R::kWeights) {
            DTW_UNROLL
            for (int k = K - 1; k > 0; --k) {
                weight[k] = weight[k > 0 ? k - 1 : 0];
            }
            --offset;
            weight[0] = weight_of(offset);
        }
    }

    // Cell k, for k that the compiler does not know.
    DTW_DEVICE T at(uint32_t k) const {
        T value = cell[0];
        DTW_UNROLL
        for (uint32_t q = 1; q < K; ++q) {
            value = choose(k == q, cell[q], value);
        }
        return value;
    }

private:
    DTW_DEVICE T weight_of(int32_t from_diagonal) const {
        const int32_t distance = from_diagonal < 0 ? -from_diagonal : from_diagonal;
        return table[2 * static_cast<int64_t>(min_(distance, limit))];
    }
};

}  // namespace dtw
