// Moments: of each window of a stretch, what makes of its points d = point - shift their z-normalised values, nearly:
// d * scale + offset; and how far off that may be from what `prepare` makes of them: the slack.
//
//   for each chunk of kWindowChunk windows, by a warp:
//       shift = the mean of its points, in the number type
//       sums of d and of d^2, and how many points differ from the one before, of the first window
//       for 32 windows at a time:
//           each lane: what its window has more than that before it; a running sum over the lanes
//           mean and deviation; scale = 1 / deviation, offset = -mean / deviation, slack
//
//     points    p0 p1 p2 ... p(m-1) pm p(m+1) ...
//     window 0  -----------------                     sums over all of it
//     window 1     -------------------                + pm - p0
//     window 2        -------------------             + p(m+1) - p1
//
// Why the slack suffices is told once, in dtw-core (moving.rs). Sums here are of at most 2 kWindowChunk + m numbers,
// which is what its N stands for.
#pragma once

#include "prepare.cuh"

namespace dtw {

// The slack of a window of which nothing is promised: above any z-normalised value.
constexpr float kNoPromise = 1e30f;

template <class T>
DTW_DEVICE void moments(const Moments& p) {
    constexpr double kUnit = 0x1p-53, kOwnUnit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    const uint32_t m = static_cast<uint32_t>(p.length);
    const double count = m, all = 2.0 * kWindowChunk + count;
    const double kappa = 30.0 * kUnit * all * all / count;
    const double height = sqrt_(count) * 1.01 + 1.0;
    const uint64_t chunks = (p.windows + kWindowChunk - 1) / kWindowChunk;
    for (uint64_t c = warp() * p.every; c < chunks; c += warps() * p.every) {
        const uint64_t first = c * kWindowChunk;
        const uint32_t left = static_cast<uint32_t>(min_<uint64_t>(p.windows - first, kWindowChunk));
        const T* points = static_cast<const T*>(p.points) + first;
        const uint32_t inside = static_cast<uint32_t>(lane());

        double sum = 0.0;
        T low = Limits<T>::infinity(), high = -Limits<T>::infinity();
        for (uint32_t i = inside; i < left + m - 1; i += 32) {
            const T v = points[i];
            sum += static_cast<double>(v);
            low = min_(low, v);
            high = max_(high, v);
        }
        for (int mask = 16; mask > 0; mask /= 2) {
            low = min_(low, exchange(low, mask));
            high = max_(high, exchange(high, mask));
        }
        sum = sum_of_lanes(sum);
        const double largest = static_cast<double>(max_(abs_(low), abs_(high)));
        const bool is_usual = largest < p.most;
        const T shift = is_usual ? static_cast<T>(sum / (left + m - 1)) : T(0);
        const double from = static_cast<double>(shift);
        const double farthest = max_(static_cast<double>(high) - from, from - static_cast<double>(low));
        const double doubt = kappa * farthest * farthest;
        const double mean_error = 2.0 * (count + 2.0) * kUnit * largest;

        double total = 0.0, squares = 0.0;
        int32_t changes = 0;
        for (uint32_t i = inside; i < m; i += 32) {
            const double d = static_cast<double>(points[i]) - from;
            total += d;
            squares = fma_(d, d, squares);
            changes += i > 0 && points[i] != points[i - 1] ? 1 : 0;
        }
        total = sum_of_lanes(total);
        squares = sum_of_lanes(squares);
        changes = sum_of_lanes(changes);

        for (uint32_t begin = 0; begin < kWindowChunk; begin += 32) {
            const uint32_t w = begin + inside;
            double more = 0.0, more_squares = 0.0;
            int32_t more_changes = 0;
            if (w > 0 && w < left) {
                const double in = static_cast<double>(points[w + m - 1]) - from;
                const double out = static_cast<double>(points[w - 1]) - from;
                more = in - out;
                more_squares = fma_(in, in, -(out * out));
                more_changes = (points[w + m - 1] != points[w + m - 2] ? 1 : 0) - (points[w] != points[w - 1] ? 1 : 0);
            }
            const double own_total = total + scan_of_lanes(more);
            const double own_squares = squares + scan_of_lanes(more_squares);
            const int32_t own_changes = changes + scan_of_lanes(more_changes);
            total = broadcast(own_total, 31);
            squares = broadcast(own_squares, 31);
            changes = broadcast(own_changes, 31);

            const double mean = own_total / count;
            const double variance = own_squares / count - mean * mean;
            const double deviation = sqrt_(max_(variance, 0.0));
            double scale = 0.0, offset = 0.0, slack = kNoPromise;
            if (w < left && own_changes == 0) {
                slack = 0.0;
            } else if (w < left && is_usual && variance > 17.0 * doubt && deviation * p.most > 1.0) {
                const double part = doubt / (variance - doubt), lost = mean_error / deviation;
                const double off = kappa * farthest / deviation + 2.0 * part * height +
                                   8.0 * kOwnUnit * farthest / deviation + 8.0 * kOwnUnit * height + lost +
                                   2.0 * height * ((count + 10.0) * kUnit + lost * lost);
                if (off <= 0.125) {
                    scale = 1.0 / deviation;
                    offset = -mean / deviation;
                    slack = 1.25 * off;
                }
            }
            static_cast<T*>(p.scale)[first + w] = static_cast<T>(scale);
            static_cast<T*>(p.offset)[first + w] = static_cast<T>(offset);
            static_cast<T*>(p.slack)[first + w] = static_cast<T>(slack);
        }
        if (inside == 0) {
            static_cast<T*>(p.shifts)[c] = shift;
        }
    }
}

}  // namespace dtw
