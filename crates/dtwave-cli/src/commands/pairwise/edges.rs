//! The pairs that are near enough, of a matrix that is never held.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, ensure};
use dtwave::learn::{Edges, Threshold, edges};
use serde_json::json;

use super::PairwiseArgs;
use crate::commands::common::{Format, Output, Setup};
use crate::engine::{self, Element};
use crate::output;
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::words::{count, unsigned_zero};

impl PairwiseArgs {
    /// Finds, writes and tells the pairs within a threshold.
    pub(super) fn edges<T: Element>(&self, threshold: f64, cancel: &Cancel) -> Result<()> {
        ensure!(!threshold.is_nan(), "--threshold must be a number");
        let out = Output::take(&self.out, &Format::SPARSE)?;
        let (read, spec) = self.asked(&[&self.out])?;
        let mut setup = Setup::new(&self.options, read, spec, cancel)?;
        let (a, b, pairing) = self.loaded(&mut setup)?;
        let x = engine::batch::<T>(&a)?;
        let y = b.as_ref().map(engine::batch::<T>).transpose()?;
        let (x, y) = (x.batch(), y.as_ref().unwrap_or(&x).batch());

        let watch = Stopwatch::start();
        let cells = setup.engine.cells(&setup.spec, pairing, &x, &y)?;
        let progress = Arc::new(Progress::new("pairwise", cells));
        let at = Threshold::at(threshold);
        let at = if self.options.measure.takes_root() { at.of_roots() } else { at };
        let found = edges(&setup.engine.context::<T>(&progress), &setup.spec, pairing, x, y, at)?;
        let found = if self.b.is_none() { found.without_own() } else { found };
        drop(progress);
        let took = watch.stop(cells);

        if let Some(Output { format, target }) = out {
            match format {
                Format::Npz => output::write_csr(
                    target,
                    found.shape(),
                    found.starts(),
                    found.indices(),
                    found.distances(),
                )?,
                Format::Json => {
                    target.write(|file| serde_json::to_writer(file, &listed(&found)).map_err(Into::into))?;
                }
                _ => target.write(|file| write_lines(file, &found))?,
            }
        }
        setup.answer(
            took,
            |answer| {
                answer["shape"] = json!(found.shape());
                answer["threshold"] = json!(crate::json::Number(threshold));
                answer["count"] = json!(found.len());
                match &self.out {
                    Some(out) => answer["out"] = json!(out.display().to_string()),
                    None => answer["edges"] = json!(listed(&found)),
                }
            },
            |out| match &self.out {
                None => write_lines(out, &found),
                Some(file) => {
                    let [rows, columns] = found.shape();
                    writeln!(
                        out,
                        "{} of {rows} × {columns} pairs in {}: {}",
                        count(found.len(), "edge"),
                        file.display(),
                        took.summary()
                    )
                }
            },
        )
    }
}

fn listed<T: Element>(found: &Edges<T>) -> Vec<(usize, usize, T)> {
    found.iter().map(|(i, j, distance)| (i, j, unsigned_zero(distance))).collect()
}

fn write_lines<T: Element>(out: &mut dyn Write, found: &Edges<T>) -> std::io::Result<()> {
    writeln!(out, "row,column,distance")?;
    found.iter().try_for_each(|(i, j, distance)| writeln!(out, "{i},{j},{}", unsigned_zero(distance)))
}
