//! WDTW: DTW of squared Euclidean cost, each cell weighted by `1 / (1 + e^(−g(|i−j| − max(n,m)/2)))`.
//!
//! Jeong, Jeong & Omitaomu 2011, 10.1016/j.patcog.2010.09.022.

use super::point::{Apart, min3, outside, squared_euclidean};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::Scalar;
use crate::vector::Vector;

/// Weighted dynamic time warping.
#[derive(Debug, Clone, Copy)]
pub struct Wdtw<V> {
    // Both are kept in registers: made from constants where they are wanted, the sweep was 5% slower (AVX-512).
    zero: V,
    infinity: V,
    g: f64,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Wdtw<V> {
    type State = Value<V>;
    type Price = V;
    const WEIGHTS: bool = true;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.zero
    }
    #[inline(always)]
    fn origin(&self) -> Value<V> {
        Value(self.zero)
    }
    #[inline(always)]
    fn forbidden(&self) -> Value<V> {
        Value(self.infinity)
    }
    #[inline]
    fn weight(&self, offset: usize, n: usize, m: usize) -> f64 {
        weight(self.g, offset as f64 - n.max(m) as f64 / 2.0)
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
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], weight: V) -> V {
        // Without weight a cell is free: 0 times a cost that overflowed would be no number.
        V::select(self.zero.less(weight), weight * here, self.zero)
    }
    /// Any arrival costs the cell, with its weight or more. Weights are in `0 ..= 1`, whatever `g` is.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], _: [V; 2], weight: V) -> V {
        let apart = outside(sample.point, reach);
        V::select(self.zero.less(weight), weight * (apart * apart), self.zero)
    }
    #[inline(always)]
    fn combine(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> Value<V> {
        Value(price + min3(diagonal.0, up.0, left.0))
    }
}

/// The weight of a cell whose `|i − j|` is so far beyond the middle of the longer series.
#[inline]
pub fn weight(g: f64, beyond: f64) -> f64 {
    1.0 / (1.0 + (-g * beyond).exp())
}

/// Hands the recurrence of WDTW to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, g: f64, visitor: F) -> F::Output {
    visitor.visit(Wdtw { zero: any.like(V::Scalar::ZERO), infinity: any.like(V::Scalar::INFINITY), g })
}
