//! Values and gradients of zipped pairs.

use dtwave::{OwnedBatch, SeriesBatch};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::calls::{self, Progress};
use crate::distances::roughly;
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, Number, Of, Values, slice, with_number};
use crate::measures::Spec;

/// What a call returns to Python: values and two gradients, or `None` for those not asked for.
type Arrays = (Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>);

/// `(values, grad_x, grad_y)`, the gradients flat and in the order of the batches' values.
#[pyfunction]
pub(crate) fn gradients(
    py: Python<'_>,
    x: Batch<'_>,
    y: Batch<'_>,
    upstream: Option<Values<'_>>,
    spec: &Spec,
    engine: &Engine,
    progress: Progress,
) -> PyResult<Arrays> {
    with_number!(x.is_f32(), T => {
        let (x, y) = (x.batch::<T>()?, y.batch::<T>()?);
        let upstream = upstream.as_ref().map(slice::<T>).transpose()?;
        let found = calls::run(py, roughly(dtwave::Pairing::Zipped, &x, &y), &progress, |observer| {
            Ok(engine.session(&spec.0, observer).gradients(&x, &y, upstream)?)
        })?;
        let array = |values: Vec<T>| values.into_pyarray(py).into_any().unbind();
        Ok((array(found.distances), Some(array(found.grad_x)), Some(array(found.grad_y))))
    })
}

/// Soft-DTW, or its divergence, of padded batches, for `dtwave.torch` on the CPU.
///
/// `x` is `[batch, n, channels]`, `y` is `[batch, m, channels]`; `lengths_x` and `lengths_y` say how many points of
/// each series count. Returns the values, `[batch]`, and the gradients in the shapes of `x` and `y`, zero at points
/// that do not count; without `gradients`, `None` for both.
#[pyfunction]
#[pyo3(signature = (x, y, spec, engine, *, lengths_x=None, lengths_y=None, gradients=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn soft_dtw(
    py: Python<'_>,
    x: Values<'_>,
    y: Values<'_>,
    spec: &Spec,
    engine: &Engine,
    lengths_x: Option<PyReadonlyArray1<'_, i64>>,
    lengths_y: Option<PyReadonlyArray1<'_, i64>>,
    gradients: bool,
) -> PyResult<Arrays> {
    let (x, y) = (
        Padded { values: &x, lengths: lengths_x, name: "x" },
        Padded { values: &y, lengths: lengths_y, name: "y" },
    );
    with_number!(x.values.is_f32(), T => {
        let (shape_x, shape_y) = (x.shape::<T>()?, y.shape::<T>()?);
        let (lengths_x, lengths_y) = (x.lengths(shape_x)?, y.lengths(shape_y)?);
        let (values_x, values_y) = (slice::<T>(x.values)?, slice::<T>(y.values)?);
        let [count, points, channels] = shape_x.map(|size| size as u64);
        let cells = count.saturating_mul(points).saturating_mul(shape_y[1] as u64).saturating_mul(channels);
        let (values, grad_x, grad_y) = calls::run(py, cells, &None, |observer| {
            let x = Series::new(values_x, shape_x, lengths_x.as_deref())?;
            let y = Series::new(values_y, shape_y, lengths_y.as_deref())?;
            let session = engine.session(&spec.0, observer);
            if !gradients {
                return Ok((session.zipped(&x.batch()?, &y.batch()?)?, None, None));
            }
            let found = session.gradients(&x.batch()?, &y.batch()?, None)?;
            Ok((found.distances, Some(x.padded(found.grad_x)), Some(y.padded(found.grad_y))))
        })?;
        let array = |values: Option<Vec<T>>, shape: [usize; 3]| -> PyResult<Option<Py<PyAny>>> {
            let Some(values) = values else { return Ok(None) };
            Ok(Some(values.into_pyarray(py).reshape(shape)?.into_any().unbind()))
        };
        Ok((values.into_pyarray(py).into_any().unbind(), array(grad_x, shape_x)?, array(grad_y, shape_y)?))
    })
}

/// An argument: padded series and how many points of each count.
struct Padded<'a, 'py> {
    values: &'a Values<'py>,
    lengths: Option<PyReadonlyArray1<'py, i64>>,
    name: &'static str,
}

impl<'py> Padded<'_, 'py> {
    /// Series, points, channels.
    fn shape<T: Of<'py>>(&self) -> PyResult<[usize; 3]> {
        let values =
            T::of(self.values).ok_or_else(|| PyTypeError::new_err("x and y must be of one number type"))?;
        values.shape().try_into().map_err(|_| {
            PyValueError::new_err(format!(
                "{} must be [batch, length, channels], got {} axes",
                self.name,
                values.ndim()
            ))
        })
    }

    fn lengths(&self, [count, points, _]: [usize; 3]) -> PyResult<Option<Vec<usize>>> {
        whole_lengths(self.lengths.as_ref(), self.name, count, points)
    }
}

/// The lengths of `count` series, each from 1 to `points`.
pub(crate) fn whole_lengths(
    lengths: Option<&PyReadonlyArray1<'_, i64>>,
    name: &str,
    count: usize,
    points: usize,
) -> PyResult<Option<Vec<usize>>> {
    let Some(lengths) = lengths else { return Ok(None) };
    let lengths = lengths.as_array();
    if lengths.len() != count {
        let found = lengths.len();
        let text = format!("expected one length per series of {name} ({count}), got {found}");
        return Err(PyValueError::new_err(text));
    }
    let whole = |(s, length): (usize, &i64)| match usize::try_from(*length) {
        Ok(length) if (1..=points).contains(&length) => Ok(length),
        _ => Err(PyValueError::new_err(format!(
            "the length of series {s} of {name} must be from 1 to {points}, got {length}"
        ))),
    };
    lengths.iter().enumerate().map(whole).collect::<PyResult<Vec<usize>>>().map(Some)
}

/// The points that count: in place, or copied where some do not.
struct Series<'a, T> {
    values: &'a [T],
    shape: [usize; 3],
    short: Option<(OwnedBatch<T>, &'a [usize])>,
}

impl<'a, T: Number> Series<'a, T> {
    fn new(values: &'a [T], shape: [usize; 3], lengths: Option<&'a [usize]>) -> Result<Self, Failure> {
        let [_, points, channels] = shape;
        let short = match lengths {
            None => None,
            Some(lengths) => {
                let mut copied = OwnedBatch::new(channels)?;
                for (series, length) in values.chunks_exact((points * channels).max(1)).zip(lengths) {
                    copied.push(&series[..length * channels])?;
                }
                Some((copied, lengths))
            }
        };
        Ok(Self { values, shape, short })
    }

    fn batch(&self) -> Result<SeriesBatch<'_, T>, Failure> {
        let [count, points, channels] = self.shape;
        match &self.short {
            Some((copied, _)) => Ok(copied.batch()),
            None => Ok(SeriesBatch::equal(self.values, count, points, channels)?),
        }
    }

    /// Values laid out as the batch, with zeros where points do not count.
    fn padded(&self, values: Vec<T>) -> Vec<T> {
        let Some((_, lengths)) = &self.short else { return values };
        let [_, points, channels] = self.shape;
        let mut padded = vec![T::ZERO; self.values.len()];
        let mut rest = &values[..];
        for (series, length) in padded.chunks_exact_mut((points * channels).max(1)).zip(*lengths) {
            let (own, others) = rest.split_at(length * channels);
            series[..own.len()].copy_from_slice(own);
            rest = others;
        }
        padded
    }
}
