//! The suite passes a backend that is right, and notices one that is not.

mod plain;

use std::collections::BTreeSet;

use dtw_conformance::golden;
use dtw_conformance::suite::{Judged, run_section};
use plain::{Fault, Plain};

mod whole {
    use super::{Fault, Plain};
    dtw_conformance::suite!(Plain(Fault::None));
}

#[test]
#[ignore = "takes three minutes: `.ci/more faults` runs it"]
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
        ("soft_digits", Fault::CancelsDigits),
        ("soft_digits", Fault::NegativeZero),
        ("soft_digits", Fault::IgnoresTheBand),
        ("soft_digits", Fault::DoesNotMirror),
        ("alignment", Fault::IgnoresTheBand),
        ("paths", Fault::PathPrefersLeft),
        ("random_paths", Fault::PathSkipsACell),
        ("matches", Fault::MatchStartsLate),
        ("matches", Fault::MatchIgnoresExclusion),
        ("random_matches", Fault::MatchIgnoresExclusion),
        ("bad_input", Fault::AcceptsMore),
        ("progress_and_cancellation", Fault::IgnoresCancellation),
        ("progress_and_cancellation", Fault::LosesProgress),
        ("long_subsequence_dtw", Fault::SlightlyOff),
        ("dtw", Fault::SupportsThenRefuses),
        ("dtw", Fault::SupportsNothing),
        ("random_msm", Fault::SupportsNothing),
        ("random_erp", Fault::WritesBefore),
        ("random_gradients", Fault::WritesBefore),
        ("long_subsequence_dtw", Fault::WritesBefore),
        ("random_erp", Fault::WritesBehind),
        ("random_gradients", Fault::WritesBehind),
        ("long_subsequence_dtw", Fault::WritesBehind),
        ("random_dtw", Fault::StaleValue),
        ("random_gradients", Fault::StaleValue),
        ("alignment", Fault::StaleValue),
        ("random_paths", Fault::StaleValue),
        ("random_matches", Fault::StaleValue),
        ("random_dtw", Fault::OneWrongPair),
        ("random_soft_dtw", Fault::OneWrongPair),
        ("random_gradients", Fault::OneWrongPair),
        ("random_paths", Fault::OneWrongPair),
        ("dtw", Fault::RefusesChannels),
        ("random_lcss", Fault::RefusesChannels),
        ("gradients_soft_dtw", Fault::RefusesChannels),
        ("alignment", Fault::RefusesBands),
        ("matches", Fault::RefusesChannels),
        ("random_paths", Fault::RefusesBands),
        ("progress_and_cancellation", Fault::RefusesChannels),
        ("golden", Fault::HasAnotherGap),
    ] {
        both(section, fault);
    }
}

/// What is said of the failures of a section with a fault, in one precision.
fn failures<T: Judged>(section: &str, fault: Fault) -> String {
    let report = run_section::<T>(section, &Plain(fault));
    assert!(!report.is_success(), "{section} passed with {fault:?}: {report}");
    assert!(!report.failed.is_empty(), "{section} did not fail with {fault:?}: {report}");
    report.failed.into_iter().map(|note| note.reason).collect::<Vec<_>>().join("\n")
}

/// [`failures`] in both precisions.
fn both(section: &str, fault: Fault) -> [String; 2] {
    [failures::<f32>(section, fault), failures::<f64>(section, fault)]
}

/// [`failures`] in one precision or the other, by the number of the section.
fn either(number: usize, section: &str, fault: Fault) -> String {
    if number.is_multiple_of(2) { failures::<f32>(section, fault) } else { failures::<f64>(section, fault) }
}

#[test]
fn what_is_no_longer_supported_is_noticed() {
    for (section, fault) in [
        ("dtw", Fault::RefusesChannels),
        ("random_lcss", Fault::RefusesChannels),
        ("gradients_soft_dtw", Fault::RefusesChannels),
        ("alignment", Fault::RefusesBands),
        ("matches", Fault::RefusesChannels),
        ("random_paths", Fault::RefusesBands),
        ("progress_and_cancellation", Fault::RefusesChannels),
        ("golden", Fault::HasAnotherGap),
    ] {
        let failures = either(section.len(), section, fault);
        assert!(failures.contains("does not list as a gap"), "{section} {fault:?}: {failures}");
    }
    assert!(failures::<f64>("golden", Fault::RefusesF64).contains("does not list as a gap"));
    assert!(run_section::<f32>("golden", &Plain(Fault::RefusesF64)).is_success());
}

