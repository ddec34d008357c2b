//! `D(i,j) = c(xᵢ,yⱼ) + min(D(i−1,j−1), D(i−1,j) + ω, D(i,j−1) + ω)`, `c` squared Euclidean, borders as for DTW.
//!
//! Source: Herrmann & Webb 2023 (arXiv:2111.13314).

use super::{Answer, Input, OracleError, Real, local::squared_euclidean};

/// `penalty` is ω.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, penalty: f64) -> Result<Answer<F>, OracleError> {
    let penalty = F::of(penalty);
    input.filled(|i, j, [diagonal, up, left]| {
        let c = squared_euclidean(&input.x[i - 1], &input.y[j - 1]);
        [c + diagonal, c + (up + penalty), c + (left + penalty)]
    })
}
