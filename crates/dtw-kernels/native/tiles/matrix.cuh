// Costs of a tile by the units that multiply matrices: |x|^2 + |y|^2 - 2 x.y, of points counted from their middle.
//
//   for each 32 channels: x and y of the tile, less the mean of a few, to shared memory, point by point
//       for each 16 channels, by warp w for rows 32 (w / 2) .. and columns 32 (w % 2) ..:
//           each number = upper + lower, of 11 bits each; the squares of points
//           sum += lower x . upper y + upper x . lower y + upper x . upper y
//
// A lane loads four channels of a point as one, and takes them for numbers t and t + 4 of two products of 8 channels:
// in which order channels are added up does not matter. A row of 32 channels is 8 groups of four, in an order that
// depends on the row, such that eight lanes want different banks.
//
// The costs themselves tell what is lost where x and y are close to each other. A cost may be wrong by four times what
// adding up so many squares of differences (64 at least) may lose, and by kCostBits bits of its exponent; else the tile
// is done again by differences. A loss that is little beside gamma alone would not do: a value is a sum of the costs of
// n + m cells, and may be next to 0.
#pragma once

#include "tile.cuh"

namespace dtw {

// Fewer channels are not worth it.
constexpr uint32_t kLeastMatrix = 8;

// Where four channels of a point are: lanes of a quarter of a warp, with two points and four groups, or with two groups
// and every fourth of 16 points, want different banks.
DTW_DEVICE uint32_t staged_place(uint32_t point, uint32_t group) {
    return point * kStaged + ((group ^ (point & 1) << 2 ^ (point >> 1 & 6)) << 2);
}

// Whether four channels of any point can be loaded as one; elsewhere matrices are not worth it.
DTW_DEVICE bool suits_matrix(const Points<float>& x, const Points<float>& y) {
    const auto is_aligned = [](const float* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    return x.channels >= kLeastMatrix && x.channels % 4 == 0 && is_aligned(x.values) && is_aligned(y.values);
}

// 64 points of x and y from i0 and j0, less the mean of two of each, 32 channels from `channel`. Behind the last point
// it is repeated; zeros behind the last channel.
DTW_DEVICE void stage_centred(float* staged_x, float* staged_y, const Points<float>& x, const Points<float>& y,
                              uint32_t i0, uint32_t j0, uint32_t channel) {
    const uint32_t group = thread() % 8, first = thread() / 8, c = channel + 4 * group;
    const bool is_there = c < x.channels;
    const float *of_x = x.values + (is_there ? c : 0), *of_y = y.values + (is_there ? c : 0);
    const auto load = [&](const float* values, uint32_t i, uint32_t length) {
        return four(values + static_cast<uint64_t>(min_(i, length - 1)) * x.channels);
    };
    Four<float> held[2][4], middle[4];
    DTW_UNROLL
    for (uint32_t q = 0; q < 4; ++q) {
        held[0][q] = load(of_x, i0 + first + 16 * q, x.length);
        held[1][q] = load(of_y, j0 + first + 16 * q, y.length);
    }
    DTW_UNROLL
    for (uint32_t q = 0; q < 2; ++q) {
        middle[q] = load(of_x, i0 + 16 + 32 * q, x.length);
        middle[2 + q] = load(of_y, j0 + 16 + 32 * q, y.length);
    }
    DTW_UNROLL
    for (int k = 0; k < 4; ++k) {
        const float centre = 0.25f * ((middle[0].v[k] + middle[1].v[k]) + (middle[2].v[k] + middle[3].v[k]));
        DTW_UNROLL
        for (uint32_t q = 0; q < 4; ++q) {
            held[0][q].v[k] = is_there ? held[0][q].v[k] - centre : 0.0f;
            held[1][q].v[k] = is_there ? held[1][q].v[k] - centre : 0.0f;
        }
    }
    DTW_UNROLL
    for (uint32_t q = 0; q < 4; ++q) {
        four(staged_x + staged_place(first + 16 * q, group)) = held[0][q];
        four(staged_y + staged_place(first + 16 * q, group)) = held[1][q];
    }
}

// A number as two of 11 bits each, to 22 bits.
DTW_DEVICE float upper_bits(float v) { return from_bits(bits_of(v) & static_cast<int32_t>(0xffffe000u)); }
DTW_DEVICE void split(float v, float& upper, float& lower) {
    upper = upper_bits(v);
    lower = upper_bits(v - upper);
}
DTW_DEVICE void split(const Four<float>& v, float (&upper)[4], float (&lower)[4]) {
    DTW_UNROLL
    for (int k = 0; k < 4; ++k) {
        split(v.v[k], upper[k], lower[k]);
    }
}

// The sum of v of four lanes that follow each other.
DTW_DEVICE float sum_of_four(float v) {
    v += exchange(v, 1);
    return v + exchange(v, 2);
}

// The cells that a lane has of products of 16 x 8 cells.
struct FourTwos {
    static constexpr int kWidth = 2;
    static DTW_DEVICE uint32_t row(int q) { return thread() / 64 * 32 + q * 8 + thread() % 32 / 4; }
    static DTW_DEVICE uint32_t column(int h) { return thread() / 32 % 2 * 32 + h * 8 + thread() % 4 * 2; }
};

constexpr float kCostBits = 1.0f / 32;

// What is known of squared distances.
struct Rightness {
    bool of_costs;     // costs are as right as they have to be
    bool of_products;  // x and y are so far from each other that sums of differences may be differences of sums
};

// How much less a squared distance may be than the squares of its points for sums of differences.
constexpr float kNear = 1.0f / 64;

// Squared distances of the cells that FourTwos names.
template <class Memory>
DTW_DEVICE Rightness matrix_distances(Memory& memory, const Points<float>& x, const Points<float>& y, uint32_t i0,
                                      uint32_t j0, float rate, float (&sum)[4][8]) {
    const uint32_t g = thread() % 32 / 4, t = thread() % 4;
    const uint32_t row = thread() / 64 * 32 + g, column = thread() / 32 % 2 * 32 + g;
    float* staged_x = memory.cells[1];
    float* staged_y = staged_x + kTile * kStaged;
    float products[2][4][4] = {}, squares_x[4] = {}, squares_y[4] = {};
    for (uint32_t c0 = 0; c0 < x.channels; c0 += kStaged) {
        sync_block();
        stage_centred(staged_x, staged_y, x, y, i0, j0, c0);
        sync_block();
        const uint32_t groups = min_((x.channels - c0 + 15) / 16, kStaged / 16u);
        DTW_UNROLL_BY(1)
        for (uint32_t of = 0; of < groups; ++of) {
            float upper_x[4][4], lower_x[4][4];
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                const Four<float> some = four(staged_x + staged_place(row + 8 * q, 4 * of + t));
                split(some, upper_x[q], lower_x[q]);
                DTW_UNROLL
                for (int k = 0; k < 4; ++k) {
                    squares_x[q] = fma_(some.v[k], some.v[k], squares_x[q]);
                }
            }
            // Eight products, none of which waits for the one before.
            const auto each = [&](const float(&of_x)[4][4], const float(&of_y)[4][2], int s) {
                DTW_UNROLL
                for (int h = 0; h < 4; ++h) {
                    DTW_UNROLL
                    for (int r = 0; r < 2; ++r) {
                        multiply_add(products[r][h],
                                     {of_x[2 * r][s], of_x[2 * r + 1][s], of_x[2 * r][s + 1], of_x[2 * r + 1][s + 1]},
                                     of_y[h]);
                    }
                }
            };
            DTW_UNROLL
            for (int s = 0; s < 4; s += 2) {
                float upper_y[4][2], lower_y[4][2];
                DTW_UNROLL
                for (int h = 0; h < 4; ++h) {
                    const Two<float> some = two(staged_y + staged_place(column + 8 * h, 4 * of + t) + s);
                    DTW_UNROLL
                    for (int k = 0; k < 2; ++k) {
                        split(some.v[k], upper_y[h][k], lower_y[h][k]);
                        squares_y[h] = fma_(some.v[k], some.v[k], squares_y[h]);
                    }
                }
                each(lower_x, upper_y, s);
                each(upper_x, lower_y, s);
                each(upper_x, upper_y, s);
            }
        }
    }
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        squares_x[q] = sum_of_four(squares_x[q]);
        squares_y[q] = sum_of_four(squares_y[q]);
    }
    // Each of three products of 8 channels may lose a unit in the last place of the sum so far; 8 more for all else.
    const float lost = static_cast<float>((x.channels + 7) / 8 * 3 + 8) / (1 << 23);
    const float digits = static_cast<float>(max_(x.channels, 64u)) / (1 << 22), most_lost = kCostBits / rate;
    Rightness is_right{true, true};
    DTW_UNROLL
    for (int h = 0; h < 4; ++h) {
        DTW_UNROLL
        for (int side = 0; side < 2; ++side) {
            const float of_y = broadcast(squares_y[h], static_cast<int>(2 * t + side) * 4);
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                const float squares = squares_x[q] + of_y;
                const float cost = fmax_(squares - 2.0f * products[q / 2][h][q % 2 * 2 + side], 0.0f);
                sum[q][2 * h + side] = cost;
                is_right.of_costs = is_right.of_costs && squares * lost <= fmin_(cost * digits, most_lost);
                is_right.of_products = is_right.of_products && squares * kNear <= cost;
            }
        }
    }
    return is_right;
}

}  // namespace dtw
