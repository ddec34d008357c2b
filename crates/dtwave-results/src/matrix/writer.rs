//! Writing the tiles of a result that is not finished yet.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::disk::Disk;
use super::identity::Identity;
use super::journal::Journal;
use super::seal::{Seal, seal};
use super::tile::{Tile, are_covering};
use super::values::Values;
use crate::{NpyElement, Target, explain};

/// An unfinished result: a matrix, or a shard of one.
///
/// If it is dropped, the tiles that were handed over are written first.
#[derive(Debug)]
pub struct MatrixWriter<T> {
    target: Target,
    partial: PathBuf,
    progress: PathBuf,
    identity: Identity,
    /// The tiles that were there, and those that were handed over.
    tiles: Vec<Tile>,
    /// Until the first tile.
    pub(super) files: Option<(Values, Journal)>,
    disk: Option<Disk<T>>,
    /// Of a shard: its tiles, and where what follows them begins.
    seal: Option<Seal>,
}

impl<T: NpyElement> MatrixWriter<T> {
    pub(super) fn new(
        target: Target,
        [partial, progress]: [PathBuf; 2],
        identity: &Identity,
        values: Values,
        journal: Journal,
    ) -> Self {
        let tiles = journal.done().iter().map(|done| done.tile.clone()).collect();
        let identity = identity.clone();
        let files = Some((values, journal));
        Self { target, partial, progress, identity, tiles, files, disk: None, seal: None }
    }

    /// This result as a shard of a matrix.
    pub(super) fn sealed(mut self, seal: Seal) -> Self {
        self.seal = Some(seal);
        self
    }

    /// The file that holds the finished tiles.
    pub fn partial(&self) -> &Path {
        &self.partial
    }

    /// Whether an earlier run wrote all of `tile`, or earlier calls handed it over.
    pub fn has(&self, tile: &Tile) -> bool {
        are_covering(self.tiles.iter(), self.identity.symmetric, tile)
    }

    /// The blocks that an earlier run wrote, and those that were handed over.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Hands over the values of `tile`, row-major. They are written meanwhile: up to four tiles are held, and half a
    /// second later they are on the disk.
    ///
    /// In a symmetric matrix a tile off the diagonal is written a second time, mirrored; not in a shard.
    ///
    /// # Errors
    /// Where this tile or an earlier one could not be written; [`finish`](Self::finish) and [`pause`](Self::pause) tell
    /// of the last ones.
    pub fn write(&mut self, tile: &Tile, values: &[T]) -> Result<()> {
        assert_eq!(values.len(), tile.len(), "the values must fill the tile");
        let [n, m] = self.identity.shape;
        assert!(tile.rows.end <= n && tile.columns.end <= m, "the tile must lie in the matrix");
        if let Some((values, journal)) = self.files.take() {
            self.disk = Some(Disk::new(values, journal, &self.identity, &self.partial));
        }
        if let Some(disk) = &mut self.disk {
            disk.put(tile, values)?;
        }
        self.tiles.push(tile.clone());
        Ok(())
    }

    /// Stops here: returns once all tiles that were handed over are on the disk, for another run to continue.
    ///
    /// # Errors
    /// Where one could not be written.
    pub fn pause(mut self) -> Result<()> {
        self.disk.take().map_or(Ok(()), |mut disk| disk.end())
    }

    /// Gives the result its name.
    ///
    /// # Errors
    /// Where it could not be written.
    ///
    /// # Panics
    /// If a tile is missing.
    pub fn finish(mut self) -> Result<()> {
        let [n, m] = self.identity.shape;
        let is_whole = match &self.seal {
            None => self.has(&Tile { rows: 0..n, columns: 0..m }),
            Some(Seal { tiles, .. }) => tiles.len() <= self.tiles.len(),
        };
        assert!(is_whole, "every tile must be written first");
        self.files = None;
        if let Some(mut disk) = self.disk.take() {
            disk.end()?;
        }
        if let Some(own) = &self.seal {
            seal(&self.partial, &self.progress, &self.identity, own)?;
        }
        let synced =
            std::fs::File::options().write(true).open(&self.partial).and_then(|file| file.sync_all());
        synced.map_err(|e| explain(&self.partial, &e))?;
        self.target.adopt(&self.partial, &self.progress)
    }
}
