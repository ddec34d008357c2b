//! Soft-DTW: `D(i,j) = c(xᵢ, yⱼ) + softmin_γ(D(i−1,j−1), D(i−1,j), D(i,j−1))`.
//!
//! Kept as `Z = e^(−D/γ)`, a scaled number ([`Scaled`]): `Z(i,j) = e^(−c/γ) · (Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1))`, so
//! that `D = −γ ln Z` at the end. Cuturi & Blondel 2017, arXiv 1703.01541.

use super::cost::{Cost, Manhattan, SquaredEuclidean};
use super::point::Apart;
use super::scaled::{Scaled, log_of};
use super::{Point, Recurrence, Sample, Visitor};
use crate::vector::Vector;
use crate::{LocalCost, Scalar};

/// Soft dynamic time warping with local cost `C`.
#[derive(Debug, Clone, Copy)]
pub struct SoftDtw<V, C> {
    gamma: f64,
    /// `−log₂(e)/γ`.
    rate: V,
    cost: C,
}

impl<V: Vector, C> SoftDtw<V, C> {
    /// The recurrence with smoothing γ, for vectors as wide as `any`.
    #[inline(always)]
    pub fn new(any: V, gamma: f64, cost: C) -> Self {
        Self { gamma, rate: any.constant(-std::f64::consts::LOG2_E / gamma), cost }
    }

    /// The local cost.
    #[inline(always)]
    pub fn cost(&self) -> C
    where
        C: Copy,
    {
        self.cost
    }

    /// The smoothing γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }
}

impl<V: Vector, P: Point<V>, C: Cost<V, P>> Recurrence<V, P> for SoftDtw<V, C> {
    type State = Scaled<V>;
    /// `e^(−c/γ)`.
    type Price = Scaled<V>;
    const RESCALES: bool = true;
    const TRACES: bool = false;

    #[inline(always)]
    fn any(&self) -> V {
        self.rate
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
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> Scaled<V> {
        let (mantissa, exponent) = (self.cost.whole(here) * self.rate).exp2_parts();
        Scaled { mantissa, exponent }
    }
    #[inline(always)]
    fn combine(&self, diagonal: Scaled<V>, up: Scaled<V>, left: Scaled<V>, price: Scaled<V>) -> Scaled<V> {
        Scaled::weighted_sum(diagonal, up, left, price)
    }
    #[inline(always)]
    fn rescale(&self, state: Scaled<V>) -> Scaled<V> {
        state.rescale()
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        // Adding 0 makes 0 of −0.
        V::Scalar::from_f64(-self.gamma * log_of(parts[0], parts[1])) + V::Scalar::ZERO
    }
}

/// Hands the recurrence of Soft-DTW to `visitor`; costs as in [`super::dtw::visit`], but for several channels all are
/// told at run time.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(
    any: V,
    gamma: f64,
    cost: LocalCost,
    visitor: F,
) -> F::Output {
    match cost {
        _ if !P::UNIVARIATE => visitor.visit(SoftDtw::new(any, gamma, cost)),
        LocalCost::SquaredEuclidean => visitor.visit(SoftDtw::new(any, gamma, SquaredEuclidean)),
        _ => visitor.visit(SoftDtw::new(any, gamma, Manhattan)),
    }
}
