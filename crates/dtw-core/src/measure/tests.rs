//! What the table of measures has to be: complete and consistent.

use std::collections::BTreeSet;

use super::*;
use crate::Spec;

#[test]
fn keys_are_different_and_found() {
    let keys: BTreeSet<&str> = Kind::keys().collect();
    assert_eq!(keys.len(), Kind::all().len());
    for kind in Kind::all() {
        assert_eq!(Kind::of(kind.key).unwrap().key, kind.key);
        let base = Kind::of(kind.recurrence).unwrap();
        assert_eq!(base.recurrence, base.key, "{kind:?} has the recurrence of a measure with one of its own");
        let searches_alone = kind.anchor == Anchor::Subsequence;
        assert_eq!(kind.key == "subsequence_dtw", searches_alone);
    }
    assert!(Kind::of("dwt").is_none());
}

#[test]
fn examples_are_of_their_kind_and_come_back() {
    for kind in Kind::all() {
        assert!(!kind.examples.is_empty(), "{kind:?}");
        for spec in kind.specs() {
            spec.check().unwrap();
            assert_eq!(spec.kind().key, kind.key);
            let values = spec.measure.parameters();
            assert_eq!(values.len(), kind.parameters.len());
            let value = |wanted: &Parameter| Some(values.iter().find(|(p, _)| p.name == wanted.name)?.1);
            assert_eq!(kind.spec(value).unwrap(), spec);
        }
    }
}

#[test]
fn parameters_are_described_and_their_defaults_allowed() {
    for kind in Kind::all() {
        for parameter in kind.parameters {
            assert!(!parameter.text.is_empty(), "{kind:?} {parameter:?}");
            assert_eq!(parameter.symbol.is_empty(), parameter.switch().is_some(), "{kind:?} {parameter:?}");
            if let Some(value) = parameter.usual() {
                parameter.check(kind.key, value).unwrap();
            }
            let same = Kind::all().iter().filter_map(|other| other.parameter(parameter.name));
            for other in same.filter(|_| parameter.switch().is_none()) {
                let said = |p: &Parameter| (p.symbol, p.text, p.range, p.choices);
                assert_eq!(said(parameter), said(other), "{}: one name, one meaning", parameter.name);
            }
        }
        if let Similarity::Where(choice) = kind.similarity {
            assert!(kind.parameters.iter().any(|parameter| parameter.choices.contains(&choice)), "{kind:?}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let refuses = |key: &str, name: &'static str, value: Value, said: &str| {
        let given = |p: &Parameter| (p.name == name).then_some(value);
        let error = Kind::of(key).unwrap().spec(given).unwrap_err().to_string();
        assert_eq!(error, said);
    };
    refuses("wdtw", "g", Value::Number(-1.0), "wdtw needs g >= 0, got -1");
    refuses("twed", "degree", Value::Number(0.5), "twed needs degree >= 1, got 0.5");
    refuses("soft_dtw", "gamma", Value::Number(0.0), "soft_dtw needs gamma > 0, got 0");
    refuses("erp", "gap", Value::Number(f64::INFINITY), "erp needs a finite gap, got inf");
    refuses("adtw", "penalty", Value::Number(f64::NAN), "adtw needs penalty >= 0, got NaN");
    refuses("log_gak", "nothing", Value::Number(1.0), "log_gak needs sigma > 0, which has no default");
    refuses("adtw", "penalty", Value::Choice("count"), "adtw needs penalty >= 0, which has no default");
    let cost = Kind::of("dtw").unwrap().parameter("cost").unwrap();
    assert_eq!(cost.choice("manhattan").unwrap(), Value::Choice("manhattan"));
    let error = cost.choice("cosine").unwrap_err().to_string();
    assert_eq!(error, "unknown cost `cosine`; expected one of squared_euclidean, euclidean, manhattan");
}

#[test]
fn defaults_are_those_of_the_constants() {
    let usual = |key: &str| Kind::of(key).unwrap().spec(|_| None).unwrap();
    assert_eq!(usual("dtw"), Spec::dtw());
    assert_eq!(usual("subsequence_dtw"), Spec::subsequence_dtw(LocalCost::SquaredEuclidean));
    assert_eq!(usual("soft_dtw"), Spec::soft_dtw(Measure::DEFAULT_GAMMA));
    let (nu, lambda, degree) = (Measure::DEFAULT_NU, Measure::DEFAULT_LAMBDA, Measure::DEFAULT_DEGREE);
    assert_eq!(usual("twed").measure, Measure::Twed { nu, lambda, degree });
    assert!(!usual("lcss").measure.is_similarity());
    let length = Measure::Lcss { epsilon: 1.0, output: LcssOutput::Length };
    assert!(length.is_similarity() && Measure::LogGak { sigma: 1.0 }.is_similarity());
}
