//! Logarithm of the global alignment kernel `K(i,j) = κ(xᵢ,yⱼ)·(K(i−1,j−1) + K(i−1,j) + K(i,j−1))`, `K(0,0) = 1`, the
//! other borders 0, with `κ = e^(−φ)`, `φ = d/2σ² + log(2 − e^(−d/2σ²))` and `d = ‖xᵢ−yⱼ‖²`.
//!
//! Every quantity is kept as its logarithm and sums are taken by log-sum-exp.
//!
//! Source: Cuturi 2011 (Fast Global Alignment Kernels, ICML 2011).

use super::{Answer, Input, OracleError, Real, local::squared_euclidean};

/// `log(e^a + e^b + e^c)`; −∞ if all three are.
fn log_sum_exp<F: Real>(a: F, b: F, c: F) -> F {
    let greatest = a.max(b).max(c);
    if greatest == F::neg_infinity() {
        return greatest;
    }
    let sum: F = [a, b, c].iter().map(|&value| (value - greatest).exp()).sum();
    greatest + sum.ln()
}

/// `φ` between two points.
fn phi<F: Real>(a: &[F], b: &[F], sigma: F) -> F {
    let u = squared_euclidean(a, b) / (F::of(2.0) * sigma * sigma);
    u + (F::of(2.0) - (-u).exp()).ln()
}

/// `log K(n,m)`.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, sigma: f64) -> Result<Answer<F>, OracleError> {
    let (x, y, rows) = (input.x, input.y, input.rows()?);
    let mut log_k = vec![vec![F::neg_infinity(); y.len() + 1]; x.len() + 1];
    log_k[0][0] = F::zero();
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            if rows[i - 1].contains(&(j - 1)) {
                let sum = log_sum_exp(log_k[i - 1][j - 1], log_k[i - 1][j], log_k[i][j - 1]);
                log_k[i][j] = sum - phi(&x[i - 1], &y[j - 1], F::of(sigma));
            }
        }
    }
    Ok(Answer { value: log_k[x.len()][y.len()], grid: None })
}
