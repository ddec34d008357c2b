//! Matrices that are not made whole in memory: condensed ones, those in the caller's array, those in a file.

use std::collections::HashSet;
use std::path::PathBuf;

use dtwave::{Pairing, SeriesBatch, Session, Tile, TilePlan};
use dtwave_results::Target;
use dtwave_results::matrix::{self, Identity, Opened, Start};
use ndarray::ArrayViewMut2;
use numpy::{PyArray2, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::calls::{self, Progress};
use crate::distances::{roughly, sides};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, Number, with_number};
use crate::measures::Spec;

/// The upper triangle without the diagonal, row by row, into `out`: `n(n − 1)/2` values.
#[pyfunction]
pub(crate) fn condensed(
    py: Python<'_>,
    x: Batch<'_>,
    spec: &Spec,
    engine: &Engine,
    out: &Bound<'_, PyAny>,
    progress: Progress,
) -> PyResult<()> {
    with_number!(x.is_f32(), T => {
        let mut out: PyReadwriteArray1<'_, T> = out.extract()?;
        let out = out.as_slice_mut()?;
        let x = x.batch::<T>()?;
        let n = x.len();
        if out.len() != n * n.saturating_sub(1) / 2 {
            return Err(PyValueError::new_err("the array has another length than the upper triangle"));
        }
        calls::run(py, roughly(Pairing::SelfSymmetric, &x, &x), &progress, |observer| {
            let session = engine.session(&spec.0, observer);
            tiled(&session, Pairing::SelfSymmetric, &x, &x, |tile, part| {
                for (i, row) in tile.rows.clone().zip(part.chunks_exact(tile.columns.len())) {
                    let start = tile.columns.start.max(i + 1);
                    let Some(own) = row.get(start - tile.columns.start..) else { continue };
                    if !own.is_empty() {
                        let first = i * (2 * n - i - 1) / 2 + start - i - 1;
                        out[first..first + own.len()].copy_from_slice(own);
                    }
                }
                Ok(())
            })
        })
    })
}

/// The matrix into `out`, `[n_x, n_y]` of the series' number type, of any strides.
#[pyfunction]
pub(crate) fn pairwise_into(
    py: Python<'_>,
    x: Batch<'_>,
    y: Option<Batch<'_>>,
    spec: &Spec,
    engine: &Engine,
    out: &Bound<'_, PyAny>,
    progress: Progress,
) -> PyResult<()> {
    with_number!(x.is_f32(), T => {
        let out = out.cast::<PyArray2<T>>()?;
        let busy = "out is an input or the out of another call, which has not ended yet";
        let mut out = out.try_readwrite().map_err(|_| PyValueError::new_err(busy))?;
        let mut out = out.as_array_mut();
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, false)?;
        calls::run(py, roughly(pairing, &x, &y), &progress, |observer| {
            let session = engine.session(&spec.0, observer);
            // The CPU goes on tile by tile: the array may be a memory map that is larger than memory.
            let is_elsewhere = session.device()?.backend::<T>().computes_elsewhere();
            if let Some(out) = out.as_slice_mut().filter(|_| is_elsewhere) {
                return Ok(session.distances_into(pairing, &x, &y, out)?);
            }
            tiled(&session, pairing, &x, &y, |tile, part| {
                put(&mut out, tile, pairing, part);
                Ok(())
            })
        })
    })
}

/// Puts a tile, and its mirror image, in its place.
fn put<T: Number>(out: &mut ArrayViewMut2<'_, T>, tile: &Tile, pairing: Pairing, part: &[T]) {
    for (i, row) in tile.rows.clone().zip(part.chunks_exact(tile.columns.len())) {
        for (j, value) in tile.columns.clone().zip(row) {
            out[[i, j]] = *value;
            if tile.is_mirrored(pairing) {
                out[[j, i]] = *value;
            }
        }
    }
}

/// Rows and columns of a tile at least, where a file has smaller ones.
const LEAST_SIDE: usize = 32;

