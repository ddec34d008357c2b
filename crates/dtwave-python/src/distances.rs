//! Distances of pairs and matrices of them, in memory.

use dtwave::measure::Kind;
use dtwave::{Anchor, Band, Pairing, Problem, SeriesBatch};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::calls::{self, Progress};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, Number, Of, with_number};
use crate::measures::Spec;

/// Grid cells up to which a single pair is short work.
const SHORT_PAIR: usize = 1 << 22;

/// The distance of two contiguous one-dimensional arrays of one number type, quickly; `None` where they are anything
/// else, or long: `zipped` is for those. `measure` is a key, with default parameters, or a spec.
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
    let (x, y) = (x.try_readonly()?, y.try_readonly()?);
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

/// The distances of the s-th series of `x` with the s-th of `y`.
#[pyfunction]
pub(crate) fn zipped(
    py: Python<'_>,
    x: Batch<'_>,
    y: Batch<'_>,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Py<PyAny>> {
    fn of<'py, T: Of<'py>>(
        py: Python<'py>,
        (x, y): (&Batch<'py>, &Batch<'py>),
        spec: &Spec,
        engine: &Engine,
        progress: &Progress,
    ) -> PyResult<Py<PyAny>> {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let cells = roughly(Pairing::Zipped, &x, &y);
        let values = calls::run(py, cells, progress, |observer| {
            Ok(engine.session(&spec.0, observer).zipped(&x, &y)?)
        })?;
        Ok(values.into_pyarray(py).into_any().unbind())
    }
    with_number!(x, T => of::<T>(py, (&x, &y), spec, engine, &progress))
}

/// An empty vector with room for as many values; `None` are more than can be counted.
pub(crate) fn room<T>(what: &str, values: Option<usize>) -> Result<Vec<T>, Failure> {
    let mut room = Vec::new();
    let reserved = values.map(|values| room.try_reserve_exact(values));
    match reserved {
        Some(Ok(())) => Ok(room),
        _ => {
            let bytes = values.map(|values| values as u128 * size_of::<T>() as u128);
            let size = bytes.map_or_else(
                || "more bytes than can be counted".to_owned(),
                |bytes| format!("{bytes} bytes"),
            );
            Err(Failure::Memory(format!(
                "out of memory: {what} needs {size}, more than there is; pairwise with out=PATH writes it to a file"
            )))
        }
    }
}

/// Whether `d(x, y) = d(y, x)`, so that half of a matrix of `x` with itself is enough.
pub(crate) fn is_symmetric(spec: &dtwave::Spec) -> bool {
    spec.anchor == Anchor::Global && !matches!(spec.band, Band::Ranges(_))
}

/// The matrix of distances, `[n_x, n_y]`; without `y`, of `x` with itself.
#[pyfunction]
pub(crate) fn pairwise(
    py: Python<'_>,
    x: Batch<'_>,
    y: Option<Batch<'_>>,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Py<PyAny>> {
    fn of<'py, T: Of<'py>>(
        py: Python<'py>,
        (x, y): (&Batch<'py>, Option<&Batch<'py>>),
        spec: &Spec,
        engine: &Engine,
        progress: &Progress,
    ) -> PyResult<Py<PyAny>> {
        let x = x.batch::<T>()?;
        let y = y.map(|y| y.batch::<T>()).transpose()?;
        let cells = roughly(Pairing::Cross, &x, y.as_ref().unwrap_or(&x));
        let values = calls::run(py, cells, progress, |observer| -> Result<_, Failure> {
            // Memory that is refused further on would end the process.
            drop(room::<T>("the distance matrix", x.len().checked_mul(y.as_ref().unwrap_or(&x).len()))?);
            let session = engine.session(&spec.0, observer);
            Ok(match y {
                None if is_symmetric(&spec.0) => session.pairwise(&x)?,
                None => session.cross(&x, &x)?,
                Some(y) => session.cross(&x, &y)?,
            })
        })?;
        Ok(values.into_pyarray(py).into_any().unbind())
    }
    with_number!(x, T => of::<T>(py, (&x, y.as_ref()), spec, engine, &progress))
}

/// The cells that a call sweeps: of pairs, or of a matrix.
#[pyfunction]
pub(crate) fn cells(x: Batch<'_>, y: Option<Batch<'_>>, spec: &Spec, is_zipped: bool) -> PyResult<u64> {
    fn of<'py, T: Of<'py>>(
        x: &Batch<'py>,
        y: Option<&Batch<'py>>,
        spec: &Spec,
        is_zipped: bool,
    ) -> Result<u64, Failure> {
        let x = x.batch::<T>()?;
        let pairing = match y {
            Some(_) if is_zipped => Pairing::Zipped,
            None if is_symmetric(&spec.0) => Pairing::SelfSymmetric,
            _ => Pairing::Cross,
        };
        let y = y.map_or(Ok(x), |y| y.batch::<T>())?;
        let problem = Problem::of(spec.0.clone(), pairing, &x, &y)?;
        problem.check_input(&x, &y)?;
        Ok(problem.cells(&x, &y)?)
    }
    Ok(with_number!(x, T => of::<T>(&x, y.as_ref(), spec, is_zipped))?)
}
