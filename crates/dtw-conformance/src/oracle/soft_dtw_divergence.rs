//! `s(x,y) − ½(s(x,x) + s(y,y))` with `s` the Soft-DTW value, for any `n` and `m`.
//!
//! Its gradient with respect to `x` is that of `s(x,y)` less half that of `s(x,x)`, in which `x` stands twice.
//!
//! Source: Blondel, Mensch & Vert 2021 (arXiv:2010.08354).

use dtw_core::LocalCost;

use super::{Answer, Input, OracleError, Real, Rows, Series, soft_dtw};

/// The gradients with respect to `x` and to `y`, shaped as they are.
pub(super) fn gradients<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    cost: LocalCost,
    [rows_xy, rows_xx, rows_yy]: [&Rows; 3],
) -> (Vec<Vec<F>>, Vec<Vec<F>>) {
    let (mut grad_x, mut grad_y) = soft_dtw::gradients(x, y, gamma, cost, rows_xy);
    for (grad, series, rows) in [(&mut grad_x, x, rows_xx), (&mut grad_y, y, rows_yy)] {
        let (first, second) = soft_dtw::gradients(series, series, gamma, cost, rows);
        for (i, point) in grad.iter_mut().enumerate() {
            for (k, slope) in point.iter_mut().enumerate() {
                *slope = *slope - F::of(0.5) * (first[i][k] + second[i][k]);
            }
        }
    }
    (grad_x, grad_y)
}

/// The divergence; each of the three values is swept in its own band.
pub(super) fn answer<F: Real>(
    input: &Input<'_, F>,
    gamma: f64,
    cost: LocalCost,
) -> Result<Answer<F>, OracleError> {
    let value = |a: &Series<F>, b: &Series<F>| -> Result<F, OracleError> {
        Ok(soft_dtw::value(a, b, F::of(gamma), cost, &input.rows_of(a, b)?))
    };
    let (x, y) = (input.x, input.y);
    let itself = value(x, x)? + value(y, y)?;
    Ok(Answer { value: value(x, y)? - F::of(0.5) * itself, grid: None })
}
