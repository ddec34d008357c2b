// What the cells of a tile cost, by all 128 threads: by matrix units where that is right (matrix.cuh), else by
// differences. Then thread t has rows t / 8 + 16 q (q = 0 .. 3) and columns 4 (t % 8) + 0 .. 3 and 32 further:
//
//   for each 32 channels: x and y of the tile go to shared memory, channel by channel
//       for each channel: 4 numbers of x and 8 of y, 32 differences, their squares or what is left without the sign
//   of a Euclidean cost: the root of the sum
//   cost * log2(e) / gamma = whole + fraction; cells[0] = whole, cells[1] = 2^-fraction
//   of log_gak: q / (2 - q) of q = 2^-(whole + fraction), as a whole number and a factor near 1 again
#pragma once

#include "../local_cost.h"
#include "matrix.cuh"

namespace dtw {

// 64 points from `first` to staged[channel * kTileStride + point], `width` channels from `channel`. Behind the last
// point it is repeated. A warp takes four points and eight channels at a time, which all go to different banks; all
// that a thread reads is on its way before anything is written.
template <class T>
DTW_DEVICE void stage_channels(T* staged, const T* values, uint32_t length, uint32_t channels, uint32_t first,
                               uint32_t channel, uint32_t width) {
    const uint32_t inside = thread() % 32, c = inside % 8, point = thread() / 32 * 4 + inside / 8;
    T held[kStaged / 8][4];
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        const uint64_t i = min_(first + point + 16 * q, length - 1);
        const T* from = values + i * channels + channel + c;
        DTW_UNROLL
        for (int g = 0; g < kStaged / 8; ++g) {
            held[g][q] = c + 8 * g < width ? from[8 * g] : T(0);
        }
    }
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int g = 0; g < kStaged / 8; ++g) {
            if (8u * g < width) {
                staged[(c + 8 * g) * kTileStride<T> + point + 16 * q] = held[g][q];
            }
        }
    }
}

// What cells of a tile cost: the squared Euclidean distance; its root, or the Manhattan distance; or what makes
// q / (2 - q) of their weight q, for log_gak.
enum class TileCosts { kSquared, kNorm, kKernel };

// Which cells a thread prices: sum[q][kWidth * h + k] is in row `row(q)` and column `column(h) + k` of the tile.
struct TwoFours {
    static constexpr int kWidth = 4;
    static DTW_DEVICE uint32_t row(int q) { return thread() / 8 + 16 * q; }
    static DTW_DEVICE uint32_t column(int h) { return thread() % 8 * 4 + 32 * h; }
};

// q / (2 - q) instead of q, of q = factor * 2^-whole.
template <class T>
DTW_DEVICE void make_geometric(T& whole, T& factor) {
    constexpr T kLeast = T(0.70710678118654752440);
    const T vanishing = T(Limits<T>::kPow2Min), exponent = -whole;
    const T q = factor * pow2(exponent < vanishing ? vanishing : exponent);
    factor *= reciprocal(T(2) - q);
    whole += factor < kLeast ? T(1) : T(0);
    factor = factor < kLeast ? factor + factor : factor;
}

// Writes costs, which are in `sum`, to cells[0] and cells[1]. Whether they are quick (cell.cuh): then whole
// numbers are int32_t.
template <class Places, bool kGeometric, class T, class Memory>
DTW_DEVICE bool finish_costs(Memory& memory, T (&sum)[4][8], uint32_t j0, T rate) {
    constexpr int kWidth = Places::kWidth;
    // All of them are outside the band nowhere, as in most tiles.
    bool is_whole = true;
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        const Range bounds = memory.bounds[Places::row(q)];
        is_whole = is_whole && bounds.start <= j0 && bounds.end >= j0 + kTile;
    }
    is_whole = !any(!is_whole);
    T most = T(0);
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            sum[q][k] *= rate;
        }
    }
    if (!is_whole) {
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            const Range bounds = memory.bounds[Places::row(q)];
            DTW_UNROLL
            for (int k = 0; k < 8; ++k) {
                const uint32_t j = j0 + Places::column(k / kWidth) + k % kWidth;
                // Outside the band it is never, and counts for nothing.
                sum[q][k] = j >= bounds.start && j < bounds.end ? sum[q][k] : -T(1);
            }
        }
    }
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            most = sum[q][k] <= most ? most : sum[q][k];
        }
    }
    // Nobody reads what was staged, or the tile before, any more afterwards.
    const bool quick = said_by_any(any(!(most < T(kQuickCost))), memory.notes[0]) == 0;
    const auto write = [&](const auto& split_cost) {
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int h = 0; h < 8 / kWidth; ++h) {
                Few<T, kWidth> wholes, factors;
                DTW_UNROLL
                for (int k = 0; k < kWidth; ++k) {
                    split_cost(sum[q][kWidth * h + k], wholes.v[k], factors.v[k]);
                }
                const uint32_t at = Places::row(q) * kTileStride<T> + Places::column(h);
                *reinterpret_cast<Few<T, kWidth>*>(memory.cells[0] + at) = wholes;
                *reinterpret_cast<Few<T, kWidth>*>(memory.cells[1] + at) = factors;
            }
        }
    };
    if (is_whole && quick) {
        write([](T cost, T& whole, T& factor) {
            T rounded;
            int32_t counted = round_small(cost, rounded);
            factor = exp2_(rounded - cost);
            if constexpr (kGeometric) {
                make_geometric(rounded, factor);
                counted = static_cast<int32_t>(rounded);
            }
            whole = slot_of(counted, T());
        });
    } else {
        write([&](T cost, T& whole, T& factor) {
            const T known = cost < T(0) ? soft_never<T>() : min_(cost, soft_never<T>());
            const bool never = is_never(known);
            T rounded = never ? known : round_(known);
            factor = never ? T(1) : exp2_(rounded - known);
            if constexpr (kGeometric) {
                if (!never) {
                    make_geometric(rounded, factor);
                }
            }
            whole = !quick ? rounded : slot_of(never ? -kQuickNever : static_cast<int32_t>(rounded), T());
        });
    }
    sync_block();
    return quick;
}

