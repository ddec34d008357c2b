//! `s(x,y) − ½(s(x,x) + s(y,y))` with `s` the Soft-DTW value, for any `n` and `m`.
//!
//! Source: Blondel, Mensch & Vert 2021 (arXiv:2010.08354).

use super::{Real, Rows, Series, soft_dtw};

/// The divergence; each of the three values is swept in its own band.
pub fn value<F: Real>(
    x: &Series<F>,
    y: &Series<F>,
    gamma: F,
    rows_xy: &Rows,
    rows_xx: &Rows,
    rows_yy: &Rows,
) -> F {
    let itself = soft_dtw::value(x, x, gamma, rows_xx) + soft_dtw::value(y, y, gamma, rows_yy);
    soft_dtw::value(x, y, gamma, rows_xy) - F::of(0.5) * itself
}
