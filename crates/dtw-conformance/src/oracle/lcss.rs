//! `L(i,j) = max(L(i−1,j−1) + [‖xᵢ−yⱼ‖ ≤ ε], L(i−1,j), L(i,j−1))`, borders 0; the distance is `1 − L(n,m)/min(n,m)`.
//!
//! Without a band this is the textbook recurrence (a match never loses to a skip); with one, the diagonal must
//! also be open without a match, or a band of radius 0 would have no path. The grid holds `−L`, so that the best
//! arrival is the least, as everywhere else.
//!
//! Source: Vlachos, Kollios & Gunopulos 2002 (doi:10.1109/ICDE.2002.994784).

use super::{Grid, Real, Rows, Series, local::euclidean};

/// The matrix of negated lengths.
pub fn grid<F: Real>(x: &Series<F>, y: &Series<F>, epsilon: F, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::infinite(x.len(), y.len());
    for i in 0..=x.len() {
        grid.values[i][0] = F::zero();
    }
    for j in 0..=y.len() {
        grid.values[0][j] = F::zero();
    }
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let matches = euclidean(&x[i - 1], &y[j - 1]) <= epsilon;
                let gain = if matches { F::one() } else { F::zero() };
                let (diagonal, up, left) =
                    (grid.values[i - 1][j - 1], grid.values[i - 1][j], grid.values[i][j - 1]);
                grid.arrive(i, j, diagonal - gain, up, left);
            }
        }
    }
    grid
}

/// The length `L(n,m)` of the longest common subsequence.
pub fn length<F: Real>(grid: &Grid<F>) -> F {
    F::zero() - grid.last()
}

/// `1 − L/min(n,m)`.
pub fn distance<F: Real>(length: F, n: usize, m: usize) -> F {
    F::one() - length / F::of(n.min(m) as f64)
}
