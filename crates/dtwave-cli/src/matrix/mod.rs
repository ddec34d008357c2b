//! A pairwise result on the disk, written tile by tile.
//!
//! While it is computed, `<out>.partial` is a `.npy` of the final shape and `<out>.progress` says which tiles of it
//! are there ([`journal`]). Once all are, the partial file is renamed to `<out>` and the progress file removed, so
//! `<out>` is only ever whole. Memory: one tile. Order of writes: the tile's values, flush, its record, flush; a
//! crash therefore loses at most the tile in flight. This module neither plans tiles nor computes distances.

mod journal;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use xxhash_rust::xxh3::Xxh3;

use crate::data::Dataset;
use crate::output::{self, NpyElement, explain};

pub(crate) use journal::{Identity, Journal, Tile};

/// Whether to continue an interrupted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Start anew; an unfinished result is an error.
    Fresh,
    /// Continue an unfinished result if there is one.
    Resume,
}

/// What opening found.
#[derive(Debug)]
pub(crate) enum Opened<T> {
    /// Tiles are left to write.
    Unfinished(MatrixWriter<T>),
    /// An earlier run finished the result already.
    Finished,
}

/// An unfinished result.
#[derive(Debug)]
pub(crate) struct MatrixWriter<T> {
    out: PathBuf,
    partial: PathBuf,
    progress: PathBuf,
    data: File,
    header_bytes: u64,
    identity: Identity,
    journal: Journal,
    element: PhantomData<T>,
}

impl<T: NpyElement> MatrixWriter<T> {
    /// Opens the result at `out` for writing; reserves its space on the disk.
    pub(crate) fn open(out: &Path, identity: &Identity, start: Start) -> Result<Opened<T>> {
        assert_eq!(identity.element_bytes, T::BYTES, "the identity must name the element type");
        output::check_writable(out)?;
        ensure!(
            !output::is_special(out),
            "cannot write {}: a matrix needs a regular file, this is a device or pipe",
            out.display()
        );
        let (partial, progress) = (beside(out, ".partial"), beside(out, ".progress"));
        let [n, m] = identity.shape;
        let value_bytes = n.checked_mul(m).and_then(|cells| cells.checked_mul(T::BYTES));
        let Some(value_bytes) = value_bytes else { bail!("a {n} × {m} matrix is larger than any file") };
        let header = output::npy_header::<T>(&identity.shape)?;
        let total_bytes = (value_bytes + header.len()) as u64;

        let found = match start {
            Start::Resume => Journal::open(&progress, identity)?,
            Start::Fresh => None,
        };
        if found.is_none() && partial.exists() {
            match start {
                Start::Fresh => bail!(
                    "{} holds an unfinished result; pass --resume to continue it, or delete it to start again",
                    partial.display()
                ),
                Start::Resume => bail!(
                    "{} has lost its progress file {} and cannot be resumed; delete it to start again",
                    partial.display(),
                    progress.display()
                ),
            }
        }
        let length = |path: &Path| std::fs::metadata(path).ok().map(|m| m.len());
        let (journal, data) = match found {
            None => {
                let journal = Journal::create(&progress, identity)?;
                let data = create_data(&partial, &header, total_bytes).inspect_err(|_| {
                    // Nothing of value is in either file yet.
                    let _ = std::fs::remove_file(&partial);
                    let _ = std::fs::remove_file(&progress);
                })?;
                (journal, data)
            }
            Some(journal) if length(&partial) == Some(total_bytes) => {
                let data = File::options().read(true).write(true).open(&partial);
                (journal, data.map_err(|e| explain(&partial, &e))?)
            }
            // Stopped between the two creations.
            Some(journal) if journal.tiles_done() == 0 => {
                let data = create_data(&partial, &header, total_bytes)?;
                (journal, data)
            }
            // Stopped between the last rename and the removal of the progress file.
            Some(journal)
                if !partial.exists()
                    && length(out) == Some(total_bytes)
                    && journal.covers(&Tile { rows: 0..n, columns: 0..m }) =>
            {
                std::fs::remove_file(&progress).map_err(|e| explain(&progress, &e))?;
                return Ok(Opened::Finished);
            }
            Some(_) => bail!(
                "{} is missing or not of the size its progress file says; delete {} to start again",
                partial.display(),
                progress.display()
            ),
        };
        Ok(Opened::Unfinished(MatrixWriter {
            out: out.to_path_buf(),
            partial,
            progress,
            data,
            header_bytes: header.len() as u64,
            identity: identity.clone(),
            journal,
            element: PhantomData,
        }))
    }

