// Costs of subsequence DTW in half precision: squared differences, one channel, no band, float series.
//
// A cell is two halves, of two queries of the same length that are sought in the same reference (a couple; the last of an odd
// number goes twice). Queries are cut into strips of 32 lanes, which hand their right edges on as in wide.cuh.
//
// Totals of thousands of steps have no digits left in a half, so a lane keeps an offset for each query, a float: what is meant
// is offset + cell. Every chunk of rows it is set anew, to the least of the lane's cells and of those that the left neighbour
// is about to hand over. Cells are then small where paths are good, and a good path loses no more than a few units of the last
// place of what it has cost within the lane. Points are taken from the middle of the range of all three series and scaled by
// a power of two to within kMostPoint, so that their squared differences are far from both ends of a half's range.
//
// A cell that is 65504 or more above its offset becomes infinite. A finite cell is right all the same, since no path through
// an infinite one can cost less. So it matters only where an infinite cell is handed on, to the next lane or the next chunk.
// A cell far below its offset, of a path that came faster than was looked ahead, has lost digits. This, too, is looked for where
// cells are handed on: none may be further below its offset than eight times its total, or eight times the least total at the
// end of its strip, so that no rounding is more than 2^-8 of either; or else by so little that it comes to no more than the
// rounding of points does (kFloor). Where one of both happens, and for couples whose points or lengths do not fit, the places of both tasks in `out` (zeros before) become NaN: what was found is not to be used. A launch
// of open_dtw with only_missing does these tasks.
#pragma once

#include "half.cuh"
#include "wide.cuh"

namespace dtw {

constexpr float kMostPoint = 4.0f;
// Beyond these the scale would leave the range of a float with its square.
constexpr float kLeastReach = 1e-12f, kMostReach = 1e12f;
// Lanes from which paths are expected within a chunk, the next but so many.
constexpr int kFarthest = 2;
// A cell below its offset has lost digits if its total is less than this part of how far below it is.
constexpr float kLoss = 0.125f;
// The same in absolute terms, for every column of a query: a cell that far below its offset is rounded by half of what the
// rounding of points may add, which is by 2^-10 for each, so (2 * 2^-10)^2 for a column.
constexpr float kFloor = 1.0f / 2048.0f;

// As one number that only carries them.
DTW_DEVICE double packed(Two v) {
    return from_words(static_cast<uint32_t>(bits_of(v.second)), static_cast<uint32_t>(bits_of(v.first)));
}
DTW_DEVICE Two unpacked(double v) {
    return {from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits_of(v)))), from_bits(static_cast<int32_t>(high_of(v)))};
}

// Two tasks that are done as one.
struct Couple {
    uint32_t i, j[2];
    uint64_t task[2];
    bool alike;  // in length

    DTW_DEVICE Couple(const Sweep& p, uint64_t number) {
        const uint64_t of_row = (static_cast<uint64_t>(p.y.count) + 1) / 2;
        i = static_cast<uint32_t>(number / of_row);
        j[0] = 2 * static_cast<uint32_t>(number % of_row);
        j[1] = min_(j[0] + 1, p.y.count - 1);
        for (int h = 0; h < 2; ++h) {
            task[h] = static_cast<uint64_t>(i) * p.y.count + j[h];
        }
        alike = length_of(p.y, j[0]) == length_of(p.y, j[1]);
    }
};

// How the points of a couple are made halves: point * rate + shift.
struct Scaling {
    float rate, shift;
    float unit;  // of a total
    bool fits;

    DTW_DEVICE Scaling(const Points<float>& x, const Points<float>& y, const Points<float>& z) {
        float least = y.values[0], most = least, spoilt = 0.0f;
        const auto look = [&](const Points<float>& series) {
            // Several loads under way at once; the last point is looked at again where there are none.
            constexpr int kAtOnce = 8;
            for (uint32_t i = static_cast<uint32_t>(lane()); i < series.length; i += 32 * kAtOnce) {
                float values[kAtOnce];
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    values[q] = series.values[series.clamped(i + 32 * q)];
                }
                DTW_UNROLL
                for (int q = 0; q < kAtOnce; ++q) {
                    least = values[q] < least ? values[q] : least;
                    most = values[q] > most ? values[q] : most;
                    spoilt = fma_(values[q], 0.0f, spoilt);  // not zero after what is not finite
                }
            }
        };
        look(x);
        look(y);
        look(z);
        for (int mask = 1; mask < 32; mask *= 2) {
            least = min_(least, exchange(least, mask));
            most = max_(most, exchange(most, mask));
        }
        const float reach = most * 0.5f - least * 0.5f;
        // Alike points need no scale; their differences are zero.
        const float scaled = reach >= kLeastReach && reach <= kMostReach ? reach : kMostPoint;
        fits = !any(spoilt != 0.0f) && (scaled == reach || reach == 0.0f);
        // The largest power of two that leaves them below kMostPoint.
        rate = pow2(-exponent_of(scaled)) * (kMostPoint * 0.5f);
        shift = -(most * 0.5f + least * 0.5f) * rate;
        unit = 1.0f / (rate * rate);
    }
};

