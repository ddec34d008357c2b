//! The slope estimate `x′ᵢ = ((xᵢ − xᵢ₋₁) + (xᵢ₊₁ − xᵢ₋₁)/2) / 2` of derivative DTW, per channel.
//!
//! It needs both neighbours, so the two end points are dropped: `n` points give `n − 2`. `ddtw` is DTW and `wddtw`
//! is weighted DTW of the derivatives; bands and weights refer to the shortened series.
//!
//! Source: Keogh & Pazzani 2001 (doi:10.1137/1.9781611972719.1).

use super::{Real, Series};

/// The derivative of a series of at least three points.
pub fn derivative<F: Real>(x: &Series<F>) -> Vec<Vec<F>> {
    let half = F::of(0.5);
    (1..x.len().saturating_sub(1))
        .map(|i| {
            (0..x[i].len())
                .map(|k| ((x[i][k] - x[i - 1][k]) + (x[i + 1][k] - x[i - 1][k]) * half) * half)
                .collect()
        })
        .collect()
}
