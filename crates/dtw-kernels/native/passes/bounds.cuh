// Bounds: which windows of a stretch may be nearer to a query than a cut, by LB_Keogh (dtw-core, bounds.rs); or the
// least bound of each chunk of windows.
//
//   for each chunk of kWindowChunk windows, 128 at a time, by a warp:
//       each lane has four windows side by side: what it reads of one it uses for all
//       for each point j of a window:
//           z = d * scale + offset                       the point, nearly normalised (passes/moments.cuh)
//           sum += max(0, |z - middle_j| - half_j - slack)^2       its distance from the query's envelope
//           every kBoundsAtOnce points: all four windows of all lanes decided? then on to the next
//       windows that are left, 32 at a time, a window a lane: the same with the roles exchanged, that is the query's
//       points and the envelope of the points
//
//     points      w   w+1  w+2  w+3 | w+4  w+5  w+6  w+7
//     window w    j   j+1  j+2  j+3 |
//     window w+1      j    j+1  j+2 | j+3
//     window w+2           j    j+1 | j+2  j+3                 two bundles of four points serve four rows of each
//     window w+3                j   | j+1  j+2  j+3
//
// A window of which nothing is promised is not bounded: it stays.
#pragma once

#include "../lanes/bundle.cuh"
#include "moments.cuh"

namespace dtw {

// The points of a stretch, less a shift, four at a time.
template <class T>
struct ShiftedPoints {
    const T* points;
    uint64_t last;  // the last of them
    T shift;

    // From `first` on: of those that are all there, and lie where four are loaded as one; or of any.
    template <bool kAligned>
    DTW_DEVICE Bundle<T, 4> at(uint64_t first) const {
        Bundle<T, 4> four;
        if constexpr (kAligned) {
            four = *reinterpret_cast<const Bundle<T, 4>*>(points + first);
        } else {
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                four.v[q] = points[min_<uint64_t>(first + q, last)];
            }
        }
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            four.v[q] -= shift;
        }
        return four;
    }
};

// How far what reaches beyond half a width by more than a slack does so.
template <class T>
DTW_DEVICE T beyond(T away, T most) {
    const T more = away - most;
    return more > T(0) ? more : T(0);
}

// Sums of four windows side by side, from `first` on, until all of all lanes reach the cut.
template <class T, bool kAligned>
DTW_DEVICE void keogh(const Bounds& p, const ShiftedPoints<T>& points, uint64_t first, const Bundle<T, 4>& scale,
                      const Bundle<T, 4>& offset, const bool (&bounded)[4], T slack, T cut, T (&sums)[4]) {
    const Bundle<T, 4>* envelope = static_cast<const Bundle<T, 4>*>(p.envelope);
    const uint32_t length = static_cast<uint32_t>(p.length);
    Bundle<T, 4> here = points.template at<kAligned>(first);
    for (uint32_t j = 0; j < length; j += 4) {
        const Bundle<T, 4> next = points.template at<kAligned>(first + j + 4);
        const Bundle<T, 4> rows[2] = {envelope[j / 2], envelope[j / 2 + 1]};
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            const T middle = rows[q / 2].v[q % 2 * 2], most = rows[q / 2].v[q % 2 * 2 + 1] + slack;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                const T d = q + k < 4 ? here.v[(q + k) % 4] : next.v[(q + k) % 4];
                const T away = beyond(abs_(fma_(d, scale.v[k], offset.v[k] - middle)), most);
                sums[k] = fma_(away, away, sums[k]);
            }
        }
        here = next;
        if (j % kBoundsAtOnce == kBoundsAtOnce - 4) {
            bool open = false;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                open = open || (bounded[k] && sums[k] < cut);
            }
            if (!any(open)) {
                break;
            }
        }
    }
}

// The sum of one window with the roles exchanged, until those of all lanes that are `open` reach the cut.
template <class T>
DTW_DEVICE T keogh_exchanged(const Bounds& p, uint64_t window, uint64_t last, T shift, T slack, T cut, bool open) {
    const T scale = static_cast<const T*>(p.scale)[window], offset = static_cast<const T*>(p.offset)[window];
    const T* query = static_cast<const T*>(p.query);
    const T* lower = static_cast<const T*>(p.lower);
    const T* upper = static_cast<const T*>(p.upper);
    T sum = T(0);
    for (uint32_t i = 0; i < p.length; ++i) {
        const uint64_t at = min_<uint64_t>(window + i, last);
        const T most = fma_(upper[at] - shift, scale, offset), least = fma_(lower[at] - shift, scale, offset);
        const T away = beyond(max_(query[i] - most, least - query[i]), slack);
        sum = fma_(away, away, sum);
        if (i % kBoundsAtOnce == kBoundsAtOnce - 1 && !any(open && sum < cut)) {
            break;
        }
    }
    return sum;
}

