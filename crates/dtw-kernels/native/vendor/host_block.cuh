// The processor. The contract is in block.cuh.
#pragma once

#define DTW_KERNEL_SHARING(symbol, blocks, bytes, Params, ...) DTW_KERNEL(symbol, Params, __VA_ARGS__)

namespace dtw {

inline uint32_t thread() { return warp() % fibers::kGroupsOfBlock * 32 + fibers::scheduler().lane_index; }
inline void sync_block() { fibers::talk(fibers::Want::kBlock, 0, 0); }
template <uint32_t>
void* shared_memory() { return fibers::shared_memory(); }
template <class T>
void load_four(const T* p, T (&v)[4]) {
    for (int k = 0; k < 4; ++k) {
        v[k] = p[k];
    }
}
template <class T>
T load_always(const T* p) { return *p; }
template <class T>
T least_of(T a, T b) { return a < b ? a : b; }
template <class T>
T reciprocal(T v) { return T(1) / v; }
constexpr bool kMatrixUnits = true;
inline void multiply_add(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
    auto& all = fibers::scheduler().group->operands;
    double* own = all[lane()];
    for (int k = 0; k < 4; ++k) {
        own[k] = a[k];
    }
    own[4] = b[0], own[5] = b[1];
    sync();
    for (int half = 0; half < 2; ++half) {
        for (int side = 0; side < 2; ++side) {
            float& sum = c[2 * half + side];
            for (int k = 0; k < 8; ++k) {
                const double* row = all[lane() / 4 * 4 + k % 4];
                const double* column = all[(lane() % 4 * 2 + side) * 4 + k % 4];
                sum = fmaf(static_cast<float>(row[half + k / 4 * 2]), static_cast<float>(column[4 + k / 4]), sum);
            }
        }
    }
    sync();
}

}  // namespace dtw