// A lane's columns.
template <int K, int kRows>
struct HalfCells {
    Half2 cell[K], point[K];
    Half2 edge[kRows];  // of the latest rows
    Half2 corner;       // left of the first cell in the latest row
    Half2 most, least;  // of what was handed on to the next lane since the last settling
    Two lowest;         // of cells that have lost digits, and were handed on, the least
    Two best;           // the least total of what was handed on to the next lane
    Two offset, base;   // base: the offset in the unit of what is passed on
    Half2 apart;        // the left neighbour's offset less this lane's
    bool lost;

    DTW_DEVICE void load(const Points<float>& y, const Points<float>& z, const Scaling& scaling, uint32_t first) {
        const Half2 forbidden = half2_of(Limits<float>::infinity(), Limits<float>::infinity());
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const uint32_t j = y.clamped(first + k);
            point[k] = half2_of(fma_(y.values[j], scaling.rate, scaling.shift),
                                fma_(z.values[j], scaling.rate, scaling.shift));
            cell[k] = forbidden;
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = forbidden;
        }
        corner = forbidden;
        most = apart = half2_of(0.0f, 0.0f);
        least = forbidden;
        best = {Limits<float>::infinity(), Limits<float>::infinity()};
        lowest = offset = base = {0.0f, 0.0f};
        lost = false;
    }

    // kRows rows. `shares`: the next lane follows the last column but one.
    DTW_DEVICE void take(const Half2 (&x)[kRows], const Half2 (&left)[kRows], bool shares) {
        Half2 row[kRows], diagonal[kRows], before[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            row[q] = left[q];
            diagonal[q] = q == 0 ? corner : left[q > 0 ? q - 1 : 0];
        }
        corner = left[kRows - 1];
        DTW_UNROLL
        for (int s = 0; s < K + kRows - 1; ++s) {
            // Rows from the bottom up, as in cells.cuh.
            DTW_UNROLL
            for (int q = kRows - 1; q >= 0; --q) {
                const int k = s - q;
                if (k >= 0 && k < K) {
                    const Half2 up = cell[k], between = x[q] - point[k];
                    if (k == K - 1) {
                        before[q] = row[q];
                    }
                    row[q] = fma_(between, between, min3_(diagonal[q], up, row[q]));
                    diagonal[q] = up;
                    cell[k] = row[q];
                }
            }
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = shares ? before[q] : row[q];
        }
    }

    // Looks at what was handed on: v and w.
    DTW_DEVICE void hand_on(Half2 v, Half2 w) {
        most = max3_(most, v, w);
        least = min3_(least, v, w);
    }

    // Looks at the least of some cells that were handed on.
    DTW_DEVICE void look(Half2 v) {
        const auto depth = [](float v, float offset) { return v * (1.0f + kLoss) < -offset ? v : 0.0f; };
        lowest.first = min_(lowest.first, depth(first_of(v), offset.first));
        lowest.second = min_(lowest.second, depth(second_of(v), offset.second));
    }

    // What was handed on to the next lane since the last time.
    DTW_DEVICE void note() {
        const Two total = offset + floats_of(least);
        best = {min_(best.first, total.first), min_(best.second, total.second)};
        look(least);
        lost = lost || is_infinite(most);
        most = half2_of(0.0f, 0.0f);
        least = half2_of(Limits<float>::infinity(), Limits<float>::infinity());
    }

    // Sets the offset before a chunk of kAhead rows. `coming`: the least that will come to lane 0, relative to its offset. The
    // first `begun` lanes have some rows behind them, all rows of which were of the series if `counts`.
    template <int kAhead>
    DTW_DEVICE void settle(Half2 coming, uint32_t begun, bool counts) {
        constexpr int kNear = kAhead < K ? K - kAhead : 0;  // cells from here on may be handed over within the chunk
        const int inside = lane();
        Half2 near = edge[0], high = edge[0];
        DTW_UNROLL
        for (int q = 0; q < kRows; q += 2) {
            near = min3_(near, edge[q], edge[q + 1]);
        }
        DTW_UNROLL
        for (int k = kNear; k < K; k += 2) {
            near = min3_(near, cell[k], cell[k + 1]);
            high = max3_(high, cell[k], cell[k + 1]);
        }
        Half2 low = near;
        DTW_UNROLL
        for (int k = 0; k < kNear; k += 2) {
            low = min3_(low, cell[k], cell[k + 1]);
            high = max3_(high, cell[k], cell[k + 1]);
        }
        note();
        if (counts) {
            look(low);
        }
        lost = lost || (counts && is_infinite(high));
        // Lanes that have not begun follow the last that has.
        const bool begins = static_cast<uint32_t>(inside) >= begun;
        const int last = static_cast<int>(begun) - 1, source = begins ? last : inside - 1;
        const Two own = offset + floats_of(low), next = offset + floats_of(coming);
        Two left = broadcast(offset + floats_of(near), source < 0 ? 0 : source);
        left = inside == 0 ? next : left;
        // A path may come from further away, yet its total should not be far below the offset that it finds.
        float rate = 2.0f;
        DTW_UNROLL
        for (int away = 1; away <= kFarthest; away *= 2) {
            const Two other = broadcast(left, inside < away ? 0 : inside - away);
            left = {min_(left.first, rate * other.first), min_(left.second, rate * other.second)};
            rate *= rate;
        }
        const Two wanted = {min_(own.first, left.first), min_(own.second, left.second)};
        // Where there are no totals yet, the offset stays.
        const float infinity = Limits<float>::infinity();
        const Two before = offset;
        offset = {wanted.first < infinity ? wanted.first : before.first,
                  wanted.second < infinity ? wanted.second : before.second};
        const Two moved = offset - before;
        const Half2 by = half2_of(within(moved.first), within(moved.second));
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            cell[k] = cell[k] - by;
        }
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            edge[q] = edge[q] - by;
        }
        corner = corner - by;
        const Two step = broadcast(offset, inside == 0 ? 0 : inside - 1) - offset;
        apart = half2_of(within(step.first), within(step.second));
        // What was not moved by all of this.
        const auto is_far = [](float v) { return v < -kMostShift || v > kMostShift; };
        lost = lost || (counts && (is_far(moved.first) || is_far(moved.second) || is_far(step.first) || is_far(step.second)));
    }
};

