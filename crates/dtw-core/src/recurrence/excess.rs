//! Soft-DTW and the alignment kernel where the costs are small beside γ: `Z = Σ e^(−cost/γ)` over `N` paths, kept as
//! `Z` and what is missing to `N`, `X = N − Z`.
//!
//! With `q = e^(−c/γ)` and sums over the three arrivals, `Z = q · ΣZ` and `X = ΣX + (1 − q) · ΣZ`: sums of positive
//! numbers only, so both keep all their digits, and `1 − q` keeps those of `c/γ`, which `q` alone loses where it is
//! near 1. The result is the *excess* `γ ln(N/Z) = γ ln(1 + X/Z)` of the value over `−γ ln N`: never negative, near the
//! mean cost of all paths where γ is large. ([`super::SoftDtw`] has an exponent of its own for `Z`, so it is the one
//! for small γ.)
//!
//! Equal weights round alike, so the errors of many steps add up instead of cancelling. In `f32`, `Z` and `X` are
//! therefore kept with what rounding has taken from them, in a second number each (Knuth's two-sum).

use super::cost::Cost;
use super::point::Apart;
use super::{Point, Recurrence, Sample, State, Visitor};
use crate::vector::Vector;
use crate::{Dtype, LocalCost, Measure, Scalar};

/// A positive number and what rounding has taken from it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair<V> {
    most: V,
    rest: V,
}

impl<V: Vector> Pair<V> {
    /// Whether the rest is kept: `f64` has digits to spare.
    const IS_WHOLE: bool = matches!(V::Scalar::DTYPE, Dtype::F32);

    #[inline(always)]
    fn of(most: V) -> Self {
        Self { most, rest: most.like(V::Scalar::ZERO) }
    }
    #[inline(always)]
    fn sum(self) -> V {
        if Self::IS_WHOLE { self.most + self.rest } else { self.most }
    }
    /// This and one number more, of either sign.
    #[inline(always)]
    fn plus(self, term: V) -> Self {
        let most = self.most + term;
        if !Self::IS_WHOLE {
            return Self { most, ..self };
        }
        let came = most - self.most;
        let lost = (self.most - (most - came)) + (term - came);
        Self { most, rest: self.rest + lost }
    }
    /// This and the other.
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let sum = self.plus(other.most);
        if Self::IS_WHOLE { Self { rest: sum.rest + other.rest, ..sum } } else { sum }
    }
    /// Each times `factor`, which is exact for powers of 2.
    #[inline(always)]
    fn times(self, factor: V) -> Self {
        let rest = if Self::IS_WHOLE { self.rest * factor } else { self.rest };
        Self { most: self.most * factor, rest }
    }
    /// The same number with the least rest.
    #[inline(always)]
    fn normalized(self) -> Self {
        Self { rest: self.most.like(V::Scalar::ZERO), ..self }.plus(self.rest)
    }
}

/// `kept · 2^exponent` and `missing · 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parted<V> {
    kept: Pair<V>,
    missing: Pair<V>,
    /// Integral.
    exponent: V,
}

impl<V: Vector> State<V> for Parted<V> {
    const PARTS: usize = if Pair::<V>::IS_WHOLE { 5 } else { 3 };
    #[inline(always)]
    fn part(&self, k: usize) -> V {
        let Self { kept, missing, exponent } = *self;
        match Pair::<V>::IS_WHOLE {
            true => [kept.most, kept.rest, missing.most, missing.rest, exponent][k],
            false => [kept.most, missing.most, exponent][k],
        }
    }
    #[inline(always)]
    fn from_parts(part: impl Fn(usize) -> V) -> Self {
        if Pair::<V>::IS_WHOLE {
            let pair = |k: usize| Pair { most: part(k), rest: part(k + 1) };
            return Self { kept: pair(0), missing: pair(2), exponent: part(4) };
        }
        Self { kept: Pair::of(part(0)), missing: Pair::of(part(1)), exponent: part(2) }
    }
    #[inline(always)]
    fn origin(any: V) -> Self {
        let zero = any.like(V::Scalar::ZERO);
        Self { kept: Pair::of(any.constant(1.0)), missing: Pair::of(zero), exponent: zero }
    }
    #[inline(always)]
    fn forbidden(any: V) -> Self {
        let nothing = Pair::of(any.like(V::Scalar::ZERO));
        Self { kept: nothing, missing: nothing, exponent: any.constant(V::ZERO_EXPONENT) }
    }
}

/// The excess of Soft-DTW over `−γ ln N`, or of `ln N` over the alignment kernel's logarithm.
#[derive(Debug, Clone, Copy)]
pub struct SoftExcess<V> {
    /// γ, or 1.
    unit: f64,
    /// `−log₂(e)/γ`, or `−log₂(e)/2σ²`.
    rate: V,
    /// 1 for the alignment kernel, whose `κ = q/(2 − q)`; 0 for Soft-DTW.
    kernel: V,
    cost: LocalCost,
}

/// What a measure that sums over all paths divides its costs by, and 1 for the alignment kernel, 0 for Soft-DTW; `None`
/// for another measure.
#[inline(always)]
pub fn divisor_and_kernel(measure: &Measure) -> Option<(f64, f64)> {
    match *measure {
        Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => Some((gamma, 0.0)),
        Measure::LogGak { sigma } => Some((2.0 * sigma * sigma, 1.0)),
        _ => None,
    }
}

