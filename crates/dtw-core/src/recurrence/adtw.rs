//! ADTW: `D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j) + ω, D(i,j−1) + ω)`, squared Euclidean `c`.
//!
//! Herrmann & Webb 2023, 10.1016/j.patcog.2023.109333.

use super::point::{min3, squared_euclidean};
use super::{Point, Recurrence, Sample, Total};
use crate::Scalar;
use crate::vector::Vector;

/// Amerced dynamic time warping.
#[derive(Debug, Clone, Copy)]
pub struct Adtw<V> {
    zero: V,
    infinity: V,
    penalty: V,
}

impl<V: Vector> Adtw<V> {
    /// The recurrence with penalty ω, for vectors as wide as `any`.
    #[inline(always)]
    pub fn new(any: V, penalty: f64) -> Self {
        Self {
            zero: any.like(V::Scalar::ZERO),
            infinity: any.like(V::Scalar::INFINITY),
            penalty: any.constant(penalty),
        }
    }
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Adtw<V> {
    type State = Total<V>;
    type Price = V;

    #[inline(always)]
    fn origin(&self) -> Total<V> {
        Total(self.zero)
    }
    #[inline(always)]
    fn forbidden(&self) -> Total<V> {
        Total(self.infinity)
    }
    #[inline(always)]
    fn border_down(&self, _: Total<V>, _: &Sample<V, P>) -> Total<V> {
        Total(self.infinity)
    }
    #[inline(always)]
    fn border_right(&self, _: Total<V>, _: &Sample<V, P>, _: usize) -> Total<V> {
        Total(self.infinity)
    }
    #[inline(always)]
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, _: V) -> V {
        squared_euclidean(x.point, y.point)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Total<V>, up: Total<V>, left: Total<V>, _: V) -> [V; 3] {
        [diagonal.0, up.0 + self.penalty, left.0 + self.penalty]
    }
    #[inline(always)]
    fn combine(&self, diagonal: Total<V>, up: Total<V>, left: Total<V>, price: V) -> Total<V> {
        Total(price + min3(diagonal.0, up.0 + self.penalty, left.0 + self.penalty))
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        parts[0]
    }
}
