//! Two threads that take tiles to the disk, so that whoever computes them does not wait for it.
//!
//! One thread writes the values of each tile. Every [`PAUSE`], the other flushes what was written by then, and records
//! these tiles in the progress file: a record follows the flush of its values, always. A crash loses the tiles since.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::identity::Identity;
use super::journal::{Done, Journal};
use super::tile::Tile;
use super::values::Values;
use crate::{NpyElement, explain};

/// Between two flushes. A flush makes the writing wait for the disk.
const PAUSE: Duration = Duration::from_millis(500);
/// Tiles that wait to be written: with the one that is written and its mirror image, three are held here.
const WAITING: usize = 1;

/// Tiles on their way to the disk.
#[derive(Debug)]
pub(super) struct Disk<T> {
    tiles: Option<SyncSender<(Tile, Vec<T>)>>,
    /// Memory of tiles that are written.
    spare: Receiver<Vec<T>>,
    writing: Option<JoinHandle<Result<()>>>,
}

impl<T: NpyElement> Disk<T> {
    /// Starts to write to these files; `path` is that of the values.
    pub(super) fn new(values: Values, journal: Journal, identity: &Identity, path: &Path) -> Self {
        let (tiles, taken) = sync_channel(WAITING);
        let (returned, spare) = sync_channel(WAITING + 1);
        let (identity, path) = (identity.clone(), path.to_path_buf());
        let writing = thread::spawn(move || write(values, journal, &identity, path, &taken, &returned));
        Self { tiles: Some(tiles), spare, writing: Some(writing) }
    }

    /// Hands a tile over; waits where others wait already.
    ///
    /// # Errors
    /// Where an earlier tile could not be written.
    pub(super) fn put(&mut self, tile: &Tile, values: &[T]) -> Result<()> {
        let mut own = self.spare.try_recv().unwrap_or_default();
        own.clear();
        own.extend_from_slice(values);
        let is_taken = self.tiles.as_ref().is_some_and(|tiles| tiles.send((tile.clone(), own)).is_ok());
        if is_taken { Ok(()) } else { self.end() }
    }

    /// Waits until all tiles are on the disk and recorded.
    ///
    /// # Errors
    /// Where a tile could not be written.
    pub(super) fn end(&mut self) -> Result<()> {
        self.tiles = None;
        self.writing.take().map_or(Ok(()), joined)
    }
}

impl<T> Drop for Disk<T> {
    /// Tiles that were handed over are kept, whatever happened since.
    fn drop(&mut self) {
        self.tiles = None;
        if let Some(writing) = self.writing.take() {
            // Nobody is left to hear of an error: the tiles are not recorded, and the next run computes them.
            let _ = writing.join();
        }
    }
}

fn joined(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Writes tiles until no more come.
fn write<T: NpyElement>(
    mut values: Values,
    journal: Journal,
    identity: &Identity,
    path: PathBuf,
    tiles: &Receiver<(Tile, Vec<T>)>,
    returned: &SyncSender<Vec<T>>,
) -> Result<()> {
    let file = values.file.try_clone().map_err(|e| explain(&path, &e))?;
    let shown = path.clone();
    let (groups, written) = sync_channel(0);
    let recording = thread::spawn(move || record(&file, &shown, journal, &written));
    let (mut mirror, mut bytes) = (Vec::new(), Vec::new());
    let (mut group, mut last) = (Vec::new(), Instant::now());
    loop {
        let next = if group.is_empty() {
            tiles.recv().map_err(RecvTimeoutError::from)
        } else {
            tiles.recv_timeout(PAUSE.saturating_sub(last.elapsed()))
        };
        let is_end = matches!(next, Err(RecvTimeoutError::Disconnected));
        if let Ok((tile, of_tile)) = next {
            let checksum = values.write(identity, &tile, &of_tile, &mut mirror, &mut bytes);
            group.push(Done { tile, checksum: checksum.map_err(|e| explain(&path, &e))? });
            // There is room for as many as are under way.
            let _ = returned.try_send(of_tile);
        }
        if !group.is_empty() && (is_end || last.elapsed() >= PAUSE) {
            last = Instant::now();
            if groups.send(std::mem::take(&mut group)).is_err() {
                return joined(recording);
            }
        }
        if is_end {
            drop(groups);
            return joined(recording);
        }
    }
}

/// Flushes the values, then records whose they are, until no more come.
fn record(
    file: &std::fs::File,
    path: &Path,
    mut journal: Journal,
    groups: &Receiver<Vec<Done>>,
) -> Result<()> {
    while let Ok(group) = groups.recv() {
        file.sync_data().map_err(|e| explain(path, &e))?;
        journal.append(group)?;
    }
    Ok(())
}
