// products.cuh by the units that multiply matrices: of squared Euclidean costs, where x and y are far from each other
// (matrix.cuh):
//
//   grad_x[i] += 2 (x_i sum_j E(i,j) - sum_j E(i,j) y_j)      grad_y[j] += 2 (y_j sum_i E(i,j) - sum_i E(i,j) x_i)
//
// Points are counted from their middle, 32 channels at a time. Warp w has points 16 w .. of x, then those of y. A lane
// takes four points for numbers t and t + 4 of two products of 8 points, and four channels for number g of four.
#pragma once

#include "matrix.cuh"
#include "products.cuh"

namespace dtw {

// What a lane has of 16 points and 32 channels: its points are `first` and `second`, its channels 8 t .. 8 t + 7.
struct OwnPoints {
    float sum[4][4];    // of product h of 16 x 8 numbers
    float shares[2];    // sums of E
};

// Adds 16 points, others[4 t + k], with shares e[half][k] in them: the units begin at 0 (matrix.cuh).
DTW_DEVICE void add_points(OwnPoints& own, const float (&e)[2][4], const float* others) {
    const uint32_t g = thread() % 32 / 4, t = thread() % 4;
    float upper_e[2][4], lower_e[2][4];
    DTW_UNROLL
    for (int half = 0; half < 2; ++half) {
        DTW_UNROLL
        for (int k = 0; k < 4; ++k) {
            split(e[half][k], upper_e[half][k], lower_e[half][k]);
            own.shares[half] += e[half][k];
        }
    }
    float part[4][4] = {};
    DTW_UNROLL
    for (int s = 0; s < 4; s += 2) {
        float upper[2][4], lower[2][4];
        DTW_UNROLL
        for (int k = 0; k < 2; ++k) {
            split(four(others + staged_place(4 * t + s + k, g)), upper[k], lower[k]);
        }
        const auto each = [&](const float(&of_e)[2][4], const float(&of_points)[2][4]) {
            DTW_UNROLL
            for (int h = 0; h < 4; ++h) {
                multiply_add(part[h], {of_e[0][s], of_e[1][s], of_e[0][s + 1], of_e[1][s + 1]},
                             {of_points[0][h], of_points[1][h]});
            }
        };
        each(lower_e, upper);
        each(upper_e, lower);
        each(upper_e, upper);
    }
    DTW_UNROLL
    for (int k = 0; k < 16; ++k) {
        own.sum[k / 4][k % 4] += part[k / 4][k % 4];
    }
}

// Adds what a lane has to the gradient of points places[0] and places[1] of the tile, those below `count`, the first of
// which is point `first`.
DTW_DEVICE void finish_points(OwnPoints& own, const float* staged, float* gradient, const uint32_t (&places)[2],
                              uint32_t first, uint32_t count, uint32_t channels, uint32_t channel, float factor,
                              bool begins) {
    const uint32_t t = thread() % 4;
    const bool as_one = channels % 4 == 0 && reinterpret_cast<uintptr_t>(gradient) % 16 == 0;
    DTW_UNROLL
    for (int half = 0; half < 2; ++half) {
        const float shares = sum_of_four(own.shares[half]);
        if (places[half] >= count) {
            continue;
        }
        DTW_UNROLL
        for (uint32_t side = 0; side < 2; ++side) {
            const uint32_t group = 2 * t + side, c = channel + 4 * group;
            float* at = gradient + static_cast<uint64_t>(first + places[half]) * channels + c;
            const Four<float> point = four(staged + staged_place(places[half], group));
            float value[4], before[4] = {};
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                value[k] = factor * fma_(point.v[k], shares, -own.sum[k][2 * half + side]);
            }
            if (as_one && c < channels) {
                if (!begins) {
                    load_four(at, before);
                }
                four(at) = {{before[0] + value[0], before[1] + value[1], before[2] + value[2], before[3] + value[3]}};
            } else {
                DTW_UNROLL
                for (uint32_t k = 0; k < 4; ++k) {
                    if (c + k < channels) {
                        at[k] = begins ? value[k] : load_fresh(at + k) + value[k];
                    }
                }
            }
        }
    }
}

