// Prices of 32 rows in a strip's 32 K columns by products, |x|^2 + |y|^2 - 2 x.y in doubles, by the units that multiply
// matrices of them:
//
//   for each 32 columns:
//       c = -|y|^2 / 2 in every row;    for each 16 channels: c += x y, 32 x 32 cells;    price = |x|^2 - 2 c
//
// With g = lane / 4 and t = lane % 4, a lane loads four channels, from number 4 t, of points g, g + 8, ... of x and y,
// and takes them for numbers t, t + 4, t + 8, t + 12 of a product: the order in which channels are added up is free.
//
// The error. |x|^2 and |y|^2 are sums of D rounded terms, and c takes D further steps, after none of which it is larger
// than |x|^2 + |y|^2: so less than (3 D + 4) 2^-52 of that sum is lost, even if sums are cut off instead of rounded.
// least_share() is what a price has to be of it, such that the loss is at most kLost of the price. In f32 a price is so
// as good as rounded once. Where a price of these rows is less, the answer is "no": they have to be priced by
// differences.
#pragma once

#include "../vendor/doubles.cuh"
#include "prices.cuh"

namespace dtw {

// Channels from which on products are faster, and what they may lose of a price.
template <class T>
struct ByProducts;
template <>
struct ByProducts<float> {
    static constexpr uint32_t kLeastChannels = 12;
    static constexpr double kLost = 1.0 / (1 << 24);
};
template <>
struct ByProducts<double> {
    static constexpr uint32_t kLeastChannels = 32;
    static constexpr double kLost = 1.0 / (1ull << 40);
};

template <class T>
DTW_DEVICE double least_share(uint32_t channels) {
    return (3.0 * channels + 4.0) / static_cast<double>(1ull << 52) / ByProducts<T>::kLost;
}

// Whether distances of R are made of sums of squares, and nothing asks for their last digit: a threshold, or a search
// that sweeps cells again to learn where its matches start.
template <class R>
constexpr bool kSuitsProducts = kDoubleUnits && !R::kThreshold && !R::kOpen &&
                                (std::is_same<typename R::Norm, Squared<typename R::Number>>::value ||
                                 std::is_same<typename R::Norm, Rooted<typename R::Number>>::value);

// Whether products are tried.
template <class R>
DTW_DEVICE bool suits_products(uint32_t channels) {
    return kSuitsProducts<R> && channels >= ByProducts<typename R::Number>::kLeastChannels;
}

// Four channels of a point, from `c`; zeros behind the last. kAsOne: four are there or none, and are loaded as one.
template <bool kAsOne, class T>
DTW_DEVICE Bundle<T, 4> four_channels(const T* point, uint32_t c, uint32_t channels) {
    Bundle<T, 4> some{};
    if constexpr (kAsOne) {
        if (c < channels) {
            some = *reinterpret_cast<const Bundle<T, 4>*>(point + c);
        }
    } else {
        DTW_UNROLL
        for (uint32_t k = 0; k < 4; ++k) {
            if (c + k < channels) {
                some.v[k] = point[c + k];
            }
        }
    }
    return some;
}

// Whether four channels of every point can be loaded as one.
template <class T>
DTW_DEVICE bool loads_four(const Points<T>& points) {
    return points.channels % 4 == 0 && reinterpret_cast<uintptr_t>(points.values) % 16 == 0;
}

// The sum of v of four lanes that follow each other.
DTW_DEVICE double sum_over_four(double v) {
    v += exchange(v, 1);
    return v + exchange(v, 2);
}

// Upper halves of doubles of one sign, which are ordered as their absolute values are.
DTW_DEVICE int32_t upper_half(double v) { return static_cast<int32_t>(high_of(v)); }

// -|y|^2 / 2 of columns j0 .. j0 + 32 K - 1.
template <class T, int K>
DTW_DEVICE void square_columns(double* halves, const Points<T>& y, uint32_t j0) {
    const uint32_t g = static_cast<uint32_t>(lane()) / 4, t = static_cast<uint32_t>(lane()) % 4;
    DTW_UNROLL_BY(1)
    for (uint32_t first = g; first < 32 * K; first += 8) {
        const T* const point = y.values + static_cast<uint64_t>(y.clamped(j0 + first)) * y.channels;
        double sum = 0.0;
        for (uint32_t c = 4 * t; c < y.channels; c += 16) {
            const Bundle<T, 4> some = four_channels<false>(point, c, y.channels);
            DTW_UNROLL
            for (int k = 0; k < 4; ++k) {
                sum = fma_(static_cast<double>(some.v[k]), static_cast<double>(some.v[k]), sum);
            }
        }
        sum = sum_over_four(sum);
        if (t == 0) {
            halves[first] = -0.5 * sum;
        }
    }
}

// The prices of rows i0 .. i0 + 31 in columns j0 .. j0 + 32 K - 1, and whether they are right. `halves` is what
// square_columns() wrote.
template <class R, int K>
DTW_DEVICE bool price_by_products(const R& r, typename R::Number* prices, const double* halves,
                                  const Points<typename R::Number>& x, const Points<typename R::Number>& y, uint32_t i0,
                                  uint32_t j0) {
    using T = typename R::Number;
    constexpr uint32_t kStride = PriceMemory<T, K>::kStride;
    const uint32_t g = static_cast<uint32_t>(lane()) / 4, t = static_cast<uint32_t>(lane()) % 4;
    const uint32_t channels = x.channels;
    const bool as_one = loads_four(x) && loads_four(y);
    const T* of_x[4];
    DTW_UNROLL
    for (int q = 0; q < 4; ++q) {
        of_x[q] = x.values + static_cast<uint64_t>(x.clamped(i0 + g + 8 * q)) * channels;
    }
    double squares_x[4] = {};
    int32_t most_x = 0, most_y = upper_half(-0.0);
    T least = Limits<T>::infinity();
    DTW_UNROLL
    for (uint32_t h = 0; h < K; ++h) {
        const T* of_y[4];
        double sum[2][4][4];
        DTW_UNROLL
        for (int n = 0; n < 4; ++n) {
            of_y[n] = y.values + static_cast<uint64_t>(y.clamped(j0 + 32 * h + 8 * n + g)) * channels;
            const auto some = *reinterpret_cast<const Bundle<double, 2>*>(halves + 32 * h + 8 * n + 2 * t);
            most_y = max3_bits(most_y, upper_half(some.v[0]), upper_half(some.v[1]));
            DTW_UNROLL
            for (int half = 0; half < 2; ++half) {
                DTW_UNROLL
                for (int k = 0; k < 4; ++k) {
                    sum[half][n][k] = some.v[k % 2];
                }
            }
        }
        const auto add_up = [&](auto is_as_one) {
            constexpr bool kAsOne = decltype(is_as_one)::value;
            DTW_UNROLL_BY(1)
            for (uint32_t c = 4 * t; c < channels + 4 * t; c += 16) {
                Bundle<T, 4> points_x[4], points_y[4];
                DTW_UNROLL
                for (int q = 0; q < 4; ++q) {
                    points_x[q] = four_channels<kAsOne>(of_x[q], c, channels);
                    points_y[q] = four_channels<kAsOne>(of_y[q], c, channels);
                }
                double a[2][4][2];
                DTW_UNROLL
                for (int q = 0; q < 4; ++q) {
                    DTW_UNROLL
                    for (int k = 0; k < 4; ++k) {
                        a[q / 2][k][q % 2] = static_cast<double>(points_x[q].v[k]);
                    }
                }
                if (h == 0) {
                    DTW_UNROLL
                    for (int q = 0; q < 4; ++q) {
                        DTW_UNROLL
                        for (int k = 0; k < 4; ++k) {
                            squares_x[q] = fma_(a[q / 2][k][q % 2], a[q / 2][k][q % 2], squares_x[q]);
                        }
                    }
                }
                DTW_UNROLL
                for (int n = 0; n < 4; ++n) {
                    double b[4];
                    DTW_UNROLL
                    for (int k = 0; k < 4; ++k) {
                        b[k] = static_cast<double>(points_y[n].v[k]);
                    }
                    DTW_UNROLL
                    for (int half = 0; half < 2; ++half) {
                        multiply_add(sum[half][n], a[half], b);
                    }
                }
            }
        };
        if (as_one) {
            add_up(std::true_type{});
        } else {
            add_up(std::false_type{});
        }
        if (h == 0) {
            DTW_UNROLL
            for (int q = 0; q < 4; ++q) {
                squares_x[q] = sum_over_four(squares_x[q]);
                most_x = max_(most_x, upper_half(squares_x[q]));
            }
        }
        DTW_UNROLL
        for (int q = 0; q < 4; ++q) {
            DTW_UNROLL
            for (int n = 0; n < 4; ++n) {
                Bundle<T, 2> some;
                T square[2];
                DTW_UNROLL
                for (int side = 0; side < 2; ++side) {
                    square[side] = static_cast<T>(fma_(-2.0, sum[q / 2][n][q % 2 * 2 + side], squares_x[q]));
                    some.v[side] = r.norm.done(square[side]);
                }
                least = min3_nonnegative(least, square[0], square[1]);
                *reinterpret_cast<Bundle<T, 2>*>(prices + (8 * q + g) * kStride + 32 * h + 8 * n + 2 * t) = some;
            }
        }
    }
    // An upper bound of |x|^2 + |y|^2; where it overflows, prices may be NaN.
    const double most =
        from_words(static_cast<uint32_t>(most_x) + 1, 0) - 2.0 * from_words(static_cast<uint32_t>(most_y) + 1, 0);
    const bool keeps_digits = most < 1e300 && static_cast<double>(least) >= least_share<T>(channels) * most;
    return !any(!keeps_digits);
}

}  // namespace dtw
