//! The oracles' measures and bands, said in the words of `dtw-core`. The only place where both vocabularies meet.

use dtw_core as core;

use crate::oracle::{Band, LocalCost, Measure, Radius};

fn cost(cost: LocalCost) -> core::LocalCost {
    match cost {
        LocalCost::SquaredEuclidean => core::LocalCost::SquaredEuclidean,
        LocalCost::Euclidean => core::LocalCost::Euclidean,
        LocalCost::Manhattan => core::LocalCost::Manhattan,
    }
}

fn radius(radius: Radius) -> core::Radius {
    match radius {
        Radius::Points(points) => core::Radius::Points(points),
        Radius::Fraction(fraction) => core::Radius::Fraction(fraction),
    }
}

fn band(band: &Band) -> core::Band {
    match band {
        Band::Full => core::Band::Full,
        Band::SakoeChiba(r) => core::Band::SakoeChiba { radius: radius(*r) },
        Band::Slanted(r) => core::Band::Slanted { radius: radius(*r) },
        Band::Itakura { max_slope } => core::Band::Itakura { max_slope: *max_slope },
        Band::Ranges(ranges) => core::Band::Ranges(ranges.clone()),
    }
}

/// What a backend is asked for when an oracle is asked for `measure` in `within`.
pub fn spec(measure: &Measure, within: &Band) -> core::Spec {
    let measure = match *measure {
        Measure::SubsequenceDtw { cost: local } => {
            return core::Spec::subsequence_dtw(cost(local)).with_band(band(within));
        }
        Measure::Dtw { cost: local } => core::Measure::Dtw { cost: cost(local) },
        Measure::Ddtw { cost: local } => core::Measure::Ddtw { cost: cost(local) },
        Measure::Wdtw { g } => core::Measure::Wdtw { g },
        Measure::Wddtw { g } => core::Measure::Wddtw { g },
        Measure::Adtw { penalty } => core::Measure::Adtw { penalty },
        Measure::Erp { gap } => core::Measure::Erp { gap },
        Measure::Edr { epsilon, normalized } => {
            let output = if normalized { core::EdrOutput::Normalized } else { core::EdrOutput::Count };
            core::Measure::Edr { epsilon, output }
        }
        Measure::Lcss { epsilon } => core::Measure::Lcss { epsilon, output: core::LcssOutput::Distance },
        Measure::LcssLength { epsilon } => core::Measure::Lcss { epsilon, output: core::LcssOutput::Length },
        Measure::Msm { c } => core::Measure::Msm { c },
        Measure::Twed { nu, lambda, degree } => core::Measure::Twed { nu, lambda, degree },
        Measure::SoftDtw { gamma } => core::Measure::SoftDtw { gamma },
        Measure::SoftDtwDivergence { gamma } => core::Measure::SoftDtwDivergence { gamma },
        Measure::LogGak { sigma } => core::Measure::LogGak { sigma },
    };
    core::Spec::new(measure).with_band(band(within))
}
