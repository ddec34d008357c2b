//! Distances against the oracle, inside their buffer, the same every time.

use dtw_core::{Backend, Pairing, Plan, Problem, Task};

use super::{Checked, Stop, bits, prepared, refused};
use crate::batch::{Batch, Element, pairs};
use crate::cases::Case;
use crate::guard::Guarded;
use crate::oracle::{BandError, OracleError};
use crate::tolerance;
use crate::translate;

/// What an oracle expects of one output value.
struct Expected<T> {
    truth: f64,
    plain: T,
    scale: f64,
    steps: f64,
}

/// Checks one case.
///
/// # Errors
/// [`Stop`] unless everything holds.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let (flat_x, flat_y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (flat_x.batch()?, flat_y.batch()?);
    // Planned for x alone where pairs are mirrored; the call still gets y, which it must ignore.
    let other = if case.pairing == Pairing::SelfSymmetric { &x } else { &y };
    let problem = Problem::of(translate::spec(&case.measure, &case.band), case.pairing, &x, other);
    let expected = match expected::<T>(case) {
        Ok(expected) => expected,
        // A band that does not fit must be refused, by whichever of the three steps first sees it.
        Err(OracleError::Band(error)) => {
            let named: &[&str] = if matches!(error, BandError::NoPath(_)) { &["no path"] } else { &[] };
            let Ok(problem) = problem else { return refused(problem, "this band", named) };
            let plan = match backend.supports(&problem, Task::Distances) {
                Ok(()) => backend.plan(&problem),
                Err(error) => return Err(Stop::Unsupported(error.to_string())),
            };
            let Ok(mut plan) = plan else { return refused(plan.map(|_| ()), "this band", named) };
            let mut out = Guarded::<T>::new(problem.output_len());
            return refused(plan.distances(x, y, out.output()), "this band", named);
        }
        Err(error) => return Err(error.into()),
    };
    let problem = problem?;
    let mut plan = prepared(backend, &problem, Task::Distances)?;
    let run = |plan: &mut dyn Plan<T>| -> Checked<Vec<T>> {
        let mut out = Guarded::new(problem.output_len());
        plan.distances(x, y, out.output())?;
        Ok(out.checked("out")?.to_vec())
    };
    let got = run(plan.as_mut())?;
    compare(case, &got, &expected)?;
    if case.pairing == Pairing::SelfSymmetric {
        mirrored(&got, case.x.series.len())?;
    }
    if bits(&run(plan.as_mut())?) != bits(&got) {
        return Err(Stop::Failed("a second call of the same plan gives other bits".to_owned()));
    }
    if bits(&run(backend.plan(&problem)?.as_mut())?) != bits(&got) {
        return Err(Stop::Failed("a fresh plan gives other bits".to_owned()));
    }
    Ok(())
}

fn expected<T: Element>(case: &Case) -> Result<Vec<Expected<T>>, OracleError> {
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    pairs(case.pairing, case.x.series.len(), y.series.len())
        .into_iter()
        .map(|(s, t)| {
            let pair = Batch::pair(&case.x, s, y, t);
            let truth = case.measure.distance(&pair, &case.band)?;
            let plain = case.measure.distance(&pair.cast::<T>(), &case.band)?;
            let scale = tolerance::scale(&case.measure, &pair, &case.band, truth)?;
            Ok(Expected { truth, plain, scale, steps: (pair.x.len() + pair.y.len()) as f64 })
        })
        .collect()
}

fn compare<T: Element>(case: &Case, got: &[T], expected: &[Expected<T>]) -> Checked {
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    let pairs = pairs(case.pairing, case.x.series.len(), y.series.len());
    if got.len() != expected.len() {
        return Err(Stop::Failed(format!("expected {} values, got {}", expected.len(), got.len())));
    }
    for ((got, expected), (s, t)) in got.iter().zip(expected).zip(pairs) {
        let allowed = tolerance::allowed(expected.truth, expected.plain, expected.scale, expected.steps);
        let (n, m) = (case.x.series[s].len(), y.series[t].len());
        let what = format!("x[{s}] ({n} points) with y[{t}] ({m} points)");
        tolerance::within(&what, got.wide(), expected.truth, allowed)?;
    }
    Ok(())
}

fn mirrored<T: Element>(got: &[T], n: usize) -> Checked {
    for s in 0..n {
        for t in 0..s {
            let (lower, upper) = (got[s * n + t], got[t * n + s]);
            if lower.wide().to_bits() != upper.wide().to_bits() {
                return Err(Stop::Failed(format!("({s}, {t}) is {lower} but ({t}, {s}) is {upper}")));
            }
        }
    }
    Ok(())
}
