//! Move–split–merge: `D(i,j) = min(D(i−1,j−1) + |xᵢ−yⱼ|, D(i−1,j) + C(xᵢ; xᵢ₋₁, yⱼ), D(i,j−1) + C(yⱼ; yⱼ₋₁, xᵢ))`,
//! where `C(a; b, d) = c` if `a` lies between `b` and `d` (ends included), and `c + min(|a−b|, |a−d|)` otherwise.
//!
//! `D(0,0) = 0`, the other borders +∞, which gives the paper's first row and column. The paper defines a single
//! channel; with several, each channel has a matrix of its own and the distance is the **sum of the channels'
//! distances**, so that there is no common path.
//!
//! Source: Stefan, Athitsos & Das 2013 (doi:10.1109/TKDE.2012.88).

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series};

/// The cost of splitting or merging value `a` between `b` and `d`.
fn split_or_merge<F: Real>(a: F, b: F, d: F, c: F) -> F {
    if (b <= a && a <= d) || (d <= a && a <= b) { c } else { c + (a - b).abs().min((a - d).abs()) }
}

/// The accumulated-cost matrix of channel `k`; `c` is the cost of one split or merge.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, k: usize, c: F, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    grid.values[0][0] = F::zero();
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let (xi, yj) = (x[i - 1][k], y[j - 1][k]);
                let diagonal = grid.values[i - 1][j - 1] + (xi - yj).abs();
                let mut up = F::infinity();
                if i > 1 {
                    up = grid.values[i - 1][j] + split_or_merge(xi, x[i - 2][k], yj, c);
                }
                let mut left = F::infinity();
                if j > 1 {
                    left = grid.values[i][j - 1] + split_or_merge(yj, y[j - 2][k], xi, c);
                }
                grid.arrive(i, j, diagonal, up, left);
            }
        }
    }
    grid
}

/// The sum of the channels' distances.
pub fn distance<F: Real>(x: &Series<F>, y: &Series<F>, c: F, rows: &Rows) -> F {
    (0..x[0].len()).map(|k| grid(x, y, k, c, rows).last()).sum()
}

/// What the suite asks of this measure.
///
/// # Errors
/// A band that does not fit.
pub fn answer<F: Real>(given: &Given<'_, F>, c: f64) -> Result<Answer<F>, OracleError> {
    let (rows, c) = (given.rows()?, F::of(c));
    if given.x[0].len() == 1 {
        return Ok(grid(given.x, given.y, 0, c, &rows).into());
    }
    Ok(Answer { value: distance(given.x, given.y, c, &rows), grid: None })
}
