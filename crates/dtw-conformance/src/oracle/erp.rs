//! `D(i,j) = min(D(i−1,j−1) + ‖xᵢ−yⱼ‖, D(i−1,j) + ‖xᵢ−g‖, D(i,j−1) + ‖yⱼ−g‖)` with Euclidean norms.
//!
//! The borders are cumulative: `D(i,0) = Σ ‖xₗ−g‖` for `l ≤ i`, and likewise `D(0,j)`. A multichannel gap has
//! the value `g` in every channel.
//!
//! Source: Chen & Ng 2004 (doi:10.1016/B978-012088469-8.50070-X).

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::euclidean};

/// The accumulated-cost matrix; `gap` is `g`.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, gap: F, rows: &Rows) -> Grid<F> {
    let to_gap = |point: &[F]| euclidean(point, &vec![gap; point.len()]);
    let mut grid = Grid::infinite(x.len(), y.len());
    grid.values[0][0] = F::zero();
    for i in 1..=x.len() {
        grid.values[i][0] = grid.values[i - 1][0] + to_gap(&x[i - 1]);
    }
    for j in 1..=y.len() {
        grid.values[0][j] = grid.values[0][j - 1] + to_gap(&y[j - 1]);
    }
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let diagonal = grid.values[i - 1][j - 1] + euclidean(&x[i - 1], &y[j - 1]);
                let up = grid.values[i - 1][j] + to_gap(&x[i - 1]);
                let left = grid.values[i][j - 1] + to_gap(&y[j - 1]);
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
pub fn answer<F: Real>(given: &Given<'_, F>, gap: f64) -> Result<Answer<F>, OracleError> {
    Ok(grid(given.x, given.y, F::of(gap), &given.rows()?).into())
}
