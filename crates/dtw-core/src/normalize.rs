//! z-normalisation: `(x − mean) / σ` per channel, with the population standard deviation; a constant series becomes
//! zeros.

use crate::{Scalar, Series};

/// Mean and population standard deviation of each channel, in f64, by two passes over the values divided by a power of
/// two near the largest of them: no finite input over- or underflows, and no digit is lost. Both are in units of that
/// scale, which comes third.
fn moments<T: Scalar>(series: Series<'_, T>) -> Vec<(f64, f64, f64)> {
    let count = series.len() as f64;
    (0..series.channels)
        .map(|k| {
            let channel = || series.values.iter().skip(k).step_by(series.channels).map(|v| v.to_f64());
            let largest = channel().fold(0.0, |largest: f64, v| largest.max(v.abs()));
            // The largest value without its mantissa; the least normal number for zero and subnormal ones.
            let scale = f64::from_bits(largest.to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE);
            let mean = channel().map(|v| v / scale).sum::<f64>() / count;
            let variance = channel().map(|v| (v / scale - mean) * (v / scale - mean)).sum::<f64>() / count;
            (mean, variance.sqrt(), scale)
        })
        .collect()
}

/// z-normalises one series in place: `values` has shape `[length, channels]`. O(values) time.
///
/// A channel is constant, and becomes zeros, when all its values are equal.
pub fn z_normalize<T: Scalar>(values: &mut [T], channels: usize) {
    let moments = moments(Series { values, channels, times: None });
    let constant: Vec<bool> =
        (0..channels).map(|k| values.iter().skip(k).step_by(channels).all(|v| *v == values[k])).collect();
    for point in values.chunks_exact_mut(channels) {
        for (k, value) in point.iter_mut().enumerate() {
            let (mean, deviation, scale) = moments[k];
            *value = if constant[k] || deviation == 0.0 {
                T::ZERO
            } else {
                T::from_f64((value.to_f64() / scale - mean) / deviation)
            };
        }
    }
}

/// z-normalises `L` windows of `length` points of one channel side by side: point `j` of window `l`, which begins at
/// `starts[l]`, goes to `out[j · L + l]`, with the bits of [`z_normalize`]. O(L · length) time.
///
/// # Panics
/// When a window reaches beyond `points`, or `out` does not have `L · length` places.
#[inline(always)]
pub fn z_normalize_windows<T: Scalar, const L: usize>(
    points: &[T],
    starts: &[usize; L],
    length: usize,
    out: &mut [T],
) {
    let windows: [&[T]; L] = std::array::from_fn(
        #[inline(always)]
        |l| &points[starts[l]..starts[l] + length],
    );
    assert_eq!(out.len(), L * length, "a place for each point of each window");
    let (mut largest, mut is_constant) = ([0.0_f64; L], [true; L]);
    for (j, point) in out.chunks_exact_mut(L).enumerate() {
        for l in 0..L {
            point[l] = windows[l][j];
            let size = point[l].to_f64().abs();
            largest[l] = if size > largest[l] { size } else { largest[l] };
            is_constant[l] &= point[l] == windows[l][0];
        }
    }
    // A power of two: to multiply by its inverse is to divide by it, and both are exact or round the same number.
    let mut inverse: [f64; L] = std::array::from_fn(
        #[inline(always)]
        |l| 1.0 / f64::from_bits(largest[l].to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE),
    );
    let count = length as f64;
    let mut mean = [0.0; L];
    for point in out.chunks_exact(L) {
        for l in 0..L {
            mean[l] += point[l].to_f64() * inverse[l];
        }
    }
    mean.iter_mut().for_each(|mean| *mean /= count);
    let mut deviation = [0.0; L];
    for point in out.chunks_exact(L) {
        for l in 0..L {
            let apart = point[l].to_f64() * inverse[l] - mean[l];
            deviation[l] += apart * apart;
        }
    }
    for l in 0..L {
        deviation[l] = (deviation[l] / count).sqrt();
        // Zero over one is zero: what a constant window becomes.
        if is_constant[l] || deviation[l] == 0.0 {
            (inverse[l], mean[l], deviation[l]) = (0.0, 0.0, 1.0);
        }
    }
    for point in out.chunks_exact_mut(L) {
        for l in 0..L {
            point[l] = T::from_f64((point[l].to_f64() * inverse[l] - mean[l]) / deviation[l]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_independent_and_constants_become_zero() {
        let mut values = [1.0_f64, 7.0, 3.0, 7.0];
        z_normalize(&mut values, 2);
        assert_eq!(values, [-1.0, 0.0, 1.0, 0.0]);
        for scale in [1e-300, 1e-200, 1e200, 1e307] {
            let mut extreme = [scale, 7.0_f64, 3.0 * scale, 7.0];
            z_normalize(&mut extreme, 2);
            for (value, expected) in extreme.iter().zip([-1.0_f64, 0.0, 1.0, 0.0]) {
                assert!((*value - expected).abs() < 1e-15, "{scale}: {extreme:?}");
            }
        }
        let mut constant = [0.1_f64; 7];
        z_normalize(&mut constant, 1);
        assert_eq!(constant, [0.0; 7]);
    }

    fn side_by_side<T: Scalar, const L: usize>(values: &[f64]) {
        let values: Vec<T> = values.iter().map(|v| T::from_f64(*v)).collect();
        for length in [1, 2, 7, 30] {
            let starts: [usize; L] = std::array::from_fn(|l| (l * l * 5) % (values.len() + 1 - length));
            let mut out = vec![T::ZERO; L * length];
            z_normalize_windows(&values, &starts, length, &mut out);
            for (l, start) in starts.into_iter().enumerate() {
                let mut window = values[start..start + length].to_vec();
                z_normalize(&mut window, 1);
                for (j, expected) in window.into_iter().enumerate() {
                    let found = out[j * L + l];
                    assert!(found == expected, "{found} for {expected}, point {j} of {length}");
                }
            }
        }
    }

    #[test]
    fn windows_side_by_side_have_the_same_bits() {
        let mut state = 5_u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        for scale in [1.0, 1e-300, 1e-310, 1e307, 1e30, 1e-40, 0.0] {
            let mut values: Vec<f64> = (0..100).map(|_| 10.0 * random() * scale).collect();
            side_by_side::<f64, 2>(&values);
            side_by_side::<f64, 8>(&values);
            values.iter_mut().skip(20).take(40).for_each(|v| *v = 0.1 * scale);
            side_by_side::<f64, 4>(&values);
            values.iter_mut().for_each(|v| *v = v.clamp(-1e38, 1e38));
            side_by_side::<f32, 16>(&values);
            side_by_side::<f32, 4>(&values);
        }
    }
}
