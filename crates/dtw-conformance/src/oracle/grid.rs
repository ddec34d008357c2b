//! The `(n+1) × (m+1)` matrix of accumulated values, with the step by which each cell was reached.
//!
//! Equal arrivals are broken in a fixed order: diagonal, then up (`(i−1, j)`), then left (`(i, j−1)`).

use super::Real;

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
    /// A grid of +∞ for series of `n` and `m` points.
    pub fn infinite(n: usize, m: usize) -> Self {
        Grid { values: vec![vec![F::infinity(); m + 1]; n + 1], steps: vec![vec![None; m + 1]; n + 1] }
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
    pub(super) fn arrive(&mut self, i: usize, j: usize, diagonal: F, up: F, left: F) {
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
