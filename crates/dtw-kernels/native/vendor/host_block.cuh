// The processor. The contract is in block.cuh.
#pragma once

namespace dtw {

inline uint32_t thread() { return warp() % fibers::kGroupsOfBlock * 32 + fibers::scheduler().lane_index; }
inline void sync_block() { fibers::talk(fibers::Want::kBlock, 0, 0); }
inline void* shared_memory() { return fibers::shared_memory(); }
template <class T>
void load_four(const T* p, T (&v)[4]) {
    for (int k = 0; k < 4; ++k) {
        v[k] = p[k];
    }
}
template <class T>
T least_of(T a, T b) { return a < b ? a : b; }
template <class T>
T reciprocal(T v) { return T(1) / v; }

}  // namespace dtw
