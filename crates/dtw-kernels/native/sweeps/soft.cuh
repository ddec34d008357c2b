// Soft sweep: sums over all paths (Soft-DTW, log_gak) at full speed: one strip, one channel or a few, no band.
//
//   for each pair, by a group of G lanes:
//       lane l loads its K columns of y; its cells are 0, with an exponent that they share
//       at step t, lane l takes row i = t - l:
//           left = last cell of lane l - 1, times 2^(its exponent - own)
//           for k = 0 .. K - 1:  cell[k] = w (diagonal + up + left),  w = q = 2^-|x_i - y_k|^2, of log_gak q / (2 - q)
//       every few steps: each lane sets its exponent anew and notes what that may have lost
//       the lane of the last column writes log(cell) + exponent; NaN where a lane may have lost too much: given up
//
//                lane 0          lane 1          lane 2
//              | K doubles, e0 | K doubles, e1 | K doubles, e2 |      a value is cell * 2^exponent
//
// The value of a cell is Z = w (Z_diagonal + Z_up + Z_left). The weight is w = 2^-d^2 or made of it, where d is the
// distance of two points, scaled so that 2 is the base: soft_weights.cuh. A lane stores doubles and one exponent for
// all of them: the value is cell * 2^exponent. It chooses a new exponent every few rows. Then the largest of its cells,
// and of the cells that come next from the left, is near 2^kTop.
//
// A cell far below the largest of its lane may underflow. This happens to columns or rows that no good path follows for
// long. The kernel bounds the loss while it runs. No weight is above 1, so all losses of a lane at exponent e are less
// than 2^(e - kVanish) times the number of ways to go on from there within the lane. A lane remembers the largest
// exponent at which something may have been lost. Every cell that it hands on, and the result, must be 2^35 times
// larger than all losses (of doubles 2^63 times). If one is not, the pair is given up, and its result is NaN. So is a
// pair with a cell that overflows, or with points further apart than kReach. A launch of another kernel with
// only_missing computes these pairs. Other kernels do not include this header.
#pragma once

#include "../lanes/columns.cuh"
#include "../kernels.cuh"
#include "soft_numbers.cuh"
#include "soft_weights.cuh"

namespace dtw {

constexpr int kTop = 700;           // exponent of the largest cell after rescaling; better paths make cells grow again
constexpr int kMost = 1000;         // cells are not above 2^kMost
constexpr int kRescaleEvery = 32;   // rows, at most
constexpr uint32_t kEarly = 32;     // most first rows of a pair that lanes rescale after, or after some of them

// A lane's columns.
template <class R, int K, int kChannels>
struct SharedCells {
    using T = typename R::Number;
    using Point = Channeled<T, kChannels>;
    using Weights = SoftWeights<T, kChannels, R::kGeometric>;
    double cell[K];
    Point point[K];
    int32_t exponent;
    int32_t lost;     // the largest exponent at which something may have been lost
    int32_t ways;     // exponent of the number of ways through the lane, with all that is to be on the safe side
    int32_t floor;    // upper word of the least cell that may be handed on
    int32_t lowest;   // upper word of the least cell that was handed on since the last time
    bool hands;       // whether the next lane has columns of the series

    template <bool kFar>
    DTW_DEVICE void take(const Weights& weights, const Point& x, double left, double diagonal) {
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const double up = cell[k], weight = weights.template weight<kFar>(x, point[k]);
            cell[k] = left = fma_(weight, left, weight * (diagonal + up));
            diagonal = up;
        }
    }

