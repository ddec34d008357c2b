//! The loop: series in chunks, pairs in tiles. The results of a tile are transferred while the next tile is swept.

use std::ops::Range;

use dtw_core::{Error, Observer, Pairing, Result, Scalar};

use crate::budget::{Budget, chunks};
use crate::device::{Axis, Fetch, Pairs, SLOTS, TileDevice};
use crate::order::Rect;
use crate::scatter::{Target, scatter};

/// The tiles of the pairs, one after the other. [`each_tile`] for callers that wait for a tile in their own way.
#[derive(Debug)]
pub struct Walk {
    chunks: std::vec::IntoIter<Rect>,
    tiles: std::vec::IntoIter<Rect>,
    /// What is on the device.
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Walk {
    /// Before the first tile.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the band leaves a pair no path; [`Error::OutOfMemory`] where something does not fit the
    /// budget.
    pub fn new(device: &impl TileDevice, pairs: &mut Pairs<'_>, budget: &Budget) -> Result<Self> {
        pairs.banding.check(pairs.pairing, pairs.rows, pairs.columns, pairs.kind)?;
        let chunks = chunks(
            pairs.pairing,
            (pairs.rows, pairs.columns),
            budget,
            |length| device.series_bytes(Axis::Rows, length),
            |length| device.series_bytes(Axis::Columns, length),
        )?;
        Ok(Self { chunks: chunks.into_iter(), tiles: Vec::new().into_iter(), rows: 0..0, columns: 0..0 })
    }

    /// The next tile, with its series on the device; `None` after the last. The observer is asked before each whether
    /// to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; what the device says.
    pub fn next(&mut self, device: &mut impl TileDevice, pairs: &mut Pairs<'_>) -> Result<Option<Rect>> {
        loop {
            if let Some(tile) = self.tiles.next() {
                stop_if_cancelled(pairs.observer)?;
                return Ok(Some(tile));
            }
            let Some(chunk) = self.chunks.next() else { return Ok(None) };
            stop_if_cancelled(pairs.observer)?;
            if self.rows != chunk.rows {
                device.load(Axis::Rows, pairs.rows, &chunk.rows)?;
                self.rows = chunk.rows.clone();
            }
            // The columns of a symmetric chunk are its rows.
            if chunk.pairing != Pairing::SelfSymmetric && self.columns != chunk.columns {
                device.load(Axis::Columns, pairs.columns, &chunk.columns)?;
                self.columns = chunk.columns.clone();
            }
            self.tiles = device.tiles(pairs, &chunk)?.into_iter();
        }
    }
}

/// Calls `tile` for each tile of the pairs, with its series on the device. The observer is asked before each whether to
/// stop.
///
/// # Errors
/// As [`Walk`], whose first errors come before anything is loaded; what `tile` says.
pub fn each_tile<D: TileDevice>(
    device: &mut D,
    pairs: &mut Pairs<'_>,
    budget: &Budget,
    mut tile: impl FnMut(&mut D, &mut Pairs<'_>, &Rect) -> Result<()>,
) -> Result<()> {
    let mut walk = Walk::new(device, pairs, budget)?;
    while let Some(part) = walk.next(device, pairs)? {
        tile(device, pairs, &part)?;
    }
    Ok(())
}

/// An error if the observer says so.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn stop_if_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Where results go.
#[derive(Debug)]
pub struct Output<'a, T> {
    /// A number for each pair, as the pairing says.
    pub values: &'a mut [T],
    /// Whether results are added to what is there.
    pub adds: bool,
}

/// A tile under way.
struct Pending {
    tile: Rect,
    slot: usize,
    cells: u64,
    /// Whether both halves of a symmetric tile have been written.
    is_complete: bool,
}

/// Sweeps all pairs and puts their results in their places. The observer is told of a tile's cells when its results are
/// there.
///
/// # Errors
/// As [`each_tile`]. Nothing is under way then.
pub fn fetch_tiles<T: Scalar, D: Fetch<T>>(
    device: &mut D,
    pairs: &mut Pairs<'_>,
    budget: &Budget,
    output: &mut Output<'_, T>,
) -> Result<()> {
    let (mut pending, mut slot): (Option<Pending>, usize) = (None, 0);
    let swept = each_tile(device, pairs, budget, |device, pairs, tile| {
        let is_complete = device.sweep(pairs, tile, slot)?;
        let cells = pairs.cells(tile)?;
        device.begin_fetch(slot, tile.outputs())?;
        let before = pending.replace(Pending { tile: tile.clone(), slot, cells, is_complete });
        slot = (slot + 1) % SLOTS;
        match before {
            Some(before) => finish(device, pairs, &before, output),
            None => Ok(()),
        }
    });
    match (swept, pending) {
        (Ok(()), Some(last)) => finish(device, pairs, &last, output),
        (Err(error), Some(left)) => {
            // Nothing of a stopped call may still be under way in the next one; its own error would say nothing new.
            let _ = device.finish_fetch(left.slot, left.tile.outputs(), &mut |_| ());
            Err(error)
        }
        (swept, None) => swept,
    }
}

/// Waits for a tile and puts its results in their places.
fn finish<T: Scalar, D: Fetch<T>>(
    device: &mut D,
    pairs: &Pairs<'_>,
    pending: &Pending,
    output: &mut Output<'_, T>,
) -> Result<()> {
    let Pending { tile, slot, cells, is_complete } = pending;
    let target =
        Target { pairing: pairs.pairing, order_x: pairs.rows, order_y: pairs.columns, adds: output.adds };
    device.finish_fetch(*slot, tile.outputs(), &mut |results| {
        scatter(&target, tile, *is_complete, results, output.values);
    })?;
    pairs.observer.advance(*cells);
    Ok(())
}
