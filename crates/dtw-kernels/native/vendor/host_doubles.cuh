// The processor. The contract is in doubles.cuh.
#pragma once

namespace dtw {

constexpr bool kDoubleUnits = true;
inline void multiply_add(double (&c)[4], const double (&a)[4][2], const double (&b)[4]) {
    auto& all = fibers::scheduler().group->operands;
    double* own = all[lane()];
    for (int k = 0; k < 4; ++k) {
        own[2 * k] = a[k][0], own[2 * k + 1] = a[k][1], own[8 + k] = b[k];
    }
    sync();
    for (int half = 0; half < 2; ++half) {
        for (int side = 0; side < 2; ++side) {
            double& sum = c[2 * half + side];
            for (int k = 0; k < 16; ++k) {
                const double* row = all[lane() / 4 * 4 + k % 4];
                const double* column = all[(lane() % 4 * 2 + side) * 4 + k % 4];
                sum = fma(row[k / 4 * 2 + half], column[8 + k / 4], sum);
            }
        }
    }
    sync();
}

}  // namespace dtw
