// Distances of 32 rows in a strip's 32 K columns, by a warp, to the memory that its block shares; by differences.
//
//   columns j0 .. j0 + 32 K - 1        lane 8 g + j has rows 8 g .. 8 g + 7, and columns 4 j .. 4 j + 3 and 32 further
//   row i0          |          |
//   ...             |          |       for each few channels: every lane brings a point of x and K of y to shared
//   row i0 + 31     |          |       memory; reads 8 of x and 4 K of y, and adds these channels up
//
// A point that was read is used for 8 or 4 K cells, so a cell costs little beside the arithmetic of its channels.
// Channels are added one by one in their order, as in other sweeps: so results have the same bits.
#pragma once

#include "../kernels.cuh"
#include "../lanes/bundle.cuh"
#include "../vendor/block.cuh"

namespace dtw {

// Rows that are priced at once; lanes take as many steps then.
constexpr uint32_t kPricedRows = 32;

// What a warp has of the memory that its block shares. A row of prices has eight places more than columns: where lanes
// read or write different rows, they want different banks.
template <class T, int K>
struct PriceMemory {
    static constexpr uint32_t kWidth = 32 * K, kStride = kWidth + 8, kHalf = kPricedRows * kStride;
    T prices[2 * kHalf];
    // The left edge of the rows that come next, and how far they are from the column beside the first.
    Bundle<T, 4> edge[kPricedRows / 4];
    T beside[kPricedRows];
    // Of square_columns().
    double halves[kWidth];
};

// A few channels of points, where prices will be: in the order of lanes that bring them.
template <class T, int K>
struct BroughtPoints {
    static constexpr int kChannels = 16 / sizeof(T);
    Bundle<T, kChannels> x[kPricedRows], y[32 * K];
};

// The distances of rows i0 .. i0 + 31 in columns j0 .. j0 + 32 K - 1 by this norm.
template <class T, int K, class Norm>
DTW_DEVICE void price_by_differences(const Norm& norm, T* prices, const Points<T>& x, const Points<T>& y, uint32_t i0,
                                     uint32_t j0) {
    constexpr int kChannels = BroughtPoints<T, K>::kChannels;
    constexpr uint32_t kStride = PriceMemory<T, K>::kStride;
    static_assert(sizeof(BroughtPoints<T, K>) <= PriceMemory<T, K>::kHalf * sizeof(T), "points fit");
    using Some = Bundle<T, kChannels>;
    auto& brought = *reinterpret_cast<BroughtPoints<T, K>*>(prices);
    const uint32_t inside = static_cast<uint32_t>(lane()), group = inside / 8, column = inside % 8;
    const uint32_t channels = x.channels;
    // Lane 4 q + g brings row 8 g + q, lane 8 k + j column 4 j + k: those that lanes read at once lie side by side.
    const T* from[1 + K];
    from[0] = x.values + static_cast<uint64_t>(x.clamped(i0 + inside % 4 * 8 + inside / 4)) * channels;
    DTW_UNROLL
    for (int h = 0; h < K; ++h) {
        from[1 + h] = y.values + static_cast<uint64_t>(y.clamped(j0 + 32 * h + inside % 8 * 4 + inside / 8)) * channels;
    }
    const uintptr_t both = reinterpret_cast<uintptr_t>(x.values) | reinterpret_cast<uintptr_t>(y.values);
    const bool as_one = channels % kChannels == 0 && both % sizeof(Some) == 0;
    Some coming[1 + K];
    const auto fetch = [&](uint32_t c) {
        DTW_UNROLL
        for (int s = 0; s < 1 + K; ++s) {
            if (as_one) {
                coming[s] = *reinterpret_cast<const Some*>(from[s] + c);
            } else {
                DTW_UNROLL
                for (int v = 0; v < kChannels; ++v) {
                    coming[s].v[v] = c + v < channels ? from[s][c + v] : T(0);
                }
            }
        }
    };
    T sum[8][4 * K];
    DTW_UNROLL
    for (int q = 0; q < 8; ++q) {
        DTW_UNROLL
        for (int k = 0; k < 4 * K; ++k) {
            sum[q][k] = T(0);
        }
    }
    fetch(0);
    DTW_UNROLL_BY(1)
    for (uint32_t c = 0; c < channels; c += kChannels) {
        sync();
        brought.x[inside] = coming[0];
        DTW_UNROLL
        for (int h = 0; h < K; ++h) {
            brought.y[32 * h + inside] = coming[1 + h];
        }
        sync();
        const uint32_t left = channels - c;
        if (left > kChannels) {
            fetch(c + kChannels);
        }
        const auto all = [&](auto is_whole) {
            Some a[8];
            DTW_UNROLL
            for (int q = 0; q < 8; ++q) {
                a[q] = brought.x[4 * q + group];
            }
            DTW_UNROLL
            for (int k = 0; k < 4 * K; ++k) {
                const Some b = brought.y[8 * k + column];
                DTW_UNROLL
                for (int v = 0; v < kChannels; ++v) {
                    if (decltype(is_whole)::value || v == 0 || static_cast<uint32_t>(v) < left) {
                        DTW_UNROLL
                        for (int q = 0; q < 8; ++q) {
                            sum[q][k] = norm.add(sum[q][k], a[q].v[v], b.v[v]);
                        }
                    }
                }
            }
        };
        if (left >= kChannels) {
            all(std::true_type{});
        } else {
            all(std::false_type{});
        }
    }
    // Points are no longer wanted.
    sync();
    DTW_UNROLL
    for (int q = 0; q < 8; ++q) {
        DTW_UNROLL
        for (int h = 0; h < K; ++h) {
            Bundle<T, 4> some;
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                some.v[k] = norm.done(sum[q][4 * h + k]);
            }
            *reinterpret_cast<Bundle<T, 4>*>(prices + (8 * group + q) * kStride + 32 * h + 4 * column) = some;
        }
    }
}

