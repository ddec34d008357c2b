// Diagonal sweep: a Sakoe-Chiba band along the diagonal at full speed. All pairs have the same two lengths, points have
// one channel, and the recurrence is padding-safe or has borders (recurrence.cuh).
//
//   for each pair, by a group of G lanes:
//       lane l owns K offsets c = j - i + below of the band; its cells are those of row -1
//       at step t, lane l takes row i = t - l:
//           left = last cell of row i, from lane l - 1 (lane 0: forbidden)
//           for each offset c:
//               cell[c] = combine(diagonal = cell[c], up = cell[c + 1], left, price(x_i, y_(i + c - below)))
//           up of the last offset = first cell of row i - 1, from lane l + 1, which computes it in this step
//       the lane of the last cell's offset writes the result after the last row
//
//   row i        . . [ l0 | l1 | l2 ]              offsets stay with their lanes, and columns move past them by one
//   row i + 1    . . . [ l0 | l1 | l2 ]            a row: no cell is outside the band, so nothing is masked
//   row i + 2    . . . . [ l0 | l1 | l2 ]
//
// Before the first column all cells are forbidden, and remain so: the corner is but the diagonal of the first cell, or
// points are infinite. Behind the last column anything may be, for nothing comes back from there.
//
// With borders (lanes/offset_cells.cuh) cells before the first column are those of the border column, and the row above
// the first is the border row. Where a border adds up, its cells are put in their places in the rows that the band
// begins with; others stay what they are.
#pragma once

#include "../lanes/band.cuh"
#include "../lanes/cells.cuh"
#include "../lanes/offset_cells.cuh"
#include "../lanes/offset_places.cuh"

namespace dtw {

// Rows between two moves of the columns in their registers. ERP's wide lanes have none to spare.
template <class R, int K>
constexpr int kMoves = sizeof(typename R::Number) == 8 ? 4
                       : R::kPriceForbids                     ? 12
                       : R::kBorders && !(R::kGaps && K > 16) ? 8
                                                              : 4;

// What a lane holds of the columns that pass its K places in kRows rows: points, what they cost to delete, and where a
// price asks for the point before a column's, the span between both.
template <class R, int K, int kRows>
struct PassingColumns {
    using T = typename R::Number;
    static constexpr int kColumns = K + kRows - 1;
    static constexpr bool kSpans = R::kPrevious && !R::kTimes;
    T point[kColumns], gap[R::kGaps ? kColumns : 1], low[kSpans ? kColumns : 1], high[kSpans ? kColumns : 1];

    // The columns from `column` on.
    DTW_DEVICE void load(const Points<T>& y, int32_t column) {
        DTW_UNROLL
        for (int q = 0; q < kColumns; ++q) {
            point[q] = point_of(y, column + q);
        }
        if constexpr (kSpans) {
            T before = point_of(y, column - 1);
            DTW_UNROLL
            for (int q = 0; q < kColumns; ++q) {
                set_span(q, before);
                before = point[q];
            }
        }
        DTW_UNROLL
        for (int q = 0; R::kGaps && q < kColumns; ++q) {
            gap[R::kGaps ? q : 0] = gap_of(y, column + q);
        }
    }
    // Those that come next, from `column` on. Only near the ends of the series must each be asked whether it is there.
    struct Coming {
        T point[kRows], gap[R::kGaps ? kRows : 1];

