// Numbers that are loaded and stored as one.
#pragma once

#include "../vendor/vendor.cuh"

namespace dtw {

template <class T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Bundle {
    T v[N];
};

}  // namespace dtw
