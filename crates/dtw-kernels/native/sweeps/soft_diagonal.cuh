// Soft diagonal sweep: sums over all paths (Soft-DTW, log_gak) in a Sakoe-Chiba band along the diagonal. All pairs have
// the same two lengths, and points have one channel.
//
//   Lanes own offsets, as in diagonal.cuh; they store doubles and one exponent, as in soft.cuh.
//       at step t, lane l takes row i = t - l:
//           left = last cell of row i, from lane l - 1, times 2^(its exponent - own); of lane 0: 0
//           for each offset c:
//               cell[c] = w (diagonal = cell[c] + up = cell[c + 1] + left)
//           up of the last offset = first cell of row i - 1, from lane l + 1, times 2^(its exponent - own);
//                                   of the last lane: 0
//       every few steps: each lane sets its exponent anew
//       the lane of the last cell writes log(cell) + exponent; NaN where a lane found a cell too small: given up
//
// Nothing is lost. Every cell is at least 2^-kFaint in units of its lane, or the pair is given up. Underflow takes less
// than 2^-kVanish, from a cell that is set or scaled or from what a neighbour hands on: less than 2^-170 of the cell
// that it is part of. What overflows is infinite, and so is every cell after it, the result among them.
//
// A cell is at least its weight times its diagonal, which stood in the same place. So where weights are at least
// 2^-kLeastWeight (points up to kNear apart), lanes look at their cells only every kRows rows, and ask for as much
// more. Where they are smaller, lanes look at every row.
//
// Before the first column cells are 0. Columns beyond either end are like the last: nothing comes back from there.
#pragma once

#include "../kernels.cuh"
#include "../lanes/offset_places.cuh"
#include "soft_numbers.cuh"
#include "soft_weights.cuh"

namespace dtw {

constexpr int kLeastWeight = 125;  // q is at least 2^-124 up to kNear, and q / (2 - q) half of it
constexpr int kStart = 300;        // exponent of the largest cell after rescaling: halfway to what overflows
constexpr int kApart = 1000;       // exponents of neighbours differ by no more

// The columns that pass a lane's K places in kRows rows, and those that come after.
template <class T, class Weights, int K>
struct SumColumns {
    static constexpr int kRows = 4;  // between two moves of the columns in their registers
    static constexpr int kColumns = K + kRows - 1;
    T point[kColumns];

    DTW_DEVICE void load(const Weights& weights, const Points<T>& y, int32_t column) {
        DTW_UNROLL
        for (int q = 0; q < kColumns; ++q) {
            point[q] = at(weights, y, column + q);
        }
    }
    // What comes after `column`, the one that passes the first place.
    struct Coming {
        T point[kRows];

        DTW_DEVICE Coming(const Weights& weights, const Points<T>& y, int32_t column) {
            DTW_UNROLL
            for (int a = 0; a < kRows; ++a) {
                point[a] = at(weights, y, column + kColumns + a);
            }
        }
    };
    // Moves all columns by so many places, and takes as many of what comes.
    template <int kCount>
    DTW_DEVICE void move(const Coming& coming) {
        DTW_UNROLL
        for (int q = 0; q < kColumns - kCount; ++q) {
            point[q] = point[q + kCount];
        }
        DTW_UNROLL
        for (int a = 0; a < kCount; ++a) {
            point[kColumns - kCount + a] = coming.point[a];
        }
    }

private:
    static DTW_DEVICE T at(const Weights& weights, const Points<T>& y, int32_t j) {
        return weights.take(Channeled<T, 1>{{y.values[y.clamped(static_cast<uint32_t>(j))]}}).v[0];
    }
};

// What a lane holds: K places, of which up to kIdle at its start have no cell and pass on what comes from the left.
template <class R, int G, int K, int kIdle>
struct OffsetSums {
    using T = typename R::Number;
    using Point = Channeled<T, 1>;
    using Weights = SoftWeights<T, 1, R::kGeometric>;
    using Columns = SumColumns<T, Weights, K>;

    double cell[K];
    double first;                  // of the cells that are the lane's own
    double from_left, from_right;  // what makes a neighbour's number one of this lane; 0 where there is no neighbour
    int32_t exponent;
    int32_t column;                // of the first place in row 0
    int32_t idle;
    bool has_left, has_right;

    // The row above the first: 1 above and to the left of the first cell.
    template <bool kCoarse>
    DTW_DEVICE OffsetSums(const OffsetPlaces<G, K, kCoarse>& places, const Band& band, uint32_t inside) {
        exponent = -kStart;
        first = 0.0;
        column = places.first - static_cast<int32_t>(band.below);
        idle = static_cast<int32_t>(places.idle);
        has_left = inside > 0 && inside < places.lanes;
        has_right = inside + 1 < places.lanes;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            cell[q] = column + q == 0 && q >= idle ? double_pow2(kStart) : 0.0;
        }
        from_left = has_left ? 1.0 : 0.0;
        from_right = has_right ? 1.0 : 0.0;
    }

