//! `D(i,j) = min(D(i−1,j−1) + ‖xᵢ−yⱼ‖, D(i−1,j) + ‖xᵢ−g‖, D(i,j−1) + ‖yⱼ−g‖)` with Euclidean norms.
//!
//! The borders are cumulative: `D(i,0) = Σ ‖xₗ−g‖` for `l ≤ i`, and likewise `D(0,j)`. A multichannel gap has
//! the value `g` in every channel.
//!
//! Source: Chen & Ng 2004 (doi:10.1016/B978-012088469-8.50070-X).

use super::{Answer, Grid, Input, OracleError, Real, local::euclidean};

/// `gap` is `g`.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, gap: f64) -> Result<Answer<F>, OracleError> {
    let (x, y) = (input.x, input.y);
    let to_gap = |point: &[F]| euclidean(point, &vec![F::of(gap); point.len()]);
    let mut grid = Grid::new(x, y);
    for i in 1..=x.len() {
        grid.values[i][0] = grid.values[i - 1][0] + to_gap(&x[i - 1]);
    }
    for j in 1..=y.len() {
        grid.values[0][j] = grid.values[0][j - 1] + to_gap(&y[j - 1]);
    }
    grid.fill(&input.rows()?, |i, j, [diagonal, up, left]| {
        let (x, y) = (&x[i - 1], &y[j - 1]);
        [diagonal + euclidean(x, y), up + to_gap(x), left + to_gap(y)]
    });
    Ok(grid.into())
}
