// Wide sweep: pairs of any width at full speed: one channel, no band.
//
//   for each ticket (a pair; with p.spread a strip of a pair):
//       for each of its strips of 32 K columns, from the left:
//           for each chunk of rows:
//               lane l has the link of row l of the chunk, which it read one chunk ahead; if the link does not bear the
//               mark of the strip to the left, the lane reads it again, until it does
//               at step t, lane l takes kRows rows as in narrow.cuh; lane 0's left cells are the links' numbers
//               lane 31 sends the last cell of each row as a link with this strip's mark
//
//        strip 0        strip 1        strip 2
//      | 32 x K cells | 32 x K cells | ...       a link is a number and the mark of the strip that wrote it, stored
//      |       (v,1)->        (v,2)->            as one: a number that bears the mark has arrived, so no flag or fence
//
// Stretches of a reference (block.cuh) have the states of two rows written: of the last row and of the run-up's last.
// The steps in which some lane ends one of these rows are not unrolled.
//
// One row of links serves all strips of a pair: a strip reads a link before it writes it. A lane that reads too early
// finds an older mark, and reads again. As in strips.cuh, tickets are taken in the order of dependence.
#pragma once

#include "../lanes/cells.cuh"
#include "../lanes/tickets.cuh"

namespace dtw {

// Which columns of a strip belong to which lane. Lanes are full; where columns do not fill them, neighbours share some,
// so that the strip's last column is the last of its lane. Only where too few columns are left, the last lane has idle
// ones.
struct Layout {
    uint32_t first, before_last;  // this lane's first column; how far before its last is the one that the next lane follows
    uint32_t last_lane, last;     // the lane of the strip's last column, and which of its columns that is
    uint32_t most_shared;         // columns that two neighbours share, at most