    // Row `i` of the point `row`, with the columns from place `moved` on. Opening, some lanes have not begun, and
    // some places are before the first column.
    template <bool kFar, bool kOpening>
    DTW_DEVICE void step(const Weights& weights, const Point& row, const Columns& columns, int moved, int32_t i) {
        const bool counts = !kOpening || i >= 0;
        const double received = shift_up<G>(cell[K - 1]) * from_left;
        double left = received, above_last = 0.0;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            const double up = q + 1 < K ? cell[q + 1 < K ? q + 1 : 0] : above_last;
            const double weight = weights.template weight<kFar>(row, Point{{columns.point[moved + q]}});
            double here = fma_(weight, left, weight * (cell[q] + up));
            if constexpr (kOpening) {
                here = column + q + i < 0 ? 0.0 : here;
            }
            if (q < kIdle) {
                here = q < idle ? received : here;
            }
            cell[q] = left = counts ? here : cell[q];
            if (q <= kIdle) {
                first = q == idle ? left : first;
            }
            if (q == kIdle) {
                above_last = shift_down<G>(first) * from_right;
            }
        }
    }

    // Whether all cells from place `from` on are at least 2^e.
    DTW_DEVICE bool are_at_least(int e, int32_t from) const {
        int32_t least = kAbove;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            const int32_t high = static_cast<int32_t>(high_of(cell[q]));
            least = q >= from && high < least ? high : least;
        }
        return least >= static_cast<int32_t>(high_of_pow2(e));
    }
    // The same of all that the lane owns.
    DTW_DEVICE bool are_at_least(int e) const {
        int32_t least = kAbove;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            const int32_t high = static_cast<int32_t>(high_of(cell[q]));
            const bool counts = q >= kIdle || q >= idle;
            least = counts && high < least ? high : least;
        }
        return least >= static_cast<int32_t>(high_of_pow2(e));
    }

    // Sets the exponent: the largest of the lane's cells, and of those that come next from its neighbours, is near
    // 2^kStart. A lane of zeros that gets nothing yet follows a neighbour. False if the exponent of a neighbour that
    // hands something on to row `i`, the next, is too far. A lane behind the last of `n` rows has nothing to hand on.
    DTW_DEVICE bool rescale(int32_t i, int32_t n) {
        constexpr int32_t kNone = -2 * kCounted;
        const auto top_of = [](uint32_t high, int32_t its) {
            return high < 1u << 20 ? kNone : static_cast<int32_t>(high >> 20) - 1023 + its;
        };
        uint32_t largest = 0;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            const uint32_t high = high_of(cell[q]);
            largest = (q >= kIdle || q >= idle) && high > largest ? high : largest;
        }
        const int32_t its_left = shift_up<G>(exponent), its_right = shift_down<G>(exponent);
        const int32_t of_left = top_of(high_of(shift_up<G>(cell[K - 1])), its_left);
        const int32_t of_right = top_of(high_of(shift_down<G>(first)), its_right);
        const int32_t own = top_of(largest, exponent);
        int32_t top = has_left && i < n && of_left > own ? of_left : own;
        top = has_right && of_right > top ? of_right : top;
        const int32_t before = exponent, wanted = top - kStart;
        if (own == kNone) {
            exponent = top != kNone ? wanted : has_right ? its_right : has_left ? its_left : before;
        } else {
            exponent = wanted < before - kApart ? before - kApart : wanted > before + kApart ? before + kApart : wanted;
            const double scale = double_pow2(before - exponent);
            DTW_UNROLL
            for (int q = 0; q < K; ++q) {
                cell[q] *= scale;
            }
            first *= scale;
        }
        const int32_t left = shift_up<G>(exponent) - exponent, right = shift_down<G>(exponent) - exponent;
        const bool left_near = left <= kApart && left >= -kApart, right_near = right <= kApart && right >= -kApart;
        from_left = has_left && left_near ? double_pow2(left) : 0.0;
        from_right = has_right && right_near ? double_pow2(right) : 0.0;
        const bool counted = exponent > -kCounted && exponent < kCounted;
        return counted && (left_near || !has_left || i < 0) && (right_near || !has_right || i < 1);
    }
};

