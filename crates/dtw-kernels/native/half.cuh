// Two halves in a register, and the floats that they stand for.
#pragma once

#include "columns.cuh"

namespace dtw {

// Offsets are moved by less than this at once, and are not further apart.
constexpr float kMostShift = 60000.0f;
constexpr float kMostHalf = 65504.0f;

// A float for each of two tasks.
struct Two {
    float first, second;
};
DTW_DEVICE Two floats_of(Half2 v) { return {first_of(v), second_of(v)}; }
DTW_DEVICE Two operator+(Two a, Two b) { return {a.first + b.first, a.second + b.second}; }
DTW_DEVICE Two operator-(Two a, Two b) { return {a.first - b.first, a.second - b.second}; }
DTW_DEVICE Two broadcast(Two v, int l) { return {broadcast(v.first, l), broadcast(v.second, l)}; }
DTW_DEVICE bool is_infinite(Half2 v) { return first_of(v) > kMostHalf || second_of(v) > kMostHalf; }
DTW_DEVICE float within(float v) { return fmin_(fmax_(v, -kMostShift), kMostShift); }
// Halves of what two floats are near zero, in the order of the tasks.
DTW_DEVICE Half2 halves_of(Two v) { return half2_of(v.first, v.second); }

// Whether a series hardly changes from point to point. Of two such series one step costs what the next one does, and equal steps
// are rounded the same way: roundings add up instead of making up for each other. `rate` brings points to within 4 of each other's
// middle. Looked at by G lanes, at every point, or at G of so many.
template <int G>
DTW_DEVICE bool hardly_changes(const Points<float>& series, float rate, uint32_t inside, uint32_t every = G) {
    constexpr float kAlike = 1.0f / 32.0f;  // neighbouring points are no further apart
    constexpr uint32_t kMostAlike = 2;      // one in so many of them may be
    constexpr uint32_t kFew = 8;            // too few to tell
    uint32_t alike = 0, seen = 0;
    DTW_UNROLL4
    for (uint32_t i = inside; i + 1 < series.length; i += every) {
        alike += abs_(series.values[i + 1] - series.values[i]) * rate < kAlike ? 1 : 0;
        ++seen;
    }
    for (int mask = 1; mask < G; mask *= 2) {
        alike += exchange(alike, mask);
        seen += exchange(seen, mask);
    }
    return seen < kFew || alike * kMostAlike > seen;
}

}  // namespace dtw
