//! A matrix in a `.npy` file whose tiles come from elsewhere: from the workers of a client.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dtwave_results::Target;
use dtwave_results::matrix::{self, Identity, MatrixWriter, Opened, Start, Tile};
use numpy::{Element, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::inputs::{Batch, Number, with_number};
use crate::matrix::{fingerprint, options};
use crate::measures::Spec;

/// What must agree for a call to continue another's file: the choices, and the series.
#[pyfunction]
pub(crate) fn matrix_options(spec: &Spec, device: &str, given: bool, root: bool) -> Vec<(String, String)> {
    options(&spec.0, device, given, root)
}

/// A hash of series, so that other ones are noticed.
#[pyfunction]
pub(crate) fn series_hash(series: Batch<'_>) -> PyResult<String> {
    with_number!(series.is_f32(), T => Ok(fingerprint(&series.batch::<T>()?)))
}

/// The writer of one number type.
enum Writer {
    F32(Box<MatrixWriter<f32>>),
    F64(Box<MatrixWriter<f64>>),
}

/// Rows or columns: from which to which, the second not among them.
type Span = (usize, usize);

/// A `.npy` file that tiles are written to. It has its name once it is finished; until then it can be continued.
#[pyclass(frozen)]
pub(crate) struct MatrixFile {
    writer: Mutex<Option<Writer>>,
    shape: [usize; 2],
    /// `"unfinished"`, `"finished"` (an earlier call wrote this very result) or `"named"` (a result of this shape whose
    /// job is not known).
    #[pyo3(get)]
    found: &'static str,
    /// What the user should know of what was found.
    #[pyo3(get)]
    notes: Vec<String>,
}

#[pymethods]
impl MatrixFile {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "a file has as many properties")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        resume: bool,
        shape: [usize; 2],
        is_f32: bool,
        symmetric: bool,
        options: Vec<(String, String)>,
        inputs: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let element_bytes = if is_f32 { 4 } else { 8 };
        let identity = Identity { shape, element_bytes, symmetric, options, inputs };
        py.detach(|| {
            if is_f32 {
                Self::open(&path, resume, &identity, Writer::F32)
            } else {
                Self::open(&path, resume, &identity, Writer::F64)
            }
        })
    }

    /// Where the tiles that the file has begin and end: `(rows, columns)`, in order.
    fn edges(&self) -> (Vec<usize>, Vec<usize>) {
        match self.lock().as_ref() {
            None => Default::default(),
            Some(Writer::F32(writer)) => edges(writer.tiles()),
            Some(Writer::F64(writer)) => edges(writer.tiles()),
        }
    }

    /// Whether the file has all values of a tile.
    fn has(&self, rows: Span, columns: Span) -> PyResult<bool> {
        let tile = self.tile(rows, columns)?;
        Ok(match self.lock().as_ref() {
            None => true,
            Some(Writer::F32(writer)) => writer.has(&tile),
            Some(Writer::F64(writer)) => writer.has(&tile),
        })
    }

    /// Writes a tile, and of a symmetric matrix its mirror image.
    fn write(&self, py: Python<'_>, rows: Span, columns: Span, part: &Bound<'_, PyAny>) -> PyResult<()> {
        let tile = self.tile(rows, columns)?;
        match self.lock().as_mut() {
            None => Err(PyRuntimeError::new_err("the file is finished")),
            Some(Writer::F32(writer)) => put(py, writer, &tile, part),
            Some(Writer::F64(writer)) => put(py, writer, &tile, part),
        }
    }

    /// Gives the file its name.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.lock().take();
        let finished = py.detach(|| match writer {
            None => Ok(()),
            Some(Writer::F32(writer)) => writer.finish(),
            Some(Writer::F64(writer)) => writer.finish(),
        });
        Ok(finished.map_err(Failure::File)?)
    }

    /// Stops here: what was written is on the disk, for another call to continue.
    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.lock().take();
        let paused = py.detach(|| match writer {
            None => Ok(()),
            Some(Writer::F32(writer)) => writer.pause(),
            Some(Writer::F64(writer)) => writer.pause(),
        });
        Ok(paused.map_err(Failure::File)?)
    }
}

impl MatrixFile {
    fn open<T: Number>(
        path: &std::path::Path,
        resume: bool,
        identity: &Identity,
        writer: impl FnOnce(Box<MatrixWriter<T>>) -> Writer,
    ) -> PyResult<Self> {
        let target = Target::take(path).map_err(Failure::File)?;
        let mut notes: Vec<String> = target.note().into_iter().collect();
        let start = if resume { Start::Resume } else { Start::Fresh };
        let (found, writer) = match matrix::open::<T>(target, identity, start).map_err(Failure::File)? {
            Opened::Unfinished(opened, found) => {
                notes.extend(found);
                ("unfinished", Some(writer(opened)))
            }
            Opened::Finished => ("finished", None),
            Opened::Named(_) => ("named", None),
        };
        Ok(Self { writer: Mutex::new(writer), shape: identity.shape, found, notes })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tile, if it lies in the matrix.
    fn tile(&self, rows: Span, columns: Span) -> PyResult<Tile> {
        let [n, m] = self.shape;
        if rows.0 > rows.1 || rows.1 > n || columns.0 > columns.1 || columns.1 > m {
            return Err(PyValueError::new_err(format!(
                "rows {rows:?} and columns {columns:?} are not in a matrix of {n} x {m}"
            )));
        }
        Ok(Tile { rows: rows.0..rows.1, columns: columns.0..columns.1 })
    }
}

fn edges(tiles: &[Tile]) -> (Vec<usize>, Vec<usize>) {
    let sorted = |edges: BTreeSet<usize>| edges.into_iter().collect();
    let rows = tiles.iter().flat_map(|tile| [tile.rows.start, tile.rows.end]).collect();
    let columns = tiles.iter().flat_map(|tile| [tile.columns.start, tile.columns.end]).collect();
    (sorted(rows), sorted(columns))
}

fn put<T: Number + Element>(
    py: Python<'_>,
    writer: &mut MatrixWriter<T>,
    tile: &Tile,
    part: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let part = part.cast::<PyArray2<T>>()?.try_readonly()?;
    let (expected, part) = ((tile.rows.len(), tile.columns.len()), part.as_array());
    if part.dim() != expected {
        let got = part.dim();
        return Err(PyValueError::new_err(format!("the tile has the shape {expected:?}, got {got:?}")));
    }
    let part = part.as_standard_layout();
    let values = part.as_slice().ok_or_else(|| PyValueError::new_err("the tile is not in rows"))?;
    Ok(py.detach(|| writer.write(tile, values)).map_err(Failure::File)?)
}
