//! Warping paths: the steps of a [`Grid`] walked back from its last cell.
//!
//! A path lists the cells `(i, j)` of the grid, 0-based, first to last. The border row and column are not cells:
//! a walk that reaches them stops, so the path of an edit measure starts where its first match, or its first
//! edit beside both series, lies.

use super::{Grid, Real, Step};

/// The path that ends in cell `(i, j)`, 1-based; empty where no path arrives there.
pub fn ending_at<F: Real>(grid: &Grid<F>, i: usize, j: usize) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (i, j);
    let mut path = Vec::new();
    while let Some(step) = grid.steps[i][j] {
        path.push((i - 1, j - 1));
        match step {
            Step::Diagonal => (i, j) = (i - 1, j - 1),
            Step::Up => i -= 1,
            Step::Left => j -= 1,
        }
    }
    path.reverse();
    path
}

/// The path from corner to corner.
pub fn path<F: Real>(grid: &Grid<F>) -> Vec<(usize, usize)> {
    ending_at(grid, grid.n(), grid.m())
}
