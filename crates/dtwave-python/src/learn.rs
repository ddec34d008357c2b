//! Neighbours, classes, averages and clusters.

use dtwave::learn::{
    self, BarycenterOptions, ClaraOptions, KMeansOptions, KMedoids, KMedoidsOptions, MedoidMethod,
    MedoidStart, Optimizer, Start,
};
use dtwave::{Pairing, Unobserved, normalize};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::distances::roughly;
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, Values, slice, with_number};
use crate::measures::Spec;

/// About how often an average or a clustering sweeps its series: enough to tell short work from long.
const ROUNDS: u64 = 1000;

fn whole<'py>(py: Python<'py>, values: &[usize]) -> Bound<'py, PyArray1<i64>> {
    values.iter().map(|value| *value as i64).collect::<Vec<i64>>().into_pyarray(py)
}

/// The k series of `x` nearest to each series of `y`: indices `[n_y, k]` and distances `[n_y, k]`.
#[pyfunction]
pub(crate) fn nearest<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    y: Option<Batch<'py>>,
    k: usize,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<(Bound<'py, PyArray2<i64>>, Py<PyAny>)> {
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let y = y.as_ref().map_or(Ok(x), |y| y.batch::<T>())?;
        let found = calls::run(py, roughly(Pairing::Cross, &x, &y), &progress, |observer| {
            Ok(learn::nearest(&engine.context::<T>(observer), &spec.0, x, y, k)?)
        })?;
        let shape = [y.len(), k];
        let distances = found.all_distances().to_vec().into_pyarray(py).reshape(shape)?;
        Ok((whole(py, found.all_indices()).reshape(shape)?, distances.into_any().unbind()))
    })
}

/// The cells that `nearest` tells of.
#[pyfunction]
pub(crate) fn nearest_cells(
    x: Batch<'_>,
    y: Option<Batch<'_>>,
    spec: &Spec,
    engine: &Engine,
) -> PyResult<u64> {
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let y = y.as_ref().map_or(Ok(x), |y| y.batch::<T>())?;
        Ok(learn::nearest_cells(&engine.context::<T>(None), &spec.0, x, y).map_err(Failure::from)?)
    })
}

/// The class of each series of `test`: `classes` holds a number per series of `train`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn classify<'py>(
    py: Python<'py>,
    train: Batch<'py>,
    classes: Vec<usize>,
    test: Batch<'py>,
    k: usize,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    with_number!(train.is_f32(), T => {
        let (train, test) = (train.batch::<T>()?, test.batch::<T>()?);
        // The library's labels are text.
        let labels: Vec<String> = classes.iter().map(usize::to_string).collect();
        let found = calls::run(py, roughly(Pairing::Cross, &train, &test), &progress, |observer| {
            Ok(learn::classify(&engine.context::<T>(observer), &spec.0, train, &labels, test, k)?)
        })?;
        let number =
            |label: &String| label.parse::<usize>().map_err(|e| PyValueError::new_err(e.to_string()));
        Ok(whole(py, &found.iter().map(number).collect::<PyResult<Vec<usize>>>()?))
    })
}

/// How an average is minimised: `("lbfgs", history)` or `("adam", learning_rate)`.
pub(crate) struct Minimizer(Optimizer);

impl<'a, 'py> FromPyObject<'a, 'py> for Minimizer {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (name, value): (String, f64) = object.extract()?;
        match &*name {
            "lbfgs" => Ok(Self(Optimizer::Lbfgs { history: value as usize })),
            "adam" => Ok(Self(Optimizer::Adam { learning_rate: value })),
            _ => Err(PyValueError::new_err(format!("optimizer must be \"lbfgs\" or \"adam\", got {name:?}"))),
        }
    }
}

/// `(center [length, channels], costs, converged)`. `start` is `"medoid"`, `"mean"` or a batch of one series; `sample`
/// the size and the seed of that whose medoid is the start.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an average has as many options")]
pub(crate) fn barycenter(
    py: Python<'_>,
    x: Batch<'_>,
    spec: &Spec,
    engine: &Engine,
    weights: Option<Vec<f64>>,
    start: &str,
    series: Option<Batch<'_>>,
    sample: (usize, u64),
    minimizer: Minimizer,
    max_iterations: usize,
    tolerance: f64,
    progress: Progress,
) -> PyResult<(Py<PyAny>, Vec<f64>, bool)> {
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let series = series.as_ref().map(|series| series.batch::<T>()).transpose()?;
        let start = match (start, &series) {
            ("mean", None) => Start::Mean,
            ("medoid", None) => Start::Medoid,
            ("series", Some(series)) => Start::Series(series.get(0)),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "start must be \"medoid\", \"mean\" or a series, got {start:?}"
                )));
            }
        };
        let options = BarycenterOptions::default()
            .with_weights(weights.as_deref())
            .with_start(start)
            .with_sample_size(sample.0)
            .with_seed(sample.1)
            .with_optimizer(minimizer.0)
            .with_max_iterations(max_iterations)
            .with_tolerance(tolerance);
        let cells = roughly(Pairing::Zipped, &x, &x).saturating_mul(ROUNDS);
        let found = calls::run(py, cells, &progress, |observer| {
            Ok(learn::barycenter(&engine.context::<T>(observer), &spec.0, x, &options)?)
        })?;
        let shape = [found.len(), found.channels];
        let center = found.center.into_pyarray(py).reshape(shape)?;
        Ok((center.into_any().unbind(), found.costs, found.converged))
    })
}

