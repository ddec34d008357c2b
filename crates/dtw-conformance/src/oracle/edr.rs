//! `D(i,j) = min(D(i−1,j−1) + [‖xᵢ−yⱼ‖ > ε], D(i−1,j) + 1, D(i,j−1) + 1)`, borders `D(i,0) = i`, `D(0,j) = j`.
//!
//! The distance is the raw number of edits; normalised, it is divided by `max(n, m)`.
//!
//! Source: Chen, Özsu & Oria 2005 (doi:10.1145/1066157.1066213), with the Euclidean norm across channels.

use dtw_core::EdrOutput;

use super::{Answer, Given, Grid, OracleError, Real, Rows, Series, local::euclidean};

/// The matrix of edit counts.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, epsilon: F, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    for i in 0..=x.len() {
        grid.values[i][0] = F::of(i as f64);
    }
    for j in 0..=y.len() {
        grid.values[0][j] = F::of(j as f64);
    }
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let differs = euclidean(&x[i - 1], &y[j - 1]) > epsilon;
                let mismatch = if differs { F::one() } else { F::zero() };
                let diagonal = grid.values[i - 1][j - 1] + mismatch;
                let up = grid.values[i - 1][j] + F::one();
                let left = grid.values[i][j - 1] + F::one();
                grid.arrive(i, j, diagonal, up, left);
            }
        }
    }
    grid
}

/// The number of edits divided by the longer length.
pub fn normalized<F: Real>(edits: F, n: usize, m: usize) -> F {
    edits / F::of(n.max(m) as f64)
}

/// What the suite asks of this measure.
///
/// # Errors
/// A band that does not fit.
pub fn answer<F: Real>(
    given: &Given<'_, F>,
    epsilon: f64,
    output: EdrOutput,
) -> Result<Answer<F>, OracleError> {
    let grid = grid(given.x, given.y, F::of(epsilon), &given.rows()?);
    let value = match output {
        EdrOutput::Count => grid.last(),
        EdrOutput::Normalized => normalized(grid.last(), grid.n(), grid.m()),
    };
    Ok(Answer { value, grid: Some(grid) })
}
