//! Soft-DTW and the logarithm of the alignment kernel in two parts, each with all its digits at any γ.
//!
//! With `N(i,j)` paths to a cell and `A(i,j) = −γ log(Z(i,j)/N(i,j))`, the *excess* over the value `−γ log N` of costs that are
//! all zero,
//!
//! `A(i,j) = c(xᵢ,yⱼ) − γ log Σ w_p e^(−A_p/γ)`, over the three predecessors `p`, with `w_p = N_p/N(i,j)`.
//!
//! The weights sum to 1, so that the logarithm is `log1p Σ w_p expm1(−(A_p − least)/γ)` beside the least `A_p`. The value of
//! Soft-DTW is `A − γ log N`. (The plain loop of [`super::soft_dtw`] loses what the costs add where `γ log N` is larger by many
//! digits, and the difference of three such values altogether.)
//!
//! Source of the measures: as `soft_dtw`, `soft_dtw_divergence` and `log_gak`.

use super::{Rows, Series, local::squared_euclidean};

/// The two parts of `A − γ log N`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// `A`, never negative.
    pub excess: f64,
    /// `log N`.
    pub log_paths: f64,
}

/// The parts of Soft-DTW.
pub fn soft_dtw(x: &Series<f64>, y: &Series<f64>, gamma: f64, rows: &Rows) -> Parts {
    parts(x, y, gamma, rows, squared_euclidean)
}

/// The parts of the alignment kernel: its logarithm is `log N − A`.
pub fn log_gak(x: &Series<f64>, y: &Series<f64>, sigma: f64, rows: &Rows) -> Parts {
    parts(x, y, 1.0, rows, |a, b| {
        let u = squared_euclidean(a, b) / (2.0 * sigma * sigma);
        u + (-(-u).exp_m1()).ln_1p()
    })
}

fn parts(
    x: &Series<f64>,
    y: &Series<f64>,
    gamma: f64,
    rows: &Rows,
    cost: impl Fn(&[f64], &[f64]) -> f64,
) -> Parts {
    let nothing = Parts { excess: 0.0, log_paths: f64::NEG_INFINITY };
    let mut grid = vec![vec![nothing; y.len() + 1]; x.len() + 1];
    grid[0][0].log_paths = 0.0;
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if !rows[i - 1].contains(&(j - 1)) {
                continue;
            }
            let before = [grid[i - 1][j - 1], grid[i - 1][j], grid[i][j - 1]];
            let most = before.iter().map(|p| p.log_paths).fold(f64::NEG_INFINITY, f64::max);
            if most == f64::NEG_INFINITY {
                continue;
            }
            let log_paths = most + before.iter().map(|p| (p.log_paths - most).exp()).sum::<f64>().ln();
            let reached = before.iter().filter(|p| p.log_paths > f64::NEG_INFINITY);
            let least = reached.clone().map(|p| p.excess).fold(f64::INFINITY, f64::min);
            let sum: f64 = reached
                .map(|p| (p.log_paths - log_paths).exp() * (-(p.excess - least) / gamma).exp_m1())
                .sum();
            let excess = cost(&x[i - 1], &y[j - 1]) + least - gamma * sum.ln_1p();
            grid[i][j] = Parts { excess, log_paths };
        }
    }
    grid[x.len()][y.len()]
}
