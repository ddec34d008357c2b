//! Log of the global alignment kernel: `Z(i,j) = κ(xᵢ, yⱼ) · (Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1))`, `κ = e^(−φ)`,
//! `φ = d/2σ² + ln(2 − e^(−d/2σ²))` with `d` the squared Euclidean distance; the result is `ln Z(n,m)`.
//!
//! With `q = e^(−d/2σ²)` this is `κ = q / (2 − q)`. Cuturi 2011, "Fast Global Alignment Kernels", ICML.

use super::point::{Apart, squared_euclidean};
use super::scaled::{Scaled, log_of};
use super::{Point, Recurrence, Sample, Visitor};
use crate::Scalar;
use crate::vector::Vector;

/// Logarithm of the global alignment kernel.
#[derive(Debug, Clone, Copy)]
pub struct LogGak<V> {
    /// `−log₂(e)/2σ²`.
    rate: V,
    two: V,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for LogGak<V> {
    type State = Scaled<V>;
    /// κ.
    type Price = Scaled<V>;
    const RESCALES: bool = true;
    const TRACES: bool = false;

    #[inline(always)]
    fn any(&self) -> V {
        self.rate
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        squared_euclidean(x, y)
    }
    #[inline(always)]
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> Scaled<V> {
        let (mantissa, exponent) = (here * self.rate).exp2_parts();
        let q = mantissa.scale_down(exponent);
        Scaled { mantissa: mantissa / (self.two - q), exponent }
    }
    #[inline(always)]
    fn combine(&self, diagonal: Scaled<V>, up: Scaled<V>, left: Scaled<V>, price: Scaled<V>) -> Scaled<V> {
        Scaled::weighted_sum(diagonal, up, left, price)
    }
    #[inline(always)]
    fn rescale(&self, state: Scaled<V>) -> Scaled<V> {
        state.rescale()
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        V::Scalar::from_f64(log_of(parts[0], parts[1]))
    }
}

/// Hands the recurrence of the alignment kernel to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, sigma: f64, visitor: F) -> F::Output {
    visitor.visit(LogGak {
        rate: any.constant(-std::f64::consts::LOG2_E / (2.0 * sigma * sigma)),
        two: any.constant(2.0),
    })
}