    // Sets the exponent; `corner` is scaled like the cells. `coming` is the next number from the left, meant with the
    // exponent `its`; it is made a number of this lane. False if a cell is too large, or all have vanished.
    DTW_DEVICE bool rescale(double& corner, double& coming, int32_t its) {
        // Upper words order positive doubles, and NaN beyond them. Columns beyond the series are like any others.
        int32_t least = static_cast<int32_t>(high_of(cell[0])), largest = least;
        static_assert(K % 2 == 0, "cells are looked at in twos");
        DTW_UNROLL
        for (int k = 0; k < K; k += 2) {
            const int32_t one = static_cast<int32_t>(high_of(cell[k]));
            const int32_t two = static_cast<int32_t>(high_of(cell[k + 1]));
            least = min3_bits(least, one, two);
            largest = max3_bits(largest, one, two);
        }
        const bool empty = largest == 0, comes = high_of(coming) != 0;
        const int32_t own = (largest >> 20) - 1023 + exponent;
        const int32_t next = static_cast<int32_t>(high_of(coming) >> 20) - 1023 + its;
        const int32_t before = exponent;
        exponent = comes && (empty || next > own) ? next - kTop : empty ? exponent : own - kTop;
        exponent = !empty && before - exponent > 1000 ? before - 1000 : exponent;
        // Numbers may be further from their new exponent than one factor can express, and those beyond two do not
        // matter.
        const int32_t shift = empty ? 0 : before - exponent, apart = its - exponent;
        int32_t rest = shift < -2000 ? -2000 : shift;
        do {
            const int32_t part = rest < -1000 ? -1000 : rest;
            const double scale = double_pow2(part);
            DTW_UNROLL
            for (int k = 0; k < K; ++k) {
                cell[k] *= scale;
            }
            corner *= scale;
            rest -= part;
        } while (any(rest != 0));
        const int32_t half = apart < -2000 ? -1000 : apart > 2000 ? 1000 : apart / 2;
        coming = coming * double_pow2(half) * double_pow2(apart < -2000 || apart > 2000 ? half : apart - half);
        if (!empty) {
            const int32_t faintest = (least >> 20) - 1023;
            lost = faintest < -kFaint && before > lost ? before : lost;
            lost = faintest + shift < -kFaint && exponent > lost ? exponent : lost;
            // What was left too large, by less than 2^(kMost - 2000).
            const bool inexact = shift < -2000 || (comes && apart < -2000);
            lost = inexact && exponent + 100 > lost ? exponent + 100 : lost;
        }
        const int32_t limit = lost - exponent - kVanish + ways;
        floor = static_cast<int32_t>(high_of_pow2(limit < -kFaint ? -kFaint : limit > kMost ? kMost : limit));
        lowest = kAbove;
        // Nothing left is too little to go on from.
        const bool counted = exponent > -kCounted && exponent < kCounted;
        return !empty && counted && largest <= static_cast<int32_t>(high_of_pow2(kMost));
    }
};

// All rows of the groups of a warp: `most` steps. The group's first lane begins after `wait` of them; after `begun`
// every lane has, and `early` more make the rows that differ most. `at` is this lane's row at step 0, which may lie
// before the first. Returns whether all lanes of the group stand by their cells.
template <int G, bool kFar, class R, int K, int kChannels>
DTW_DEVICE bool sweep_shared(SharedCells<R, K, kChannels>& own, const Points<typename R::Number>& x, uint32_t columns,
                             const typename SharedCells<R, K, kChannels>::Weights& weights, int32_t at, uint32_t wait,
                             uint32_t begun, uint32_t early, uint32_t most) {
    using Point = typename SharedCells<R, K, kChannels>::Point;
    const Point* const rows_of_x = points_of<kChannels>(x);
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    double corner = 0.0, left = 0.0, factor = inside == 0 ? 0.0 : 1.0;
    bool sound = true;
    // Rows before the first repeat it: nothing comes of them, but they must be numbers. Far, so must all be.
    const int32_t last = static_cast<int32_t>(x.length) - 1;
    const auto read = [&](int32_t i) { return rows_of_x[i < 0 ? 0 : i < last ? i : last]; };
    Point next = read(at);
    const auto step = [&](auto repeats, bool begins) {
        const Point point = next;
        next = kFar || decltype(repeats)::value ? read(at + 1) : rows_of_x[at + 1];
        own.template take<kFar>(weights, weights.take(point), left, begins ? 1.0 : corner);
        corner = left;
        left = shift_up<G>(own.cell[K - 1]) * factor;
        const int32_t handed = static_cast<int32_t>(high_of(own.cell[K - 1]));
        own.lowest = static_cast<uint32_t>(at) < x.length && handed < own.lowest ? handed : own.lowest;
        ++at;
    };
    // `rows`: whether there will be some before the next time.
    const auto rescale = [&](bool rows) {
        // Of the row just done, and of the next. Lanes behind the last row hold whatever lies in the padding.
        const bool counts = static_cast<uint32_t>(at - 1) < x.length && inside * K < columns;
        const bool goes_on = static_cast<uint32_t>(at) < x.length && inside > 0;
        sound = sound && (!own.hands || own.lowest >= own.floor);
        const double coming = shift_up<G>(own.cell[K - 1]);
        const int32_t its = shift_up<G>(own.exponent);
        left = goes_on ? coming : 0.0;
        const bool fits = own.rescale(corner, left, its);
        const int32_t apart = shift_up<G>(own.exponent) - own.exponent;
        const bool near = apart >= -1000 && apart <= 1000;
        factor = goes_on && near ? double_pow2(apart) : 0.0;
        sound = sound && (!counts || (fits && (near || !goes_on || !rows)));
    };
    uint32_t t = 0;
    for (; t < begun + early / 2 && t < most; ++t) {
        step(std::true_type{}, inside == 0 && t == wait);
        rescale(t + 1 == begun + early / 2);
    }
    while (t < most) {
        // Early rows differ most.
        const uint32_t rows = t < begun + early ? 4 : t < most / 4 ? kRescaleEvery / 2 : kRescaleEvery;
        const uint32_t until = min_(t + rows, most);
        DTW_UNROLL2
        for (; t < until; ++t) {
            step(std::false_type{}, false);
        }
        rescale(true);
        if (!any(all_of_group<G>(sound))) {
            break;
        }
    }
    return all_of_group<G>(sound);
}

