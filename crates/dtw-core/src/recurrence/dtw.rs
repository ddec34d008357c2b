//! DTW: `D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j), D(i,j−1))`; `D(0,0) = 0`, other borders `∞`.
//!
//! Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.

use super::cost::{Cost, Manhattan, SquaredEuclidean};
use super::point::{Apart, min3, outside};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::LocalCost;
use crate::vector::Vector;

/// Dynamic time warping with local cost `C`. If it is `OPEN`, paths start anywhere in y, at no cost.
#[derive(Debug, Clone, Copy)]
pub struct Dtw<V, C, const OPEN: bool = false> {
    any: V,
    pub(super) cost: C,
}

impl<V: Vector, C> Dtw<V, C> {
    /// The recurrence for vectors as wide as `any`.
    #[inline(always)]
    pub fn new(any: V, cost: C) -> Self {
        Self { any, cost }
    }
}

impl<V: Vector, C> Dtw<V, C, true> {
    /// The recurrence with an open start, for vectors as wide as `any`.
    #[inline(always)]
    pub fn open(any: V, cost: C) -> Self {
        Self { any, cost }
    }
}

impl<V: Vector, P: Point<V>, C: Cost<V, P>, const OPEN: bool> Recurrence<V, P> for Dtw<V, C, OPEN> {
    type State = Value<V>;
    type Price = V;
    const ROOTS: bool = C::ROOTS;
    /// A match's path is that of DTW between the query and the matched stretch.
    const TRACES: bool = !OPEN;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.any
    }
    #[inline(always)]
    fn border_right(&self, _: Value<V>, _: &Sample<V, P>, _: usize) -> Value<V> {
        if OPEN { Recurrence::<V, P>::origin(self) } else { Recurrence::<V, P>::forbidden(self) }
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        self.cost.between_each(x, y)
    }
    #[inline(always)]
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> V {
        here
    }
    /// Any arrival costs the cell: LB_Keogh.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], _: [V; 2], _: V) -> V {
        self.cost.whole(outside(sample.point, reach))
    }
    #[inline(always)]
    fn combine(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> Value<V> {
        Value(self.cost.add_to(min3(diagonal.0, up.0, left.0), price))
    }
}

/// Hands the recurrence of DTW to `visitor`. Each visit is a copy of the visitor to compile: for one channel the
/// Euclidean cost is the Manhattan cost and goes there; for several, both are told at run time.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, cost: LocalCost, visitor: F) -> F::Output {
    match cost {
        LocalCost::SquaredEuclidean => visitor.visit(Dtw::new(any, SquaredEuclidean)),
        _ if P::UNIVARIATE => visitor.visit(Dtw::new(any, Manhattan)),
        _ => visitor.visit(Dtw::new(any, cost)),
    }
}
