//! DTW with the squared Euclidean cost weighted by how far off the diagonal it is taken:
//! `w(i,j) = 1 / (1 + e^(−g·(|i−j| − max(n,m)/2)))`, with a real division by two.
//!
//! Source: Jeong, Jeong & Omitaomu 2011, weight ceiling 1 (doi:10.1016/j.patcog.2010.09.022).

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::squared_euclidean};

/// The weight at cell `(i, j)` (1-based or 0-based alike) of an `n × m` grid.
pub fn weight<F: Real>(i: usize, j: usize, n: usize, m: usize, g: F) -> F {
    let off_diagonal = F::of(i.abs_diff(j) as f64);
    let half = F::of(n.max(m) as f64 / 2.0);
    F::one() / (F::one() + (-g * (off_diagonal - half)).exp())
}

/// The accumulated-cost matrix.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, g: F, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    grid.values[0][0] = F::zero();
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let c = weight(i, j, x.len(), y.len(), g) * squared_euclidean(&x[i - 1], &y[j - 1]);
                let (diagonal, up, left) =
                    (grid.values[i - 1][j - 1], grid.values[i - 1][j], grid.values[i][j - 1]);
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
pub fn answer<F: Real>(given: &Given<'_, F>, g: f64) -> Result<Answer<F>, OracleError> {
    Ok(grid(given.x, given.y, F::of(g), &given.rows()?).into())
}