// Pairs of one strip, a group of G lanes each, which end together in a warp: see sweep_narrow.
template <class R, int kChannels, int G, int K>
DTW_DEVICE void sweep_soft(const Sweep& p) {
    using T = typename R::Number;
    using Cells = SharedCells<R, K, kChannels>;
    using Weights = typename Cells::Weights;
    const R r(p);
    const double c = 1.44269504088896340736 * r.steepness();
    // What cells that are handed on exceed all losses by, with a bit for rounding the others.
    constexpr int kMargin = sizeof(T) == 4 ? 36 : 64;
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    // Everything that lasts costs registers that cells could have.
    for (uint64_t first = static_cast<uint64_t>(warp()) * (32 / G); first < p.tasks;
         first += static_cast<uint64_t>(warps()) * (32 / G)) {
        const uint64_t k = first + static_cast<uint32_t>(lane()) / G;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, kChannels), y(p.y, task.j, kChannels);
        typename Cells::Point least, largest;
        find_range<G>(x, y, inside, least, largest);
        const Weights weights(c, least, largest);
        const uint32_t last_lane = (task.m - 1) / K, column = inside * K;
        Cells own;
        own.exponent = 0;
        own.lost = -(1 << 24);
        own.floor = static_cast<int32_t>(high_of_pow2(-kFaint));
        // (e (n + K) / K)^K ways without diagonals, 2^K at most with each; n K losses.
        own.ways = static_cast<int32_t>(K * (2.45 + 1.4427 * log_((task.n + K) / static_cast<double>(K)))) +
                   static_cast<int32_t>(1.4427 * log_(static_cast<double>(task.n) * K)) + kMargin;
        own.lowest = kAbove;
        own.hands = column + K < task.m;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            own.point[q] = weights.take(points_of<kChannels>(y)[y.clamped(column + q)]);
            own.cell[q] = 0.0;
        }
        const uint32_t steps = task.n + last_lane;
        uint32_t most = steps, fewest = steps;
        for (int mask = G; mask < 32; mask *= 2) {
            most = max_(most, exchange(most, mask));
            fewest = min_(fewest, exchange(fewest, mask));
        }
        const uint32_t wait = most - steps, begun = most - fewest + G, early = min_(p.y.length / 16, kEarly);
        const int32_t at = -static_cast<int32_t>(inside + wait);
        const bool reaches = weights.range <= T(kReach);
        const bool sound = Weights::kFarOnly || any(reaches && weights.range > T(kNear))
                               ? sweep_shared<G, true>(own, x, task.m, weights, at, wait, begun, early, most)
                               : sweep_shared<G, Weights::kFarOnly>(own, x, task.m, weights, at, wait, begun, early,
                                                                    most);
        if (busy && inside == last_lane) {
            const double sum = pick<K>(own.cell, (task.m - 1) % K);
            const bool done = reaches && sound && static_cast<int32_t>(high_of(sum)) >= own.floor;
            const T nothing = static_cast<T>(from_bits(int32_t{0x7fffffff}));
            write_result(p, k, task, done ? r.value_of(log_of_cell(sum, own.exponent)) : nothing);
        }
    }
}

}  // namespace dtw

#define DTW_SOFT(symbol, R, CHANNELS, G, K) \
    DTW_KERNEL_OF(symbol, 1, dtw::Sweep, dtw::sweep_soft<DTW_ARGUMENTS R, CHANNELS, G, K>(p))
