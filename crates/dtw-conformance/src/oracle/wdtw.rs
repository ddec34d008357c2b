//! DTW with the squared Euclidean cost weighted by how far off the diagonal it is taken:
//! `w(i,j) = 1 / (1 + e^(−g·(|i−j| − max(n,m)/2)))`, with a real division by two.
//!
//! Source: Jeong, Jeong & Omitaomu 2011, weight ceiling 1 (doi:10.1016/j.patcog.2010.09.022).

use super::{Answer, Input, OracleError, Real, local::squared_euclidean};

/// The weight at cell `(i, j)` (1-based or 0-based alike) of an `n × m` grid.
pub fn weight<F: Real>(i: usize, j: usize, n: usize, m: usize, g: F) -> F {
    let off_diagonal = F::of(i.abs_diff(j) as f64);
    let half = F::of(n.max(m) as f64 / 2.0);
    F::one() / (F::one() + (-g * (off_diagonal - half)).exp())
}

/// The least weighted cost of a path.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, g: f64) -> Result<Answer<F>, OracleError> {
    let (x, y) = (input.x, input.y);
    input.filled(|i, j, before| {
        let weight = weight(i, j, x.len(), y.len(), F::of(g));
        // Free without weight, also where the cost overflows.
        let c = if weight == F::zero() { weight } else { weight * squared_euclidean(&x[i - 1], &y[j - 1]) };
        before.map(|d| c + d)
    })
}
