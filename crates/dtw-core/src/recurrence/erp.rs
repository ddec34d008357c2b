//! ERP: `D(i,j) = min(D(i−1,j−1) + ‖xᵢ − yⱼ‖, D(i−1,j) + ‖xᵢ − g‖, D(i,j−1) + ‖yⱼ − g‖)`; the borders accumulate the
//! gap costs.
//!
//! Chen & Ng 2004, 10.1016/B978-012088469-8.50070-X.

use super::point::{Apart, euclidean, outside};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::Scalar;
use crate::vector::Vector;

/// Edit distance with real penalty.
#[derive(Debug, Clone, Copy)]
pub struct Erp<V> {
    zero: V,
    gap: V,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Erp<V> {
    type State = Value<V>;
    /// Match, delete, insert.
    type Price = [V; 3];
    const GAPS: bool = true;
    const ROOTS: bool = true;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.gap
    }
    #[inline(always)]
    fn border_down(&self, above: Value<V>, x: &Sample<V, P>) -> Value<V> {
        Value(above.0 + x.gap)
    }
    #[inline(always)]
    fn border_right(&self, left: Value<V>, y: &Sample<V, P>, _: usize) -> Value<V> {
        Value(left.0 + y.gap)
    }
    #[inline(always)]
    fn gap(&self, sample: &Sample<V, P>) -> V {
        let point = sample.point;
        if P::UNIVARIATE {
            return (point.get(0) - self.gap).abs();
        }
        let mut sum = self.zero;
        for k in 0..point.channels() {
            let difference = point.get(k) - self.gap;
            sum = sum + difference * difference;
        }
        sum.sqrt()
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        euclidean(x, y)
    }
    #[inline(always)]
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, [here, _]: [V; 2], _: V) -> [V; 3] {
        [here, x.gap, y.gap]
    }
    /// The point is matched with one in reach, or left out. This is LB_Keogh with the gap value in every envelope.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], _: [V; 2], _: V) -> V {
        outside(sample.point, reach).min(sample.gap)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: [V; 3]) -> [V; 3] {
        [diagonal.0 + price[0], up.0 + price[1], left.0 + price[2]]
    }
}

/// Hands the recurrence of ERP to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, gap: f64, visitor: F) -> F::Output {
    visitor.visit(Erp { zero: any.like(V::Scalar::ZERO), gap: any.constant(gap) })
}
