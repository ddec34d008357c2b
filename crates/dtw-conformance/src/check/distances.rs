//! Distances against the oracle, inside their buffer, the same every time.

use dtw_core::{Backend, Dtype, Pairing, Plan, Precision, Problem, SeriesBatch, Task};

use super::{Checked, Stop, bits, prepared, refused, supported};
use crate::accuracy::Accuracy;
use crate::batch::{Batch, Element, pairs};
use crate::cases::Case;
use crate::guard::Guarded;
use crate::oracle::{BandError, Measure, OracleError};
use crate::report::Details;
use crate::tolerance;
use crate::translate;

/// What an oracle expects of one output value.
struct Expected<T> {
    truth: f64,
    plain: T,
    scale: f64,
    steps: f64,
}

/// How a backend is asked.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// How many digits.
    pub precision: Precision,
    /// Scratch memory it may take.
    pub memory_limit_bytes: u64,
    /// Largest error in half precision, relative to the scale.
    pub half_relative: f64,
}

impl Call {
    /// In full precision, in the usual memory.
    pub const FULL: Self = Self {
        precision: Precision::Full,
        memory_limit_bytes: Problem::DEFAULT_MEMORY_LIMIT_BYTES,
        half_relative: tolerance::HALF_RELATIVE,
    };
    /// In half precision, in the usual memory.
    pub const HALF: Self = Self { precision: Precision::Half, ..Self::FULL };
}

/// Checks one case in full precision.
///
/// # Errors
/// [`Stop`] unless everything holds.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked<Details> {
    check_call(case, &Call::FULL, backend)
}

/// Checks one case: the values, and that a plan that was used for other series before gives the same bits as a fresh one,
/// so that nothing is left over from call to call.
///
/// # Errors
/// [`Stop`] unless everything holds.
pub fn check_call<T: Element>(case: &Case, call: &Call, backend: &dyn Backend<T>) -> Checked<Details> {
    let (flat_x, flat_y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (flat_x.batch()?, flat_y.batch()?);
    // Planned for x alone where pairs are mirrored; the call still gets y, which it must ignore.
    let other = if case.pairing == Pairing::SelfSymmetric { &x } else { &y };
    let problem = Problem::of(translate::spec(&case.measure, &case.band), case.pairing, &x, other)
        .map(|problem| problem.with_precision(call.precision).with_memory_limit(call.memory_limit_bytes));
    let expected = match expected::<T>(case) {
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
    let accuracy = compare(case, call, &got, &expected)?;
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

fn expected<T: Element>(case: &Case) -> Result<Vec<Expected<T>>, OracleError> {
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    pairs(case.pairing, case.x.series.len(), y.series.len())
        .into_iter()
        .map(|(s, t)| {
            let pair = Batch::pair(&case.x, s, y, t);
            let truth = case.measure.distance(&pair, &case.band)?;
            let plain = match T::DTYPE {
                // The yardstick of single precision alone.
                Dtype::F64 => T::of(truth),
                Dtype::F32 => case.measure.distance(&pair.cast::<T>(), &case.band)?,
            };
            let scale = tolerance::scale(&case.measure, &pair, &case.band, truth)?;
            Ok(Expected { truth, plain, scale, steps: (pair.x.len() + pair.y.len()) as f64 })
        })
        .collect()
}

/// The largest error that half precision is allowed beyond that of full precision; none where nothing may be half.
fn half_allowed<T: Element>(case: &Case, call: &Call) -> impl Fn(&Expected<T>, usize, usize) -> f64 {
    let channels = case.x.series[0][0].len();
    let may = move |n, m| {
        call.precision == Precision::Half
            && tolerance::may_be_half::<T>(&case.measure, &case.band, channels, n, m)
    };
    let values = || case.x.series.iter().chain(&case.y.series).flatten().flatten().copied();
    // Partners decide the scale, and any series may be one.
    let range = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
    let (relative, is_search) = (call.half_relative, matches!(case.measure, Measure::SubsequenceDtw { .. }));
    move |expected, n, m| {
        // A query is seldom stretched to twice its length.
        let steps = if is_search { m.min(n) + n } else { n + m } as f64;
        if may(n, m) { relative * expected.scale + tolerance::half_floor(range, steps) } else { 0.0 }
    }
}

fn compare<T: Element>(case: &Case, call: &Call, got: &[T], expected: &[Expected<T>]) -> Checked<Accuracy> {
    let mut accuracy = Accuracy::default();
    let half = half_allowed::<T>(case, call);
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    let pairs = pairs(case.pairing, case.x.series.len(), y.series.len());
    if got.len() != expected.len() {
        return Err(Stop::Failed(format!("expected {} values, got {}", expected.len(), got.len())));
    }
    for ((got, expected), (s, t)) in got.iter().zip(expected).zip(pairs) {
        let allowed = tolerance::allowed(expected.truth, expected.plain, expected.scale, expected.steps);
        let (n, m) = (case.x.series[s].len(), y.series[t].len());
        let more = half(expected, n, m);
        let what = format!("x[{s}] ({n} points) with y[{t}] ({m} points)");
        tolerance::within(&what, got.wide(), expected.truth, allowed + more)?;
        if T::DTYPE == Dtype::F32 && more == 0.0 && expected.scale > 0.0 {
            let relative = |value: T| (value.wide() - expected.truth).abs() / expected.scale;
            accuracy.add(relative(*got), relative(expected.plain));
        }
    }
    Ok(accuracy)
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
