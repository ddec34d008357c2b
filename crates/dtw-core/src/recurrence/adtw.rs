//! ADTW: `D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j) + ω, D(i,j−1) + ω)`, squared Euclidean `c`.
//!
//! Herrmann & Webb 2023, 10.1016/j.patcog.2023.109333.

use super::point::{Apart, min3, outside, squared_euclidean};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::vector::Vector;

/// Amerced dynamic time warping.
#[derive(Debug, Clone, Copy)]
pub struct Adtw<V> {
    pub(crate) penalty: V,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Adtw<V> {
    type State = Value<V>;
    type Price = V;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.penalty
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
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> V {
        here
    }
    /// Any arrival costs the cell. The penalty is left out: every row and column may be reached by the diagonal.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], _: [V; 2], _: V) -> V {
        let apart = outside(sample.point, reach);
        apart * apart
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, _: V) -> [V; 3] {
        [diagonal.0, up.0 + self.penalty, left.0 + self.penalty]
    }
    #[inline(always)]
    fn combine(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> Value<V> {
        Value(price + min3(diagonal.0, up.0 + self.penalty, left.0 + self.penalty))
    }
}

/// Hands the recurrence of ADTW to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, penalty: f64, visitor: F) -> F::Output {
    visitor.visit(Adtw { penalty: any.constant(penalty) })
}
