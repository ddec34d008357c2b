// Prepare: from series as the caller has them to series as sweeps read them (params.h).
//
//   for each series, or piece of kPreparePiece points of a long one, by a warp:
//       for each channel (or the one that is asked for):
//           mean and deviation, if points are z-normalised
//           values = derivative (if asked for) of the raw points, z-normalised (if asked for), times the scale
//       kPad zeros before the series; after the last series, also behind it
//       times, copied, if points have them
//       gaps: what it costs to delete each point; sums of the gaps up to each point, if asked for
//
//     raw         |  series 0  |  series 1       |  series 2   |
//     prepared    0 |  series 0  | 0 |  series 1       | 0 |  series 2   | 0         0: padding
//     lane            0 1 2 ...        0 1 2 ... 31 0 1 ...                          lanes take points in turn
//
// What needs all of a series (its mean, its sums) is computed by one warp; otherwise a long series is cut into pieces.
#pragma once

#include "../recurrence/norm.cuh"
#include "../params.h"

namespace dtw {

template <class T>
DTW_DEVICE T sum_of_lanes(T v) {
    DTW_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) {
        v += exchange(v, mask);
    }
    return v;
}

// Running sum over the lanes, own value included.
template <class T>
DTW_DEVICE T scan_of_lanes(T v) {
    DTW_UNROLL
    for (int distance = 1; distance < 32; distance *= 2) {
        const T below = broadcast(v, lane() >= distance ? lane() - distance : lane());
        v += lane() >= distance ? below : T(0);
    }
    return v;
}

// Numbers of type T, point after point, with the channels of a point side by side.
template <class T>
struct Packed {
    const Prepare& p;
    const T* values;

    // Of series s, which begins at point `first`.
    DTW_DEVICE Packed(const Prepare& p, uint64_t, uint64_t first)
        : p(p), values(static_cast<const T*>(p.raw) + first * p.channels) {}
    struct Place {
        const Prepare& p;
        const T* value;
        // The same channel, k points further on.
        DTW_DEVICE T ahead(uint64_t k) const { return value[k * p.channels]; }
    };
    DTW_DEVICE Place at(uint32_t i, uint32_t c) const {
        return {p, values + static_cast<uint64_t>(i) * p.channels + c};
    }
};

// IEEE binary16 as a float: exact. A subnormal is one as a float too, until the product makes it right.
DTW_DEVICE float float_of_half(uint16_t half) {
    const int32_t magnitude = half & 0x7fff;
    const bool is_finite = magnitude < 0x7c00;
    const float value = is_finite ? from_bits(magnitude << 13) * 0x1p112f : from_bits((magnitude << 13) | 0x7f800000);
    return half & 0x8000 ? -value : value;
}

// Numbers of any format, at any strides.
template <class T>
struct Strided {
    const Prepare& p;
    int64_t first;  // numbers before the series

    DTW_DEVICE Strided(const Prepare& p, uint64_t s, uint64_t first)
        : p(p),
          first(p.raw_offsets ? static_cast<int64_t>(first) * p.point_stride
                              : static_cast<int64_t>(s) * p.series_stride) {}
    DTW_DEVICE T number(int64_t k) const {
        switch (p.format) {
            case kFormatF64:
                return static_cast<T>(static_cast<const double*>(p.raw)[k]);
            case kFormatF16:
                return static_cast<T>(float_of_half(static_cast<const uint16_t*>(p.raw)[k]));
            case kFormatBf16:
                return static_cast<T>(from_bits(static_cast<int32_t>(
                    static_cast<uint32_t>(static_cast<const uint16_t*>(p.raw)[k]) << 16)));
            default:
                return static_cast<T>(static_cast<const float*>(p.raw)[k]);
        }
    }
    struct Place {
        const Strided& series;
        int64_t place;
        DTW_DEVICE T ahead(uint64_t k) const {
            return series.number(place + static_cast<int64_t>(k) * series.p.point_stride);
        }
    };
    DTW_DEVICE Place at(uint32_t i, uint32_t c) const {
        return {*this, first + static_cast<int64_t>(i) * p.point_stride + static_cast<int64_t>(c) * p.channel_stride};
    }
};

template <class T, class Source>
struct RawSeries {
    const Prepare& p;
    Source source;
    uint32_t length;  // prepared points
    // Of the channel being written, in doubles and in units of a power of two: a float has no digits for the mean of
    // points that lie close together and far from zero.
    double unit, mean, inverse;

    // Channel c of prepared point i.
    DTW_DEVICE T at(uint32_t i, uint32_t c) const {
        const auto place = source.at(i, c);
        T value = place.ahead(0);
        if (p.derivative) {
            const T here = place.ahead(1), after = place.ahead(2);
            value = ((here - value) + (after - value) * T(0.5)) * T(0.5);
        }
        return value;
    }
    // Mean and inverse deviation of channel c. A constant series gets a zero.
    DTW_DEVICE void measure(uint32_t c) {
        if (!p.normalize) {
            return;
        }
        T largest = T(0), low = Limits<T>::infinity(), high = -Limits<T>::infinity();
        for (uint32_t i = static_cast<uint32_t>(lane()); i < length; i += 32) {
            const T v = at(i, c);
            largest = max_(largest, abs_(v));
            low = min_(low, v);
            high = max_(high, v);
        }
        for (int mask = 16; mask > 0; mask /= 2) {
            largest = max_(largest, exchange(largest, mask));
            low = min_(low, exchange(low, mask));
            high = max_(high, exchange(high, mask));
        }
        // Next to the largest, so that no square overflows or vanishes, and no digit is lost.
        const double most = max_(static_cast<double>(largest), 0x1p-1022);
        unit = 1.0 / from_words(high_of(most) & 0x7ff00000u, 0);
        double sum = 0.0;
        for (uint32_t i = static_cast<uint32_t>(lane()); i < length; i += 32) {
            sum += static_cast<double>(at(i, c)) * unit;
        }
        mean = sum_of_lanes(sum) / length;
        double squares = 0.0;
        for (uint32_t i = static_cast<uint32_t>(lane()); i < length; i += 32) {
            const double d = static_cast<double>(at(i, c)) * unit - mean;
            squares = fma_(d, d, squares);
        }
        const double deviation = sqrt_(sum_of_lanes(squares) / length);
        inverse = low < high && deviation > 0.0 ? 1.0 / deviation : 0.0;
    }
    DTW_DEVICE T normalized(T v) const { return static_cast<T>((static_cast<double>(v) * unit - mean) * inverse); }
};

