//! `D(i,j) = min(D(i−1,j−1) + [‖xᵢ−yⱼ‖ > ε], D(i−1,j) + 1, D(i,j−1) + 1)`, borders `D(i,0) = i`, `D(0,j) = j`.
//!
//! The distance is the raw number of edits; normalised, it is divided by `max(n, m)`.
//!
//! Source: Chen, Özsu & Oria 2005 (doi:10.1145/1066157.1066213), with the Euclidean norm across channels.

use dtw_core::EdrOutput;

use super::{Answer, Grid, Input, OracleError, Real, local::euclidean};

/// The number of edits, or that divided by the longer length.
pub(super) fn answer<F: Real>(
    input: &Input<'_, F>,
    epsilon: f64,
    output: EdrOutput,
) -> Result<Answer<F>, OracleError> {
    let mut grid = Grid::new(input.x, input.y);
    for i in 0..=grid.n() {
        grid.values[i][0] = F::of(i as f64);
    }
    for j in 0..=grid.m() {
        grid.values[0][j] = F::of(j as f64);
    }
    grid.fill(&input.rows()?, |i, j, [diagonal, up, left]| {
        let differs = euclidean(&input.x[i - 1], &input.y[j - 1]) > F::of(epsilon);
        let mismatch = if differs { F::one() } else { F::zero() };
        [diagonal + mismatch, up + F::one(), left + F::one()]
    });
    let longest = F::of(grid.n().max(grid.m()) as f64);
    let value = match output {
        EdrOutput::Count => grid.last(),
        EdrOutput::Normalized => grid.last() / longest,
    };
    Ok(Answer { value, grid: Some(grid) })
}
