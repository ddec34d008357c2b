//! Centres whose Keogh–Pazzani derivative has wanted values.
//!
//! ```text
//! (D c)_i  =  −¾·c_i + ½·c_{i+1} + ¼·c_{i+2}              n − 2 equations for n values
//! c        =  f + Dᵀ λ,   D Dᵀ λ = wanted − D f           the nearest to f of all c with D c = wanted
//! ```
//!
//! The derivative leaves two of n values open, above all the level. They stay those of the former centre `f`. `D Dᵀ`
//! has two diagonals on either side of its own, so that its Cholesky factor has two below: linear time and memory.

use dtw_core::SeriesBatch;
use dtw_core::derivative::Derivatives;

/// A row of `D`.
const ROW: [f64; 3] = [-0.75, 0.5, 0.25];
/// The diagonal of `D Dᵀ`, and those beside it.
const SQUARE: [f64; 3] =
    [ROW[0] * ROW[0] + ROW[1] * ROW[1] + ROW[2] * ROW[2], ROW[0] * ROW[1] + ROW[1] * ROW[2], ROW[0] * ROW[2]];

/// The derivative of a series of at least 3 points, `[length − 2, channels]`.
pub(super) fn of(values: &[f64], channels: usize) -> Vec<f64> {
    let batch = SeriesBatch::equal(values, 1, values.len() / channels, channels).expect("a whole series");
    Derivatives::of(&batch).batch().values().to_vec()
}

/// Of all series whose derivative is `wanted`, `[length − 2, channels]`, the one nearest to `former`.
pub(super) fn nearest_with(former: &[f64], wanted: &[f64], channels: usize) -> Vec<f64> {
    let now = of(former, channels);
    let rows = wanted.len() / channels;
    let factor = cholesky(rows);
    let mut center = former.to_vec();
    for k in 0..channels {
        let mut lambda: Vec<f64> =
            (0..rows).map(|i| wanted[i * channels + k] - now[i * channels + k]).collect();
        for i in 0..rows {
            let known: f64 = (1..=2.min(i)).map(|b| factor[i][b] * lambda[i - b]).sum();
            lambda[i] = (lambda[i] - known) / factor[i][0];
        }
        for i in (0..rows).rev() {
            let known: f64 = (1..=2.min(rows - 1 - i)).map(|b| factor[i + b][b] * lambda[i + b]).sum();
            lambda[i] = (lambda[i] - known) / factor[i][0];
        }
        for (i, lambda) in lambda.iter().enumerate() {
            for (b, entry) in ROW.iter().enumerate() {
                center[(i + b) * channels + k] += entry * lambda;
            }
        }
    }
    center
}

/// The Cholesky factor of `D Dᵀ`: of each row its diagonal, and the one and two entries before it.
fn cholesky(rows: usize) -> Vec<[f64; 3]> {
    let mut factor: Vec<[f64; 3]> = Vec::with_capacity(rows);
    for i in 0..rows {
        let mut row = [0.0; 3];
        if i >= 2 {
            row[2] = SQUARE[2] / factor[i - 2][0];
        }
        if i >= 1 {
            row[1] = (SQUARE[1] - row[2] * factor[i - 1][1]) / factor[i - 1][0];
        }
        row[0] = (SQUARE[0] - row[1] * row[1] - row[2] * row[2]).sqrt();
        factor.push(row);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivative_is_the_wanted_one_and_nothing_else_moves() {
        for (length, channels) in [(3, 1), (4, 2), (5, 1), (1000, 1)] {
            let value = |at: usize, step: f64| (at as f64 * step).sin();
            let former: Vec<f64> = (0..length * channels).map(|at| value(at, 0.7)).collect();
            let wanted: Vec<f64> = (0..(length - 2) * channels).map(|at| value(at, 1.3)).collect();
            let center = nearest_with(&former, &wanted, channels);
            for (got, wanted) in of(&center, channels).iter().zip(&wanted) {
                assert!((got - wanted).abs() < 1e-9, "{got} {wanted}");
            }
            // The nearest: what was added is orthogonal to what the derivative does not see, such as a level.
            for k in 0..channels {
                let moved: f64 =
                    (0..length).map(|i| center[i * channels + k] - former[i * channels + k]).sum();
                assert!(moved.abs() < 1e-7 * length as f64, "{moved}");
            }
            // What is wanted already stays.
            let same = nearest_with(&center, &of(&center, channels), channels);
            assert!(same.iter().zip(&center).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
