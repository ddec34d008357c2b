//! Where calls run: a device, its memory limit, and the plans that wait between calls.

use dtwave::learn::Context;
use dtwave::{BackendKind, Device, Observer, Session};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

use crate::errors::{Failure, in_python};
use crate::inputs::Number;

/// A device and the memory that calls may use. Calls that share it share its plans.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Engine {
    session: Session,
    device: Device,
    memory_limit: u64,
}

#[pymethods]
impl Engine {
    /// On the device of a name, with this many threads of the CPU (0: one per core) and bytes of scratch.
    #[new]
    fn new(device: &str, threads: usize, memory_limit: u64) -> PyResult<Self> {
        let device = open(device, threads)?;
        let session = Session::new(dtwave::Spec::dtw()).on(device.clone()).memory_limit(memory_limit);
        Ok(Self { session, device, memory_limit })
    }

    /// This engine for distances up to a cutoff: larger ones are infinite.
    fn within(&self, cutoff: f64) -> Self {
        let session = self.session.clone().cutoff(Some(cutoff));
        Self { session, device: self.device.clone(), memory_limit: self.memory_limit }
    }

    /// The name of the backend.
    #[getter]
    pub(crate) fn backend(&self) -> &'static str {
        self.device.name()
    }
}

impl Engine {
    /// The session of a spec; with an observer, one whose plans are its own.
    pub(crate) fn session(&self, spec: &dtwave::Spec, observer: Option<Arc<dyn Observer>>) -> Session {
        let session = self.session.with_spec(spec.clone());
        match observer {
            Some(observer) => session.observer(observer),
            None => session,
        }
    }

    /// A context for neighbours, averages and clusters.
    pub(crate) fn context<T: Number>(&self, observer: Option<Arc<dyn Observer>>) -> Context<'_, T> {
        let context = Context::new(self.device.backend::<T>()).with_memory_limit(self.memory_limit);
        match observer {
            Some(observer) => context.with_observer(observer),
            None => context,
        }
    }
}

/// The device of a name.
fn open(name: &str, threads: usize) -> PyResult<Device> {
    // Of several devices, the backend of the first: what else is wrong is said where they are opened.
    let backend = name.split([':', ',']).next().unwrap_or_default();
    if threads > 0 && name.split(',').all(|name| name.trim() != "cpu") {
        return Err(PyValueError::new_err(format!(
            "threads is for the CPU; leave it out with device={name:?}"
        )));
    }
    if BackendKind::of(backend).is_none() || name.starts_with("cpu:") {
        return Err(PyValueError::new_err(format!(
            "unknown device {name:?}: expected {}",
            BackendKind::expected()
        )));
    }
    Ok(Device::named(name, threads).map_err(Failure::from)?)
}

/// Every device, and every backend that has none: dicts of backend, description and why it cannot be used.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let describe = |info: dtwave::DeviceInfo| {
        let entry = PyDict::new(py);
        entry.set_item("backend", info.backend)?;
        entry.set_item("description", info.description)?;
        let unavailable = info.unavailable.map(|why| why.told(in_python));
        entry.set_item("unavailable", unavailable)?;
        Ok(entry)
    };
    py.detach(dtwave::devices).into_iter().map(describe).collect()
}
