//! MSM: `D(i,j) = min(D(i−1,j−1) + |xᵢ − yⱼ|, D(i−1,j) + C(xᵢ; xᵢ₋₁, yⱼ), D(i,j−1) + C(yⱼ; yⱼ₋₁, xᵢ))` with
//! `C(a; b, c) = c₀` if `a` lies between `b` and `c`, else `c₀ + min(|a − b|, |a − c|)`.
//!
//! Defined for one channel. Several channels are as many problems, whose distances a plan adds up; the recurrence
//! itself reads channel 0.
//!
//! Stefan, Athitsos & Das 2013, 10.1109/TKDE.2012.88.

use super::point::{Apart, manhattan, outside};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::Scalar;
use crate::vector::Vector;

/// Move–split–merge.
#[derive(Debug, Clone, Copy)]
pub struct Msm<V> {
    zero: V,
    c: V,
}

impl<V: Vector> Msm<V> {
    /// `C(new; before, opposite)`: the distance of `new` to the interval between the other two, plus `c`.
    #[inline(always)]
    fn split(&self, new: V, before: V, opposite: V) -> V {
        let (low, high) = (before.min(opposite), before.max(opposite));
        self.c + (low - new).max(new - high).max(self.zero)
    }
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Msm<V> {
    type State = Value<V>;
    /// Move, split or merge in x, split or merge in y.
    type Price = [V; 3];
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.c
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        manhattan(x, y)
    }
    #[inline(always)]
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, [apart, _]: [V; 2], _: V) -> [V; 3] {
        let (here, there) = (x.point.get(0), y.point.get(0));
        let up = self.split(here, x.previous.get(0), there);
        let left = self.split(there, y.previous.get(0), here);
        [apart, up, left]
    }
    /// The point is moved to one in reach; or it is split off or merged, for `c` and what it is outside of an interval
    /// that holds the point before it and all in reach.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, [lower, upper]: [V; 2], _: [V; 2], _: V) -> V {
        let before = sample.previous.get(0);
        let split = self.c + outside(sample.point, [lower.min(before), upper.max(before)]);
        outside(sample.point, [lower, upper]).min(split)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: [V; 3]) -> [V; 3] {
        [diagonal.0 + price[0], up.0 + price[1], left.0 + price[2]]
    }
}

/// Hands the recurrence of MSM to `visitor`.
///
/// # Panics
/// For points of several channels: a plan takes them one by one ([`crate::Measure::sums_channels`]).
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, c: f64, visitor: F) -> F::Output {
    if !P::UNIVARIATE {
        unreachable!("a plan takes the channels of msm one by one")
    }
    visitor.visit(Msm { zero: any.like(V::Scalar::ZERO), c: any.constant(c) })
}
