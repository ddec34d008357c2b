//! `L(i,j) = max(L(i−1,j−1) + [‖xᵢ−yⱼ‖ ≤ ε], L(i−1,j), L(i,j−1))`, borders 0; the distance is `1 − L(n,m)/min(n,m)`.
//!
//! A band restricts **matches**: `L(n,m)` is the length of the longest common subsequence all of whose matches lie in
//! the band. So the whole grid is filled, and only cells of the band may match. The grid holds `−L`, so that the best
//! arrival is the least, as everywhere else. Outside the band a path goes straight back to it: left where the cell lies
//! right of its row's columns, up where it lies left of them.
//!
//! Source: Vlachos, Kollios & Gunopulos 2002 (doi:10.1109/ICDE.2002.994784), whose δ restricts matches.

use dtw_core::LcssOutput;

use super::grid::Step;
use super::{Answer, Grid, Input, OracleError, Real, Rows, Series, local::euclidean};

/// `1 − L/min(n,m)`, or `L` itself.
pub fn value<F: Real>(length: F, output: LcssOutput, n: usize, m: usize) -> F {
    match output {
        LcssOutput::Distance => F::one() - length / F::of(n.min(m) as f64),
        LcssOutput::Length => length,
    }
}

/// The number of matches on a path: cells that match, lie in the band and are entered by the diagonal.
pub fn matches(
    x: &Series<f64>,
    y: &Series<f64>,
    epsilon: f64,
    rows: &Rows,
    points: &[(usize, usize)],
) -> usize {
    let is_diagonal = |k: usize| k == 0 || points[k] == (points[k - 1].0 + 1, points[k - 1].1 + 1);
    (0..points.len())
        .filter(|&k| {
            let (i, j) = points[k];
            is_diagonal(k) && rows[i].contains(&j) && euclidean(&x[i], &y[j]) <= epsilon
        })
        .count()
}

/// `L(n,m)` or the distance that it makes; the grid holds negated lengths.
pub(super) fn answer<F: Real>(
    input: &Input<'_, F>,
    epsilon: f64,
    output: LcssOutput,
) -> Result<Answer<F>, OracleError> {
    let (x, y, rows) = (input.x, input.y, input.rows()?);
    let mut grid = Grid::new(x, y);
    grid.values[0].fill(F::zero());
    grid.values.iter_mut().for_each(|row| row[0] = F::zero());
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            let [diagonal, up, left] = grid.before(i, j);
            if rows[i - 1].contains(&(j - 1)) {
                let matches = euclidean(&x[i - 1], &y[j - 1]) <= F::of(epsilon);
                let gain = if matches { F::one() } else { F::zero() };
                grid.arrive(i, j, [diagonal - gain, up, left]);
            } else {
                grid.values[i][j] = up.min(left);
                let is_right = j > rows[i - 1].end;
                grid.steps[i][j] = Some(if is_right { Step::Left } else { Step::Up });
            }
        }
    }
    let length = F::zero() - grid.last();
    Ok(Answer { value: value(length, output, grid.n(), grid.m()), grid: Some(grid) })
}
