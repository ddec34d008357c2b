//! Writing the tiles of a result that is not finished yet.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use anyhow::Result;
use xxhash_rust::xxh3::Xxh3;

use super::identity::Identity;
use super::journal::{Done, Journal};
use super::tile::Tile;
use crate::{NpyElement, Target, explain};

/// An unfinished result.
#[derive(Debug)]
pub struct MatrixWriter<T> {
    pub(super) target: Target,
    pub(super) partial: PathBuf,
    pub(super) progress: PathBuf,
    pub(super) values: Values,
    pub(super) identity: Identity,
    pub(super) journal: Journal,
    pub(super) element: PhantomData<T>,
}

impl<T: NpyElement> MatrixWriter<T> {
    /// The file that holds the finished tiles.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Whether an earlier run or an earlier call wrote all of `tile`.
    pub fn has(&self, tile: &Tile) -> bool {
        self.journal.covers(tile)
    }

    /// Writes the values of `tile`, row-major; returns once they are on the disk.
    ///
    /// In a symmetric matrix a tile off the diagonal is written a second time, mirrored.
    pub fn write(&mut self, tile: &Tile, values: &[T]) -> Result<()> {
        assert_eq!(values.len(), tile.len(), "the values must fill the tile");
        let [n, m] = self.identity.shape;
        assert!(tile.rows.end <= n && tile.columns.end <= m, "the tile must lie in the matrix");
        let mut hash = Xxh3::new();
        let mut bytes = Vec::new();
        let mut put = |file: &mut Values, row, column, values: &mut dyn Iterator<Item = T>| {
            bytes.clear();
            values.for_each(|v| v.put(&mut bytes));
            hash.update(&bytes);
            file.put(row, column, &bytes)
        };
        let written = (|| {
            let width = tile.columns.len();
            for (row, values) in tile.rows.clone().zip(values.chunks_exact(width)) {
                put(&mut self.values, row, tile.columns.start, &mut values.iter().copied())?;
            }
            if is_mirrored(&self.identity, tile) {
                for column in tile.columns.clone() {
                    let values = values.iter().skip(column - tile.columns.start).step_by(width);
                    put(&mut self.values, column, tile.rows.start, &mut values.copied())?;
                }
            }
            self.values.file.sync_data()
        })();
        written.map_err(|e| explain(&self.partial, &e))?;
        self.journal.append(Done { tile: tile.clone(), checksum: hash.digest() })
    }

    /// Gives the result its name.
    ///
    /// # Panics
    /// If a tile is missing.
    pub fn finish(self) -> Result<()> {
        let [n, m] = self.identity.shape;
        assert!(self.has(&Tile { rows: 0..n, columns: 0..m }), "every tile must be written first");
        self.values.file.sync_all().map_err(|e| explain(&self.partial, &e))?;
        self.target.adopt(&self.partial, &self.progress)
    }
}

fn is_mirrored(identity: &Identity, tile: &Tile) -> bool {
    identity.symmetric && tile.rows != tile.columns
}

/// The values of a `.npy` file by row and column.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) file: File,
    pub(super) header_bytes: u64,
    pub(super) columns: usize,
    pub(super) element_bytes: usize,
}

impl Values {
    fn seek(&mut self, row: usize, column: usize) -> io::Result<u64> {
        let element = row as u64 * self.columns as u64 + column as u64;
        self.file.seek(SeekFrom::Start(self.header_bytes + element * self.element_bytes as u64))
    }

    fn put(&mut self, row: usize, column: usize, bytes: &[u8]) -> io::Result<()> {
        self.seek(row, column)?;
        self.file.write_all(bytes)
    }

    /// The checksum of what stands where a tile was written, in the order of writing.
    pub(super) fn checksum(&mut self, identity: &Identity, tile: &Tile) -> io::Result<u64> {
        let mut hash = Xxh3::new();
        let mut bytes = Vec::new();
        let mut blocks = vec![tile.clone()];
        blocks.extend(is_mirrored(identity, tile).then(|| tile.mirrored()));
        for block in blocks {
            bytes.resize(block.columns.len() * self.element_bytes, 0);
            for row in block.rows {
                self.seek(row, block.columns.start)?;
                self.file.read_exact(&mut bytes)?;
                hash.update(&bytes);
            }
        }
        Ok(hash.digest())
    }
}