/// Hands every tile to `sink`.
fn tiled<T: Number>(
    session: &Session,
    pairing: Pairing,
    x: &SeriesBatch<'_, T>,
    y: &SeriesBatch<'_, T>,
    sink: impl FnMut(&Tile, &[T]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    check(session, pairing, x, y)?;
    let tiles = session.tile_plan(pairing, x, y)?;
    session.tiled(&tiles, x, y, |_| false, sink)
}

/// Checks the series as a whole, so that an error names a series of the batch and not of a tile.
fn check<T: Number>(
    session: &Session,
    pairing: Pairing,
    x: &SeriesBatch<'_, T>,
    y: &SeriesBatch<'_, T>,
) -> Result<(), Failure> {
    let problem = dtwave::Problem::of(session.spec().clone(), pairing, x, y)?;
    Ok(problem.check_input(x, y)?)
}

/// The tiles of a file that has some already: no larger than these, so that they count, unless these are slivers.
fn plan<T: Number>(
    session: &Session,
    pairing: Pairing,
    (x, y): (&SeriesBatch<'_, T>, &SeriesBatch<'_, T>),
    there: &[matrix::Tile],
) -> Result<TilePlan, Failure> {
    let tiles = session.tile_plan(pairing, x, y)?;
    let rows = there.iter().map(|tile| tile.rows.len()).max();
    let columns = there.iter().map(|tile| tile.columns.len()).max();
    Ok(match rows.min(columns) {
        Some(side) => tiles.with_max_side(side.max(LEAST_SIDE)),
        None => tiles,
    })
}

/// The matrix into the `.npy` file at `path`, tile by tile: `(what was found there, notes for the user)`. Found is
/// `"finished"` (an earlier call wrote this very result), `"named"` (a result of this shape whose job is not known: it
/// is as it was) or `"written"`. With `root` the file has the roots of the distances.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a call has as many options")]
pub(crate) fn pairwise_to_file(
    py: Python<'_>,
    x: Batch<'_>,
    y: Option<Batch<'_>>,
    spec: &Spec,
    engine: &Engine,
    path: PathBuf,
    resume: bool,
    root: bool,
    progress: Progress,
) -> PyResult<(&'static str, Vec<String>)> {
    let given = y.is_some();
    with_number!(x.is_f32(), T => {
        let (x, y, pairing) = sides::<T>(&x, y.as_ref(), spec, false)?;
        // Files are slow: signals are looked at however few cells there are.
        calls::run(py, u64::MAX, &progress, |observer| {
            let target = Target::take(&path).map_err(Failure::File)?;
            let mut notes: Vec<String> = target.note().into_iter().collect();
            let session = engine.session(&spec.0, observer);
            // Before there is a file.
            session.supports(pairing, &x, &y)?;
            check(&session, pairing, &x, &y)?;
            let identity = identity(&session, engine.backend(), pairing, &x, &y, given, root);
            let start = if resume { Start::Resume } else { Start::Fresh };
            let mut writer = match matrix::open::<T>(target, &identity, start).map_err(Failure::File)? {
                Opened::Unfinished(writer, found) => {
                    notes.extend(found);
                    writer
                }
                Opened::Finished => return Ok(("finished", notes)),
                Opened::Named(_) => return Ok(("named", notes)),
            };
            let tiles = plan(&session, pairing, (&x, &y), writer.tiles())?;
            let done: HashSet<usize> =
                tiles.tiles().filter(|tile| writer.has(&place(tile))).map(|tile| tile.index).collect();
            if !done.is_empty() {
                notes.push(format!("{} of {} tiles were done already", done.len(), tiles.len()));
            }
            let mut roots = Vec::new();
            let write = |tile: &Tile, part: &[T]| {
                roots.clear();
                if root {
                    roots.extend(part.iter().map(|value| root_of(*value)));
                }
                writer.write(&place(tile), if root { &roots } else { part }).map_err(Failure::File)
            };
            session.tiled(&tiles, &x, &y, |tile| done.contains(&tile.index), write)?;
            writer.finish().map_err(Failure::File)?;
            Ok(("written", notes))
        })
    })
}

/// The root of a distance; of what rounding left below 0 it is 0.
fn root_of<T: Number>(distance: T) -> T {
    if distance < T::ZERO { T::ZERO } else { T::from_f64(distance.to_f64().sqrt()) }
}

/// Where a tile lies in the file.
fn place(tile: &Tile) -> matrix::Tile {
    matrix::Tile { rows: tile.rows.clone(), columns: tile.columns.clone() }
}

/// What must agree for a call to continue another's file.
fn identity<T: Number>(
    session: &Session,
    backend: &str,
    pairing: Pairing,
    x: &SeriesBatch<'_, T>,
    y: &SeriesBatch<'_, T>,
    given: bool,
    root: bool,
) -> Identity {
    Identity {
        shape: [x.len(), y.len()],
        element_bytes: T::BYTES,
        symmetric: pairing == Pairing::SelfSymmetric,
        options: options(session.spec(), backend, given, root),
        inputs: vec![own("the content of x", &fingerprint(x)), own("the content of y", &fingerprint(y))],
    }
}

fn own(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The choices of a call that decide what its matrix is.
pub(crate) fn options(spec: &dtwave::Spec, backend: &str, given: bool, root: bool) -> Vec<(String, String)> {
    let parameters = spec.measure.parameters();
    let parameters = parameters.iter().map(|(parameter, value)| own(parameter.name, &format!("{value:?}")));
    [own("the version of dtwave", env!("CARGO_PKG_VERSION")), own("measure", spec.key())]
        .into_iter()
        .chain(parameters)
        .chain([
            own("band", &format!("{:?}", spec.band)),
            own("device", backend),
            own("y", if given { "given" } else { "left out" }),
            own("sqrt", if root { "True" } else { "False" }),
        ])
        .collect()
}

/// A hash of the series' values, times and shapes, so that a changed input is noticed.
pub(crate) fn fingerprint<T: Number>(batch: &SeriesBatch<'_, T>) -> String {
    let mut hash = Xxh3::new();
    let mut bytes = Vec::new();
    hash.update(&(batch.channels() as u64).to_le_bytes());
    for series in batch.iter() {
        hash.update(&(series.len() as u64).to_le_bytes());
        for values in [Some(series.values), series.times].into_iter().flatten() {
            bytes.clear();
            values.iter().for_each(|value| value.put(&mut bytes));
            hash.update(&bytes);
        }
    }
    format!("{:032x}", hash.digest128())
}
