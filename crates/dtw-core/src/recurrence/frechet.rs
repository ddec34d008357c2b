//! Discrete Fréchet distance: `D(i,j) = max(‖xᵢ − yⱼ‖, min(D(i−1,j−1), D(i−1,j), D(i,j−1)))`; `D(0,0) = 0`, other
//! borders `∞`.
//!
//! Eiter & Mannila 1994, "Computing Discrete Fréchet Distance", technical report CD-TR 94/64, Technische Universität
//! Wien.

use super::point::{Apart, euclidean, min3};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::vector::Vector;

/// Discrete Fréchet distance.
#[derive(Debug, Clone, Copy)]
pub struct Frechet<V> {
    pub(crate) any: V,
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Frechet<V> {
    type State = Value<V>;
    type Price = V;
    const ROOTS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.any
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
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> V {
        here
    }
    #[inline(always)]
    fn combine(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: V) -> Value<V> {
        Value(price.max(min3(diagonal.0, up.0, left.0)))
    }
}

/// Hands the recurrence of the discrete Fréchet distance to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, visitor: F) -> F::Output {
    visitor.visit(Frechet { any })
}
