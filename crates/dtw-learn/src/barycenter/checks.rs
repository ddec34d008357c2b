//! What is checked of an average (measure, series, tolerance, cost), and how small a change of its cost is none.

use dtw_core::measure::Kind;
use dtw_core::{Anchor, LocalCost, Measure, Result, SeriesBatch, Spec, bail_invalid};

/// Whether series have an average under measures of this kind: there are paths that say which points to average, or
/// gradients, and a small change of a point changes the distance.
pub fn has_average(kind: &Kind) -> bool {
    AVERAGED.contains(&kind.key)
}

/// Measures with averages.
const AVERAGED: [&str; 10] =
    ["dtw", "ddtw", "wdtw", "wddtw", "adtw", "erp", "msm", "twed", "soft_dtw", "soft_dtw_divergence"];

/// Whether [`super::barycenter`] is defined for the spec.
pub(crate) fn check_averageable(spec: &Spec) -> Result<()> {
    if spec.anchor == Anchor::Subsequence {
        bail_invalid!("an average needs both ends of the series matched: use the global anchor");
    }
    match spec.measure {
        Measure::SoftDtw { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::SoftDtwDivergence { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::Dtw { cost: LocalCost::SquaredEuclidean }
        | Measure::Ddtw { cost: LocalCost::SquaredEuclidean } => Ok(()),
        Measure::Dtw { cost } | Measure::Ddtw { cost } => bail_invalid!(
            "an average under {} needs the squared Euclidean cost, which a mean minimises; got {cost:?}",
            spec.measure.key()
        ),
        Measure::SoftDtw { cost, .. } | Measure::SoftDtwDivergence { cost, .. } => bail_invalid!(
            "an average under {} needs the squared Euclidean cost, whose slope has no jumps; got {cost:?}",
            spec.measure.key()
        ),
        _ if has_average(spec.kind()) => Ok(()),
        _ => bail_invalid!(
            "an average is defined under {}; got {}, {}",
            AVERAGED.join(", "),
            spec.measure.key(),
            match spec.measure {
                Measure::Edr { .. } | Measure::Lcss { .. } =>
                    "which counts points and does not change where a point moves a little",
                Measure::Frechet => "whose value is one difference of two points, whatever the others are",
                _ => "which sums over paths and has no gradient here",
            }
        ),
    }
}

/// Checks that the series have no timestamps, which a centre would need too.
pub(crate) fn check_untimed<T>(x: &SeriesBatch<'_, T>) -> Result<()> {
    if x.has_times() {
        bail_invalid!("an average has no timestamps: leave them out");
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
