//! `D(i,j) = c(xᵢ,yⱼ) + min(D(i−1,j−1), D(i−1,j), D(i,j−1))`, `D(0,0) = 0`, the other borders +∞.
//!
//! The distance is the accumulated cost `D(n,m)`, without a root.
//!
//! Source: Sakoe & Chiba 1978, symmetric step pattern of slope weight 1 (doi:10.1109/TASSP.1978.1163055).

use dtw_core::LocalCost;

use super::{Answer, Grid, Input, OracleError, Real, Rows, Series, local::between};

/// The accumulated-cost matrix.
pub(super) fn grid<F: Real>(x: &Series<F>, y: &Series<F>, cost: LocalCost, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::new(x, y);
    grid.fill(rows, |i, j, before| {
        let c = between(cost, &x[i - 1], &y[j - 1]);
        before.map(|d| c + d)
    });
    grid
}

/// The least cost of a path from corner to corner.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, cost: LocalCost) -> Result<Answer<F>, OracleError> {
    Ok(grid(input.x, input.y, cost, &input.rows()?).into())
}
