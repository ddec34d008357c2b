//! LCSS: `L(i,j) = L(i−1,j−1) + 1` if `‖xᵢ − yⱼ‖ ≤ ε`, else `max(L(i−1,j), L(i,j−1))`; borders 0.
//!
//! Kept as `−L`, so that the best arrival is the least one here as elsewhere. A step up or left never beats a match, so
//! the three arrivals may all be compared. A band restricts matches: outside it `L` is the larger of `L(i−1,j)` and
//! `L(i,j−1)`. So right of a band of which no end ever decreases, `L` is that of the row's last cell inside, and left
//! of it that of the column's last cell inside: sweeps need no more of what lies outside than its nearest cells.
//! Vlachos, Kollios & Gunopulos 2002, 10.1109/ICDE.2002.994784.

use super::point::Apart;
use super::threshold::Threshold;
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::vector::Vector;
use crate::{LcssOutput, Scalar};

/// Longest common subsequence.
#[derive(Debug, Clone, Copy)]
pub struct Lcss<V> {
    zero: V,
    minus_one: V,
    threshold: Threshold<V>,
    output: LcssOutput,
}

impl<V: Vector> Lcss<V> {
    /// The recurrence on points `P`, for vectors as wide as `any`.
    #[inline(always)]
    pub(crate) fn new<P: Point<V>>(any: V, epsilon: f64, output: LcssOutput) -> Self {
        let threshold = Threshold::new::<P>(any, epsilon);
        Self { zero: any.like(V::Scalar::ZERO), minus_one: any.constant(-1.0), threshold, output }
    }
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Lcss<V> {
    type State = Value<V>;
    /// −1 for a match, else 0: a diagonal step without a match is then no better than one up and one left.
    type Price = V;
    const LEAVES_BAND: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.zero
    }
    #[inline(always)]
    fn outside(&self, up: Value<V>, left: Value<V>) -> Value<V> {
        Value(up.0.min(left.0))
    }
    #[inline(always)]
    fn border_down(&self, _: Value<V>, _: &Sample<V, P>) -> Value<V> {
        Value(self.zero)
    }
    #[inline(always)]
    fn border_right(&self, _: Value<V>, _: &Sample<V, P>, _: usize) -> Value<V> {
        Value(self.zero)
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        self.threshold.apart(x, y)
    }
    #[inline(always)]
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> V {
        V::select(self.threshold.reaches(here), self.minus_one, self.zero)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> [V; 3] {
        [diagonal.0 + price, up.0, left.0]
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], n: usize, m: usize) -> V::Scalar {
        let length = V::Scalar::ZERO - parts[0];
        match self.output {
            LcssOutput::Length => length,
            LcssOutput::Distance => V::Scalar::from_f64(1.0) - length / V::Scalar::from_f64(n.min(m) as f64),
        }
    }
}

/// Hands the recurrence of LCSS to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(
    any: V,
    epsilon: f64,
    output: LcssOutput,
    visitor: F,
) -> F::Output {
    visitor.visit(Lcss::new::<P>(any, epsilon, output))
}
