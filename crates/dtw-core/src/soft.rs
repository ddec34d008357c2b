//! Results of the measures that sum over all paths: when the plain sweep has kept their digits, and what to do
//! otherwise.
//!
//! Soft-DTW is `−γ ln Z`, a sum of two parts of opposite signs: the *excess* `γ ln(N/Z) ≥ 0` of the costs, and
//! `−γ ln N`, where `N` is the number of paths. Rounding moves `ln Z` by a few units in the last place for every step
//! of a path, whatever the costs are. That is little compared with both parts together, unless these are small compared
//! with γ. They are small with few paths and a large γ; in a divergence, where `ln N` cancels, with a large γ alone.
//! The excess is then computed by itself ([`crate::recurrence::SoftExcess`]). The alignment kernel is the same with −1
//! in place of γ.

use crate::counts::PathCounts;
use crate::{Band, Dtype, Measure, Result, Scalar};

/// What a result of such a measure is made of.
#[derive(Debug, Clone, Copy)]
pub struct SoftResult {
    /// γ, or −1 for the alignment kernel.
    unit: f64,
    /// Whether the excess is wanted, not the value: for a divergence.
    wants_excess: bool,
}

/// How large a logarithm must be that the roundings of `ln Z` do not matter beside it.
///
/// With `s` steps these come to 3 s/2 units in the last place at most: equal weights round alike, so the errors add up.
/// Promised are `8 + √s/2` of the size of what is added up (docs/numerics.md). Few and small steps are held to `√s`.
pub fn least_logarithm(n: usize, m: usize) -> f64 {
    let steps = (n + m) as f64;
    steps.sqrt().max(3.0 * steps / (16.0 + steps.sqrt()))
}

/// How many times the excess a value in `f32` may be that the excess is computed from: what was rounded in the value
/// stays.
pub const MOST_CANCELLED: f64 = 8.0;

impl SoftResult {
    /// For a measure that sums over all paths. A divergence is made of excesses.
    pub const fn of(measure: &Measure) -> Option<Self> {
        match *measure {
            Measure::SoftDtw { gamma, .. } => Some(Self { unit: gamma, wants_excess: false }),
            Measure::SoftDtwDivergence { gamma, .. } => Some(Self { unit: gamma, wants_excess: true }),
            Measure::LogGak { .. } => Some(Self { unit: -1.0, wants_excess: false }),
            _ => None,
        }
    }

    /// Whether plain sweeps of lengths `n` and `m` keep the digits of every result, whatever the series are: there are
    /// so many paths. Then there is no need to ask [`SoftResult::from_value`].
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn always_keeps_digits(
        &self,
        counts: &mut PathCounts,
        band: &Band,
        (n, m): (usize, usize),
    ) -> Result<bool> {
        Ok(!self.wants_excess && counts.at_least(band, n, m)? >= least_logarithm(n, m))
    }

    /// The result, if the plain sweep's `value` for lengths `n` and `m` has kept its digits.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn from_value<T: Scalar>(
        &self,
        value: T,
        counts: &mut PathCounts,
        band: &Band,
        (n, m): (usize, usize),
    ) -> Result<Option<T>> {
        let least = least_logarithm(n, m);
        let logarithm = value.to_f64() / self.unit;
        if self.wants_excess {
            let excess = logarithm + counts.log(band, n, m)?;
            let is_rounded = T::DTYPE == Dtype::F32 && logarithm.abs() > MOST_CANCELLED * excess;
            let is_kept = excess >= least && !is_rounded;
            return Ok(is_kept.then(|| T::from_f64(self.unit * excess)));
        }
        let is_kept = logarithm.abs() >= least || self.always_keeps_digits(counts, band, (n, m))?;
        Ok(is_kept.then_some(value))
    }

    /// The result from the `excess` that [`crate::recurrence::SoftExcess`] gives, where the plain sweep's `value` has
    /// lost its digits.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn from_excess<T: Scalar>(
        &self,
        excess: T,
        value: T,
        counts: &mut PathCounts,
        band: &Band,
        (n, m): (usize, usize),
    ) -> Result<T> {
        let (excess, log_paths) = (excess.to_f64(), counts.log(band, n, m)?);
        let is_excess = excess.is_finite();
        Ok(positive_zero(match (self.wants_excess, is_excess) {
            (true, true) => excess,
            // Not vouched for because it is large beside γ: so the plain sweep has its digits.
            (true, false) => (value.to_f64() + self.unit * log_paths).max(0.0),
            (false, true) => self.unit.signum() * (excess - self.unit.abs() * log_paths),
            (false, false) => value.to_f64(),
        }))
    }

    /// `s(x, y) − ½(s(x, x) + s(y, y))` from the three excesses.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn divergence<T: Scalar>(
        &self,
        [both, own_x, own_y]: [T; 3],
        counts: &mut PathCounts,
        band: &Band,
        (n, m): (usize, usize),
    ) -> Result<T> {
        let excess = both.to_f64() - 0.5 * (own_x.to_f64() + own_y.to_f64());
        Ok(positive_zero(excess - self.unit * counts.divergence(band, n, m)?))
    }
}

/// Rounds; what is 0 then is not −0.
fn positive_zero<T: Scalar>(value: f64) -> T {
    T::from_f64(value) + T::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_that_sum_over_all_paths_are_known() {
        let unit = |measure| SoftResult::of(&measure).map(|soft| (soft.unit, soft.wants_excess));
        assert_eq!(unit(Measure::soft_dtw(0.5)), Some((0.5, false)));
        assert_eq!(unit(Measure::soft_dtw_divergence(0.5)), Some((0.5, true)));
        assert_eq!(unit(Measure::LogGak { sigma: 2.0 }), Some((-1.0, false)));
        assert_eq!(unit(Measure::DTW), None);
    }

    /// Of a value that is kept, equal weights may spoil 3 s/2 units. No more than what is promised of it.
    #[test]
    fn values_are_kept_where_roundings_in_step_stay_within_the_promise() {
        for steps in (65..5_000).chain([10_000, 99_999, 1_000_000, 20_000_000]) {
            let (logarithm, s) = (least_logarithm(steps - 1, 1), steps as f64);
            let promised = (8.0 + 0.5 * s.sqrt()) * logarithm;
            assert!(1.5 * s <= promised * (1.0 + 1e-12), "{s} steps, kept from {logarithm}");
        }
        assert_eq!(least_logarithm(10, 15), 5.0, "few steps are held to their root");
    }
}