    DTW_DEVICE Layout(uint32_t begin, uint32_t columns, uint32_t wide, bool shares, uint32_t inside) {
        last_lane = (columns - 1) / wide;
        const uint32_t idle = (last_lane + 1) * wide - columns;
        const uint32_t least = last_lane > 0 ? idle / last_lane : kShared;
        const uint32_t extra = last_lane > 0 ? idle % last_lane : 0;
        const bool fits = shares && (idle == 0 || (last_lane > 0 && least + (extra > 0 ? 1 : 0) <= kShared));
        last = fits ? wide - 1 : wide - 1 - idle;
        most_shared = fits && idle > 0 ? least + (extra > 0 ? 1 : 0) : 0;
        const uint32_t lower = inside < extra ? inside : extra;
        first = begin + inside * wide - (fits && idle > 0 ? inside * least + lower : 0);
        before_last = fits && idle > 0 && inside < last_lane ? least + (inside < extra ? 1 : 0) : 0;
    }
};

// A cell as a link has it.
template <class Own>
DTW_DEVICE typename Own::T number_of(typename Own::Cell cell) {
    if constexpr (Own::kBorders) {
        return Own::number(cell);
    } else {
        return cell;
    }
}

// Strip `strip` of task `k`, columns from `begin`. Rows come in bundles of kRows, and end with the last one. kIdle: the
// last lane may have idle columns and yet every row's last cell is wanted, which is slow. kOne: it is the task's only
// strip, of a recurrence with an open border, and neighbours share one column at most: there are no links, and less is
// chosen between. kTells: states of two rows are written, of a stretch.
template <class R, int K, int kRows, bool kIdle, bool kOne, bool kTells>
DTW_DEVICE void sweep_wide_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, uint32_t number,
                             const Layout& layout, Link<typename R::Number>* links, typename R::Number* last_column) {
    using T = typename R::Number;
    using Own = typename R::template StripCells<R, K>;
    using Row = typename Own::Row;
    using Cell = typename Own::Cell;
    // Rows of a chunk. Few where a strip should follow the one before it closely.
    constexpr int kAhead = kOne ? 64 : sizeof(T) == 8 || K <= 8 ? 8 : 16;
    constexpr int kMostShared = !R::kOpen || kIdle ? 0 : kOne ? 1 : kShared;
    const uint32_t strip = kOne ? 0 : number;
    constexpr int32_t kAbsent = -0x7fffffff - 1;  // no row, however many come after it
    const Points<T> x(p.x, task.i, 1), y(p.y, task.j, 1);
    const uint32_t inside = static_cast<uint32_t>(lane());
    const bool is_last = task.m - strip * (32 * K) <= 32 * K;
    const EdgeColumn edge_column(layout.before_last);
    Own own;
    own.load(r, x, y, layout.first);
    const int32_t n = static_cast<int32_t>(task.n);
    const int32_t bundles = (n + kRows - 1) / kRows, early = bundles * kRows - n;
    const int32_t steps = bundles + static_cast<int32_t>(layout.last_lane);
    const bool sends = inside == 31 && !is_last;
    const bool keeps = R::kOpen && p.keep_last && is_last && inside == layout.last_lane;
    // Bundles that end with a row whose states are written. Rows of a stretch but its run-up are a multiple of kRows.
    const int32_t run_up = kTells && task.i > 0 ? (static_cast<int32_t>(p.run_up) + early) / kRows - 1 : kAbsent;
    // What is to the left of the first lane where the strip has no link: of rows, and of the corner.
    const auto border_of = [&](int32_t i) -> Cell {
        if constexpr (Own::kBorders) {
            return strip == 0 && i >= 0 ? own.border(r, x, min_(static_cast<uint32_t>(i), task.n - 1))
                                        : Own::corner(r, y, strip * (32 * K));
        } else {
            return strip == 0 ? r.border_down(0, T(0)) : r.forbidden();
        }
    };
    const Cell border = border_of(-1);

    // Left edges of the next chunk of rows, one in each of the first lanes. Where there is none the first link of all
    // is read, and not looked at: a link on its way must not be chosen between, for that would wait for it.
    Link<T> coming{};
    int32_t row_in = inside < kAhead ? static_cast<int32_t>(inside) - early : kAbsent;
    const auto is_row = [&](int32_t i) { return static_cast<uint32_t>(i) < task.n; };
    [[maybe_unused]] const auto ask = [&](int32_t i) {
        coming = receive(strip > 0 && is_row(i) ? links + i : static_cast<const Link<T>*>(p.links));
    };
    // Row of this lane's next bundle; where it is read, which is never beyond the padding.
    int32_t row = -early - static_cast<int32_t>(inside) * kRows;
    const auto read = [&](auto& rows, int32_t from) {
        constexpr int kCount = sizeof(rows) / sizeof(Row);
        const int32_t least = kRows > 2 && from < -kPad ? -kPad : from, most = n + kPad - kRows;
        const int64_t at = kRows > 2 && least > most ? most : least;
        DTW_UNROLL
        for (int q = 0; q < kCount; ++q) {
            rows[q].read(x.values + at, x.gaps + at, q);
        }
    };
    Link<T>* out = links + row;
    T* kept = last_column + row;
    // Rows that were read but are not yet swept: the next bundle, or a chunk where nothing else hides the wait for
    // memory.
    Row next[Own::kEarly ? kAhead : kRows];
    if constexpr (Own::kEarly) {
        static_assert(kRows == 1, "rows of a bundle come to their cells together");
        read(next, row);
        own.begin(r, next[0], row, layout.first, strip == 0 && inside == 0 ? r.origin() : r.forbidden());
        read(next, row + 1);
    } else {
        read(next, row);
        if constexpr (!Own::kBorders) {
            own.begin(row, layout.first);
        }
    }
    Cell corner, above, edge[kRows];
    if constexpr (Own::kBorders) {
        // Before its first row a lane hands on the border above.
        corner = border, above = own.cell[K - 1];
    } else {
        corner = above = r.forbidden();
    }
    DTW_UNROLL
    for (int q = 0; q < kRows; ++q) {
        edge[q] = above;
        if constexpr (kOne) {
            // The border of the first lane is open in rows of padding, too; nothing may come from there.
            next[q].point = row + q < 0 ? r.forbidden() : next[q].point;
        }
    }
    if constexpr (!kOne) {
        ask(row_in);
    }
    Cell at_hand = corner;
    Row now[Own::kEarly ? kAhead : 1] = {};
    // Step s of the chunk that begins with step t, if `whole` an unrolled one.
    const auto step = [&](auto whole, int32_t t, int32_t s) {
        Row rows[kRows];
        Cell left[kRows], diagonal[kRows];
        [[maybe_unused]] bool begun[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            rows[q] = next[q];
            const Cell received = shift_up<32>(edge[q]), from_strip = kOne ? border : broadcast(at_hand, s * kRows + q);
            left[q] = inside == 0 ? from_strip : received;
            diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
            if constexpr (Own::kBorders) {
                begun[q] = row + q >= 0;
            } else {
                const bool begins = !kOne && strip == 0 && inside == 0 && t + s == 0 && q == early;
                diagonal[q] = begins ? r.origin() : diagonal[q];
            }
        }
        if constexpr (Own::kEarly) {
            if constexpr (decltype(whole)::value) {
                rows[0] = now[s];
            } else {
                rows[0].read(x.values + row, x.gaps + row, 1);
            }
            edge[0] = own.take(r, rows[0], left[0]);
        } else if constexpr (Own::kBorders) {
            read(next, row + kRows);
            own.template take<decltype(whole)::value, kRows>(r, rows, left, diagonal, edge, begun);
            corner = left[kRows - 1];
        } else {
            read(next, row + kRows);
            own.template take<kMostShared, kRows>(r, rows, left, diagonal, edge, edge_column);
            corner = left[kRows - 1];
        }
        Cell ends[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            ends[q] = kIdle ? pick<K>(own.cell, layout.last) : edge[q];
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            const bool counts = static_cast<uint32_t>(row + q) < task.n;
            if (sends && counts) {
                send(out + q, Link<T>{number_of<Own>(edge[q]), strip + 1});
            }
            if constexpr (R::kOpen) {
                if (keeps && counts) {
                    kept[q] = ends[q];
                }
            }
        }
        if constexpr (kTells && !decltype(whole)::value) {
            const int32_t bundle = t + s - static_cast<int32_t>(inside);
            if (bundle == run_up || bundle == bundles - 1) {
                T* states = reinterpret_cast<T*>(p.arrivals) + (k + (bundle == run_up ? 2 * p.tasks : 0)) * p.arrival_stride;
                DTW_UNROLL
                for (int q = 0; q < K; ++q) {
                    if (layout.first + q < task.m) {
                        states[layout.first + q] = own.cell[q];
                    }
                }
            }
        }
        row += kRows;
        out += kRows;
        kept += kRows;
    };
    constexpr int32_t kSteps = kAhead / kRows;
    // Whether some lane ends a row in the kSteps steps from t on whose states are written.
    const auto ends = [&](int32_t t, int32_t bundle) { return t + kSteps > bundle && t <= bundle + 31; };
    for (int32_t t = 0; t < steps; t += kSteps) {
        if constexpr (!kOne) {
            begin_wait();
            while (any(strip > 0 && is_row(row_in) && coming.mark != strip)) {
                pause();
                ask(row_in);
            }
            end_wait();
            if constexpr (Own::kBorders) {
                at_hand = strip > 0 && is_row(row_in) ? Own::cell_of(coming.value) : border_of(row_in);
            } else {
                at_hand = is_row(row_in) ? (strip == 0 ? border : coming.value) : r.forbidden();
            }
            row_in += kAhead;
            ask(row_in);
        }
        // With borders the first steps are those of lanes that have not begun.
        if (steps - t >= kSteps && (!Own::kBorders || t > 32) && !(kTells && (ends(t, run_up) || ends(t, bundles - 1)))) {
            if constexpr (Own::kEarly) {
                DTW_UNROLL
                for (int q = 0; q < kAhead; ++q) {
                    now[q] = next[q];
                }
                read(next, row + 1 + kAhead);
            }
            DTW_UNROLL_BY((K <= 8 ? 8 : 1))
            for (int32_t s = 0; s < kSteps; ++s) {
                step(std::true_type{}, t, s);
            }
        } else {
            DTW_UNROLL_BY(1)
            for (int32_t s = 0; s < (kTells || Own::kBorders ? min_(kSteps, steps - t) : steps - t); ++s) {
                step(std::false_type{}, t, s);
            }
        }
    }
    if (is_last && inside == layout.last_lane) {
        const Cell value = pick<K>(own.cell, layout.last);
        if constexpr (Own::kBorders) {
            write_result(p, k, task, own.finish(r, value, task.n, task.m));
        } else {
            write_result(p, k, task, r.finish(value, task.n, task.m));
        }
    }
    sync();
}

