// What the expected alignment E of a tile adds to the gradients:
//
//   grad_x[i] += factor sum_j E(i,j) slope(x_i - y_j)       grad_y[j] -= factor sum_i E(i,j) slope(x_i - y_j)
//
//   cost                factor   slope(d), channel by channel
//   squared Euclidean   2        d
//   Euclidean           1        d, and E(i,j) is divided by the cost first; it is 0 where that is 0
//   Manhattan           1        the sign of d; 0 has none
//
// Differences are taken before they are weighted: where x and y are close, no digit of them is lost.
// Channels come 32 or 64 at a time; thread t has points t / 8 + 16 q of x, then points 4 (t / 8) + q of y (q = 0 .. 3),
// and channels 4 (t % 8) + 0 .. 3, and 32 further. A number of a gradient is added to by one thread of a block; the
// blocks of the tiles of a pair take turns, from the last column and the last strip to the first.
#pragma once

#include "costs.cuh"

namespace dtw {

// A tile of E in memory.cells[0], and where it is.
struct Place {
    uint32_t i0, j0, rows;
    bool begins_x, begins_y;  // whether these numbers of a gradient are the first
};

// 64 points from `first` to staged[point * kTileStride + channel], kHalves * 32 channels from `channel`; zeros where
// there are fewer. Sixteen numbers a thread are on their way at once.
template <class T, int kHalves>
DTW_DEVICE void stage_points(T* staged, const Points<T>& points, uint32_t first, uint32_t channel) {
    constexpr uint32_t kWide = kHalves * 32, kAtOnce = 16;
    const uint32_t c = thread() % kWide;
    const bool is_there = channel + c < points.channels;
    for (uint32_t from = thread() / kWide; from < kTile; from += kAtOnce * 128 / kWide) {
        T held[kAtOnce];
        DTW_UNROLL
        for (uint32_t q = 0; q < kAtOnce; ++q) {
            const uint64_t i = points.clamped(first + from + q * (128 / kWide));
            held[q] = is_there ? points.values[i * points.channels + channel + c] : T(0);
        }
        DTW_UNROLL
        for (uint32_t q = 0; q < kAtOnce; ++q) {
            staged[(from + q * (128 / kWide)) * kTileStride<T> + c] = held[q];
        }
    }
}

// The slope of the Manhattan cost, and of the others.
struct Sign {
    template <class T>
    static DTW_DEVICE T of(T d) { return d > T(0) ? T(1) : d < T(0) ? T(-1) : T(0); }
};
struct Whole {
    template <class T>
    static DTW_DEVICE T of(T d) { return d; }
};

// Divides E by the Euclidean cost of each cell.
template <class T, class Memory>
DTW_DEVICE void divide_by_costs(Memory& memory, const Points<T>& x, const Points<T>& y, const Place& place) {
    T sum[4][8];
    sum_squares<T, true>(memory, x, y, place.i0, place.j0, sum);
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        DTW_UNROLL
        for (int h = 0; h < 2; ++h) {
            Four<T>& shares = four(memory.cells[0] + TwoFours::row(q) * kTileStride<T> + TwoFours::column(h));
            Four<T> divided = shares;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                const T squares = sum[q][4 * h + k];
                divided.v[k] = squares > T(0) ? divided.v[k] / sqrt_(squares) : T(0);
            }
            shares = divided;
        }
    }
}