// Strip `strip` of a couple whose columns fill `lanes` lanes.
template <int K, int kRows>
DTW_DEVICE void sweep_strip_of_halves(const Sweep& p, const Couple& couple, uint32_t strip, uint32_t lanes,
                                      const Points<float>& x, const Points<float>& y, const Points<float>& z,
                                      const Scaling& scaling, Link<double>* links, bool& lost) {
    constexpr int kAhead = K < 32 ? 16 : 32;  // rows of a chunk
    constexpr int kSteps = kAhead / kRows;
    constexpr int32_t kAbsent = -0x7fffffff - 1;  // no row, however many come after it
    static_assert(kRows % 2 == 0 && K % 2 == 0, "edges and cells are looked at in twos");
    const uint32_t inside = static_cast<uint32_t>(lane()), all = strip * 32 + inside;
    const uint32_t idle = lanes * K - y.length;
    const bool shares = all < idle, is_last = lanes - strip * 32 <= 32;
    const uint32_t last_lane = is_last ? lanes - 1 - strip * 32 : 31;
    HalfCells<K, kRows> own;
    own.load(y, z, scaling, all * K - min_(all, idle));
    const int32_t n = static_cast<int32_t>(x.length);
    const int32_t steps = (n + kRows - 1) / kRows + static_cast<int32_t>(last_lane);
    const bool ends = inside == last_lane;

    // Left edges of the next chunk of rows, one in each of the first lanes; see absorb_strip.
    Link<double> arriving{};
    int32_t row_in = inside < kAhead ? static_cast<int32_t>(inside) : kAbsent;
    const auto is_row = [&](int32_t i) { return static_cast<uint32_t>(i) < x.length; };
    const auto ask = [&](int32_t i) {
        arriving = receive(strip > 0 && is_row(i) ? links + i : static_cast<const Link<double>*>(p.links));
    };
    int32_t row = -static_cast<int32_t>(inside) * kRows;
    float next[kRows];
    const auto read = [&](int32_t from) {
        const int32_t least = from < -kPad ? -kPad : from, most = n + kPad - kRows;
        const float* values = x.values + (least > most ? most : least);
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            next[q] = values[q];
        }
    };
    read(row);
    Link<double>* out = links + row;
    float* kept[2];
    DTW_UNROLL
    for (int h = 0; h < 2; ++h) {
        kept[h] = static_cast<float*>(p.edges) + couple.task[h] * p.edge_stride + row;
    }
    const float unit = is_last ? scaling.unit : 1.0f;
    Half2 at_hand{};
    const auto step = [&](int32_t s) {
        Half2 rows[kRows], left[kRows];
        DTW_UNROLL
        for (int q = 0; q < kRows; ++q) {
            const float point = fma_(next[q], scaling.rate, scaling.shift);
            rows[q] = half2_of(point, point);
            const Half2 received = shift_up<32>(own.edge[q]) + own.apart, from_strip = broadcast(at_hand, s * kRows + q);
            left[q] = inside == 0 ? from_strip : received;
        }
        read(row + kRows);
        own.take(rows, left, shares);
        const auto pass_on = [&](int q) {
            const Two cell = floats_of(own.edge[q]);
            const Two total = {fma_(cell.first, unit, own.base.first), fma_(cell.second, unit, own.base.second)};
            if (is_last) {
                kept[0][q] = max_(total.first, 0.0f);
                kept[1][q] = max_(total.second, 0.0f);
            } else {
                send(out + q, Link<double>{packed(total), strip + 1});
            }
        };
        if (row >= 0 && row + kRows <= n) {
            DTW_UNROLL
            for (int q = 0; q < kRows; q += 2) {
                own.hand_on(own.edge[q], own.edge[q + 1]);
            }
            if (ends) {
                DTW_UNROLL
                for (int q = 0; q < kRows; ++q) {
                    pass_on(q);
                }
            }
        } else if (row >= 0 && row < n) {
            DTW_UNROLL
            for (int q = 0; q < kRows; ++q) {
                if (row + q < n) {
                    own.hand_on(own.edge[q], own.edge[q]);
                    if (ends) {
                        pass_on(q);
                    }
                }
            }
        }
        row += kRows;
        out += kRows;
        kept[0] += kRows;
        kept[1] += kRows;
    };
    ask(row_in);
    int32_t count;
    for (int32_t t = 0; t < steps; t += count) {
        // One step at a time until all lanes have begun, so that they begin with an offset that fits.
        count = t < 32 ? 1 : min_(kSteps, steps - t);
        while (any(strip > 0 && is_row(row_in) && arriving.mark != strip)) {
            pause();
            ask(row_in);
        }
        const float none = Limits<float>::infinity();
        Two totals = strip == 0 ? Two{0.0f, 0.0f} : unpacked(arriving.value);
        totals = is_row(row_in) ? totals : Two{none, none};
        row_in += count * kRows;
        ask(row_in);
        // What comes to lane 0, in its numbers before and after they are settled.
        Half2 coming = halves_of(totals - broadcast(own.offset, 0));
        for (int mask = 1; mask < kAhead; mask *= 2) {
            coming = min_(coming, exchange(coming, mask));
        }
        // Lanes behind the last one have nothing to lose.
        const bool counts = row > 0 && row <= n && inside <= last_lane;
        own.template settle<kAhead>(coming, min_(static_cast<uint32_t>(t), 32u), counts);
        own.base = {own.offset.first * unit, own.offset.second * unit};
        at_hand = halves_of(totals - broadcast(own.offset, 0));
        DTW_UNROLL_BY(1)
        for (int32_t s = 0; s < count; ++s) {
            step(s);
        }
    }
    own.note();
    // Cells far below their offsets have lost digits: none that a total here would show.
    const Two best = broadcast(own.best, static_cast<int>(last_lane)), low = own.lowest;
    const float floor = kFloor * static_cast<float>(y.length);
    const bool shows = best.first + floor < low.first * -kLoss || best.second + floor < low.second * -kLoss;
    lost = (own.lost || shows) && inside <= last_lane;
    sync();
}

