//! Soft-DTW and the logarithm of the alignment kernel in two parts, each with all its digits at any γ.
//!
//! With `N(i,j)` paths to a cell and `A(i,j) = −γ log(Z(i,j)/N(i,j))`, the *excess* over the value `−γ log N` of costs
//! that are all zero,
//!
//! `A(i,j) = c(xᵢ,yⱼ) − γ log Σ w_p e^(−A_p/γ)`, over the three predecessors `p`, with `w_p = N_p/N(i,j)`.
//!
//! The weights sum to 1, so that the logarithm is `log1p Σ w_p expm1(−(A_p − least)/γ)` beside the least `A_p`. The
//! value of Soft-DTW is `A − γ log N`. (The plain loop of [`super::soft_dtw`] loses what the costs add where `γ log N`
//! is larger by many digits, and the difference of three such values altogether.)
//!
//! Source of the measures: as `soft_dtw`, `soft_dtw_divergence` and `log_gak`.

use dtw_core::LocalCost;

use super::local::{Real, between, squared_euclidean};
use super::{Rows, Series};

/// The two parts of `A − γ log N`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// `A`, never negative.
    pub excess: f64,
    /// `log N`.
    pub log_paths: f64,
}

/// The parts of Soft-DTW. The excess is formed in `F`, what has nothing to do with the series in doubles.
pub fn soft_dtw<F: Real>(x: &Series<F>, y: &Series<F>, gamma: f64, cost: LocalCost, rows: &Rows) -> Parts {
    parts(x, y, F::of(gamma), rows, |a, b| between(cost, a, b))
}

/// The parts of the alignment kernel: its logarithm is `log N − A`.
pub fn log_gak<F: Real>(x: &Series<F>, y: &Series<F>, sigma: f64, rows: &Rows) -> Parts {
    let width = F::of(2.0 * sigma * sigma);
    parts(x, y, F::one(), rows, |a, b| {
        let u = squared_euclidean(a, b) / width;
        u + (-(-u).exp_m1()).ln_1p()
    })
}

fn parts<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    rows: &Rows,
    cost: impl Fn(&[F], &[F]) -> F,
) -> Parts {
    // The excess and the logarithm of the paths of every cell.
    let mut grid = vec![vec![(F::zero(), f64::NEG_INFINITY); y.len() + 1]; x.len() + 1];
    grid[0][0].1 = 0.0;
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if !rows[i - 1].contains(&(j - 1)) {
                continue;
            }
            let before = [grid[i - 1][j - 1], grid[i - 1][j], grid[i][j - 1]];
            let most = before.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
            if most == f64::NEG_INFINITY {
                continue;
            }
            let log_paths = most + before.iter().map(|p| (p.1 - most).exp()).sum::<f64>().ln();
            let reached = before.iter().filter(|p| p.1 > f64::NEG_INFINITY);
            let least = reached.clone().map(|p| p.0).fold(F::infinity(), F::min);
            let sum: F =
                reached.map(|p| F::of((p.1 - log_paths).exp()) * (-(p.0 - least) / gamma).exp_m1()).sum();
            let excess = cost(&x[i - 1], &y[j - 1]) + least - gamma * sum.ln_1p();
            grid[i][j] = (excess, log_paths);
        }
    }
    let (excess, log_paths) = grid[x.len()][y.len()];
    Parts { excess: excess.wide(), log_paths }
}
