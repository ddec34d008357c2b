// AMD. The contract is in doubles.cuh.
#pragma once

namespace dtw {

constexpr bool kDoubleUnits = false;
DTW_DEVICE void multiply_add(double (&)[4], const double (&)[4][2], const double (&)[4]) {}

}  // namespace dtw
