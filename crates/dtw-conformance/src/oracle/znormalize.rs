//! `(xᵢₖ − μₖ) / σₖ` per channel, with the population standard deviation; a constant channel becomes zeros.

use super::{Real, Series};

/// The z-normalised series.
pub fn znormalize<F: Real>(x: &Series<F>) -> Vec<Vec<F>> {
    let channels = x[0].len();
    let count = F::of(x.len() as f64);
    let mean: Vec<F> = (0..channels).map(|k| x.iter().map(|point| point[k]).sum::<F>() / count).collect();
    let deviation: Vec<F> = (0..channels)
        .map(|k| {
            let squares: F = x.iter().map(|point| (point[k] - mean[k]) * (point[k] - mean[k])).sum();
            (squares / count).sqrt()
        })
        .collect();
    // Asked of the values, not of σ: rounding in the mean must not turn a constant into noise.
    let constant: Vec<bool> = (0..channels).map(|k| x.iter().all(|point| point[k] == x[0][k])).collect();
    x.iter()
        .map(|point| {
            (0..channels)
                .map(|k| if constant[k] { F::zero() } else { (point[k] - mean[k]) / deviation[k] })
                .collect()
        })
        .collect()
}
