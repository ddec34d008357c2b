//! Work without the GIL: short work in the caller's thread, long work in one of its own while the caller's thread looks
//! at signals and tells of progress.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dtwave::Observer;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

use crate::errors::{Failure, in_python};

/// Work of fewer cells than this is over before anybody could press Ctrl-C: at most some hundredths of a second.
const SHORT: u64 = 1 << 23;

/// How often signals are looked at and progress is told.
const PAUSE: Duration = Duration::from_millis(50);

/// Hears of progress and says when to stop.
#[derive(Default)]
pub(crate) struct Watch {
    cells: AtomicU64,
    stop: AtomicBool,
    /// What is to be told of devices that failed while others went on.
    lost: Mutex<Vec<String>>,
}

impl Observer for Watch {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn lost(&self, device: &str, why: &dtwave::Error) {
        let told = format!("{device} failed, and the other devices go on: {}", why.told(in_python));
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
}

/// Warns of devices that failed while others went on.
fn warn(py: Python<'_>, watch: &Watch) -> PyResult<()> {
    let lost = std::mem::take(&mut *watch.lost.lock().unwrap_or_else(PoisonError::into_inner));
    lost.into_iter().try_for_each(|told| {
        let told = CString::new(told.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &told, 1)
    })
}

/// Who is told how many cells are done.
pub(crate) type Progress = Option<Py<PyAny>>;

/// Calls `work` without the GIL. `cells` is about how many it sweeps; only long work gets an observer. `progress` is
/// called with the number of cells done, in the caller's thread.
///
/// A signal's exception, or one of `progress`, stops the work and is returned once it has stopped.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    cells: u64,
    progress: &Progress,
    work: impl FnOnce(Option<Arc<dyn Observer>>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    let (mut work, mut result) = (Some(work), None);
    run_by(py, cells, progress, &mut |observer| result = work.take().map(|work| work(observer)))?;
    Ok(result.unwrap_or_else(|| Err(Failure::Panic("a call ended without a result".to_owned())))?)
}

/// [`run`], compiled once for all work, which keeps its result itself.
fn run_by(
    py: Python<'_>,
    cells: u64,
    progress: &Progress,
    work: &mut (dyn FnMut(Option<Arc<dyn Observer>>) + Send),
) -> PyResult<()> {
    if cells < SHORT && progress.is_none() {
        return Ok(py.detach(|| caught(|| work(None)))?);
    }
    let watch = Arc::new(Watch::default());
    let observer: Arc<dyn Observer> = Arc::clone(&watch) as _;
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel();
            scope.spawn(move || done.send(caught(|| work(Some(observer)))));
            let mut interruption = None;
            let ended = loop {
                match ended.recv_timeout(PAUSE) {
                    Ok(ended) => break ended,
                    Err(RecvTimeoutError::Timeout) if interruption.is_none() => {
                        if let Err(error) = Python::attach(|py| look(py, &watch, progress)) {
                            interruption = Some(error);
                            watch.stop.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        break Err(Failure::Panic("a thread ended without a result".to_owned()));
                    }
                }
            };
            match interruption {
                Some(error) => Err(error),
                None => Ok(ended?),
            }
        })
    })?;
    warn(py, &watch)
}

/// Lets Python handle the signals that came, and tells of progress.
fn look(py: Python<'_>, watch: &Watch, progress: &Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (watch.cells.load(Ordering::Relaxed),))?;
    }
    Ok(())
}

/// Does `work`; a panic is an error.
fn caught(work: impl FnOnce()) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Failure::of_panic(&*payload))
}
