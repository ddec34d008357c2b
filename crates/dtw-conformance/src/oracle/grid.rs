//! The `(n+1) × (m+1)` matrix of accumulated values, with the step by which each cell was reached.
//!
//! Equal arrivals are broken in a fixed order: diagonal, then up (`(i−1, j)`), then left (`(i, j−1)`).

use std::ops::Range;

use super::Real;

/// One series, `[time][channel]`, every point with the same number of channels.
pub type Series<F> = [Vec<F>];

/// A column range per row of the grid, 0-based and half-open: the cells a band allows.
pub type Rows = [Range<usize>];

/// How a cell was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// From `(i−1, j−1)`.
    Diagonal,
    /// From `(i−1, j)`.
    Up,
    /// From `(i, j−1)`.
    Left,
}

/// Accumulated values with their border row and column, 1-based.
#[derive(Clone, Debug)]
pub struct Grid<F> {
    /// `values[i][j]`, `0 ≤ i ≤ n`, `0 ≤ j ≤ m`; +∞ where no path arrives.
    pub values: Vec<Vec<F>>,
    /// The winning step of each reached cell; `None` on the border and outside the band.
    pub steps: Vec<Vec<Option<Step>>>,
}

impl<F: Real> Grid<F> {
    /// A grid of +∞ with `D(0,0) = 0`.
    pub fn new(x: &Series<F>, y: &Series<F>) -> Self {
        let (n, m) = (x.len(), y.len());
        let mut values = vec![vec![F::infinity(); m + 1]; n + 1];
        values[0][0] = F::zero();
        Grid { values, steps: vec![vec![None; m + 1]; n + 1] }
    }

    /// Fills the cells of a band, row by row. `arrivals(i, j, [D(i−1,j−1), D(i−1,j), D(i,j−1)])` says what it costs to
    /// arrive at `(i, j)` by each step.
    pub(super) fn fill(&mut self, rows: &Rows, arrivals: impl Fn(usize, usize, [F; 3]) -> [F; 3]) {
        for i in 1..=self.n() {
            for j in 1..=self.m() {
                if rows[i - 1].contains(&(j - 1)) {
                    self.arrive(i, j, arrivals(i, j, self.before(i, j)));
                }
            }
        }
    }

    /// `D(i−1,j−1)`, `D(i−1,j)` and `D(i,j−1)`.
    pub(super) fn before(&self, i: usize, j: usize) -> [F; 3] {
        [self.values[i - 1][j - 1], self.values[i - 1][j], self.values[i][j - 1]]
    }

    /// The number of points of `x`.
    pub fn n(&self) -> usize {
        self.values.len() - 1
    }

    /// The number of points of `y`.
    pub fn m(&self) -> usize {
        self.values[0].len() - 1
    }

    /// The value at the far corner.
    pub fn last(&self) -> F {
        self.values[self.n()][self.m()]
    }

    /// Sets cell `(i, j)` to the least of its three arrivals, remembering which one it was.
    pub(super) fn arrive(&mut self, i: usize, j: usize, [diagonal, up, left]: [F; 3]) {
        let (mut value, mut step) = (diagonal, Step::Diagonal);
        if up < value {
            (value, step) = (up, Step::Up);
        }
        if left < value {
            (value, step) = (left, Step::Left);
        }
        self.values[i][j] = value;
        self.steps[i][j] = value.is_finite().then_some(step);
    }
}