/// Hands the recurrence of this measure's excess to `visitor`, for vectors as wide as `any`. The cost is told at run
/// time: few results need this sweep.
///
/// # Panics
/// For a measure that does not sum over all paths: [`crate::SoftResult::of`] knows them.
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, measure: &Measure, visitor: F) -> F::Output {
    let Some((divisor, kernel)) = divisor_and_kernel(measure) else {
        panic!("{} has no excess", measure.key())
    };
    let (unit, cost) = match *measure {
        Measure::SoftDtw { gamma, cost } | Measure::SoftDtwDivergence { gamma, cost } => (gamma, cost),
        _ => (1.0, LocalCost::SquaredEuclidean),
    };
    let rate = any.constant(-std::f64::consts::LOG2_E / divisor);
    visitor.visit(SoftExcess { unit, rate, kernel: any.constant(kernel), cost })
}

/// `(2^t, 1 − 2^t)` for `t ≤ 0`, the second one within 8e-15 of itself in `f64`. Below `2^POW2_MIN` nothing more is
/// taken away.
#[inline(always)]
fn exp2_and_rest<V: Vector>(t: V) -> (V, V) {
    let bounded = t.max(t.constant(V::POW2_MIN));
    let exponent = bounded.round();
    let r = bounded - exponent;
    // 2^r − 1: the polynomial without its constant term, which is 1.
    let mut tail = t.constant(V::EXP2[V::EXP2.len() - 1]);
    for coefficient in V::EXP2[1..V::EXP2.len() - 1].iter().rev() {
        tail = tail.mul_add(r, t.constant(*coefficient));
    }
    let (tail, scale, one) = (tail * r, exponent.pow2(), t.constant(1.0));
    let scaled = scale * tail;
    (scale + scaled, (one - scale) - scaled)
}

impl<V: Vector, P: Point<V>> Recurrence<V, P> for SoftExcess<V> {
    type State = Parted<V>;
    /// What is kept and what is taken away.
    type Price = [V; 2];
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
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> [V; 2] {
        let (kept, taken) = exp2_and_rest(here * self.rate);
        // q/(2 − q) = q/(1 + (1 − q)), and 1 less that is 2(1 − q)/(1 + (1 − q)).
        let one = self.rate.constant(1.0);
        let share = one / self.kernel.mul_add(taken, one);
        [kept * share, (taken + self.kernel * taken) * share]
    }
    #[inline(always)]
    fn combine(&self, diagonal: Parted<V>, up: Parted<V>, left: Parted<V>, price: [V; 2]) -> Parted<V> {
        let [share, taken] = price;
        let exponent = diagonal.exponent.max(up.exponent).max(left.exponent);
        let [diagonal, up, left] = [diagonal, up, left].map(|state| {
            let scale = self.rate.constant(1.0).scale_down(state.exponent - exponent);
            [state.kept.times(scale), state.missing.times(scale)]
        });
        let [kept, missing] = [0, 1].map(|k| diagonal[k].add(up[k]).add(left[k]));
        // What is taken from one is added to the other. Where more than half is taken, what is left is the product.
        let moved = kept.sum() * taken;
        if !Pair::<V>::IS_WHOLE {
            return Parted { kept: kept.times(share), missing: missing.plus(moved), exponent };
        }
        let (less, product) = (kept.plus(-moved), kept.times(share));
        let is_most = taken.less(taken.constant(0.5));
        let kept = Pair {
            most: V::select(is_most, less.most, product.most),
            rest: V::select(is_most, less.rest, product.rest),
        };
        Parted { kept, missing: missing.plus(moved), exponent }
    }
    #[inline(always)]
    fn rescale(&self, state: Parted<V>) -> Parted<V> {
        let zero = self.rate.like(V::Scalar::ZERO);
        let sum = state.kept.most + state.missing.most;
        let shift = V::select(zero.less(sum), sum.exponent(), zero);
        let scale = (-shift).pow2();
        let [kept, missing] = [state.kept, state.missing].map(|pair| pair.normalized().times(scale));
        Parted { kept, missing, exponent: state.exponent + shift }
    }
    /// The excess; NaN where `Z` has become too small a share of `N` to have kept its digits.
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        let state = Parted::from_parts(|k| parts[k]);
        let [kept, missing] = [state.kept, state.missing].map(|pair| pair.most.to_f64() + pair.rest.to_f64());
        let vouched = kept > 0.0 && kept >= missing * (0.9 * V::POW2_MIN).exp2();
        let excess = if vouched { self.unit * (missing / kept).ln_1p() } else { f64::NAN };
        V::Scalar::from_f64(excess)
    }
}

#[cfg(test)]
mod tests {
    use super::exp2_and_rest;
    use crate::vector::Vector;

    /// Both, also where one is close to 1: that is what they are two for. The polynomial's second coefficient is `ln 2`
    /// but for 7e-15 of it, which is the largest error of the second.
    #[test]
    fn a_power_and_what_it_lacks_of_one_keep_their_digits() {
        for k in 0..4000_i32 {
            let t = -1e-12 * 1.01_f64.powi(k % 3300) * f64::from(1 + k % 7);
            let t = t.max(f64::POW2_MIN);
            let (power, rest) = exp2_and_rest(t);
            let (wanted, lacks) = (t.exp2(), -(t * std::f64::consts::LN_2).exp_m1());
            assert!((power - wanted).abs() <= 4e-16 * wanted, "2^{t}: {power} is not {wanted}");
            assert!((rest - lacks).abs() <= 8e-15 * lacks, "1 - 2^{t}: {rest} is not {lacks}");
        }
        assert_eq!(exp2_and_rest(0.0), (1.0, 0.0));
    }
}
