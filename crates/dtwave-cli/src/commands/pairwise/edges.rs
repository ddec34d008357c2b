//! The pairs that are near enough, of a matrix that is never held.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use dtwave::learn::{Edges, Threshold, edges};
use serde_json::json;

use crate::commands::common::{Format, Output, Setup};
use crate::engine::{Element, Matrix};
use crate::json::Number;
use crate::output;
use crate::progress::{Progress, Stopwatch};
use crate::words::{count, unsigned_zero};

/// Which pairs are wanted.
pub(super) struct Wanted {
    pub(super) threshold: f64,
    /// Whether the roots of distances are compared.
    pub(super) is_of_roots: bool,
    /// Whether both sides are the same series, of which none is its own neighbour.
    pub(super) is_own: bool,
}

/// Finds, writes and tells the pairs within a threshold; `file` is what the output is called.
pub(super) fn answer<T: Element>(
    setup: &Setup<'_>,
    matrix: &Matrix<'_, T>,
    wanted: &Wanted,
    out: Option<Output>,
    file: Option<&PathBuf>,
) -> Result<()> {
    let Matrix { spec, pairing, x, y, .. } = matrix;
    let watch = Stopwatch::start();
    let cells = setup.engine.cells(spec, *pairing, x, y)?;
    let progress = Arc::new(Progress::new("pairwise", cells));
    let at = Threshold::at(wanted.threshold);
    let at = if wanted.is_of_roots { at.of_roots() } else { at };
    let found = edges(&setup.engine.context::<T>(&progress), spec, *pairing, *x, *y, at)?;
    let found = if wanted.is_own { found.without_own() } else { found };
    drop(progress);
    let took = watch.stop(cells);
    if let Some(out) = out {
        write(out, &found)?;
    }
    setup.answer(
        took,
        |answer| {
            answer["shape"] = json!(found.shape());
            answer["threshold"] = json!(Number(wanted.threshold));
            answer["count"] = json!(found.len());
            match file {
                Some(file) => answer["out"] = json!(file.display().to_string()),
                None => answer["edges"] = json!(listed(&found)),
            }
        },
        |out| match file {
            None => write_lines(out, &found),
            Some(file) => {
                let [rows, columns] = found.shape();
                let (edges, file, speed) = (count(found.len(), "edge"), file.display(), took.summary());
                writeln!(out, "{edges} of {rows} × {columns} pairs in {file}: {speed}")
            }
        },
    )
}

fn write<T: Element>(Output { format, target }: Output, found: &Edges<T>) -> Result<()> {
    match format {
        Format::Npz => {
            output::write_csr(target, found.shape(), found.starts(), found.indices(), found.distances())
        }
        Format::Json => target.write(|file| serde_json::to_writer(file, &listed(found)).map_err(Into::into)),
        _ => target.write(|file| write_lines(file, found)),
    }
}

fn listed<T: Element>(found: &Edges<T>) -> Vec<(usize, usize, T)> {
    found.iter().map(|(i, j, distance)| (i, j, unsigned_zero(distance))).collect()
}

fn write_lines<T: Element>(out: &mut dyn Write, found: &Edges<T>) -> std::io::Result<()> {
    writeln!(out, "row,column,distance")?;
    found.iter().try_for_each(|(i, j, distance)| writeln!(out, "{i},{j},{}", unsigned_zero(distance)))
}
