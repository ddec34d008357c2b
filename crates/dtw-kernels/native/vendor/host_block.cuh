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
// A sum and four products as NVIDIA's units add them (Fasi, Higham, Mikaitis & Pranesh 2021, doi:10.7717/peerj-cs.330):
// products are exact; each is cut off, not rounded, behind the 25th bit of the largest of them, and what they come to
// behind its own 24th. Newer units keep more.
inline float add_by_unit(float sum, const double (&products)[4]) {
    double most = fabs(sum), exact = sum;
    for (const double product : products) {
        most = fmax(most, fabs(product)), exact += product;
    }
    if (!(most > 0 && most < 1e30)) {
        return static_cast<float>(exact);
    }
    const double unit = ldexp(1.0, ilogb(most) - 24);
    double units = trunc(sum / unit);
    for (const double product : products) {
        units += trunc(product / unit);
    }
    const double came = units * unit;
    const float nearest = static_cast<float>(came);
    return fabs(nearest) <= fabs(came) ? nearest : nextafterf(nearest, 0.0f);
}
inline void multiply_add(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
    auto& all = fibers::scheduler().group->operands;
    double* own = all[lane()];
    // The last 13 bits do not count.
    const auto seen = [](float v) { return from_bits(bits_of(v) & static_cast<int32_t>(0xffffe000u)); };
    for (int k = 0; k < 4; ++k) {
        own[k] = seen(a[k]);
    }
    own[4] = seen(b[0]), own[5] = seen(b[1]);
    sync();
    for (int half = 0; half < 2; ++half) {
        for (int side = 0; side < 2; ++side) {
            float& sum = c[2 * half + side];
            for (int four = 0; four < 2; ++four) {
                double products[4];
                for (int k = 0; k < 4; ++k) {
                    const double* row = all[lane() / 4 * 4 + k];
                    const double* column = all[(lane() % 4 * 2 + side) * 4 + k];
                    products[k] = row[half + four * 2] * column[4 + four];
                }
                sum = add_by_unit(sum, products);
            }
        }
    }
    sync();
}

}  // namespace dtw