/// Centres (values flat, and the points of each), labels, distances, inertia, iterations, whether it converged.
type Means<'py> = (Py<PyAny>, Vec<usize>, Bound<'py, PyArray1<i64>>, Py<PyAny>, f64, usize, bool);

/// Clusters round averages.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a clustering has as many options")]
pub(crate) fn kmeans<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    clusters: usize,
    spec: &Spec,
    engine: &Engine,
    restarts: usize,
    max_iterations: usize,
    tolerance: f64,
    center_iterations: usize,
    minimizer: Minimizer,
    seed: u64,
    weights: Option<Vec<f64>>,
    sample_size: Option<usize>,
    batch_size: Option<usize>,
    progress: Progress,
) -> PyResult<Means<'py>> {
    let options = KMeansOptions::new(clusters)
        .with_restarts(restarts)
        .with_max_iterations(max_iterations)
        .with_tolerance(tolerance)
        .with_center_iterations(center_iterations)
        .with_optimizer(minimizer.0)
        .with_seed(seed)
        .with_weights(weights.as_deref())
        .with_sample_size(sample_size.unwrap_or(usize::MAX))
        .with_batch_size(batch_size);
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let cells = roughly(Pairing::Zipped, &x, &x).saturating_mul(ROUNDS);
        let found = calls::run(py, cells, &progress, |observer| {
            Ok(learn::kmeans(&engine.context::<T>(observer), &spec.0, x, &options)?)
        })?;
        let centers = found.centers.batch();
        let lengths = (0..centers.len()).map(|center| centers.length(center)).collect();
        let values = centers.values().to_vec().into_pyarray(py).into_any().unbind();
        let distances = found.distances.into_pyarray(py).into_any().unbind();
        let labels = whole(py, &found.labels);
        Ok((values, lengths, labels, distances, found.inertia, found.iterations, found.converged))
    })
}

/// Medoids, labels, loss, iterations, whether it converged.
type Medoids<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, f64, usize, bool);

fn medoids(py: Python<'_>, found: KMedoids) -> Medoids<'_> {
    let [medoids, labels] = [found.medoids, found.labels].map(|found| whole(py, &found));
    (medoids, labels, found.loss, found.iterations, found.converged)
}

fn options(clusters: usize, random: Option<(usize, u64)>, max_iterations: usize) -> KMedoidsOptions {
    let start = random.map_or(MedoidStart::Build, |(restarts, seed)| MedoidStart::Random { restarts, seed });
    KMedoidsOptions::new(clusters).with_start(start).with_max_iterations(max_iterations)
}

/// Clusters round members. Without `random`, from the greedy start; with it, from so many drawn with a seed. With
/// `clara`, by so many samples (unless given, the library's default) of so many series (likewise), drawn with a seed.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a clustering has as many options")]
pub(crate) fn kmedoids<'py>(
    py: Python<'py>,
    x: Batch<'py>,
    clusters: usize,
    spec: &Spec,
    engine: &Engine,
    random: Option<(usize, u64)>,
    clara: Option<(Option<usize>, Option<usize>, u64)>,
    max_iterations: usize,
    progress: Progress,
) -> PyResult<Medoids<'py>> {
    let mut options = options(clusters, random, max_iterations);
    if let Some((samples, sample_size, seed)) = clara {
        let usual = ClaraOptions::new(clusters).with_seed(seed);
        let sampling = usual
            .with_samples(samples.unwrap_or(usual.samples))
            .with_sample_size(sample_size.unwrap_or(usual.sample_size));
        options = options.with_method(MedoidMethod::Clara(sampling));
    }
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let found = calls::run(py, roughly(Pairing::Cross, &x, &x), &progress, |observer| {
            Ok(learn::kmedoids(&engine.context::<T>(observer), &spec.0, x, &options)?)
        })?;
        Ok(medoids(py, found))
    })
}

/// Clusters round members, by a matrix of dissimilarities `[n, n]`: entry `[c, s]` is that of series `s` to the medoid
/// `c`.
#[pyfunction]
pub(crate) fn kmedoids_of_matrix<'py>(
    py: Python<'py>,
    matrix: Values<'py>,
    n: usize,
    clusters: usize,
    random: Option<(usize, u64)>,
    max_iterations: usize,
) -> PyResult<Medoids<'py>> {
    let options = options(clusters, random, max_iterations);
    with_number!(matrix.is_f32(), T => {
        let values = slice::<T>(&matrix)?;
        let found = calls::run(py, (values.len() as u64).saturating_mul(ROUNDS), &None, |observer| {
            let observer = observer.as_deref().unwrap_or(&Unobserved);
            Ok(learn::kmedoids_of_matrix(values, n, &options, observer)?)
        })?;
        Ok(medoids(py, found))
    })
}

/// The values of the series, z-normalised, flat.
#[pyfunction]
pub(crate) fn z_normalize(py: Python<'_>, x: Batch<'_>) -> PyResult<Py<PyAny>> {
    with_number!(x.is_f32(), T => {
        let x = x.batch::<T>()?;
        let values = calls::run(py, 0, &None, |_| {
            x.check("x")?;
            let mut values = x.values().to_vec();
            let channels = x.channels();
            let mut rest = &mut values[..];
            for s in 0..x.len() {
                let (series, others) = rest.split_at_mut(x.length(s) * channels);
                normalize::z_normalize(series, channels);
                rest = others;
            }
            Ok(values)
        })?;
        Ok(values.into_pyarray(py).into_any().unbind())
    })
}
