//! EDR: `D(i,j) = min(D(i−1,j−1) + [‖xᵢ − yⱼ‖ > ε], D(i−1,j) + 1, D(i,j−1) + 1)`; borders `i` and `j`.
//!
//! Chen, Özsu & Oria 2005, 10.1145/1066157.1066213.

use super::point::{Apart, outside};
use super::threshold::Threshold;
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::vector::Vector;
use crate::{EdrOutput, Scalar};

/// Edit distance on real sequences.
#[derive(Debug, Clone, Copy)]
pub struct Edr<V> {
    zero: V,
    one: V,
    threshold: Threshold<V>,
    output: EdrOutput,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Edr<V> {
    type State = Value<V>;
    type Price = V;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.one
    }
    #[inline(always)]
    fn border_down(&self, above: Value<V>, _: &Sample<V, P>) -> Value<V> {
        Value(above.0 + self.one)
    }
    #[inline(always)]
    fn border_right(&self, left: Value<V>, _: &Sample<V, P>, _: usize) -> Value<V> {
        Value(left.0 + self.one)
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
        V::select(self.threshold.reaches(here), self.zero, self.one)
    }
    /// An edit, where no point in reach matches.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], _: [V; 2], _: V) -> V {
        V::select(self.threshold.reaches(outside(sample.point, reach)), self.zero, self.one)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> [V; 3] {
        [diagonal.0 + price, up.0 + self.one, left.0 + self.one]
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], n: usize, m: usize) -> V::Scalar {
        match self.output {
            EdrOutput::Count => parts[0],
            EdrOutput::Normalized => parts[0] / V::Scalar::from_f64(n.max(m) as f64),
        }
    }
}

/// Hands the recurrence of EDR to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(
    any: V,
    epsilon: f64,
    output: EdrOutput,
    visitor: F,
) -> F::Output {
    visitor.visit(Edr {
        zero: any.like(V::Scalar::ZERO),
        one: any.constant(1.0),
        threshold: Threshold::new::<P>(any, epsilon),
        output,
    })
}
