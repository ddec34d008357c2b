//! Time-warp edit distance with stiffness `ν` and deletion penalty `λ`:
//!
//! - match: `D(i−1,j−1) + ‖xᵢ−yⱼ‖ₚ + ‖xᵢ₋₁−yⱼ₋₁‖ₚ + ν(|tᵢ−sⱼ| + |tᵢ₋₁−sⱼ₋₁|)`, the second norm for `i, j > 1` only;
//! - delete in `x`: `D(i−1,j) + ‖xᵢ−xᵢ₋₁‖ₚ + ν(tᵢ−tᵢ₋₁) + λ`; in `y` likewise.
//!
//! `x₀ = y₀ = 0` at time 0; `D(0,0) = 0`, the other borders +∞. Norms are rooted. Times are given, or `1..=n`.
//!
//! Source: Marteau 2009 (doi:10.1109/TPAMI.2008.76).

use super::{Answer, Input, OracleError, Real, Series, local::p_norm};

/// The least cost of matches and deletions; `degree` is `p`.
pub(super) fn answer<F: Real>(
    input: &Input<'_, F>,
    nu: f64,
    lambda: f64,
    degree: f64,
) -> Result<Answer<F>, OracleError> {
    let (nu, lambda) = (F::of(nu), F::of(lambda));
    let origin = vec![F::zero(); input.x[0].len()];
    // 1-based views of both series and their times, with the origin as point 0.
    let points = |series: &'_ Series<F>| [&[origin.clone()][..], series].concat();
    let times = |times: Option<&[F]>, n: usize| match times {
        Some(times) => [&[F::zero()][..], times].concat(),
        None => (0..=n).map(|i| F::of(i as f64)).collect(),
    };
    let (x, y) = (points(input.x), points(input.y));
    let (t, s) = (times(input.tx, input.x.len()), times(input.ty, input.y.len()));
    let norm = |a: &[F], b: &[F]| p_norm(a, b, F::of(degree));
    input.filled(|i, j, [diagonal, up, left]| {
        let mut matched = norm(&x[i], &y[j]);
        if i > 1 && j > 1 {
            matched = matched + norm(&x[i - 1], &y[j - 1]);
        }
        matched = matched + nu * ((t[i] - s[j]).abs() + (t[i - 1] - s[j - 1]).abs());
        let deleted_x = norm(&x[i], &x[i - 1]) + nu * (t[i] - t[i - 1]) + lambda;
        let deleted_y = norm(&y[j], &y[j - 1]) + nu * (s[j] - s[j - 1]) + lambda;
        [diagonal + matched, up + deleted_x, left + deleted_y]
    })
}