// The same for any norm: powers that are no squares one cell after the other, by one lane each.
template <class T, int K, class Norm>
DTW_DEVICE void price_by(const Norm& norm, T* prices, const Points<T>& x, const Points<T>& y, uint32_t i0,
                         uint32_t j0) {
    price_by_differences<T, K>(norm, prices, x, y, i0, j0);
}
template <class T, int K>
DTW_DEVICE void price_by(const Powered<T>& norm, T* prices, const Points<T>& x, const Points<T>& y, uint32_t i0,
                         uint32_t j0) {
    if (norm.degree == T(2)) {
        return price_by_differences<T, K>(Rooted<T>{}, prices, x, y, i0, j0);
    }
    if (norm.degree == T(1)) {
        return price_by_differences<T, K>(Absolute<T>{}, prices, x, y, i0, j0);
    }
    DTW_UNROLL_BY(1)
    for (uint32_t cell = static_cast<uint32_t>(lane()); cell < kPricedRows * 32 * K; cell += 32) {
        const uint32_t row = cell / (32 * K), column = cell % (32 * K);
        const T* const a = x.values + static_cast<uint64_t>(x.clamped(i0 + row)) * x.channels;
        const T* const b = y.values + static_cast<uint64_t>(y.clamped(j0 + column)) * x.channels;
        T sum = T(0);
        DTW_UNROLL_BY(1)
        for (uint32_t c = 0; c < x.channels; ++c) {
            sum = norm.add(sum, a[c], b[c]);
        }
        prices[row * PriceMemory<T, K>::kStride + column] = norm.done(sum);
    }
}

// The distance of a cell that is no cell of the band: infinite where that is enough, else with its sign set, as the
// cell after it may want to know it.
template <class R>
DTW_DEVICE typename R::Number masked(typename R::Number distance) {
    return R::kPriceForbids ? Limits<typename R::Number>::infinity() : -abs_(distance);
}

// Masks the cells outside the band.
template <class R, int K>
DTW_DEVICE void mask_outside(typename R::Number* prices, const Points<typename R::Number>& x, const Band& band,
                             uint32_t i0, uint32_t j0) {
    DTW_UNROLL4
    for (uint32_t row = 0; row < kPricedRows; ++row) {
        const Range allowed = band.row(x.clamped(i0 + row));
        DTW_UNROLL
        for (uint32_t h = 0; h < K; ++h) {
            const uint32_t column = 32 * h + static_cast<uint32_t>(lane()), j = j0 + column;
            if (j < allowed.start || j >= allowed.end) {
                auto& price = prices[row * PriceMemory<typename R::Number, K>::kStride + column];
                price = masked<R>(price);
            }
        }
    }
}

}  // namespace dtw
