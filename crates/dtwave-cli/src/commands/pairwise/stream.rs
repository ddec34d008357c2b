//! A matrix that goes to the disk tile by tile, and what an earlier run left of it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dtwave::{OwnedBatch, Pairing, SeriesBatch, Tile};
use xxhash_rust::xxh3::Xxh3;

use super::memory::{Overflow, in_memory};
use crate::data::Dataset;
use crate::engine::{Cut, Element, Engine, Matrix};
use crate::matrix::{self, Identity, MatrixWriter, Opened, Start};
use crate::output::{self, Target};
use crate::progress::Progress;
use crate::report::{self, Interrupted};

/// What a run has to tell besides the values.
pub(super) struct Streamed {
    /// Grid cells that an earlier run spared.
    pub(super) spared: u64,
    pub(super) overflow: Overflow,
}

pub(super) fn stream<T: Element>(
    engine: &Engine,
    matrix: &Matrix<'_, T>,
    identity: &Identity,
    target: Target,
    start: Start,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
) -> Result<Streamed> {
    let out = target.shown().to_path_buf();
    let cut = engine.cut(matrix)?;
    let is_finished = || -> Result<Streamed> {
        let spared = engine.cells(matrix.spec, matrix.pairing, &matrix.x, &matrix.y)?;
        Ok(Streamed { spared, overflow: overflow_in(matrix, &out)? })
    };
    let (writer, notes) = match matrix::open::<T>(target, identity, start)? {
        Opened::Unfinished(writer, notes) => (writer, notes),
        Opened::Finished => {
            report::note(&format!("{} is finished already", out.display()));
            return is_finished();
        }
        Opened::Named(_target) => {
            let compared = compare(engine, matrix, &out, progress, finish)?;
            report::warn(&format!(
                "{} is finished already: its shape and type are right, and so is a sample of {compared} computed \
                 again; the other values were not compared",
                out.display()
            ));
            return is_finished();
        }
    };
    notes.iter().for_each(|note| report::warn(note));
    let is_told = start == Start::Resume;
    let again = "the same command with --resume continues";
    let filled = fill(engine, matrix, &cut, *writer, progress, finish, again, is_told)?;
    engine.cancel.keeps(format!("; the distances are in {}", out.display()));
    let Filled { spared, done, mut overflow } = filled;
    if done > 0 {
        // The earlier run did not live to tell of its own.
        overflow = overflow_in(matrix, &out)?;
    }
    Ok(Streamed { spared, overflow })
}

/// What came of filling a file.
pub(super) struct Filled {
    /// Grid cells that an earlier run spared.
    pub(super) spared: u64,
    /// Tiles that were there.
    pub(super) done: usize,
    /// Of the other tiles.
    pub(super) overflow: Overflow,
}

/// Computes the tiles of `cut` that the file lacks, and gives it its name. `again` says what continues a run that is
/// interrupted; `is_told` is whether to say what an earlier one did.
#[expect(clippy::too_many_arguments, reason = "what to compute, where to, and what to say")]
pub(super) fn fill<T: Element>(
    engine: &Engine,
    matrix: &Matrix<'_, T>,
    cut: &Cut,
    mut writer: MatrixWriter<T>,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
    again: &str,
    is_told: bool,
) -> Result<Filled> {
    let partial = writer.partial().display().to_string();
    engine.cancel.keeps(format!("; the finished tiles are in {partial}, {again}"));
    let done: HashSet<usize> =
        cut.tiles().filter(|tile| writer.has(&place(tile))).map(|tile| tile.index).collect();
    let all = cut.share.len();
    if is_told && !done.is_empty() {
        report::note(&format!("{} of {all} tiles are done already", done.len()));
    }
    let mut written = done.len();
    let mut finished = Vec::new();
    let mut overflow = Overflow::default();
    let result = engine.tiles(matrix, cut, progress, &done, |tile, values| {
        finished.clear();
        finished.extend(values.iter().map(|v| finish(*v)));
        overflow.count(&finished, if tile.is_mirrored(matrix.pairing) { 2 } else { 1 });
        writer.write(&place(tile), &finished)?;
        written += 1;
        Ok(())
    });
    let spared = match result {
        Ok(spared) => spared,
        Err(_) if engine.cancel.is_raised() => {
            writer.pause()?;
            return Err(Interrupted(format!("; {written} of {all} tiles are in {partial}, {again}")).into());
        }
        Err(error) => return Err(error),
    };
    writer.finish()?;
    Ok(Filled { spared, done: done.len(), overflow })
}

/// A tile as a file has it.
pub(super) fn place(tile: &Tile) -> matrix::Tile {
    matrix::Tile { rows: tile.rows.clone(), columns: tile.columns.clone() }
}

/// Counts the values of a finished file that left the range of the number type.
fn overflow_in<T: Element>(matrix: &Matrix<'_, T>, path: &Path) -> Result<Overflow> {
    let shown = || format!("cannot read {}", path.display());
    let file = BufReader::with_capacity(1 << 20, File::open(path).with_context(shown)?);
    let mut overflow = Overflow::default();
    for value in output::npy_values::<T>(file, &[matrix.x.len(), matrix.y.len()]).with_context(shown)? {
        overflow.count(&[value.with_context(shown)?], 1);
    }
    Ok(overflow)
}