// Bits of all lanes, joined.
DTW_DEVICE uint32_t joined(uint32_t bits, int lanes) {
    for (int mask = 1; mask < lanes; mask *= 2) {
        bits |= exchange(bits, mask);
    }
    return bits;
}

template <class T>
DTW_DEVICE void bounds(const Bounds& p) {
    const uint32_t inside = static_cast<uint32_t>(lane());
    const uint64_t chunks = (p.windows + kWindowChunk - 1) / kWindowChunk, last = p.windows + p.length - 2;
    const T* slacks = static_cast<const T*>(p.slack);
    const bool lies_well = reinterpret_cast<uint64_t>(p.points) % sizeof(Bundle<T, 4>) == 0;
    for (uint64_t c = warp() * p.every; c < chunks; c += warps() * p.every) {
        const ShiftedPoints<T> points{static_cast<const T*>(p.points), last, static_cast<const T*>(p.shifts)[c]};
        T cut = p.survives ? static_cast<T>(p.cut) : Limits<T>::infinity();
        uint64_t place = c * kWindowChunk;
        for (uint32_t begin = 0; begin < kWindowChunk; begin += 128) {
            const uint64_t first = c * kWindowChunk + begin, own = first + 4 * inside;
            const auto four = [&](const void* numbers) {
                return reinterpret_cast<const Bundle<T, 4>*>(static_cast<const T*>(numbers) + own)[0];
            };
            const Bundle<T, 4> scale = four(p.scale), offset = four(p.offset), slack = four(p.slack);
            bool bounded[4];
            T most = T(0), sums[4];
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                sums[k] = T(0);
                bounded[k] = slack.v[k] < T(1);
                most = bounded[k] ? max_(most, slack.v[k]) : most;
            }
            for (int mask = 16; mask > 0; mask /= 2) {
                most = max_(most, exchange(most, mask));
            }
            most += static_cast<T>(p.more_slack);
            if (first >= p.windows) {
                // No windows: bits of zeros.
            } else if (lies_well && first + 128 + p.length + 8 <= last) {
                keogh<T, true>(p, points, own, scale, offset, bounded, most, cut, sums);
            } else {
                keogh<T, false>(p, points, own, scale, offset, bounded, most, cut, sums);
            }
            if (!p.survives) {
                T least = Limits<T>::infinity();
                uint64_t window = own;
                DTW_UNROLL
                for (int k = 0; k < 4; ++k) {
                    const bool better = bounded[k] && sums[k] < least;
                    least = better ? sums[k] : least;
                    window = better ? own + k : window;
                }
                for (int mask = 16; mask > 0; mask /= 2) {
                    const T other = exchange(least, mask);
                    const uint64_t other_window = exchange(window, mask);
                    const bool better = other < least || (other == least && other_window < window);
                    least = better ? other : least;
                    window = better ? other_window : window;
                }
                place = least < cut ? window : place;
                cut = min_(cut, least);
                continue;
            }
            uint32_t bits = 0;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                const bool stays = own + k < p.windows && !(bounded[k] && sums[k] >= cut);
                bits |= stays ? 1u << (4 * (inside % 8) + k) : 0u;
            }
            bits = joined(bits, 8);
            for (int k = 0; k < 4; ++k) {
                uint32_t word = broadcast(bits, 8 * k);
                if (p.query && word != 0) {
                    const uint64_t window = first + 32 * k + inside;
                    const bool open = (word >> inside & 1u) && slacks[window] < T(1);
                    const T sum = keogh_exchanged(p, window, last, points.shift, most, cut, open);
                    word &= ~joined(open && sum >= cut ? 1u << inside : 0u, 32);
                }
                if (inside == 0) {
                    p.survives[first / 32 + k] = word;
                }
            }
        }
        if (!p.survives && inside == 0) {
            static_cast<T*>(p.least)[c / p.every] = cut;
            p.place[c / p.every] = static_cast<uint32_t>(place);
        }
    }
}

}  // namespace dtw
