//! The suite passes a backend that is right, and notices one that is not.

mod plain;

use dtw_conformance::report::Report;
use dtw_conformance::suite::run_section;
use plain::{Fault, Plain};

dtw_conformance::suite!(Plain(Fault::None));

/// Runs a section with a fault in both precisions.
fn reports(section: &str, fault: Fault) -> [Report; 2] {
    [run_section::<f32>(section, &Plain(fault)), run_section::<f64>(section, &Plain(fault))]
}

#[test]
fn every_fault_is_noticed() {
    for (section, fault) in [
        ("dtw", Fault::LeavesTheLastUnwritten),
        ("dtw", Fault::RootOfTheDistance),
        ("dtw", Fault::IgnoresTheBand),
        ("dtw", Fault::ForgetsTheLastPair),
        ("dtw", Fault::SlightlyOff),
        ("dtw", Fault::DiffersFromCallToCall),
        ("dtw", Fault::DoesNotMirror),
        ("random_soft_dtw", Fault::SlightlyOff),
        ("random_erp", Fault::IgnoresTheBand),
        ("twed", Fault::IgnoresTimes),
        ("random_twed", Fault::IgnoresTimes),
        ("golden", Fault::RootOfTheDistance),
        ("gradients_soft_dtw", Fault::GradientWithoutUpstream),
        ("gradients_soft_dtw", Fault::GradientOfTheOther),
        ("random_gradients", Fault::GradientOfTheOther),
        ("alignment", Fault::IgnoresTheBand),
        ("paths", Fault::PathPrefersLeft),
        ("random_paths", Fault::PathSkipsACell),
        ("matches", Fault::MatchStartsLate),
        ("matches", Fault::MatchIgnoresExclusion),
        ("random_matches", Fault::MatchIgnoresExclusion),
        ("bad_input", Fault::AcceptsNaN),
        ("progress_and_cancellation", Fault::IgnoresCancellation),
        ("progress_and_cancellation", Fault::LosesProgress),
        ("half_dtw", Fault::HalfIsOff),
        ("half_subsequence_dtw", Fault::HalfIsOff),
        ("random_half_dtw", Fault::HalfIsOff),
        ("random_half_subsequence_dtw", Fault::HalfIsOff),
        ("half_others", Fault::HalfIsOff),
        ("half_others", Fault::HalfIgnoresTheBand),
        ("half_others", Fault::HalfMovesMatches),
        ("half_contract", Fault::AcceptsNaN),
        ("half_contract", Fault::LosesProgress),
        ("dtw", Fault::SupportsThenRefuses),
        ("dtw", Fault::SupportsNothing),
        ("random_msm", Fault::SupportsNothing),
    ] {
        for report in reports(section, fault) {
            assert!(
                !report.is_success() && !report.failed.is_empty(),
                "{section} passed with {fault:?}: {report}"
            );
        }
    }
}
