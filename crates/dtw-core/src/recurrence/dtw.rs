//! DTW: `D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j), D(i,j−1))`; `D(0,0) = 0`, other borders `∞`.
//!
//! Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.

use std::marker::PhantomData;

use super::point::{euclidean, min3, squared_euclidean, sum_channels};
use super::{Point, Recurrence, Sample, Total};
use crate::Scalar;
use crate::vector::Vector;

/// A local cost, split in two so that the squared difference can be fused with the addition that follows it.
pub trait Cost<V: Vector, P: Point<V>>: Copy {
    /// What can be computed without the neighbours.
    fn between(x: P, y: P) -> V;
    /// `base` plus the cost.
    fn add_to(base: V, between: V) -> V;
}

/// Sum over channels of squared differences.
#[derive(Debug, Clone, Copy)]
pub struct SquaredEuclidean;
/// Root of [`SquaredEuclidean`].
#[derive(Debug, Clone, Copy)]
pub struct Euclidean;
/// Sum over channels of absolute differences.
#[derive(Debug, Clone, Copy)]
pub struct Manhattan;

impl<V: Vector, P: Point<V>> Cost<V, P> for SquaredEuclidean {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        if P::UNIVARIATE { x.get(0) - y.get(0) } else { squared_euclidean(x, y) }
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        if P::UNIVARIATE { between.mul_add(between, base) } else { base + between }
    }
}

impl<V: Vector, P: Point<V>> Cost<V, P> for Euclidean {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        euclidean(x, y)
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        base + between
    }
}

impl<V: Vector, P: Point<V>> Cost<V, P> for Manhattan {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        sum_channels(x, y, |a, b| (a - b).abs())
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        base + between
    }
}

/// Dynamic time warping with local cost `C`.
#[derive(Debug, Clone, Copy)]
pub struct Dtw<V, C> {
    zero: V,
    infinity: V,
    cost: PhantomData<C>,
}

impl<V: Vector, C> Dtw<V, C> {
    /// The recurrence for vectors as wide as `any`.
    #[inline(always)]
    pub fn new(any: V) -> Self {
        Self { zero: any.like(V::Scalar::ZERO), infinity: any.like(V::Scalar::INFINITY), cost: PhantomData }
    }
}

impl<V: Vector, P: Point<V>, C: Cost<V, P>> Recurrence<V, P> for Dtw<V, C> {
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
        C::between(x.point, y.point)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Total<V>, up: Total<V>, left: Total<V>, _: V) -> [V; 3] {
        [diagonal.0, up.0, left.0]
    }
    #[inline(always)]
    fn combine(&self, diagonal: Total<V>, up: Total<V>, left: Total<V>, price: V) -> Total<V> {
        Total(C::add_to(min3(diagonal.0, up.0, left.0), price))
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        parts[0]
    }
}
