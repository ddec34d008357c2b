//! Time-warp edit distance with stiffness `ν` and deletion penalty `λ`:
//!
//! - match: `D(i−1,j−1) + ‖xᵢ−yⱼ‖ₚ + ‖xᵢ₋₁−yⱼ₋₁‖ₚ + ν(|tᵢ−sⱼ| + |tᵢ₋₁−sⱼ₋₁|)`, the second norm for `i, j > 1` only;
//! - delete in `x`: `D(i−1,j) + ‖xᵢ−xᵢ₋₁‖ₚ + ν(tᵢ−tᵢ₋₁) + λ`; in `y` likewise.
//!
//! `x₀ = y₀ = 0` at time 0; `D(0,0) = 0`, the other borders +∞. Norms are rooted. Times are given, or `1..=n`.
//!
//! Source: Marteau 2009 (doi:10.1109/TPAMI.2008.76).

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::p_norm};

/// The three numbers of TWED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters<F> {
    /// Stiffness `ν ≥ 0`.
    pub nu: F,
    /// Deletion penalty `λ ≥ 0`.
    pub lambda: F,
    /// Degree `p ≥ 1` of the norm.
    pub degree: F,
}

/// Times `1, 2, …, n`.
pub fn unit_times<F: Real>(n: usize) -> Vec<F> {
    (1..=n).map(|i| F::of(i as f64)).collect()
}

/// The accumulated-cost matrix; `tx[i]` and `ty[j]` are the times of the points.
pub fn grid<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    tx: &[F],
    ty: &[F],
    parameters: Parameters<F>,
    rows: &Rows,
) -> Grid<F> {
    let Parameters { nu, lambda, degree } = parameters;
    let origin = vec![F::zero(); x[0].len()];
    // 1-based views of both series and their times, with the origin as point 0.
    let x: Vec<&[F]> = std::iter::once(&origin[..]).chain(x.iter().map(Vec::as_slice)).collect();
    let y: Vec<&[F]> = std::iter::once(&origin[..]).chain(y.iter().map(Vec::as_slice)).collect();
    let t: Vec<F> = std::iter::once(F::zero()).chain(tx.iter().copied()).collect();
    let s: Vec<F> = std::iter::once(F::zero()).chain(ty.iter().copied()).collect();

    let mut grid = Grid::infinite(x.len() - 1, y.len() - 1);
    grid.values[0][0] = F::zero();
    for i in 1..x.len() {
        for j in 1..y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let mut matched = p_norm(x[i], y[j], degree);
                if i > 1 && j > 1 {
                    matched = matched + p_norm(x[i - 1], y[j - 1], degree);
                }
                matched = matched + nu * ((t[i] - s[j]).abs() + (t[i - 1] - s[j - 1]).abs());
                let deleted_x = p_norm(x[i], x[i - 1], degree) + nu * (t[i] - t[i - 1]) + lambda;
                let deleted_y = p_norm(y[j], y[j - 1], degree) + nu * (s[j] - s[j - 1]) + lambda;
                let diagonal = grid.values[i - 1][j - 1] + matched;
                let up = grid.values[i - 1][j] + deleted_x;
                let left = grid.values[i][j - 1] + deleted_y;
                grid.arrive(i, j, diagonal, up, left);
            }
        }
    }
    grid
}

/// What the suite asks of this measure.
///
/// # Errors
/// A band that does not fit.
pub fn answer<F: Real>(
    given: &Given<'_, F>,
    nu: f64,
    lambda: f64,
    degree: f64,
) -> Result<Answer<F>, OracleError> {
    let parameters = Parameters { nu: F::of(nu), lambda: F::of(lambda), degree: F::of(degree) };
    let times = |times: Option<&[F]>, n: usize| times.map_or_else(|| unit_times(n), <[F]>::to_vec);
    let (tx, ty) = (times(given.tx, given.x.len()), times(given.ty, given.y.len()));
    Ok(grid(given.x, given.y, &tx, &ty, parameters, &given.rows()?).into())
}
