//! Pairs within a threshold, as a sparse matrix.

use dtwave::learn::{self, Threshold};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::distances::{roughly, sides};
use crate::engine::Engine;
use crate::inputs::{Batch, with_number};
use crate::measures::Spec;

/// Starts of rows, columns and distances.
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Py<PyAny>);

/// The pairs at most `threshold` apart (of similarities, at least), in compressed rows; with `root` their roots are
/// compared and returned. Of series among themselves, a series is no neighbour of itself.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn edges<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    y: Option<Batch<'py>>,
    threshold: f64,
    root: bool,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Rows<'py>> {
    let at = Threshold::at(threshold);
    let at = if root { at.of_roots() } else { at };
    with_number!(x.is_f32(), T => {
        let is_own = y.is_none();
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, false)?;
        let (starts, indices, distances) = calls::run(py, roughly(pairing, &x, &y), &progress, |observer| {
            let context = engine.context::<T>(observer);
            let found = learn::edges(&context, &spec.0, pairing, x, y, at)?;
            Ok(if is_own { found.without_own() } else { found }.into_parts())
        })?;
        let whole = |numbers: Vec<usize>| {
            numbers.into_iter().map(|number| number as i64).collect::<Vec<i64>>().into_pyarray(py)
        };
        Ok((whole(starts), whole(indices), distances.into_pyarray(py).into_any().unbind()))
    })
}
