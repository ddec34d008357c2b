//! Warping paths, expected alignments and searches.

use dtwave::{Float, Match, Pairing, Path, SearchOptions};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::distances::roughly;
use crate::engine::Engine;
use crate::inputs::{Batch, Of, with_number};
use crate::measures::Spec;

/// A path: its distance, and `[steps, 2]` of points.
pub(crate) type Found<'py> = (f64, Bound<'py, PyArray2<i64>>);

/// A match: its distance, its first point and its last.
pub(crate) type Hit = (f64, usize, usize);

/// A path as Python takes it.
pub(crate) fn found<T: Float>(py: Python<'_>, path: Path<T>) -> PyResult<Found<'_>> {
    let points: Vec<i64> = path.points.iter().flat_map(|(i, j)| [*i as i64, *j as i64]).collect();
    Ok((path.distance.to_f64(), points.into_pyarray(py).reshape([path.points.len(), 2])?))
}

/// A match as Python takes it.
pub(crate) fn plain<T: Float>(hit: Match<T>) -> Hit {
    (hit.distance.to_f64(), hit.start, hit.end)
}

/// Which matches are wanted; without `top_k`, all within the threshold.
pub(crate) fn search_options(
    top_k: Option<usize>,
    exclusion: usize,
    threshold: Option<f64>,
    normalized_window: Option<usize>,
) -> SearchOptions {
    SearchOptions::default()
        .with_top_k(top_k.unwrap_or(usize::MAX))
        .with_exclusion(exclusion)
        .with_threshold(threshold)
        .with_normalized_window(normalized_window)
}

/// The best warping paths of zipped pairs.
#[pyfunction]
pub(crate) fn align<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    y: Batch<'py>,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Vec<Found<'py>>> {
    fn of<'py, T: Of<'py>>(
        py: Python<'py>,
        (x, y): (&Batch<'py>, &Batch<'py>),
        spec: &Spec,
        engine: &Engine,
        progress: &Progress,
    ) -> PyResult<Vec<Found<'py>>> {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let cells = roughly(Pairing::Zipped, &x, &y);
        let paths = calls::run(py, cells, progress, |observer| {
            Ok(engine.session(&spec.0, observer).align_all(&x, &y)?)
        })?;
        paths.into_iter().map(|path| found(py, path)).collect()
    }
    with_number!(x, T => of::<T>(py, (&x, &y), spec, engine, &progress))
}

/// The expected alignment of the first series of both: `[n, m]`.
#[pyfunction]
pub(crate) fn expected_alignment(
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
        let found = calls::run(py, cells, progress, |observer| {
            Ok(engine.session(&spec.0, observer).expected_alignment(&x.get(0), &y.get(0))?)
        })?;
        Ok(found.into_pyarray(py).into_any().unbind())
    }
    with_number!(x, T => of::<T>(py, (&x, &y), spec, engine, &progress))
}

/// The best matches of each query in each reference, in the order of pairs.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a search has as many options")]
pub(crate) fn search(
    py: Python<'_>,
    queries: Batch<'_>,
    references: Batch<'_>,
    spec: &Spec,
    engine: &Engine,
    top_k: Option<usize>,
    exclusion: usize,
    threshold: Option<f64>,
    normalized_window: Option<usize>,
    progress: Progress,
) -> PyResult<Vec<Vec<Hit>>> {
    fn of<'py, T: Of<'py>>(
        py: Python<'py>,
        (x, y): (&Batch<'py>, &Batch<'py>),
        spec: &Spec,
        engine: &Engine,
        options: &SearchOptions,
        progress: &Progress,
    ) -> PyResult<Vec<Vec<Hit>>> {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let windows = options.normalized_window.unwrap_or(1) as u64;
        let cells = roughly(Pairing::Cross, &x, &y).saturating_mul(windows);
        let found = calls::run(py, cells, progress, |observer| {
            Ok(engine.session(&spec.0, observer).search_all(&x, &y, options)?)
        })?;
        Ok(found.into_iter().map(|hits| hits.into_iter().map(plain).collect()).collect())
    }
    let options = search_options(top_k, exclusion, threshold, normalized_window);
    with_number!(queries, T => of::<T>(py, (&queries, &references), spec, engine, &options, &progress))
}