// Strips of all couples, as in sweep_wide with p.spread.
template <int K, int kRows>
DTW_DEVICE void sweep_halves(const Sweep& p) {
    const uint64_t couples = static_cast<uint64_t>(p.x.count) * ((static_cast<uint64_t>(p.y.count) + 1) / 2);
    while (true) {
        uint64_t ticket = 0;
        if (lane() == 0) {
            ticket = take(p.ticket);
        }
        ticket = broadcast(ticket, 0);
        if (ticket >= couples * p.strips) {
            return;
        }
        const uint64_t number = ticket % couples;
        const uint32_t strip = static_cast<uint32_t>(ticket / couples);
        const Couple couple(p, number);
        const Points<float> x(p.x, couple.i, 1), y(p.y, couple.j[0], 1), z(p.y, couple.j[1], 1);
        // Columns fill all lanes of a couple; up to one a lane is left over and shared with the next.
        const uint32_t lanes = (y.length + K - 1) / K;
        if (strip * 32 >= lanes) {
            continue;
        }
        bool lost = !couple.alike || lanes * K - y.length >= lanes;
        if (!lost) {
            const Scaling scaling(x, y, z);
            lost = !scaling.fits;
            if (!lost) {
                Link<double>* links = static_cast<Link<double>*>(p.links) + number * p.edge_stride;
                sweep_strip_of_halves<K, kRows>(p, couple, strip, lanes, x, y, z, scaling, links, lost);
            }
        }
        if (any(lost) && lane() == 0) {
            for (int h = 0; h < 2; ++h) {
                uint32_t* place = static_cast<uint32_t*>(p.out) + couple.i * p.out_stride + couple.j[h];
                set_bits(place, 0x7fffffffu);
            }
        }
    }
}

}  // namespace dtw
