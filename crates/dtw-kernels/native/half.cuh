// Two halves in a register, and the floats that they stand for.
#pragma once

#include "vendor/vendor.cuh"

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

}  // namespace dtw