// Products for kHalves * 32 channels from `channel`. `turn` is called by all threads before the first addition.
template <class T, int kHalves, class Slope, class Memory, class Turn>
DTW_DEVICE void multiply(Memory& memory, const Points<T>& x, const Points<T>& y, T* grad_x, T* grad_y,
                         const Place& place, uint32_t channel, T factor, const Turn& turn) {
    constexpr int kOwn = kHalves * 4;
    const T* e = memory.cells[0];
    T *staged_y = memory.cells[1], *staged_x = memory.cells[2];
    const uint32_t own_channel = thread() % 8 * 4, group = thread() / 8;
    sync_block();
    stage_points<T, kHalves>(staged_y, y, place.j0, channel);
    stage_points<T, kHalves>(staged_x, x, place.i0, channel);
    sync_block();
    const auto fetch = [&](const T* from, T(&to)[kOwn]) {
        DTW_UNROLL
        for (int h = 0; h < kHalves; ++h) {
            const Four<T> some = four(from + own_channel + 32 * h);
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                to[4 * h + k] = some.v[k];
            }
        }
    };
    T own[4][kOwn], sum[4][kOwn];
    const auto begin = [&](const T* staged, uint32_t first, uint32_t step) {
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            fetch(staged + (first + step * q) * kTileStride<T>, own[q]);
            DTW_UNROLL
            for (int k = 0; k < kOwn; ++k) {
                sum[q][k] = T(0);
            }
        }
    };
    const auto add = [&](int q, T share, const T(&others)[kOwn]) {
        DTW_UNROLL
        for (int k = 0; k < kOwn; ++k) {
            sum[q][k] = fma_(share, Slope::of(own[q][k] - others[k]), sum[q][k]);
        }
    };
    // Adds to the gradient of points first + step * q, if these are below `count`. All that is there is on its way
    // before anything is written.
    const auto finish = [&](T* gradient, uint32_t first, uint32_t step, uint32_t count, bool begins) {
        // Four channels are there or none, and where they are can be loaded as one.
        const bool as_one = x.channels % 4 == 0 && reinterpret_cast<uintptr_t>(gradient) % 16 == 0;
        const auto each = [&](const auto& act) {
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                const uint32_t i = first + step * q;
                T* point = gradient + static_cast<uint64_t>(i) * x.channels + channel + own_channel;
                DTW_UNROLL
                for (int h = 0; h < kHalves; ++h) {
                    const uint32_t c = channel + own_channel + 32 * h;
                    if (i < count && c < x.channels) {
                        act(q, h, point + 32 * h, x.channels - c);
                    }
                }
            }
        };
        if (as_one) {
            T before[4][kHalves][4] = {};
            if (!begins) {
                each([&](int q, int h, const T* at, uint32_t) { load_four(at, before[q][h]); });
            }
            each([&](int q, int h, T* at, uint32_t) {
                Four<T> sums;
                DTW_UNROLL
                for (int k = 0; k < 4; ++k) {
                    sums.v[k] = fma_(factor, sum[q][4 * h + k], before[q][h][k]);
                }
                four(at) = sums;
            });
        } else {
            each([&](int q, int h, T* at, uint32_t left) {
                DTW_UNROLL
                for (uint32_t k = 0; k < 4; ++k) {
                    if (k < left) {
                        at[k] = fma_(factor, sum[q][4 * h + k], begins ? T(0) : load_fresh(at + k));
                    }
                }
            });
        }
    };
    begin(staged_x, group, 16);
    DTW_UNROLL_BY(1)
    for (uint32_t j = 0; j < kTile; j += 4) {
        Four<T> shares[4];
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            shares[q] = four(e + (group + 16 * q) * kTileStride<T> + j);
        }
        DTW_UNROLL
        for (int s = 0; s < 4; ++s) {
            T others[kOwn];
            fetch(staged_y + (j + s) * kTileStride<T>, others);
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                add(q, shares[q].v[s], others);
            }
        }
    }
    turn();
    finish(grad_x, place.i0 + group, 16, place.i0 + place.rows, place.begins_x);
    begin(staged_y, 4 * group, 1);
    DTW_UNROLL2
    for (uint32_t row = 0; row < place.rows; ++row) {
        const Four<T> shares = four(e + row * kTileStride<T> + 4 * group);
        T others[kOwn];
        fetch(staged_x + row * kTileStride<T>, others);
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            add(q, shares.v[q], others);
        }
    }
    finish(grad_y, place.j0 + 4 * group, 1, y.length, place.begins_y);
}

// The same for a single channel: thread t has half of the columns of row t / 2, then half of the rows of column t % 64.
template <class T, class Slope, class Memory, class Turn>
DTW_DEVICE void multiply_one(Memory& memory, const Points<T>& x, const Points<T>& y, T* grad_x, T* grad_y,
                             const Place& place, T factor, const Turn& turn) {
    const T* e = memory.cells[0];
    T *own_y = memory.cells[1], *own_x = own_y + kTile, *halves = own_x + kTile;
    sync_block();
    if (thread() < kTile) {
        own_y[thread()] = y.values[y.clamped(place.j0 + thread())];
    } else {
        own_x[thread() - kTile] = x.values[x.clamped(place.i0 + thread() - kTile)];
    }
    sync_block();
    const uint32_t row = thread() / 2, from = thread() % 2 * 32;
    T sum = T(0);
    DTW_UNROLL2
    for (uint32_t j = from; j < from + 32; j += 4) {
        const Four<T> shares = four(e + row * kTileStride<T> + j);
        DTW_UNROLL
        for (int s = 0; s < 4; ++s) {
            sum = fma_(shares.v[s], Slope::of(own_x[row] - own_y[j + s]), sum);
        }
    }
    sum += exchange(sum, 1);
    turn();
    if (thread() % 2 == 0 && row < place.rows) {
        T* at = grad_x + place.i0 + row;
        const T value = factor * sum;
        *at = place.begins_x ? value : load_fresh(at) + value;
    }
    const uint32_t column = thread() % kTile, top = thread() / kTile * 32, bottom = min_(top + 32, place.rows);
    sum = T(0);
    DTW_UNROLL4
    for (uint32_t i = top; i < bottom; ++i) {
        sum = fma_(e[i * kTileStride<T> + column], Slope::of(own_y[column] - own_x[i]), sum);
    }
    halves[thread()] = sum;
    sync_block();
    if (thread() < kTile && place.j0 + column < y.length) {
        T* at = grad_y + place.j0 + column;
        const T value = factor * (halves[column] + halves[kTile + column]);
        *at = place.begins_y ? value : load_fresh(at) + value;
    }
}

}  // namespace dtw
