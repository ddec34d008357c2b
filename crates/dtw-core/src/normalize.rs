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
}
