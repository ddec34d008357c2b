// Costs of a tile by the units that multiply matrices: |x|^2 + |y|^2 - 2 x.y, of points counted from their middle.
//
//   for each 32 channels: x and y of the tile, less the mean of a few, to shared memory, point by point
//       for each 16 channels, by warp w for rows 32 (w / 2) .. and columns 32 (w % 2) ..:
//           each number = upper + lower, of 11 bits each; the squares of points
//           part = lower x . upper y + upper x . lower y + upper x . upper y;      sum += part
//
// The units cut sums off and do not round them, so that errors of one sign add up. They add 16 channels from 0, and
// what these come to is added to the sum as all numbers are.
//
// A lane takes channels that lie side by side for numbers t and t + 4 of a product of 8 channels: in which order
// channels are added up does not matter. Two channels of two points of x lie together, as a lane wants them. 32
// channels of a point of y are 8 groups of four, in an order that depends on the point, such that eight lanes want
// different banks.
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

// The point that a thread stages, of the four it has.
DTW_DEVICE uint32_t staged_point(uint32_t q) { return thread() / 8 % 8 + 8 * q + thread() / 64 * 32; }

// 64 points of x and y from i0 and j0, less the mean of two of each, 32 channels from `channel`: held[0] and held[1]
// are four channels from 4 (thread % 8) of the points of x and y that staged_point names. Behind the last point it is
// repeated; zeros behind the last channel.
DTW_DEVICE void load_centred(Four<float> (&held)[2][4], const Points<float>& x, const Points<float>& y, uint32_t i0,
                             uint32_t j0, uint32_t channel) {
    const uint32_t c = channel + 4 * (thread() % 8);
    const bool is_there = c < x.channels;
    const float *of_x = x.values + (is_there ? c : 0), *of_y = y.values + (is_there ? c : 0);
    const auto load = [&](const float* values, uint32_t i, uint32_t length) {
        return four(values + static_cast<uint64_t>(min_(i, length - 1)) * x.channels);
    };
    Four<float> middle[4];
    DTW_UNROLL
    for (uint32_t q = 0; q < 4; ++q) {
        held[0][q] = load(of_x, i0 + staged_point(q), x.length);
        held[1][q] = load(of_y, j0 + staged_point(q), y.length);
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
}

// The same to shared memory, where staged_place says.
DTW_DEVICE void stage_centred(float* staged_x, float* staged_y, const Points<float>& x, const Points<float>& y,
                              uint32_t i0, uint32_t j0, uint32_t channel) {
    Four<float> held[2][4];
    load_centred(held, x, y, i0, j0, channel);
    DTW_UNROLL
    for (uint32_t q = 0; q < 4; ++q) {
        four(staged_x + staged_place(staged_point(q), thread() % 8)) = held[0][q];
        four(staged_y + staged_place(staged_point(q), thread() % 8)) = held[1][q];
    }
}

// Where channels 2 c and 2 c + 1 of points 16 r + g and 16 r + g + 8 are, as a lane wants them for a product. Lanes of
// a quarter of a warp want different banks.
DTW_DEVICE uint32_t paired_place(uint32_t r, uint32_t g, uint32_t c) {
    return ((r * 8 + g) * 16 + (c ^ (g & 1))) * 4;
}

// The same, points of x in pairs.
DTW_DEVICE void stage_paired(float* staged_x, float* staged_y, const Points<float>& x, const Points<float>& y,
                             uint32_t i0, uint32_t j0, uint32_t channel) {
    const uint32_t group = thread() % 8, g = thread() / 8 % 8;
    Four<float> held[2][4];
    load_centred(held, x, y, i0, j0, channel);
    DTW_UNROLL
    for (uint32_t q = 0; q < 4; ++q) {
        const auto &above = held[0][q & 2].v, &below = held[0][(q & 2) + 1].v;
        const uint32_t k = q % 2 * 2;
        four(staged_x + paired_place(thread() / 64 * 2 + q / 2, g, 2 * group + q % 2)) = {
            {above[k], below[k], above[k + 1], below[k + 1]}};
        four(staged_y + staged_place(staged_point(q), group)) = held[1][q];
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
    const uint32_t pair = thread() / 64 * 2, column = thread() / 32 % 2 * 32 + g;
    float* staged_x = memory.cells[1];
    float* staged_y = staged_x + kTile * kStaged;
    float products[2][4][4] = {}, squares_x[4] = {}, squares_y[4] = {};
    for (uint32_t c0 = 0; c0 < x.channels; c0 += kStaged) {
        sync_block();
        stage_paired(staged_x, staged_y, x, y, i0, j0, c0);
        sync_block();
        const uint32_t groups = min_((x.channels - c0 + 15) / 16, kStaged / 16u);
        DTW_UNROLL_BY(1)
        for (uint32_t of = 0; of < groups; ++of) {
            // Two of four columns of products at a time: what more would need does not fit the registers.
            DTW_UNROLL
            for (int first = 0; first < 4; first += 2) {
                float part[2][2][4] = {};
                DTW_UNROLL
                for (uint32_t s = 0; s < 2; ++s) {
                    float upper_x[2][4], lower_x[2][4], upper_y[2][2], lower_y[2][2];
                    DTW_UNROLL
                    for (uint32_t r = 0; r < 2; ++r) {
                        const Four<float> some = four(staged_x + paired_place(pair + r, g, 8 * of + 2 * t + s));
                        split(some, upper_x[r], lower_x[r]);
                        DTW_UNROLL
                        for (int k = 0; first == 0 && k < 4; ++k) {
                            float& squares = squares_x[2 * r + k % 2];
                            squares = fma_(some.v[k], some.v[k], squares);
                        }
                    }
                    DTW_UNROLL
                    for (int h = 0; h < 2; ++h) {
                        const uint32_t point = column + 8 * (first + h);
                        const Two<float> some = two(staged_y + staged_place(point, 4 * of + t) + 2 * s);
                        DTW_UNROLL
                        for (int k = 0; k < 2; ++k) {
                            split(some.v[k], upper_y[h][k], lower_y[h][k]);
                            squares_y[first + h] = fma_(some.v[k], some.v[k], squares_y[first + h]);
                        }
                    }
                    // Four products, none of which waits for the one before.
                    const auto each = [&](const float(&of_x)[2][4], const float(&of_y)[2][2]) {
                        DTW_UNROLL
                        for (int h = 0; h < 2; ++h) {
                            DTW_UNROLL
                            for (int r = 0; r < 2; ++r) {
                                multiply_add(part[r][h], of_x[r], of_y[h]);
                            }
                        }
                    };
                    each(lower_x, upper_y);
                    each(upper_x, lower_y);
                    each(upper_x, upper_y);
                }
                DTW_UNROLL
                for (int cell = 0; cell < 16; ++cell) {
                    const int r = cell / 8, h = cell / 4 % 2, k = cell % 4;
                    products[r][first + h][k] += part[r][h][k];
                }
            }
        }
    }
    float most_x = 0.0f, most_y = 0.0f, of_y[8];
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        squares_x[q] = sum_of_four(squares_x[q]);
        most_x = fmax_(most_x, squares_x[q]);
        squares_y[q] = sum_of_four(squares_y[q]);
    }
    DTW_UNROLL
    for (int k = 0; k < 8; ++k) {
        of_y[k] = broadcast(squares_y[k / 2], static_cast<int>(2 * t + k % 2) * 4);
        most_y = fmax_(most_y, of_y[k]);
    }
    // Each of three products of 8 channels may lose a unit in the last place of the sum so far; 8 more for all else.
    const float lost = static_cast<float>((x.channels + 7) / 8 * 3 + 8) / (1 << 23);
    const float digits = static_cast<float>(max_(x.channels, 64u)) / (1 << 22), share = lost / digits;
    const auto all_are_far = [&](float least) {
        bool are_far = true;
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int k = 0; k < 8; ++k) {
                are_far = are_far && (squares_x[q] + of_y[k]) * least <= sum[q][k];
            }
        }
        return are_far;
    };
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            sum[q][k] = fmax_(fma_(-2.0f, products[q / 2][k / 2][q % 2 * 2 + k % 2], squares_x[q] + of_y[k]), 0.0f);
        }
    }
    const bool are_far = all_are_far(share);
    // `share` is more than kNear.
    return {are_far && (most_x + most_y) * lost <= kCostBits / rate, are_far || all_are_far(kNear)};
}

}  // namespace dtw
