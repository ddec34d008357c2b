//! Series as the Python half hands them over: one contiguous array, with offsets where lengths differ.

use dtwave::{Float, SeriesBatch};
use dtwave_results::NpyElement;
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Failure;

/// A number type of series and results.
pub(crate) trait Number: Float + Element + NpyElement {}
impl Number for f32 {}
impl Number for f64 {}

/// A contiguous array of either number type.
pub(crate) enum Values<'py> {
    F32(PyReadonlyArrayDyn<'py, f32>),
    F64(PyReadonlyArrayDyn<'py, f64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Values<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(values) = object.cast::<PyArrayDyn<f64>>() {
            return values.try_readonly().map(Self::F64).map_err(|_| written());
        }
        match object.cast::<PyArrayDyn<f32>>() {
            Ok(values) => values.try_readonly().map(Self::F32).map_err(|_| written()),
            Err(_) => Err(PyTypeError::new_err("expected an array of float32 or float64")),
        }
    }
}

impl Values<'_> {
    /// Whether they are `f32`.
    pub(crate) fn is_f32(&self) -> bool {
        matches!(self, Self::F32(_))
    }

    /// The axes.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::F32(values) => values.shape(),
            Self::F64(values) => values.shape(),
        }
    }
}

/// The error for an input that is the output of a call at the same time.
pub(crate) fn written() -> PyErr {
    PyValueError::new_err("an input is the out of another call, which has not ended yet")
}

/// Series: `(values, offsets, times)`. Values are `[series, length, channels]`, or `[points, channels]` with offsets in
/// points; times, one per point, are of the values' type.
pub(crate) struct Batch<'py> {
    values: Values<'py>,
    offsets: Option<Vec<usize>>,
    times: Option<Values<'py>>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Batch<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        type Parts<'py> = (Values<'py>, Option<PyReadonlyArray1<'py, i64>>, Option<Values<'py>>);
        let (values, offsets, times): Parts<'py> = object.extract()?;
        let offsets = offsets.map(|offsets| {
            let whole =
                |offset: &i64| usize::try_from(*offset).map_err(|_| PyTypeError::new_err("negative offset"));
            offsets.as_array().iter().map(whole).collect::<PyResult<Vec<usize>>>()
        });
        Ok(Self { values, offsets: offsets.transpose()?, times })
    }
}

/// Picks the side of a number type.
pub(crate) trait Of<'py>: Number {
    fn of<'a>(values: &'a Values<'py>) -> Option<&'a PyReadonlyArrayDyn<'py, Self>>;
}

impl<'py> Of<'py> for f32 {
    fn of<'a>(values: &'a Values<'py>) -> Option<&'a PyReadonlyArrayDyn<'py, Self>> {
        match values {
            Values::F32(values) => Some(values),
            Values::F64(_) => None,
        }
    }
}

impl<'py> Of<'py> for f64 {
    fn of<'a>(values: &'a Values<'py>) -> Option<&'a PyReadonlyArrayDyn<'py, Self>> {
        match values {
            Values::F64(values) => Some(values),
            Values::F32(_) => None,
        }
    }
}

/// The values of an array of this type, in C order.
pub(crate) fn slice<'a, 'py, T: Of<'py>>(values: &'a Values<'py>) -> PyResult<&'a [T]> {
    let values = T::of(values).ok_or_else(|| PyTypeError::new_err("expected arrays of one number type"))?;
    if !values.is_c_contiguous() {
        return Err(PyTypeError::new_err("expected a C-contiguous array"));
    }
    Ok(values.as_slice()?)
}

impl<'py> Batch<'py> {
    /// Whether the values are `f32`.
    pub(crate) fn is_f32(&self) -> bool {
        self.values.is_f32()
    }

    /// The series, in place.
    pub(crate) fn batch<T: Of<'py>>(&self) -> Result<SeriesBatch<'_, T>, Failure> {
        let values = slice::<T>(&self.values)?;
        let batch = match (&self.offsets, self.values.shape()) {
            (None, &[count, length, channels]) => SeriesBatch::equal(values, count, length, channels)?,
            (Some(offsets), &[_, channels]) => SeriesBatch::ragged(values, offsets, channels)?,
            _ => {
                return Err(
                    PyTypeError::new_err("expected an array of three axes, or of two and offsets").into()
                );
            }
        };
        match &self.times {
            None => Ok(batch),
            Some(times) => Ok(batch.with_times(slice::<T>(times)?)?),
        }
    }
}

/// Evaluates `$body` with `f32`, or else `f64`, as `$T`.
macro_rules! with_number {
    ($is_f32:expr, $T:ident => $body:expr) => {
        if $is_f32 {
            type $T = f32;
            $body
        } else {
            type $T = f64;
            $body
        }
    };
}
pub(crate) use with_number;
