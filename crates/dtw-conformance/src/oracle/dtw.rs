//! `D(i,j) = c(xᵢ,yⱼ) + min(D(i−1,j−1), D(i−1,j), D(i,j−1))`, `D(0,0) = 0`, the other borders +∞.
//!
//! The distance is the accumulated cost `D(n,m)`, without a root.
//!
//! Source: Sakoe & Chiba 1978, symmetric step pattern of slope weight 1 (doi:10.1109/TASSP.1978.1163055).

use dtw_core::LocalCost;

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::between};

/// The accumulated-cost matrix.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, cost: LocalCost, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    grid.values[0][0] = F::zero();
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let c = between(cost, &x[i - 1], &y[j - 1]);
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
pub fn answer<F: Real>(given: &Given<'_, F>, cost: LocalCost) -> Result<Answer<F>, OracleError> {
    Ok(grid(given.x, given.y, cost, &given.rows()?).into())
}
