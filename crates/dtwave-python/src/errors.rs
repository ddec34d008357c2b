//! Errors of the library as exceptions, each with the library's own line.

use std::any::Any;

use dtwave::Error;
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
            // The crate of files speaks to people at a command line.
            Failure::File(error) => {
                let text =
                    format!("{error:#}").replace("--resume", "resume=True").replace("--dtype", "dtype");
                PyOSError::new_err(text.replace("the first command", "the first call"))
            }
            Failure::Python(error) => error,
            Failure::Panic(text) => PyRuntimeError::new_err(format!("a mistake in dtwave itself: {text}")),
        }
    }
}

/// The exception for whoever can mend it.
fn exception(error: &Error) -> PyErr {
    let text = in_python(&error.to_string());
    match error {
        Error::OutOfMemory { .. } | Error::MemoryRefused { .. } => PyMemoryError::new_err(text),
        Error::Unsupported { .. } | Error::Backend { .. } => DeviceError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// What the library says to people at a command line, as Python writes it.
pub(crate) fn in_python(text: &str) -> String {
    text.replace("--backend cpu", "device=\"cpu\"")
        .replace("--dtype f32", "dtype=\"float32\"")
        .replace("raise the memory limit", "raise memory_limit")
        .replace("soft_dtw has an expected alignment instead", "use dtwave.expected_alignment with soft_dtw")
        .replace(": compute it with Pairing::Cross", "")
}
