// AMD: packed instructions take two numbers of 16 bits at once on all chips. The contract is in half.cuh.
#pragma once

namespace dtw {

constexpr int kHalfBytes = 2;
typedef _Float16 TwoHalves __attribute__((ext_vector_type(2)));
struct Half2 {
    TwoHalves both;
};
DTW_DEVICE Half2 half2_of(float first, float second) {
    return {TwoHalves{static_cast<_Float16>(first), static_cast<_Float16>(second)}};
}
DTW_DEVICE float first_of(Half2 v) { return static_cast<float>(v.both.x); }
DTW_DEVICE float second_of(Half2 v) { return static_cast<float>(v.both.y); }
DTW_DEVICE Half2 operator+(Half2 a, Half2 b) { return {a.both + b.both}; }
DTW_DEVICE Half2 operator-(Half2 a, Half2 b) { return {a.both - b.both}; }
DTW_DEVICE Half2 fma_(Half2 a, Half2 b, Half2 c) { return {__builtin_elementwise_fma(a.both, b.both, c.both)}; }
DTW_DEVICE Half2 min3_(Half2 a, Half2 b, Half2 c) {
    return {__builtin_elementwise_min(__builtin_elementwise_min(a.both, b.both), c.both)};
}

}  // namespace dtw