// Products for 32 channels from `channel`. `turn` is called by all threads before the first addition.
template <class Memory, class Turn>
DTW_DEVICE void multiply_by_matrix(Memory& memory, const Points<float>& x, const Points<float>& y, float* grad_x,
                                   float* grad_y, const Place& place, uint32_t channel, float factor,
                                   const Turn& turn) {
    const uint32_t g = thread() % 32 / 4, t = thread() % 4, own = thread() / 32 * 16;
    const float* e = memory.cells[0];
    float* staged_x = memory.cells[1];
    float* staged_y = staged_x + kTile * kStaged;
    sync_block();
    stage_centred(staged_x, staged_y, x, y, place.i0, place.j0, channel);
    sync_block();
    OwnPoints of_x{};
    DTW_UNROLL_BY(1)
    for (uint32_t j = 0; j < kTile; j += 16) {
        float shares[2][4];
        DTW_UNROLL
        for (uint32_t half = 0; half < 2; ++half) {
            const Four<float> some = four(e + (own + 8 * half + g) * kTileStride<float> + j + 4 * t);
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                shares[half][k] = some.v[k];
            }
        }
        add_points(of_x, shares, staged_y + j * kStaged);
    }
    turn();
    finish_points(of_x, staged_x, grad_x, {own + g, own + g + 8}, place.i0, place.rows, x.channels, channel, factor,
                  place.begins_x);
    OwnPoints of_y{};
    DTW_UNROLL_BY(1)
    for (uint32_t i = 0; i < kTile; i += 16) {
        float shares[2][4];
        DTW_UNROLL
        for (uint32_t k = 0; k < 4; ++k) {
            const uint32_t row = i + 4 * t + k;
            const Two<float> some = two(e + row * kTileStride<float> + own + 2 * g);
            DTW_UNROLL
            for (int half = 0; half < 2; ++half) {
                // What is behind the last row is no share.
                shares[half][k] = row < place.rows ? some.v[half] : 0.0f;
            }
        }
        add_points(of_y, shares, staged_x + i * kStaged);
    }
    finish_points(of_y, staged_y, grad_y, {own + 2 * g, own + 2 * g + 1}, place.j0, y.length - place.j0, y.channels,
                  channel, factor, place.begins_y);
}

// Products of a tile, of all channels by differences.
template <class T, class Slope, class Memory, class Turn>
DTW_DEVICE void multiply_channels(Memory& memory, const Points<T>& x, const Points<T>& y, T* grad_x, T* grad_y,
                                  const Place& place, T factor, const Turn& turn) {
    for (uint32_t channel = 0; channel < x.channels; channel += 64) {
        if (x.channels - channel > 32) {
            multiply<T, 2, Slope>(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
        } else {
            multiply<T, 1, Slope>(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
        }
    }
}

// Products of a tile, of all channels; kSquared and `cost` as for tile_costs. `upstream`: what gradients are multiplied
// by; `far`: Rightness::of_products.
template <class T, bool kMany, bool kSquared, class Memory, class Turn>
DTW_DEVICE void multiply_tile(Memory& memory, const Points<T>& x, const Points<T>& y, T* grad_x, T* grad_y,
                              const Place& place, uint32_t cost, bool far, T upstream, const Turn& turn) {
    const T factor = kSquared ? T(2) * upstream : upstream;
    if constexpr (!kMany) {
        using Slope = typename std::conditional<kSquared, Whole, Sign>::type;
        multiply_one<T, Slope>(memory, x, y, grad_x, grad_y, place, factor, turn);
    } else {
        if constexpr (kSquared && kMatrixUnits && sizeof(T) == sizeof(float)) {
            if (far) {
                for (uint32_t channel = 0; channel < x.channels; channel += kStaged) {
                    multiply_by_matrix(memory, x, y, grad_x, grad_y, place, channel, factor, turn);
                }
                return;
            }
        }
        if constexpr (!kSquared) {
            if (cost == kManhattan) {
                multiply_channels<T, Sign>(memory, x, y, grad_x, grad_y, place, factor, turn);
                return;
            }
            divide_by_costs<T>(memory, x, y, place);
        }
        multiply_channels<T, Whole>(memory, x, y, grad_x, grad_y, place, factor, turn);
    }
}

}  // namespace dtw
