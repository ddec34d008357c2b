// What a lane holds of its columns and reads of its rows: points, previous points, times, gaps, weights.
#pragma once

#include <type_traits>

#include "../recurrence/recurrence.cuh"
#include "task.cuh"

namespace dtw {

// A point of so many channels.
template <class T, int kChannels>
struct alignas(kChannels % 2 == 0 ? 2 * sizeof(T) : sizeof(T)) Channeled {
    T v[kChannels];
};

// The series of one side of a task.
template <class T>
struct Points {
    const T* values;
    const T* gaps;
    const T* sums;
    const T* times;
    uint32_t length;
    uint32_t channels;

    DTW_DEVICE Points(const Side& side, uint32_t s, uint32_t channels_)
        : length(length_of(side, s)), channels(channels_) {
        const uint64_t first = first_point(side, s);
        values = static_cast<const T*>(side.values) + first * channels_;
        gaps = side.gaps ? static_cast<const T*>(side.gaps) + first : nullptr;
        sums = side.sums ? static_cast<const T*>(side.sums) + first : nullptr;
        times = side.times ? static_cast<const T*>(side.times) + first : nullptr;
    }
    // 0-based; time 0 and sum 0 before the first point.
    DTW_DEVICE T time(int64_t i) const { return i < 0 ? T(0) : times ? times[i] : static_cast<T>(i + 1); }
    DTW_DEVICE T sum(int64_t i) const { return i < 0 || !sums ? T(0) : sums[i]; }
    DTW_DEVICE uint32_t clamped(uint32_t i) const { return i < length ? i : length - 1; }

    // Everything of point `i` that R reads.
    template <class R, bool kMany>
    DTW_DEVICE Sample<T> sample(uint32_t i) const {
        Sample<T> s{};
        if (!kMany) {
            s.point = values[i];
            if (R::kPrevious) {
                s.previous = i > 0 ? values[i - 1] : T(0);
            }
        }
        if (R::kTimes) {
            s.time = time(i);
            s.previous_time = time(static_cast<int64_t>(i) - 1);
        }
        if (R::kGaps) {
            s.gap = gaps[i];
        }
        return s;
    }
};

// The rows of a lane, one after the other. The next row is read while the present one is swept. kFree rows may lie in
// the padding before and behind the series; others stay within it.
template <class R, bool kMany, bool kFree>
struct Rows {
    using T = typename R::Number;
    Sample<T> here;
    const Points<T>& x;
    T next_point, next_gap, next_time;
    int32_t i;

    DTW_DEVICE Rows(const Points<T>& x_, int32_t first) : here{}, x(x_), next_point{}, next_gap{}, next_time{}, i(first - 1) {
        if (R::kTimes) {
            next_time = x.times && first > 0 ? x.times[first - 1] : static_cast<T>(first);
        }
        if (!kMany && first > 0) {
            next_point = x.values[first - 1];
        }
        here.point = next_point;
        here.time = next_time;
        fetch();
        advance();
    }
    DTW_DEVICE void fetch() {
        const int32_t next = kFree || i + 1 < static_cast<int32_t>(x.length) ? i + 1 : i;
        if (!kMany) {
            next_point = x.values[next];
        }
        if (R::kGaps) {
            next_gap = x.gaps[next];
        }
        if (R::kTimes) {
            next_time = x.times ? x.times[next] : here.time + T(1);
        }
    }
    DTW_DEVICE void advance() {
        ++i;
        if (!kMany) {
            here.previous = here.point;
            here.point = next_point;
        }
        if (R::kGaps) {
            here.gap = next_gap;
        }
        if (R::kTimes) {
            here.previous_time = here.time;
            here.time = next_time;
        }
        fetch();
    }
};

// The K columns of a lane, from column `first`. Columns beyond the series repeat its last point.
template <class R, bool kMany, int K>
struct Columns {
    using T = typename R::Number;
    T point[kMany ? 1 : K];
    T before;  // the point before the first
    T time[R::kTimes ? K + 1 : 1];
    T gap[R::kGaps ? K : 1];

    DTW_DEVICE void load(const Points<T>& y, uint32_t first) {
        if (!kMany) {
            DTW_UNROLL
            for (int k = 0; k < K; ++k) {
                point[k] = y.values[y.clamped(first + k)];
            }
            before = first > 0 ? y.values[y.clamped(first - 1)] : T(0);
        }
        if (R::kTimes) {
            DTW_UNROLL
            for (int k = 0; k <= K; ++k) {
                time[k] = y.time(static_cast<int64_t>(first) + k <= y.length ? static_cast<int64_t>(first) + k - 1
                                                                             : static_cast<int64_t>(y.length) - 1);
            }
        }
        if (R::kGaps) {
            DTW_UNROLL
            for (int k = 0; k < K; ++k) {
                gap[k] = y.gaps[y.clamped(first + k)];
            }
        }
    }
    DTW_DEVICE Sample<T> sample(int k) const {
        Sample<T> s{};
        if (!kMany) {
            s.point = point[k];
            s.previous = k > 0 ? point[k > 0 ? k - 1 : 0] : before;
        }
        if (R::kTimes) {
            s.time = time[k + 1];
            s.previous_time = time[k];
        }
        if (R::kGaps) {
            s.gap = gap[k];
        }
        return s;
    }
};

// Distances between one point of x and the K points of a lane's columns, for several channels.
template <class R, int K>
DTW_DEVICE void distances_of(const R& r, const Points<typename R::Number>& x, int64_t i,
                             const Points<typename R::Number>& y, int64_t first,
                             typename R::Number (&distance)[K]) {
    using T = typename R::Number;
    DTW_UNROLL
    for (int k = 0; k < K; ++k) {
        distance[k] = T(0);
    }
    for (uint32_t c = 0; c < x.channels; ++c) {
        const T value = i < 0 ? T(0) : x.values[i * x.channels + c];
        DTW_UNROLL
        for (int k = 0; k < K; ++k) {
            const int64_t j = first + k;
            const T other = j < 0 ? T(0) : y.values[static_cast<uint64_t>(y.clamped(static_cast<uint32_t>(j))) * y.channels + c];
            distance[k] = r.norm.add(distance[k], value, other);
        }
    }
    DTW_UNROLL
    for (int k = 0; k < K; ++k) {
        distance[k] = r.norm.done(distance[k]);
    }
}

}  // namespace dtw
