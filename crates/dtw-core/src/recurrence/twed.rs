//! TWED: match `D(i−1,j−1) + ‖xᵢ − yⱼ‖ₚ + ‖xᵢ₋₁ − yⱼ₋₁‖ₚ + ν(|tᵢ − sⱼ| + |tᵢ₋₁ − sⱼ₋₁|)`; delete in x
//! `D(i−1,j) + ‖xᵢ − xᵢ₋₁‖ₚ + ν(tᵢ − tᵢ₋₁) + λ`, likewise in y. `x₀ = y₀ = 0` at time 0; borders `∞`.
//!
//! For `i = j = 1` the second norm is that of two zero points; for `i = 1 < j` (and the transpose) the diagonal
//! neighbour is a border cell, so the convention for its norm never matters. Marteau 2009, 10.1109/TPAMI.2008.76.

use super::point::{Apart, euclidean, manhattan, outside, sum_channels};
use super::{Point, Recurrence, Sample, Value, Visitor};
use crate::vector::Vector;

/// Time warp edit distance.
#[derive(Debug, Clone, Copy)]
pub struct Twed<V> {
    nu: V,
    lambda: V,
    degree: f64,
}

impl<V: Vector> Twed<V> {
    #[inline(always)]
    fn norms<P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
        &self,
        a: [P; ROWS],
        b: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        if P::UNIVARIATE || self.degree == 1.0 {
            return manhattan(a, b);
        }
        if self.degree == 2.0 {
            return euclidean(a, b);
        }
        let mut norms = [[self.nu; COLUMNS]; ROWS];
        for r in 0..ROWS {
            for c in 0..COLUMNS {
                norms[r][c] = self.norm_of_degree(a[r], b[c]);
            }
        }
        norms
    }

    /// For any degree. Powers are so slow that a call does not matter; inlined for every cell, they take long to
    /// compile.
    #[inline(never)]
    fn norm_of_degree<P: Point<V>>(&self, a: P, b: P) -> V {
        let [[sum]] = sum_channels([a], [b], |a, b| (a - b).abs().powf(self.degree));
        sum.powf(1.0 / self.degree)
    }
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for Twed<V> {
    type State = Value<V>;
    /// Match, delete in x, delete in y.
    type Price = [V; 3];
    const GAPS: bool = true;
    const TIMES: bool = true;
    const LOOKS_BACK: bool = true;
    const ROOTS: bool = true;
    const GROWS: bool = true;

    #[inline(always)]
    fn any(&self) -> V {
        self.nu
    }
    #[inline(always)]
    fn gap(&self, sample: &Sample<V, P>) -> V {
        let elapsed = sample.time - sample.previous_time;
        let [[step]] = self.norms([sample.point], [sample.previous]);
        step + (self.nu * elapsed + self.lambda)
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        self.norms(x, y)
    }
    #[inline(always)]
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, [here, before]: [V; 2], _: V) -> [V; 3] {
        let lag = (x.time - y.time).abs() + (x.previous_time - y.previous_time).abs();
        [self.nu.mul_add(lag, here + before), x.gap, y.gap]
    }
    /// The point and the one before it are matched with such in reach, whatever the times are; or the point is
    /// deleted.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], before: [V; 2], _: V) -> V {
        (outside(sample.point, reach) + outside(sample.previous, before)).min(sample.gap)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Value<V>, up: Value<V>, left: Value<V>, price: [V; 3]) -> [V; 3] {
        [diagonal.0 + price[0], up.0 + price[1], left.0 + price[2]]
    }
}

/// Hands the recurrence of TWED to `visitor`.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(
    any: V,
    nu: f64,
    lambda: f64,
    degree: f64,
    visitor: F,
) -> F::Output {
    visitor.visit(Twed { nu: any.constant(nu), lambda: any.constant(lambda), degree })
}