// The same, whichever way the columns lie.
template <class R, int K, int kRows, bool kTells>
DTW_DEVICE void sweep_wide_columns(const R& r, const Sweep& p, uint64_t k, const Task& task, uint32_t strip,
                             Link<typename R::Number>* links, typename R::Number* last_column) {
    constexpr uint32_t kWidth = 32 * K;
    const uint32_t begin = strip * kWidth, left = task.m - begin;
    const Layout layout(begin, left < kWidth ? left : kWidth, K, R::kOpen, static_cast<uint32_t>(lane()));
    // Worth its code where one warp does a long query.
    constexpr bool kOne = R::kOpen && K >= 32 && kRows > 1;
    if constexpr (R::kOpen) {
        if (layout.last != K - 1) {
            return sweep_wide_strip<R, K, 1, true, false, kTells>(r, p, k, task, strip, layout, links, last_column);
        }
    }
    if (kOne && task.m <= kWidth && layout.most_shared <= 1) {
        sweep_wide_strip<R, K, kRows, false, kOne, kTells>(r, p, k, task, strip, layout, links, last_column);
    } else {
        sweep_wide_strip<R, K, kRows, false, false, kTells>(r, p, k, task, strip, layout, links, last_column);
    }
}

// Most columns of a lane for which there is code that tells states: code of its own, since the loop of many columns
// takes a fifth longer beside it, and registers do not suffice for more.
constexpr int kMostTelling = 32;

