//! The table of measures for Python, and what to compute.

use dtwave::measure::{Kind, Parameter, Value};
use dtwave::{Anchor, Band, Radius};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};

use crate::errors::Failure;

/// What to compute: a measure with its parameters and a band, checked.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Spec(pub(crate) dtwave::Spec);

#[pymethods]
impl Spec {
    /// A spec of a measure's key, values by the names of its parameters, and a band as `dtwave._bands` describes it.
    #[new]
    #[pyo3(signature = (key, parameters=None, band=None))]
    fn new(
        key: &str,
        parameters: Option<&Bound<'_, PyDict>>,
        band: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let kind = Kind::of(key).ok_or_else(|| PyValueError::new_err(format!("unknown measure {key:?}")))?;
        let mut given: Vec<(&str, Value)> = Vec::new();
        for (name, value) in parameters.into_iter().flatten() {
            let name: String = name.extract()?;
            let parameter = kind
                .parameter(&name)
                .ok_or_else(|| PyValueError::new_err(format!("{key} has no parameter {name:?}")))?;
            given.push((parameter.name, value_of(parameter, &value)?));
        }
        let value = |parameter: &Parameter| {
            given.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| *value)
        };
        let spec = kind.spec(value).map_err(Failure::from)?;
        let spec = match band {
            Some(band) => spec.with_band(band_of(band)?),
            None => spec,
        };
        spec.check().map_err(Failure::from)?;
        Ok(Self(spec))
    }

    /// The parameters' names of the measure of this key.
    #[staticmethod]
    fn names(key: &str) -> Vec<&'static str> {
        let parameters = Kind::of(key).map_or(&[][..], |kind| kind.parameters);
        parameters.iter().map(|parameter| parameter.name).collect()
    }

    /// The measure's key.
    #[getter]
    fn key(&self) -> &'static str {
        self.0.key()
    }

    /// Parameters and their values, in the order of declaration.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (parameter, value) in self.0.measure.parameters() {
            values.set_item(parameter.name, to_python(py, value)?)?;
        }
        Ok(values)
    }

    /// Whether `d(x, y) = d(y, x)`.
    #[getter]
    fn is_symmetric(&self) -> bool {
        is_symmetric(&self.0)
    }

    /// Whether larger values mean more alike.
    #[getter]
    fn is_similarity(&self) -> bool {
        self.0.measure.is_similarity()
    }

    /// The columns from which, and before which, a path may go in each row of an `n` × `m` grid, each `[n]`.
    fn ranges<'py>(&self, py: Python<'py>, n: usize, m: usize) -> PyResult<Edges<'py>> {
        let ranges = self.0.band.ranges(n, m, self.0.anchor).map_err(Failure::from)?;
        let edge = |of: fn(std::ops::Range<usize>) -> usize| {
            PyArray1::from_iter(py, (0..n).map(|row| of(ranges.row(row)) as i64))
        };
        Ok((edge(|row| row.start), edge(|row| row.end)))
    }
}

/// First columns, and those after the last ones.
type Edges<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The value of a parameter.
fn value_of(parameter: &Parameter, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let name = parameter.name;
    if !parameter.choices.is_empty() {
        let choice: String = value.extract().map_err(|_| {
            let expected = parameter.choices.join(", ");
            PyTypeError::new_err(format!("{name} must be one of {expected}; got {value:?}"))
        })?;
        return Ok(parameter.choice(&choice).map_err(Failure::from)?);
    }
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err(format!("{name} must be a number, got {value:?}")));
    }
    let number: f64 = value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name} must be a number, got {value:?}")))?;
    // No result depends on the sign of a zero.
    Ok(Value::Number(number + 0.0))
}

fn to_python(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Choice(choice) => choice.into_pyobject(py)?.into_any(),
        _ => return Err(PyTypeError::new_err("a value that Python does not know yet")),
    })
}

/// A band: `None`; whole points or a fraction, for Sakoe and Chiba's; an object whose `_band` is `(kind, …)`.
pub(crate) fn band_of(band: &Bound<'_, PyAny>) -> PyResult<Band> {
    if band.is_none() {
        return Ok(Band::Full);
    }
    if !band.is_instance_of::<PyBool>()
        && (band.is_instance_of::<PyInt>() || band.is_instance_of::<PyFloat>())
    {
        return Ok(Band::SakoeChiba { radius: radius_of(band)? });
    }
    let Ok(described) = band.getattr("_band") else {
        return Err(PyTypeError::new_err(format!(
            "band must be None, whole points (10), a fraction (0.1), or one of SakoeChiba, Slanted, Itakura and Ranges; \
             got {band:?}"
        )));
    };
    let kind: String = described.get_item(0)?.extract()?;
    let value = described.get_item(1)?;
    match &*kind {
        "sakoe_chiba" => Ok(Band::SakoeChiba { radius: radius_of(&value)? }),
        "slanted" => Ok(Band::Slanted { radius: radius_of(&value)? }),
        "itakura" => Ok(Band::Itakura { max_slope: value.extract()? }),
        "ranges" => {
            let (starts, ends): (PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u64>) = value.extract()?;
            let (starts, ends) = (starts.as_array(), ends.as_array());
            Ok(Band::Ranges(
                starts.iter().zip(ends).map(|(start, end)| *start as usize..*end as usize).collect(),
            ))
        }
        _ => Err(PyTypeError::new_err(format!("unknown band {kind:?}"))),
    }
}

/// A radius: an int is points, a float a fraction of the longer series.
fn radius_of(radius: &Bound<'_, PyAny>) -> PyResult<Radius> {
    if radius.is_instance_of::<PyFloat>() {
        return Ok(Radius::Fraction(radius.extract()?));
    }
    let points: Result<usize, _> = radius.extract();
    points.map(Radius::Points).map_err(|_| {
        PyValueError::new_err(format!(
            "a band radius is a whole number of points >= 0 or a fraction between 0.0 and 1.0, got {radius:?}"
        ))
    })
}

/// Whether `d(x, y) = d(y, x)`, so that half of a matrix of `x` with itself is enough.
pub(crate) fn is_symmetric(spec: &dtwave::Spec) -> bool {
    spec.anchor == Anchor::Global && !matches!(spec.band, Band::Ranges(_))
}
