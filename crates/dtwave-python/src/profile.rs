//! The nearest window of each window of a long series.

use dtwave::learn::{self, ProfileOptions};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, with_number};
use crate::measures::Spec;

fn options(window: usize, step: usize, is_normalized: bool, exclusion: usize) -> ProfileOptions {
    ProfileOptions::new(window)
        .with_step(step)
        .with_normalization(is_normalized)
        .with_exclusion(Some(exclusion))
}

/// `(distances, places)` of the windows of a series, the first one of a batch; the places are first points, -1 where
/// there is no neighbour.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn profile<'py>(
    py: Python<'py>,
    series: Batch<'py>,
    other: Option<Batch<'py>>,
    window: usize,
    step: usize,
    is_normalized: bool,
    exclusion: usize,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<(Py<PyAny>, Bound<'py, PyArray1<i64>>)> {
    let options = options(window, step, is_normalized, exclusion);
    with_number!(series.is_f32(), T => {
        let batches = (series.batch::<T>()?, other.as_ref().map(|other| other.batch::<T>()).transpose()?);
        if batches.0.is_empty() || batches.1.is_some_and(|other| other.is_empty()) {
            return Err(PyTypeError::new_err("expected a batch of one series"));
        }
        let (series, other) = (batches.0.get(0), batches.1.map(|other| other.get(0)));
        let cells = learn::profile_cells(&engine.context::<T>(None), &spec.0, series, other, &options)
            .map_err(Failure::from)?;
        let found = calls::run(py, cells, &progress, |observer| {
            let context = engine.context::<T>(observer);
            Ok(match other {
                None => learn::profile(&context, &spec.0, series, &options)?,
                Some(other) => learn::profile_join(&context, &spec.0, series, other, &options)?,
            })
        })?;
        let places = found.places().iter().map(|place| place.map_or(-1, |place| place as i64));
        let places = places.collect::<Vec<i64>>().into_pyarray(py);
        Ok((found.distances().to_vec().into_pyarray(py).into_any().unbind(), places))
    })
}

/// The cells that `profile` tells of.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn profile_cells(
    series: Batch<'_>,
    other: Option<Batch<'_>>,
    window: usize,
    step: usize,
    is_normalized: bool,
    exclusion: usize,
    spec: &Spec,
    engine: &Engine,
) -> PyResult<u64> {
    let options = options(window, step, is_normalized, exclusion);
    with_number!(series.is_f32(), T => {
        let other = other.as_ref().map(|other| other.batch::<T>()).transpose()?;
        let (series, other) = (series.batch::<T>()?.get(0), other.map(|other| other.get(0)));
        let cells = learn::profile_cells(&engine.context::<T>(None), &spec.0, series, other, &options);
        Ok(cells.map_err(Failure::from)?)
    })
}
