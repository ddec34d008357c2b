//! Distances against the oracle, inside their buffer, the same every time.

use dtw_core::{Backend, Dtype, Pairing, Plan, Problem, SeriesBatch, Task};

use super::{Checked, Stop, bits, prepared, refused, supported};
use crate::accuracy::Accuracy;
use crate::batch::{Batch, Element, pairs};
use crate::cases::Case;
use crate::expectations::weight_error;
use crate::guard::Guarded;
use crate::oracle::{BandError, Oracle, OracleError};
use crate::report::Details;
use crate::tolerance;

/// What an oracle expects of one output value.
struct Expected<T> {
    truth: f64,
    plain: T,
    scale: f64,
    steps: f64,
    /// What the backend may be off beyond that.
    more: f64,
}

/// Checks one case in the usual memory.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked<Details> {
    check_within(case, Problem::DEFAULT_MEMORY_LIMIT_BYTES, backend)
}

/// Checks one case in this much scratch memory: the values, and that a plan that was used for other series before gives
/// the same bits as a fresh one, so that nothing is left over from call to call.
pub fn check_within<T: Element>(
    case: &Case,
    memory_limit_bytes: u64,
    backend: &dyn Backend<T>,
) -> Checked<Details> {
    let (flat_x, flat_y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (flat_x.batch()?, flat_y.batch()?);
    // Planned for x alone where pairs are mirrored; the call still gets y, which it must ignore.
    let other = if case.pairing == Pairing::SelfSymmetric { &x } else { &y };
    let problem = Problem::of(case.spec.clone(), case.pairing, &x, other)
        .map(|problem| problem.with_memory_limit(memory_limit_bytes));
    let expected = match expected::<T>(case, weight_error(backend.name())) {
        Ok(expected) => expected,
        // A band that does not fit must be refused, by whichever of the three steps first sees it.
        Err(OracleError::Band(error)) => {
            let named: &[&str] = if matches!(error, BandError::NoPath(_)) { &["no path"] } else { &[] };
            let refusal = Details { refusals: 1, ..Details::default() };
            let Ok(problem) = problem else { return refused(problem, "this band", named).map(|()| refusal) };
            supported(backend, &problem, Task::Distances)?;
            let mut plan = match backend.plan(&problem) {
                Ok(plan) => plan,
                error => return refused(error.map(drop), "this band", named).map(|()| refusal),
            };
            let mut out = Guarded::<T>::new(problem.output_len());
            return refused(plan.distances(x, y, out.output()), "this band", named).map(|()| refusal);
        }
        Err(error) => return Err(error.into()),
    };
    let problem = problem?;
    let mut plan = prepared(backend, &problem, Task::Distances)?;
    let run = |plan: &mut dyn Plan<T>, x: SeriesBatch<'_, T>| -> Checked<Vec<T>> {
        let mut out = Guarded::new(problem.output_len());
        plan.distances(x, y, out.output())?;
        Ok(out.checked("out")?.to_vec())
    };
    let got = run(plan.as_mut(), x)?;
    let accuracy = compare(case, &got, &expected)?;
    if case.pairing == Pairing::SelfSymmetric {
        mirrored(&got, case.x.series.len())?;
    }
    let mut used = backend.plan(&problem)?;
    let changed = flat_x.changed();
    run(used.as_mut(), changed.batch()?)?;
    if bits(&run(used.as_mut(), x)?) != bits(&got) {
        let message = "a plan that was used for other series before gives other bits than a fresh one";
        return Err(Stop::Failed(message.to_owned()));
    }
    Ok(Details { refusals: 0, accuracy })
}

fn expected<T: Element>(case: &Case, weight_error: f64) -> Result<Vec<Expected<T>>, OracleError> {
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    pairs(case.pairing, case.x.series.len(), y.series.len())
        .into_iter()
        .map(|(s, t)| {
            let pair = Batch::pair(&case.x, s, y, t);
            let truth = case.spec.distance(&pair)?;
            let plain = match T::DTYPE {
                // The yardstick of single precision alone.
                Dtype::F64 => T::of(truth),
                Dtype::F32 => case.spec.distance(&pair.cast::<T>())?,
            };
            let scale = tolerance::scale(&case.spec, &pair, truth)?;
            let more = tolerance::of_weights::<T>(&case.spec, &pair, weight_error);
            Ok(Expected { truth, plain, scale, steps: (pair.x.len() + pair.y.len()) as f64, more })
        })
        .collect()
}

fn compare<T: Element>(case: &Case, got: &[T], expected: &[Expected<T>]) -> Checked<Accuracy> {
    let mut accuracy = Accuracy::default();
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    let pairs = pairs(case.pairing, case.x.series.len(), y.series.len());
    if got.len() != expected.len() {
        return Err(Stop::Failed(format!("expected {} values, got {}", expected.len(), got.len())));
    }
    for ((got, expected), (s, t)) in got.iter().zip(expected).zip(pairs) {
        let allowed = tolerance::allowed(expected.truth, expected.plain, expected.scale, expected.steps);
        let (n, m) = (case.x.series[s].len(), y.series[t].len());
        let what = format!("x[{s}] ({n} points) with y[{t}] ({m} points)");
        tolerance::within(&what, got.wide(), expected.truth, allowed + expected.more)?;
        if T::DTYPE == Dtype::F32 && expected.scale > 0.0 {
            let relative = |value: T| (value.wide() - expected.truth).abs() / expected.scale;
            accuracy.add(relative(*got), relative(expected.plain));
        }
    }
    Ok(accuracy)
}

/// Whether results of a batch with itself are the same on both sides of the diagonal.
pub(super) fn mirrored<T: Element>(got: &[T], n: usize) -> Checked {
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
