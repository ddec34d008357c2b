//! The electrocardiogram that travels in the package: the file that the command has too.

use numpy::PyArray1;
use pyo3::prelude::*;

/// One sample a line, in millivolts. `README.md` beside it has source and licence.
const CSV: &str = include_str!("../../dtwave-cli/data/ecg_aami3a.csv");

/// The samples.
#[pyfunction]
pub(crate) fn ecg(py: Python<'_>) -> PyResult<Bound<'_, PyArray1<f32>>> {
    let samples: Result<Vec<f32>, _> = CSV.lines().map(str::parse).collect();
    Ok(PyArray1::from_vec(py, samples?))
}
