//! Warping paths, expected alignments, cost matrices and searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dtwave::{CostMatrix, Float, Match, Observer, Pairing, Path, Precision, SearchOptions};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::distances::roughly;
use crate::engine::Engine;
use crate::inputs::{Batch, Number, with_number};
use crate::measures::Spec;

/// A path: its distance, and `[steps, 2]` of points.
pub(crate) type Found<'py> = (f64, Bound<'py, PyArray2<i64>>);

/// A match: its distance, its first point and its last.
pub(crate) type Hit = (f64, usize, usize);

/// The matches of a query, and whether half precision proposed them.
pub(crate) type Hits = (Vec<Hit>, bool);

/// For which queries of a search half precision proposed the places.
pub(crate) struct Proposals(Vec<AtomicBool>);

impl Proposals {
    /// Nothing is known of so many queries yet.
    pub(crate) fn of_queries(queries: usize) -> Self {
        Self((0..queries).map(|_| AtomicBool::new(false)).collect())
    }

    /// The hits of each query as Python takes them.
    pub(crate) fn with<T: Float>(&self, found: Vec<Vec<Match<T>>>) -> Vec<Hits> {
        let proposed = self.0.iter().map(|proposed| proposed.load(Ordering::Relaxed));
        found.into_iter().map(|hits| hits.into_iter().map(plain).collect()).zip(proposed).collect()
    }

    /// An observer that hears of proposals, if somebody wants to know, and asks and tells `inner` all else.
    pub(crate) fn heard(
        proposals: Option<Arc<Self>>,
        inner: Option<Arc<dyn Observer>>,
    ) -> Option<Arc<dyn Observer>> {
        match proposals {
            Some(proposals) => Some(Arc::new(Listener { proposals, inner })),
            None => inner,
        }
    }
}

struct Listener {
    proposals: Arc<Proposals>,
    inner: Option<Arc<dyn Observer>>,
}

impl Observer for Listener {
    fn advance(&self, cells: u64) {
        self.inner.iter().for_each(|inner| inner.advance(cells));
    }

    fn cancelled(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.cancelled())
    }

    fn proposed(&self, query: usize, _: usize, is_confirmed: bool) {
        self.proposals.0[query].store(is_confirmed, Ordering::Relaxed);
    }
}

/// A path as Python takes it.
pub(crate) fn found<T: Float>(py: Python<'_>, path: Path<T>) -> PyResult<Found<'_>> {
    let points: Vec<i64> = path.points.iter().flat_map(|(i, j)| [*i as i64, *j as i64]).collect();
    Ok((path.distance.to_f64(), points.into_pyarray(py).reshape([path.points.len(), 2])?))
}

/// A match as Python takes it.
pub(crate) fn plain<T: Float>(hit: Match<T>) -> Hit {
    (hit.distance.to_f64(), hit.start, hit.end)
}

/// Which matches are wanted; without `top_k`, all within the threshold. `half`: places are proposed in half precision.
pub(crate) fn search_options(
    top_k: Option<usize>,
    exclusion: usize,
    threshold: Option<f64>,
    normalized_window: Option<usize>,
    half: bool,
) -> SearchOptions {
    SearchOptions::default()
        .with_top_k(top_k.unwrap_or(usize::MAX))
        .with_exclusion(exclusion)
        .with_threshold(threshold)
        .with_normalized_window(normalized_window)
        .with_precision(if half { Precision::Half } else { Precision::Full })
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
    with_number!(x.is_f32(), T => {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let cells = roughly(Pairing::Zipped, &x, &y);
        let paths =
            calls::run(py, cells, &progress, |observer| Ok(engine.session(&spec.0, observer).align_all(&x, &y)?))?;
        paths.into_iter().map(|path| found(py, path)).collect()
    })
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
    with_number!(x.is_f32(), T => {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let found = calls::run(py, roughly(Pairing::Zipped, &x, &y), &progress, |observer| {
            Ok(engine.session(&spec.0, observer).expected_alignment(&x.get(0), &y.get(0))?)
        })?;
        Ok(found.into_pyarray(py).into_any().unbind())
    })
}

/// The accumulated costs of the first series of both: `[n, m]`.
#[pyfunction]
pub(crate) fn cost_matrix(py: Python<'_>, x: Batch<'_>, y: Batch<'_>, spec: &Spec) -> PyResult<Py<PyAny>> {
    with_number!(x.is_f32(), T => {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let work = |_| Ok(CostMatrix::new(&spec.0, x.get(0), y.get(0))?);
        grid(py, calls::run(py, roughly(Pairing::Zipped, &x, &y), &None, work)?)
    })
}

/// The accumulated costs where `costs`, `[n, m]`, are those of matching two points.
#[pyfunction]
pub(crate) fn cost_matrix_of_costs(
    py: Python<'_>,
    costs: PyReadonlyArray2<'_, f64>,
    spec: &Spec,
) -> PyResult<Py<PyAny>> {
    let &[n, m] = costs.shape() else { unreachable!("it has two axes") };
    let costs = costs.as_slice()?;
    let work = |_| Ok(CostMatrix::of_costs(&spec.0.measure, costs, [n, m])?);
    grid(py, calls::run(py, costs.len() as u64, &None, work)?)
}

fn grid<T: Number>(py: Python<'_>, found: CostMatrix<T>) -> PyResult<Py<PyAny>> {
    Ok(found.values.into_pyarray(py).reshape(found.shape)?.into_any().unbind())
}

/// The best matches of each query in the first reference.
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
    half: bool,
    progress: Progress,
) -> PyResult<Vec<Hits>> {
    let options = search_options(top_k, exclusion, threshold, normalized_window, half);
    with_number!(queries.is_f32(), T => {
        let (x, y) = (queries.batch::<T>()?, references.batch::<T>()?);
        let windows = normalized_window.unwrap_or(1) as u64;
        let cells = roughly(Pairing::Cross, &x, &y).saturating_mul(windows);
        let proposals = Arc::new(Proposals::of_queries(x.len()));
        let found = calls::run(py, cells, &progress, |observer| {
            let observer = Proposals::heard(half.then(|| proposals.clone()), observer);
            Ok(engine.session(&spec.0, observer).search_all(&x, &y, &options)?)
        })?;
        Ok(proposals.with(found))
    })
}