// All rows of a group's pair, `steps` in all; lanes from `lanes` on have no offsets. After `opening` steps all lanes
// have begun and left the columns before the first. Returns whether all lanes stand by their cells.
template <bool kFar, bool kWatches, int G, class Sums>
DTW_DEVICE bool sweep_offsets(Sums& own, const typename Sums::Weights& weights, const Points<typename Sums::T>& x,
                              const Points<typename Sums::T>& y, uint32_t lanes, int32_t opening, int32_t steps) {
    using Columns = typename Sums::Columns;
    constexpr int kRows = Columns::kRows, kRescaleAfter = kWatches ? 4 : 16;
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const bool takes_part = inside < lanes;
    const int32_t n = static_cast<int32_t>(x.length);
    bool sound = true;
    Columns columns;
    columns.load(weights, y, own.column);
    const auto row = [&](int32_t i, int a) { return weights.take(typename Sums::Point{{(x.values + i)[a]}}); };
    int32_t i = -static_cast<int32_t>(inside), t = 0;
    // After row i - 1: rows behind the last are swept like others, and are nobody's.
    const auto look = [&](int32_t next, int e) {
        sound = sound && (!takes_part || next > n || own.are_at_least(e));
    };
    const auto rescale = [&]() {
        const bool fits = own.rescale(i, n);
        sound = sound && (!takes_part || i >= n || fits);
    };
    for (; t < opening && t < steps; ++t) {
        own.template step<kFar, true>(weights, row(i > 0 ? i : 0, 0), columns, 0, i);
        const int32_t before = -(own.column + i), from = before > own.idle ? before : own.idle;
        const bool counts = takes_part && i >= 0 && i < n;
        sound = sound && (!counts || own.are_at_least(-kFaint, from));
        if (i >= 0) {
            columns.template move<1>(typename Columns::Coming(weights, y, own.column + i));
        }
        ++i;
        if (t <= G || t % 4 == 0 || t + 1 == opening) {
            rescale();
            // What is handed on next must not have vanished.
            sound = sound && (!counts || own.are_at_least(-kFaint, from));
        }
    }
    constexpr int kFloor = kWatches ? -kFaint : kRows * kLeastWeight - kFaint;
    if (t == opening) {
        look(i, kFloor);
    }
    for (int32_t rows = kRows; t + kRows <= steps; rows += kRows) {
        const typename Columns::Coming coming(weights, y, own.column + i);
        DTW_UNROLL
        for (int a = 0; a < kRows; ++a) {
            own.template step<kFar, false>(weights, row(i, a), columns, a, i);
            if (kWatches) {
                look(i + a + 1, kFloor);
            }
        }
        columns.template move<kRows>(coming);
        t += kRows;
        i += kRows;
        if (rows % kRescaleAfter == 0) {
            rescale();
            if (!any(all_of_group<G>(sound))) {
                return false;
            }
        }
        look(i, kFloor);
    }
    DTW_UNROLL
    for (int a = 0; a < kRows - 1; ++a) {
        if (t + a < steps) {
            own.template step<kFar, false>(weights, row(i, a), columns, a, i);
            if (kWatches) {
                look(i + a + 1, kFloor);
            }
        }
    }
    return all_of_group<G>(sound);
}

template <class R, int G, int K, bool kCoarse>
DTW_DEVICE void sweep_soft_diagonal(const Sweep& p) {
    constexpr int kIdle = static_cast<int>(most_idle<G, K, kCoarse>());
    using T = typename R::Number;
    using Sums = OffsetSums<R, G, K, kIdle>;
    using Weights = typename Sums::Weights;
    const R r(p);
    const double c = 1.44269504088896340736 * r.steepness();
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
        const Band band = band_of(p, busy ? k : p.tasks - 1, task.n, task.m);
        typename Sums::Point least, largest;
        find_range<G>(x, y, inside, least, largest);
        const Weights weights(c, least, largest);
        const OffsetPlaces<G, K, kCoarse> places(band, inside);
        Sums own(places, band, inside);
        const LastPlace last(places, task, band, inside);
        const int32_t below = static_cast<int32_t>(band.below) + 1;
        const int32_t opening = below > G ? below : G, steps = static_cast<int32_t>(task.n + last.owner);
        const bool reaches = weights.range <= T(kReach);
        const bool watches = any(reaches && weights.range > T(kNear));
        const bool sound =
            watches ? sweep_offsets<true, true, G>(own, weights, x, y, places.lanes, opening, steps)
                    : sweep_offsets<Weights::kFarOnly, false, G>(own, weights, x, y, places.lanes, opening, steps);
        if (busy && inside == last.owner) {
            const double sum = pick<K>(own.cell, static_cast<uint32_t>(last.place));
            const uint32_t high = high_of(sum);
            const bool done = reaches && sound && high >= high_of_pow2(-kFaint) && high < high_of_pow2(1024);
            const T nothing = static_cast<T>(from_bits(int32_t{0x7fffffff}));
            write_result(p, k, task, done ? r.value_of(log_of_cell(sum, own.exponent)) : nothing);
        }
    }
}

}  // namespace dtw

#define DTW_SOFT_DIAGONAL(symbol, R, G, K, COARSE) \
    DTW_KERNEL_OF(symbol, 1, dtw::Sweep, dtw::sweep_soft_diagonal<DTW_ARGUMENTS R, G, K, COARSE>(p))