    /// Whether an earlier run or an earlier call wrote all of `tile`.
    pub(crate) fn has(&self, tile: &Tile) -> bool {
        self.journal.covers(tile)
    }

    /// Writes the values of `tile`, row-major; returns once they are on the disk.
    ///
    /// In a symmetric matrix a tile off the diagonal is written a second time, mirrored.
    pub(crate) fn write(&mut self, tile: &Tile, values: &[T]) -> Result<()> {
        assert_eq!(values.len(), tile.len(), "the values must fill the tile");
        let [n, m] = self.identity.shape;
        assert!(tile.rows.end <= n && tile.columns.end <= m, "the tile must lie in the matrix");
        let mirrored = self.identity.symmetric && tile.rows != tile.columns;
        let written = (|| {
            let width = tile.columns.len();
            let mut bytes = Vec::new();
            for (row, values) in tile.rows.clone().zip(values.chunks_exact(width)) {
                self.put(row, tile.columns.start, values.iter().copied(), &mut bytes)?;
            }
            for column in tile.columns.clone().filter(|_| mirrored) {
                let values = values.iter().skip(column - tile.columns.start).step_by(width);
                self.put(column, tile.rows.start, values.copied(), &mut bytes)?;
            }
            self.data.sync_data()
        })();
        written.map_err(|e| explain(&self.partial, &e))?;
        self.journal.append(tile)
    }

    fn put(
        &mut self,
        row: usize,
        column: usize,
        values: impl Iterator<Item = T>,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        bytes.clear();
        values.for_each(|v| v.put(bytes));
        let element = row as u64 * self.identity.shape[1] as u64 + column as u64;
        self.data.seek(SeekFrom::Start(self.header_bytes + element * T::BYTES as u64))?;
        self.data.write_all(bytes)
    }

    /// Gives the result its name.
    ///
    /// # Panics
    /// If a tile is missing.
    pub(crate) fn finish(self) -> Result<()> {
        let [n, m] = self.identity.shape;
        assert!(self.has(&Tile { rows: 0..n, columns: 0..m }), "every tile must be written first");
        let finished = (|| {
            self.data.sync_all()?;
            std::fs::rename(&self.partial, &self.out)?;
            let folder = self.out.parent().filter(|p| !p.as_os_str().is_empty());
            output::sync_folder(folder.unwrap_or(Path::new(".")))
        })();
        finished.map_err(|e| explain(&self.out, &e))?;
        std::fs::remove_file(&self.progress).map_err(|e| explain(&self.progress, &e))
    }
}

/// `out` with `suffix` after its whole name.
fn beside(out: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = out.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A file of the final size: the header, then zeros.
fn create_data(path: &Path, header: &[u8], total_bytes: u64) -> Result<File> {
    let created = (|| {
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        // Reserving the space now turns a disk that would fill up later into an error before any work.
        match fs4::FileExt::allocate(&file, total_bytes) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
            result => result?,
        }
        file.set_len(total_bytes)?;
        file.write_all(header)?;
        file.sync_all()?;
        Ok(file)
    })();
    created.map_err(|e: io::Error| explain(path, &e))
}

/// A hash of the series' values and shapes, so that a changed input is noticed on resume.
pub(crate) fn fingerprint(dataset: &Dataset) -> String {
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

#[cfg(test)]
mod tests;
