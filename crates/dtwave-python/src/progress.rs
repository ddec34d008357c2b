//! A bar on stderr, for people without tqdm.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A bar over grid cells; hidden unless stderr is a terminal.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Bar(ProgressBar);

#[pymethods]
impl Bar {
    /// For a call that sweeps `cells`, or (0) nobody knows how many.
    #[new]
    fn new(what: String, cells: u64) -> PyResult<Self> {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let length = (cells > 0).then_some(cells);
        let template = match length {
            Some(_) => "{msg} {bar:30} {percent:>3}% {elapsed}, {eta} left",
            None => "{spinner} {msg} {elapsed}",
        };
        let style =
            ProgressStyle::with_template(template).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(Self(ProgressBar::with_draw_target(length, target).with_style(style).with_message(what)))
    }

    /// So many cells are done.
    fn __call__(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Takes the bar away.
    fn close(&self) {
        self.0.finish_and_clear();
    }
}