/// A hash of the series' values and shapes, so that a changed input is noticed on resume.
pub(super) fn fingerprint(dataset: &Dataset) -> String {
    let mut hash = Xxh3::new();
    hash.update(&(dataset.channels as u64).to_le_bytes());
    for series in &dataset.series {
        hash.update(&(series.len() as u64).to_le_bytes());
        for value in series {
            hash.update(&value.to_bits().to_le_bytes());
        }
    }
    format!("{:032x}", hash.digest128())
}

/// Most series of either side in a sample.
const SAMPLE_SIDE: usize = 8;
/// About as many cells may be swept for a sample.
const SAMPLE_CELLS: usize = 1 << 28;

/// Computes a sample of the matrix again and compares it with the finished file; the number of values.
fn compare<T: Element>(
    engine: &Engine,
    matrix: &Matrix<'_, T>,
    path: &Path,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
) -> Result<usize> {
    let Matrix { spec, x, y, cutoff, .. } = matrix;
    let pair = x.max_length().max(1).saturating_mul(y.max_length().max(1));
    let side = (SAMPLE_CELLS / pair).isqrt().clamp(1, SAMPLE_SIDE);
    // The first with the last, where there is room for one pair: a series and itself are 0 apart under nearly any
    // measure.
    let rows = if side == 1 { vec![0] } else { spread(x.len(), side) };
    let columns = spread(y.len(), side);
    let (a, b) = (picked(x, &rows)?, picked(y, &columns)?);
    let sample = Matrix { spec, pairing: Pairing::Cross, x: a.batch(), y: b.batch(), cutoff: *cutoff };
    let expected = in_memory(engine, &sample, progress, finish)?;

    let shown = path.display();
    let mut file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let header_bytes = output::npy_header::<T>(&[x.len(), y.len()]).len() as u64;
    let mut compared = 0;
    for (i, row) in rows.iter().zip(expected.chunks_exact(columns.len())) {
        for (j, expected) in columns.iter().zip(row) {
            // The lower half is the mirrored upper one, which rounds differently.
            if matrix.pairing == Pairing::SelfSymmetric && i > j {
                continue;
            }
            let element = *i as u64 * y.len() as u64 + *j as u64;
            let mut bytes = vec![0; T::BYTES];
            file.seek(SeekFrom::Start(header_bytes + element * T::BYTES as u64))
                .and_then(|_| file.read_exact(&mut bytes))
                .with_context(|| format!("cannot read {shown}"))?;
            let (found, expected) = (T::get(&bytes).to_f64(), expected.to_f64());
            ensure!(
                is_close(found, expected, T::BYTES),
                "{shown} is a result of another job: the distance of row {i} and column {j} is {found} there, {expected} \
                 in this one; leave out --resume to replace it, or choose another name"
            );
            compared += 1;
        }
    }
    Ok(compared)
}

/// `side` indices below `len` that include the first and the last; the last where there is one.
fn spread(len: usize, side: usize) -> Vec<usize> {
    let side = side.min(len);
    (0..side).map(|k| if side == 1 { len - 1 } else { k * (len - 1) / (side - 1) }).collect()
}

fn picked<T: Element>(from: &SeriesBatch<'_, T>, indices: &[usize]) -> Result<OwnedBatch<T>> {
    let mut batch = OwnedBatch::new(from.channels())?;
    for index in indices {
        batch.push(from.get(*index).values)?;
    }
    Ok(batch)
}

/// Whether two runs of one job could give these values: another device rounds differently.
fn is_close(a: f64, b: f64, element_bytes: usize) -> bool {
    let tolerance = if element_bytes == 4 { 1e-3 } else { 1e-8 };
    let is_near = a.is_finite() && b.is_finite() && (a - b).abs() <= tolerance * a.abs().max(b.abs());
    a == b || (a.is_nan() && b.is_nan()) || is_near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_reach_from_the_first_to_the_last() {
        assert_eq!(spread(100, 3), [0, 49, 99]);
        assert_eq!(spread(2, 8), [0, 1]);
        assert_eq!(spread(5, 1), [4]);
        assert_eq!(spread(1, 8), [0]);
    }

    #[test]
    fn other_values_are_not_close() {
        assert!(is_close(1.0, 1.0 + 1e-12, 8) && is_close(f64::INFINITY, f64::INFINITY, 8));
        assert!(is_close(1.0, 1.0001, 4) && !is_close(1.0, 1.0001, 8));
        assert!(!is_close(0.0, 1e-3, 8) && !is_close(f64::INFINITY, 1e308, 8) && !is_close(f64::NAN, 0.0, 8));
    }

    #[test]
    fn fingerprints_see_values_shapes_and_channels() {
        let base = Dataset::univariate("a".into(), vec![vec![1.0, 2.0], vec![3.0]]);
        let renamed = Dataset { name: "b".into(), ..base.clone() };
        assert_eq!(fingerprint(&base), fingerprint(&renamed));
        let moved = Dataset::univariate("a".into(), vec![vec![1.0], vec![2.0, 3.0]]);
        let negative_zero = |v| Dataset::univariate("a".into(), vec![vec![v]]);
        let two = Dataset { channels: 2, ..Dataset::univariate("a".into(), vec![vec![1.0, 2.0]]) };
        let one = Dataset::univariate("a".into(), vec![vec![1.0, 2.0]]);
        assert_ne!(fingerprint(&base), fingerprint(&moved));
        assert_ne!(fingerprint(&two), fingerprint(&one));
        assert_ne!(fingerprint(&negative_zero(0.0)), fingerprint(&negative_zero(-0.0)));
    }
}
