//! z-normalisation: `(x − mean) / σ` per channel, with the population standard deviation; a constant series becomes
//! zeros.

use crate::{Scalar, Series};

/// Mean and population standard deviation of each channel, in f64, by two passes.
pub fn moments<T: Scalar>(series: Series<'_, T>) -> Vec<(f64, f64)> {
    let count = series.len() as f64;
    (0..series.channels)
        .map(|k| {
            let channel = || series.values.iter().skip(k).step_by(series.channels).map(|v| v.to_f64());
            let mean = channel().sum::<f64>() / count;
            let variance = channel().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
            (mean, variance.sqrt())
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
            let (mean, deviation) = moments[k];
            *value = if constant[k] || deviation == 0.0 {
                T::ZERO
            } else {
                T::from_f64((value.to_f64() - mean) / deviation)
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
        let mut constant = [0.1_f64; 7];
        z_normalize(&mut constant, 1);
        assert_eq!(constant, [0.0; 7]);
    }
}