// Cost of deleting point i of a series; `times` are those of the raw series, or null.
template <class T, class Source>
DTW_DEVICE T gap_of(const Prepare& p, const RawSeries<T, Source>& raw, const T* times, uint32_t i) {
    if (p.gap_kind == 1) {
        const Rooted<T> norm{};
        const T gap = static_cast<T>(p.parameters[0]);
        if (p.channels == 1) {
            return norm.one(raw.at(i, 0), gap);
        }
        T sum = T(0);
        for (uint32_t c = 0; c < p.channels; ++c) {
            sum = norm.add(sum, raw.at(i, c), gap);
        }
        return norm.done(sum);
    }
    const Powered<T> norm{static_cast<T>(p.parameters[2])};
    const T nu = static_cast<T>(p.parameters[0]), lambda = static_cast<T>(p.parameters[1]);
    T distance = T(0);
    for (uint32_t c = 0; c < p.channels; ++c) {
        const T here = raw.at(i, c), before = i > 0 ? raw.at(i - 1, c) : T(0);
        distance = p.channels == 1 ? norm.one(here, before) : norm.add(distance, here, before);
    }
    if (p.channels > 1) {
        distance = norm.done(distance);
    }
    const T elapsed = times ? times[i] - (i > 0 ? times[i - 1] : T(0)) : T(1);
    return distance + fma_(nu, elapsed, lambda);
}

template <class T, class Source>
DTW_DEVICE void prepare(const Prepare& p) {
    // A long series is prepared in pieces, unless something of it depends on all before.
    const bool whole = p.normalize || p.sums;
    const uint64_t pieces = whole ? 1 : (p.length + kPreparePiece - 1) / kPreparePiece;
    for (uint64_t task = warp(); task < p.count * pieces; task += warps()) {
        const uint64_t s = task / pieces, piece = task % pieces;
        const uint32_t raw_length = p.lengths ? p.lengths[s] : p.length;
        const uint64_t raw_first = p.raw_offsets ? p.raw_offsets[s] : s * p.raw_stride;
        const uint64_t first = p.offsets ? p.offsets[s] : kPad + s * p.stride;
        const uint32_t channels = p.one_channel ? 1 : p.channels;
        RawSeries<T, Source> raw{p, Source(p, s, raw_first), p.derivative ? raw_length - 2 : raw_length, 1.0, 0.0, 1.0};
        const uint32_t length = raw.length;
        const uint64_t past = whole ? length : (piece + 1) * kPreparePiece;
        const uint32_t from = static_cast<uint32_t>(piece * kPreparePiece) + static_cast<uint32_t>(lane());
        const uint32_t to = past < length ? static_cast<uint32_t>(past) : length;
        T* values = static_cast<T*>(p.values) + first * channels;
        const T scale = static_cast<T>(p.scale);
        for (uint32_t c = 0; c < channels; ++c) {
            raw.measure(c);
            for (uint32_t i = from; i < to; i += 32) {
                T v = raw.at(i, p.one_channel ? p.channel : c);
                v = p.normalize ? raw.normalized(v) : v;
                values[static_cast<uint64_t>(i) * channels + c] = p.scale == 1.0 ? v : v * scale;
            }
        }
        // Padding before; the last series also pads behind. Zeros: see params.h.
        const auto pad = [&](T* base, uint32_t width) {
            for (uint32_t i = static_cast<uint32_t>(lane()); piece == 0 && i < kPad * width; i += 32) {
                *(base - 1 - static_cast<int64_t>(i)) = T(0);
                if (s + 1 == p.count) {
                    base[static_cast<uint64_t>(length) * width + i] = T(0);
                }
            }
        };
        pad(values, channels);
        const T* raw_times = p.times ? static_cast<const T*>(p.raw_times) + raw_first : nullptr;
        if (p.times) {
            T* times = static_cast<T*>(p.times) + first;
            pad(times, 1);
            for (uint32_t i = from; i < to; i += 32) {
                times[i] = raw_times[i];
            }
        }
        if (p.gap_kind != 0) {
            T* gaps = static_cast<T*>(p.gaps) + first;
            pad(gaps, 1);
            T* sums = p.sums ? static_cast<T*>(p.sums) + first : nullptr;
            if (sums == nullptr) {
                for (uint32_t i = from; i < to; i += 32) {
                    gaps[i] = gap_of(p, raw, raw_times, i);
                }
                continue;
            }
            T total = T(0);
            for (uint32_t i0 = 0; i0 < length; i0 += 32) {
                const uint32_t i = i0 + static_cast<uint32_t>(lane());
                const T gap = i < length ? gap_of(p, raw, raw_times, i) : T(0);
                const T running = total + scan_of_lanes(gap);
                if (i < length) {
                    gaps[i] = gap;
                    sums[i] = running;
                }
                total = broadcast(running, 31);
            }
        }
    }
}

}  // namespace dtw
