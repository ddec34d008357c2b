//! `R(i,j) = c(xᵢ,yⱼ) + softmin_γ(R(i−1,j−1), R(i−1,j), R(i,j−1))`, `softmin_γ(a) = −γ log Σ e^(−a/γ)`,
//! `R(0,0) = 0` and the other borders +∞. The value is signed.
//!
//! The alignment matrix `E(i,j) = ∂R(n,m)/∂c(xᵢ,yⱼ)` follows backwards from `E(n,m) = 1`: each cell hands its `E` to
//! its three predecessors in the proportions `e^(−R(p)/γ) / Σ e^(−R(q)/γ)`, which is the chain rule with the soft
//! minimum's derivative. The proportions never leave 0..=1, whatever γ and the rounding of `R`.
//! Then `∂/∂xᵢ = Σⱼ E(i,j)·∂c(xᵢ,yⱼ)/∂xᵢ`, `∂/∂yⱼ` likewise.
//!
//! Sources: Cuturi & Blondel 2017, Algorithms 1 and 2 (arXiv:1703.01541); Mensch & Blondel 2018 (arXiv:1802.03676).

use dtw_core::LocalCost;

use super::local::{between, slope};
use super::{Answer, Input, OracleError, Real, Rows, Series};

/// `−γ log(e^(−a/γ) + e^(−b/γ) + e^(−c/γ))`, shifted by the least argument; +∞ if all three are.
fn softmin<F: Real>(a: F, b: F, c: F, gamma: F) -> F {
    let least = a.min(b).min(c);
    if least == F::infinity() {
        return least;
    }
    let sum: F = [a, b, c].iter().map(|&value| (-(value - least) / gamma).exp()).sum();
    least - gamma * sum.ln()
}

/// `R`, `(n+1) × (m+1)`.
pub fn values<F: Real>(x: &Series<F>, y: &Series<F>, gamma: F, cost: LocalCost, rows: &Rows) -> Vec<Vec<F>> {
    values_of(|i, j| between(cost, &x[i], &y[j]), (x.len(), y.len()), gamma, rows)
}

fn values_of<F: Real>(
    price: impl Fn(usize, usize) -> F,
    (n, m): (usize, usize),
    gamma: F,
    rows: &Rows,
) -> Vec<Vec<F>> {
    let mut r = vec![vec![F::infinity(); m + 1]; n + 1];
    r[0][0] = F::zero();
    for i in 1..=n {
        for j in 1..=m {
            if rows[i - 1].contains(&(j - 1)) {
                r[i][j] = price(i - 1, j - 1) + softmin(r[i - 1][j - 1], r[i - 1][j], r[i][j - 1], gamma);
            }
        }
    }
    r
}

/// `R(n,m)`.
pub fn value<F: Real>(x: &Series<F>, y: &Series<F>, gamma: F, cost: LocalCost, rows: &Rows) -> F {
    values(x, y, gamma, cost, rows)[x.len()][y.len()]
}

/// `E`, `n × m`, 0-based; zero outside the band.
pub fn alignment<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    cost: LocalCost,
    rows: &Rows,
) -> Vec<Vec<F>> {
    alignment_of(|i, j| between(cost, &x[i], &y[j]), (x.len(), y.len()), gamma, rows)
}

fn alignment_of<F: Real>(
    price: impl Fn(usize, usize) -> F,
    (n, m): (usize, usize),
    gamma: F,
    rows: &Rows,
) -> Vec<Vec<F>> {
    let r = values_of(price, (n, m), gamma, rows);
    // 1-based, as R is; the border collects what reaches the origin.
    let mut e = vec![vec![F::zero(); m + 1]; n + 1];
    e[n][m] = F::one();
    for i in (1..=n).rev() {
        for j in (1..=m).rev() {
            if !rows[i - 1].contains(&(j - 1)) {
                continue;
            }
            let predecessors = [(i - 1, j - 1), (i - 1, j), (i, j - 1)];
            let least = predecessors.iter().map(|&(a, b)| r[a][b]).fold(F::infinity(), F::min);
            let weights = predecessors.map(|(a, b)| (-(r[a][b] - least) / gamma).exp());
            let sum: F = weights.iter().copied().sum();
            for ((a, b), weight) in predecessors.into_iter().zip(weights) {
                e[a][b] = e[a][b] + e[i][j] * weight / sum;
            }
        }
    }
    e.into_iter().skip(1).map(|row| row[1..].to_vec()).collect()
}

/// `(∂R(n,m)/∂x, ∂R(n,m)/∂y)`, shaped as `x` and `y`.
pub fn gradients<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    cost: LocalCost,
    rows: &Rows,
) -> (Vec<Vec<F>>, Vec<Vec<F>>) {
    of_alignment(x, y, cost, &alignment(x, y, gamma, cost, rows))
}

/// Both gradients by a loop in `F` that loses nothing where it sums over paths: its costs, in units of γ, and
/// its products are formed in `F`, the alignment in doubles.
pub fn gradients_of_exact_sums<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: f64,
    cost: LocalCost,
    rows: &Rows,
) -> (Vec<Vec<F>>, Vec<Vec<F>>) {
    let price = |i: usize, j: usize| (between(cost, &x[i], &y[j]) / F::of(gamma)).wide();
    let e = alignment_of(price, (x.len(), y.len()), 1.0, rows);
    let e: Vec<Vec<F>> = e.into_iter().map(|row| row.into_iter().map(F::of).collect()).collect();
    of_alignment(x, y, cost, &e)
}

fn of_alignment<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    cost: LocalCost,
    e: &[Vec<F>],
) -> (Vec<Vec<F>>, Vec<Vec<F>>) {
    let mut grad_x = vec![vec![F::zero(); x[0].len()]; x.len()];
    let mut grad_y = vec![vec![F::zero(); y[0].len()]; y.len()];
    for i in 0..x.len() {
        for j in 0..y.len() {
            for (k, slope) in slope(cost, &x[i], &y[j]).enumerate() {
                let slope = e[i][j] * slope;
                grad_x[i][k] = grad_x[i][k] + slope;
                grad_y[j][k] = grad_y[j][k] - slope;
            }
        }
    }
    (grad_x, grad_y)
}

/// `R(n,m)`.
pub(super) fn answer<F: Real>(
    input: &Input<'_, F>,
    gamma: f64,
    cost: LocalCost,
) -> Result<Answer<F>, OracleError> {
    Ok(Answer { value: value(input.x, input.y, F::of(gamma), cost, &input.rows()?), grid: None })
}