// The same, of a stretch or of a pair.
template <class R, int K, int kRows>
DTW_DEVICE void sweep_wide_strip(const R& r, const Sweep& p, uint64_t k, const Task& task, uint32_t strip,
                             Link<typename R::Number>* links, typename R::Number* last_column) {
    if constexpr (R::kOpen && K <= kMostTelling) {
        if (p.arrivals != nullptr) {
            return sweep_wide_columns<R, K, kRows, true>(r, p, k, task, strip, links, last_column);
        }
    }
    sweep_wide_columns<R, K, kRows, false>(r, p, k, task, strip, links, last_column);
}

// Pairs of any width, strip by strip.
template <class R, int K, int kRows>
DTW_DEVICE void sweep_wide(const Sweep& p) {
    using T = typename R::Number;
    const R r(p);
    constexpr uint32_t kWidth = 32 * K;
    DTW_FOR_EACH_TICKET(ticket, p, p.spread ? p.tasks * p.most_strips : p.tasks) {
        const uint64_t k = p.spread ? ticket % p.tasks : ticket;
        const uint32_t strip = p.spread ? static_cast<uint32_t>(ticket / p.tasks) : 0;
        const Task task = task_of(p, k);
        // Not done before its last strip, so that all its strips come to the same answer.
        if (!is_wanted<T>(p, k, task)) {
            continue;
        }
        const uint32_t strips = (task.m + kWidth - 1) / kWidth;
        const uint64_t slot = p.spread ? k : warp();
        Link<T>* links = static_cast<Link<T>*>(p.links) + slot * p.edge_stride;
        T* last_column = static_cast<T*>(p.edges) + k * p.edge_stride;
        for (uint32_t s = strip; s < (p.spread ? min_(strip + 1, strips) : strips); ++s) {
            sweep_wide_strip<R, K, kRows>(r, p, k, task, s, links, last_column);
        }
    }
}

}  // namespace dtw
