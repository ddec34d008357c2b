//! Distances of pairs and matrices of them, in memory; and how they are computed.

use dtwave::measure::Kind;
use dtwave::{Pairing, Problem, SeriesBatch};
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::calls::{self, Progress};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, Number, Of, with_number, written};
use crate::measures::{Spec, is_symmetric};

/// Grid cells up to which a single pair is short work.
const SHORT_PAIR: usize = 1 << 22;

/// The distance of two contiguous one-dimensional arrays of one number type, quickly; `None` where they are anything
/// else, or long: `distances` is for those. `measure` is a key, with default parameters, or a spec.
#[pyfunction]
pub(crate) fn distance_of_arrays(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    measure: &Bound<'_, PyAny>,
    engine: &Engine,
) -> PyResult<Option<f64>> {
    let known;
    let spec = if let Ok(spec) = measure.cast::<Spec>() {
        &spec.get().0
    } else if let Ok(key) = measure.cast::<PyString>() {
        let Some(kind) = Kind::of(&key.to_cow()?) else { return Ok(None) };
        let Ok(spec) = kind.spec(|_| None) else { return Ok(None) };
        known = spec;
        &known
    } else {
        return Ok(None);
    };
    if let Some(found) = of_type::<f64>(py, x, y, spec, engine)? {
        return Ok(Some(found));
    }
    Ok(of_type::<f32>(py, x, y, spec, engine)?.map(f64::from))
}

fn of_type<T: Number>(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    spec: &dtwave::Spec,
    engine: &Engine,
) -> PyResult<Option<T>> {
    // Subclasses may mean something else by their values: masked arrays hide some.
    if !(x.is_exact_instance_of::<PyUntypedArray>() && y.is_exact_instance_of::<PyUntypedArray>()) {
        return Ok(None);
    }
    let (Ok(x), Ok(y)) = (x.cast::<PyArray1<T>>(), y.cast::<PyArray1<T>>()) else { return Ok(None) };
    let is_short = x.len().saturating_mul(y.len()) <= SHORT_PAIR;
    if !(is_short && x.is_c_contiguous() && y.is_c_contiguous()) {
        return Ok(None);
    }
    let (x, y) = (x.try_readonly().map_err(|_| written())?, y.try_readonly().map_err(|_| written())?);
    // Values that are not aligned in memory are copied elsewhere.
    let (Ok(x), Ok(y)) = (x.as_slice(), y.as_slice()) else { return Ok(None) };
    let work = |observer| Ok(engine.session(spec, observer).distance(x, y)?);
    calls::run(py, 0, &None, work).map(Some)
}

/// About how many cells a pairing sweeps: enough to tell short work from long.
pub(crate) fn roughly<T>(pairing: Pairing, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> u64 {
    let pairs = match pairing {
        Pairing::Zipped => x.len() as u64,
        _ => (x.len() as u64).saturating_mul(y.len() as u64),
    };
    pairs
        .saturating_mul(x.max_length() as u64)
        .saturating_mul(y.max_length() as u64)
        .saturating_mul(x.channels() as u64)
}

/// Distances into `out`, a contiguous array of as many values: of zipped pairs; else of all pairs, without `y` of `x`
/// with itself.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn distances(
    py: Python<'_>,
    x: Batch<'_>,
    y: Option<Batch<'_>>,
    spec: &Spec,
    engine: &Engine,
    is_zipped: bool,
    out: &Bound<'_, PyAny>,
    progress: Progress,
) -> PyResult<()> {
    with_number!(x.is_f32(), T => {
        let mut out: PyReadwriteArrayDyn<'_, T> = out.extract()?;
        let out = out.as_slice_mut()?;
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, is_zipped)?;
        calls::run(py, roughly(pairing, &x, &y), &progress, |observer| {
            Ok(engine.session(&spec.0, observer).distances_into(pairing, &x, &y, out)?)
        })
    })
}

/// Both sides of a call, and which pairs it is about: without `y`, those of `x` with itself.
pub(crate) fn sides<'a, 'py, T: Of<'py>>(
    x: &'a Batch<'py>,
    y: Option<&'a Batch<'py>>,
    spec: &Spec,
    is_zipped: bool,
) -> Result<(SeriesBatch<'a, T>, SeriesBatch<'a, T>, Pairing), Failure> {
    let pairing = match (y.is_some(), is_zipped) {
        (true, true) => Pairing::Zipped,
        (false, _) if is_symmetric(&spec.0) => Pairing::SelfSymmetric,
        _ => Pairing::Cross,
    };
    let x = x.batch::<T>()?;
    Ok((x, y.map_or(Ok(x), |y| y.batch::<T>())?, pairing))
}

/// The cells that a call sweeps: of pairs, or of a matrix.
#[pyfunction]
pub(crate) fn cells(x: Batch<'_>, y: Option<Batch<'_>>, spec: &Spec, is_zipped: bool) -> PyResult<u64> {
    with_number!(x.is_f32(), T => {
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, is_zipped)?;
        let problem = Problem::of(spec.0.clone(), pairing, &x, &y).map_err(Failure::from)?;
        problem.check_input(&x, &y).map_err(Failure::from)?;
        Ok(problem.cells(&x, &y).map_err(Failure::from)?)
    })
}

/// All distances, and how they were computed: what `Explanation` says, in the words of `--explain`, and in numbers.
#[pyfunction]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    y: Option<Batch<'py>>,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Bound<'py, PyDict>> {
    let told = with_number!(x.is_f32(), T => {
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, false)?;
        calls::run(py, roughly(pairing, &x, &y), &progress, |observer| {
            let (done, told) = engine.session(&spec.0, observer).explain(|session| match pairing {
                Pairing::SelfSymmetric => session.pairwise(&x),
                _ => session.cross(&x, &y),
            });
            done?;
            Ok(told)
        })?
    });
    let found = PyDict::new(py);
    found.set_item("text", told.to_string())?;
    let kernels = told.kernels.into_iter().map(|k| (k.name, k.shape, k.why, k.launches, k.pairs));
    found.set_item("kernels", kernels.collect::<Vec<_>>())?;
    for (name, value) in [
        ("tiles", told.tiles),
        ("memory_bytes", told.memory_bytes),
        ("allowed_bytes", told.allowed_bytes),
        ("cells", told.cells),
    ] {
        found.set_item(name, value)?;
    }
    found.set_item("seconds", told.seconds)?;
    Ok(found)
}
