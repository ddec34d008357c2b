//! Errors of the library as exceptions, each with the library's own line.

use std::any::Any;

use dtwave::{Dtype, Error, Remedy};
use dtwave_results::matrix::{Blocked, Words};
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    dtwave,
    DeviceError,
    PyException,
    "A device is not there, cannot do what was asked, or failed. The text says which, and what to do."
);

/// Why a call of this module failed.
pub(crate) enum Failure {
    /// The library says so.
    Library(Error),
    /// A file could not be written.
    File(anyhow::Error),
    /// Python says so.
    Python(PyErr),
    /// The library has a mistake: a panic's text.
    Panic(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Failure {
    /// What a panic said.
    pub(crate) fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Panic(text.unwrap_or_else(|| "no reason given".to_owned()))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => exception(&error),
            Failure::File(error) => PyOSError::new_err(match error.downcast_ref::<Blocked>() {
                Some(blocked) => blocked.told(Words { resume: "resume=True", run: "call", dtype: "dtype" }),
                None => format!("{error:#}"),
            }),
            Failure::Python(error) => error,
            Failure::Panic(text) => PyRuntimeError::new_err(format!("a mistake in dtwave itself: {text}")),
        }
    }
}

/// The exception for whoever can mend it.
fn exception(error: &Error) -> PyErr {
    let text = error.told(in_python);
    match error {
        Error::OutOfMemory { .. } | Error::MemoryRefused { .. } => PyMemoryError::new_err(text),
        Error::Unsupported { .. } | Error::Backend { .. } => DeviceError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// What helps against an error, as Python spells it.
pub(crate) fn in_python(remedy: Remedy) -> String {
    match remedy {
        Remedy::Backend(name) => format!("use device=\"{name}\""),
        Remedy::Dtype(Dtype::F32) => "use dtype=\"float32\"".to_owned(),
        Remedy::Dtype(Dtype::F64) => "use dtype=\"float64\"".to_owned(),
        Remedy::MoreMemory => "raise memory_limit".to_owned(),
        Remedy::Feature(name) => format!("build the package with the cargo feature {name}"),
        // The functions that meet this take one batch only.
        Remedy::BothSides => String::new(),
        Remedy::ExpectedAlignment => "use dtwave.expected_alignment with soft_dtw".to_owned(),
        remedy => remedy.in_rust(),
    }
}