// What is known of the costs of a tile.
struct Known {
    bool quick;  // they are quick (cell.cuh)
    bool far;    // Rightness::of_products
};

// Sums of the cells that TwoFours names, of the tile whose first cell is (i0, j0): sum = add(sum, difference) for each
// channel.
template <class T, bool kMany, class Memory, class Add>
DTW_DEVICE void sum_channels(Memory& memory, const Points<T>& x, const Points<T>& y, uint32_t i0, uint32_t j0,
                             T (&sum)[4][8], const Add& add) {
    const uint32_t column = thread() % 8 * 4, row = thread() / 8;
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            sum[q][k] = T(0);
        }
    }
    const auto add_all = [&](const T(&a)[4], const T(&b)[8]) {
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int k = 0; k < 8; ++k) {
                sum[q][k] = add(sum[q][k], a[q] - b[k]);
            }
        }
    };
    if constexpr (kMany) {
        T* staged_x = memory.cells[1];
        T* staged_y = staged_x + kStaged * kTileStride<T>;
        for (uint32_t c0 = 0; c0 < x.channels; c0 += kStaged) {
            const uint32_t width = min_(x.channels - c0, static_cast<uint32_t>(kStaged));
            sync_block();
            stage_channels(staged_x, x.values, x.length, x.channels, i0, c0, width);
            stage_channels(staged_y, y.values, y.length, y.channels, j0, c0, width);
            sync_block();
            DTW_UNROLL2
            for (uint32_t c = 0; c < width; ++c) {
                T a[4], b[8];
                DTW_UNROLL
                for (int q = 0; q < 4; ++q) {
                    a[q] = staged_x[c * kTileStride<T> + row + 16 * q];
                }
                DTW_UNROLL
                for (int h = 0; h < 2; ++h) {
                    const Four<T> some = four(staged_y + c * kTileStride<T> + column + 32 * h);
                    DTW_UNROLL
                    for (int k = 0; k < 4; ++k) {
                        b[4 * h + k] = some.v[k];
                    }
                }
                add_all(a, b);
            }
        }
    } else {
        T a[4], b[8];
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            a[q] = x.values[x.clamped(i0 + row + 16 * q)];
        }
        DTW_UNROLL
        for (int k = 0; k < 8; ++k) {
            b[k] = y.values[y.clamped(j0 + column + k % 4 + k / 4 * 32)];
        }
        add_all(a, b);
    }
}

// The same of squared differences.
template <class T, bool kMany, class Memory>
DTW_DEVICE void sum_squares(Memory& memory, const Points<T>& x, const Points<T>& y, uint32_t i0, uint32_t j0,
                            T (&sum)[4][8]) {
    sum_channels<T, kMany>(memory, x, y, i0, j0, sum, [](T so_far, T d) { return fma_(d, d, so_far); });
}

// Costs of the tile whose first cell is (i0, j0): cells[0] = whole, cells[1] = 2^-fraction. `cost`: which norm,
// Euclidean or Manhattan, which are one for one channel.
template <class T, bool kMany, TileCosts kCosts, class Memory>
DTW_DEVICE Known tile_costs(Memory& memory, const Points<T>& x, const Points<T>& y, uint32_t i0, uint32_t j0, T rate,
                            uint32_t cost) {
    constexpr bool kSquared = kCosts != TileCosts::kNorm, kGeometric = kCosts == TileCosts::kKernel;
    T sum[4][8];
    Known known{false, false};
    if constexpr (kSquared && kMany && kMatrixUnits && sizeof(T) == sizeof(float)) {
        if (suits_matrix(x, y)) {
            const Rightness is_right = matrix_distances(memory, x, y, i0, j0, rate, sum);
            const uint32_t wrong = (any(!is_right.of_costs) ? 1 : 0) | (any(!is_right.of_products) ? 2 : 0);
            const uint32_t said = said_by_any(wrong, memory.notes[1]);
            known.far = (said & 2) == 0;
            if ((said & 1) == 0) {
                known.quick = finish_costs<FourTwos, kGeometric>(memory, sum, j0, rate);
                return known;
            }
        }
    }
    if constexpr (kSquared) {
        sum_squares<T, kMany>(memory, x, y, i0, j0, sum);
    } else if (!kMany || cost == kManhattan) {
        sum_channels<T, kMany>(memory, x, y, i0, j0, sum, [](T so_far, T d) { return so_far + abs_(d); });
    } else {
        sum_squares<T, kMany>(memory, x, y, i0, j0, sum);
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int k = 0; k < 8; ++k) {
                sum[q][k] = sqrt_(sum[q][k]);
            }
        }
    }
    known.quick = finish_costs<TwoFours, kGeometric>(memory, sum, j0, rate);
    return known;
}

}  // namespace dtw
