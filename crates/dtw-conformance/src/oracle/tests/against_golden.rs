//! Every oracle against every golden case.

use crate::golden::{GOLDEN_JSON, parse};
use crate::oracle::{Oracle, Pair, Real};
use dtw_core::{Measure, Spec};

/// Both sides are loops of the same equations. They differ by the order of a few operations, and the file's sums over
/// paths have 40 digits before they are rounded.
const RELATIVE: f64 = 1e-12;

fn assert_close(what: &str, got: f64, expected: f64, scale: f64) {
    let error = (got - expected).abs();
    assert!(error <= RELATIVE * scale, "{what}: got {got}, expected {expected}, error {error:e}");
}

#[test]
fn every_golden_case() {
    let mut checked = std::collections::BTreeMap::<&str, usize>::new();
    for case in parse(GOLDEN_JSON).unwrap() {
        let case = case.unwrap();
        let (spec, pair, name) = (&case.spec, &case.pair, &case.name);
        if let Some(expected) = case.expected.distance {
            let got = spec.distance(pair).unwrap();
            // A divergence is a small difference of large values.
            let scale = match spec.measure {
                Measure::SoftDtwDivergence { gamma, cost } => {
                    let whole = Spec { measure: Measure::SoftDtw { gamma, cost }, ..spec.clone() };
                    [(&pair.x, &pair.y), (&pair.x, &pair.x), (&pair.y, &pair.y)]
                        .into_iter()
                        .map(|(a, b)| {
                            let pair = Pair::new(a.clone(), b.clone());
                            whole.distance(&pair).unwrap().wide().abs()
                        })
                        .fold(expected.abs(), f64::max)
                }
                _ => expected.abs(),
            };
            assert_close(name, got, expected, scale);
        }
        if let Some(expected) = &case.expected.grad_x {
            let (grad_x, _) = spec.gradients(pair).unwrap();
            let scale = expected.iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
            for (got, expected) in grad_x.iter().flatten().zip(expected.iter().flatten()) {
                // γ = 0.01 divides the rounding of R by γ before the exponential.
                assert_close(name, *got, *expected, 100.0 * scale);
            }
        }
        if let Some(expected) = &case.expected.path {
            assert_eq!(&spec.path(pair).unwrap(), expected, "{name}");
        }
        if case.expected.start.is_some() || case.expected.end.is_some() {
            let best = spec.matches(pair, 1, 0).unwrap()[0];
            // A case may expect one of the two only.
            let expected = (case.expected.start.unwrap_or(best.start), case.expected.end.unwrap_or(best.end));
            assert_eq!((best.start, best.end), expected, "{name}");
        }
        *checked.entry(spec.key()).or_default() += 1;
    }
    // Every measure that the file covers was really there.
    assert!(checked.len() >= 15, "{checked:?}");
}