        DTW_DEVICE Coming(const Points<T>& y, int32_t column) {
            const bool ends = any(column < 0 || column + kRows > static_cast<int32_t>(y.length));
            if (ends) {
                DTW_UNROLL
                for (int a = 0; a < kRows; ++a) {
                    point[a] = point_of(y, column + a);
                    if constexpr (R::kGaps) {
                        gap[a] = gap_of(y, column + a);
                    }
                }
            } else {
                DTW_UNROLL
                for (int a = 0; a < kRows; ++a) {
                    point[a] = y.values[column + a];
                    if constexpr (R::kGaps) {
                        gap[a] = y.gaps[column + a];
                    }
                }
            }
        }
    };
    // Moves all by so many places, and takes as many of what comes next.
    template <int kCount>
    DTW_DEVICE void move(const Coming& coming) {
        shift<kCount, kColumns>(point, coming.point);
        if constexpr (kSpans) {
            shift<kCount, kColumns>(low, coming.point);
            shift<kCount, kColumns>(high, coming.point);
            DTW_UNROLL
            for (int q = kColumns - kCount; q < kColumns; ++q) {
                set_span(q, point[q - 1]);
            }
        }
        if constexpr (R::kGaps) {
            shift<kCount, kColumns>(gap, coming.gap);
        }
    }
    DTW_DEVICE Sample<T> sample(int q) const {
        Sample<T> s{};
        s.point = point[q];
        if constexpr (kSpans) {
            s.low = low[q];
            s.high = high[q];
        }
        if constexpr (R::kGaps) {
            s.gap = gap[q];
        }
        return s;
    }

private:
    DTW_DEVICE void set_span(int q, T before) {
        low[q] = lesser(before - point[q], T(0));
        high[q] = larger(before - point[q], T(0));
    }
    template <int kCount, int kSize>
    static DTW_DEVICE void shift(T (&all)[kSize], const T (&coming)[kRows]) {
        DTW_UNROLL
        for (int q = 0; q < kSize - kCount; ++q) {
            all[q] = all[q + kCount];
        }
        DTW_UNROLL
        for (int a = 0; a < kCount; ++a) {
            all[kSize - kCount + a] = coming[a];
        }
    }
    // Before the first and after the last column no cell counts. Infinite points keep paths away, if that is enough;
    // points that are no numbers match nothing.
    static DTW_DEVICE T point_of(const Points<T>& y, int32_t j) {
        const bool there = static_cast<uint32_t>(j) < y.length;
        const T value = y.values[there ? j : 0], infinite = Limits<T>::infinity();
        return there || !(R::kPriceForbids || R::kThreshold) ? value : R::kThreshold ? infinite - infinite : infinite;
    }
    static DTW_DEVICE T gap_of(const Points<T>& y, int32_t j) {
        return y.gaps[static_cast<uint32_t>(j) < y.length ? j : 0];
    }
};

template <class R, int G, int K, bool kCoarse>
DTW_DEVICE void sweep_diagonal(const Sweep& p) {
    constexpr uint32_t kIdle = most_idle<G, K, kCoarse>();
    constexpr int kRows = kMoves<R, K>;
    using T = typename R::Number;
    using Own = typename R::template Offsets<R>;
    using Cell = typename Own::Cell;
    const R r(p);
    const uint32_t inside = static_cast<uint32_t>(lane()) % G;
    const uint64_t groups = static_cast<uint64_t>(warps()) * (32 / G);
    const uint64_t group = static_cast<uint64_t>(warp()) * (32 / G) + static_cast<uint32_t>(lane()) / G;
    for (uint64_t round = 0; round * groups < p.tasks; ++round) {
        const uint64_t k = round * groups + group;
        const bool busy = k < p.tasks;
        const Task task = task_of(p, busy ? k : p.tasks - 1);
        const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
        const Band band = band_of(p, busy ? k : p.tasks - 1, task.n, task.m);
        const OffsetPlaces<G, K, kCoarse> places(band, inside);
        const uint32_t lanes = places.lanes, idle = places.idle;
        const int32_t n = static_cast<int32_t>(task.n);
        // Column of place q in row 0.
        const int32_t column = places.first - static_cast<int32_t>(band.below);
        Cell cell[K];
        // What a place keeps all along: the weight of its offset, how far it is from the diagonal; and the distance of
        // the row before.
        T weight[R::kWeights ? K : 1], lag[R::kTimes ? K : 1], apart[R::kTimes ? K : 1];
        using Columns = PassingColumns<R, K, kRows>;
        Columns columns;
        DTW_UNROLL
        for (int q = 0; q < K; ++q) {
            // The row above the first, in which every place stands for one column earlier.
            cell[q] = Own::above(r, y, column + q);
            if constexpr (R::kWeights) {
                const int32_t offset = column + q, longer = static_cast<int32_t>(max_(task.n, task.m));
                weight[q] = r.weights[2 * min_(offset < 0 ? -offset : offset, longer) - longer];
            }
            if constexpr (R::kTimes) {
                lag[q] = static_cast<T>(column + q);
                apart[q] = T(0);
            }
        }
        columns.load(y, column);
        Cell edge = Own::forbidden(r);
        // Row i + a with the points from place `moved` on; `begun`: no lane waits for its first row; `borders`: some
        // place may be one of the border column whose cell adds up.
        const auto step = [&](auto begun, auto borders, int moved, int32_t i, int a) {
            constexpr bool kBegun = decltype(begun)::value;
            constexpr bool kSets = Own::kAddsUp && decltype(borders)::value;
            const bool counts = kBegun || i >= 0;
            Sample<T> row{};
            row.point = (x.values + i)[a];
            if constexpr (R::kPrevious) {
                row.previous = (x.values + i)[a - 1];
            }
            if constexpr (Columns::kSpans) {
                row.low = lesser(row.point - row.previous, T(0));
                row.high = larger(row.point - row.previous, T(0));
            }
            if constexpr (R::kGaps) {
                row.gap = (x.gaps + i)[a];
            }
            [[maybe_unused]] Cell border{};
            if constexpr (Own::kAddsUp) {
                border = Own::border(r, x, i + a);
            }
            const Cell received = shift_up<G>(edge);
            Cell first_left = Own::forbidden(r);
            if constexpr (kSets) {
                first_left = i + a == static_cast<int32_t>(band.below) ? border : first_left;
            }
            Cell left = inside == 0 ? first_left : received;
            const Cell before = left;
            Cell above_last = Own::forbidden(r);
            DTW_UNROLL
            for (int q = 0; q < K; ++q) {
                const Cell up = q + 1 < K ? cell[q + 1 < K ? q + 1 : 0] : above_last;
                Sample<T> passing = columns.sample(moved + q);
                Cell diagonal = cell[q];
                T previous = T(0);
                if constexpr (!R::kPriceForbids && !R::kBorders && !kBegun) {
                    const bool is_first = i == 0 && column + q == 0 && q >= static_cast<int>(idle);
                    diagonal = is_first ? r.origin() : diagonal;
                }
                const T distance = r.norm.one(row.point, passing.point);
                if constexpr (R::kTimes) {
                    passing.time = lag[q];
                    previous = apart[q];
                    apart[q] = counts ? distance : previous;
                }
                const auto price =
                    r.price(distance, previous, row, passing, R::kWeights ? weight[R::kWeights ? q : 0] : T(1));
                Cell here = Own::combine(r, diagonal, up, left, distance, price, row, passing);
                if constexpr (kSets) {
                    here = column + q + i + a == -1 ? border : here;
                }
                if (q < static_cast<int>(kIdle)) {
                    here = q < static_cast<int>(idle) ? before : here;
                }
                cell[q] = left = counts ? here : cell[q];
                if (q == static_cast<int>(kIdle)) {
                    // The lane's first cell goes to the lane to the left.
                    Cell own = cell[kIdle];
                    DTW_UNROLL
                    for (int c = 0; c < static_cast<int>(kIdle); ++c) {
                        own = idle == static_cast<uint32_t>(c) ? cell[c] : own;
                    }
                    const Cell next = shift_down<G>(own);
                    Cell last_above = Own::forbidden(r);
                    if constexpr (Own::kAddsUp && !kBegun) {
                        const int32_t behind = static_cast<int32_t>(band.above) + 1;
                        last_above = i == 0 ? Own::above(r, y, behind) : last_above;
                    }
                    above_last = inside == lanes - 1 ? last_above : next;
                }
            }
            edge = left;
        };
        const LastPlace last(places, task, band, inside);
        const int32_t steps = n + static_cast<int32_t>(last.owner);
        int32_t i = -static_cast<int32_t>(inside), t = 0;
        // Lanes begin one after the other.
        for (; t < static_cast<int32_t>(G) && t < steps; ++t, ++i) {
            step(std::false_type{}, std::true_type{}, 0, i, 0);
            const typename Columns::Coming coming(y, column + i + Columns::kColumns);
            if (i >= 0) {
                columns.template move<1>(coming);
            }
        }
        const auto bundle = [&](auto borders) {
            const typename Columns::Coming coming(y, column + i + Columns::kColumns);
            DTW_UNROLL
            for (int a = 0; a < kRows; ++a) {
                step(std::true_type{}, borders, a, i, a);
            }
            columns.template move<kRows>(coming);
            t += kRows;
            i += kRows;
        };
        if constexpr (Own::kAddsUp) {
            // The first lane is the last to leave the border column.
            while (t <= static_cast<int32_t>(band.below) && t + kRows <= steps) {
                bundle(std::true_type{});
            }
        }
        while (t + kRows <= steps) {
            bundle(std::false_type{});
        }
        DTW_UNROLL
        for (int a = 0; a < kRows - 1; ++a) {
            if (t + a < steps) {
                step(std::true_type{}, std::true_type{}, a, i, a);
            }
        }
        if (busy && inside == last.owner) {
            const Cell value = pick<K>(cell, static_cast<uint32_t>(last.place));
            write_result(p, k, task, Own::finish(r, value, task.n, task.m));
        }
    }
}

}  // namespace dtw
