//! `D(i,j) = c(xᵢ,yⱼ) + min(D(i−1,j−1), D(i−1,j) + ω, D(i,j−1) + ω)`, `c` squared Euclidean, borders as for DTW.
//!
//! Source: Herrmann & Webb 2023 (arXiv:2111.13314).

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::squared_euclidean};

/// The accumulated-cost matrix; `penalty` is ω.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, penalty: F, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    grid.values[0][0] = F::zero();
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let c = squared_euclidean(&x[i - 1], &y[j - 1]);
                let diagonal = grid.values[i - 1][j - 1];
                let up = grid.values[i - 1][j] + penalty;
                let left = grid.values[i][j - 1] + penalty;
                grid.arrive(i, j, c + diagonal, c + up, c + left);
            }
        }
    }
    grid
}

/// What the suite asks of this measure.
///
/// # Errors
/// A band that does not fit.
pub fn answer<F: Real>(given: &Given<'_, F>, penalty: f64) -> Result<Answer<F>, OracleError> {
    Ok(grid(given.x, given.y, F::of(penalty), &given.rows()?).into())
}
