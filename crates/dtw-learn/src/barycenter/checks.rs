//! What is checked of an average (measure, series, tolerance, cost), and how small a change of its cost is none.

use dtw_core::{Anchor, LocalCost, Measure, Result, SeriesBatch, Spec, bail_invalid};

/// Whether [`super::barycenter`] is defined for the spec.
pub(crate) fn check_averageable(spec: &Spec) -> Result<()> {
    if spec.anchor == Anchor::Subsequence {
        bail_invalid!("an average needs both ends of the series matched: use the global anchor");
    }
    match spec.measure {
        Measure::SoftDtw { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::SoftDtwDivergence { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::Dtw { cost: LocalCost::SquaredEuclidean } => Ok(()),
        Measure::Dtw { cost } => bail_invalid!(
            "an average under dtw needs the squared Euclidean cost, which a mean minimises; got {cost:?}"
        ),
        Measure::SoftDtw { cost, .. } | Measure::SoftDtwDivergence { cost, .. } => bail_invalid!(
            "an average under {} needs the squared Euclidean cost, whose slope has no jumps; got {cost:?}",
            spec.measure.key()
        ),
        _ => bail_invalid!(
            "an average is defined under dtw, soft_dtw and soft_dtw_divergence; got {}",
            spec.measure.key()
        ),
    }
}

/// Checks that the series have no timestamps, which none of these measures uses.
pub(crate) fn check_untimed<T>(x: &SeriesBatch<'_, T>) -> Result<()> {
    if x.has_times() {
        bail_invalid!("timestamps are used by twed only, which has no average: leave them out");
    }
    Ok(())
}

/// The unit below which a change of the mean cost per unit of weight is no change: γ where the cost is one of Soft-DTW,
/// which may be 0 anywhere. Distances that are 0 for equal series need none.
pub(crate) fn cost_floor(spec: &Spec) -> f64 {
    match spec.measure {
        Measure::SoftDtw { gamma, .. } => gamma,
        _ => 0.0,
    }
}

pub(crate) fn check_cost(what: &str, cost: f64) -> Result<()> {
    if cost.is_finite() { Ok(()) } else { bail_invalid!("{what} is {cost}: scale or normalise the data") }
}

pub(crate) fn check_tolerance(tolerance: f64) -> Result<()> {
    if tolerance.is_finite() && tolerance >= 0.0 {
        Ok(())
    } else {
        bail_invalid!("the tolerance must be a finite number >= 0, got {tolerance}")
    }
}
