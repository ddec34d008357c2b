//! `s(x,y) − ½(s(x,x) + s(y,y))` with `s` the Soft-DTW value, for any `n` and `m`.
//!
//! Its gradient with respect to `x` is that of `s(x,y)` less half that of `s(x,x)`, in which `x` stands twice.
//!
//! Source: Blondel, Mensch & Vert 2021 (arXiv:2010.08354).

use dtw_core::LocalCost;

use super::{Answer, Given, OracleError, Real, Rows, Series, soft_dtw};

/// The divergence; each of the three values is swept in its own band.
pub fn value<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    cost: LocalCost,
    rows_xy: &Rows,
    rows_xx: &Rows,
    rows_yy: &Rows,
) -> F {
    let itself = soft_dtw::value(x, x, gamma, cost, rows_xx) + soft_dtw::value(y, y, gamma, cost, rows_yy);
    soft_dtw::value(x, y, gamma, cost, rows_xy) - F::of(0.5) * itself
}

/// The gradients with respect to `x` and to `y`, shaped as they are.
pub fn gradients<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    cost: LocalCost,
    rows_xy: &Rows,
    rows_xx: &Rows,
    rows_yy: &Rows,
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

/// What the suite asks of this measure.
///
/// # Errors
/// A band that does not fit.
pub fn answer<F: Real>(given: &Given<'_, F>, gamma: f64, cost: LocalCost) -> Result<Answer<F>, OracleError> {
    let (x, y) = (given.x, given.y);
    let (xy, xx, yy) = (given.rows()?, given.rows_of(x, x)?, given.rows_of(y, y)?);
    Ok(Answer { value: value(x, y, F::of(gamma), cost, &xy, &xx, &yy), grid: None })
}