#[test]
fn a_listed_gap_that_is_none_is_noticed_and_one_that_is_is_skipped() {
    for section in ["alignment", "golden", "random_gradients", "bad_input"] {
        let failures = failures::<f64>(section, Fault::HasNoGap);
        assert!(failures.contains("take it out of expectations.rs"), "{section}: {failures}");
    }
    let report = run_section::<f64>("bad_input", &Plain(Fault::HasAnotherGap));
    assert!(report.failed.is_empty() && report.skipped.len() == 1, "{report}");
    assert!(report.skipped[0].reason.contains("has no gradients"), "{:?}", report.skipped);
}

#[test]
fn writing_outside_an_output_is_noticed() {
    let faults = [(Fault::WritesBefore, "at index -1,"), (Fault::WritesBehind, "outside 0..")];
    for (k, (fault, place)) in faults.into_iter().enumerate() {
        for (l, section) in ["random_erp", "random_gradients", "long_subsequence_dtw"].into_iter().enumerate()
        {
            let failures = either(k + l, section, fault);
            assert!(failures.contains("wrote") && failures.contains(place), "{section}: {failures}");
        }
    }
}

#[test]
fn errors_of_one_part_in_a_hundred_million_are_noticed_in_double_precision() {
    let report = run_section::<f64>("golden", &Plain(Fault::OffByTenBillionths));
    let keys = |notes: &[dtw_conformance::report::Note]| -> BTreeSet<String> {
        notes.iter().filter_map(|note| Some(note.case.rsplit_once('(')?.1.to_owned())).collect()
    };
    let all = golden::parse(golden::GOLDEN_JSON).unwrap();
    let known: BTreeSet<&str> = all.iter().map(|case| case.as_ref().unwrap().spec.key()).collect();
    assert_eq!(keys(&report.failed).len(), known.len(), "{:?}", keys(&report.failed));
    for section in ["random_wddtw", "random_gradients", "alignment", "random_paths", "random_matches"] {
        failures::<f64>(section, Fault::OffByTenBillionths);
    }
}

#[test]
fn errors_of_eight_units_in_the_last_place_are_noticed_in_single_precision() {
    for section in ["random_dtw", "random_wdtw", "random_erp", "random_msm", "random_twed", "random_soft_dtw"]
    {
        failures::<f32>(section, Fault::OffByEightUlps);
    }
}

#[test]
fn a_factor_common_to_all_components_is_noticed_in_gradients_of_many_channels() {
    let report = run_section::<f32>("gradient_digits", &Plain(Fault::GradientWithAFactor));
    let cost = "SquaredEuclidean";
    for (gamma, channels) in ["0.02", "1.0"].into_iter().flat_map(|gamma| [8, 36, 64].map(|c| (gamma, c))) {
        let (of, ending) = (format!("SoftDtw {{ gamma: {gamma}, cost: {cost} }}"), format!("×{channels}"));
        let is_noticed =
            report.failed.iter().any(|note| note.case.contains(&of) && note.case.ends_with(&ending));
        assert!(is_noticed, "γ = {gamma}, {channels} channels");
    }
}

#[test]
fn bands_of_another_radius_are_noticed() {
    for section in ["random_dtw", "random_erp", "random_lcss", "random_paths", "random_gradients", "matches"]
    {
        for fault in [Fault::WiderBand, Fault::NarrowerBand] {
            both(section, fault);
        }
    }
}

// For paths: `PathPrefersLeft` above.
#[test]
fn ties_of_matches_broken_in_another_order_are_noticed() {
    for failures in both("matches", Fault::OtherTies) {
        assert!(failures.contains("expected ["), "{failures}");
    }
}

#[test]
fn a_value_left_over_from_the_call_before_is_noticed() {
    let sections = ["random_dtw", "random_gradients", "alignment", "random_paths", "random_matches"];
    for (k, section) in sections.into_iter().enumerate() {
        either(k, section, Fault::StaleValue);
    }
}

#[test]
fn one_wrong_value_in_a_ragged_batch_is_noticed() {
    let sections = ["random_dtw", "random_soft_dtw", "random_gradients", "random_paths"];
    for (k, section) in sections.into_iter().enumerate() {
        either(k, section, Fault::OneWrongPair);
    }
}
