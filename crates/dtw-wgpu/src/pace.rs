//! How fast the device is, as far as it has shown: so that no dispatch takes longer than a desktop's watchdog allows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A dispatch should be done in this time.
const DISPATCH: Duration = Duration::from_millis(40);
/// And a tile, whose results come back together, in this.
const TILE: Duration = Duration::from_millis(200);
/// Tiles that took less tell more of their transfer than of the sweep.
const LEAST: Duration = Duration::from_millis(4);

/// Cells a second.
#[derive(Debug)]
pub(crate) struct Pace(AtomicU64);

impl Pace {
    /// Of a device that has shown nothing yet: slower than any that is sold, or than any processor that pretends to be
    /// one.
    pub(crate) fn new(is_software: bool) -> Self {
        Self(AtomicU64::new(if is_software { 50_000_000 } else { 10_000_000_000 }))
    }

    fn cells_in(&self, time: Duration) -> u64 {
        (self.0.load(Ordering::Relaxed) as f64 * time.as_secs_f64()) as u64
    }

    /// Cells of a dispatch.
    pub(crate) fn cells(&self) -> u64 {
        self.cells_in(DISPATCH)
    }

    /// How many tasks of so many cells a dispatch may have.
    pub(crate) fn tasks(&self, cells: u64) -> u64 {
        (self.cells_in(DISPATCH) / cells.max(1)).max(1)
    }

    /// How many tasks of so many cells a tile may have.
    pub(crate) fn tile_tasks(&self, cells: u64) -> u64 {
        (self.cells_in(TILE) / cells.max(1)).max(1)
    }

    /// Learns from cells that took so long.
    pub(crate) fn learn(&self, cells: u64, took: Duration) {
        if took >= LEAST {
            let seen = (cells as f64 / took.as_secs_f64()) as u64;
            let known = self.0.load(Ordering::Relaxed);
            // One tile of few pairs does not show what a device can do: faster at once, slower by halves.
            self.0.store(seen.max(known / 2).max(1_000_000), Ordering::Relaxed);
        } else {
            // Too short to be measured: the next may be longer.
            self.0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |known| {
                    Some(known.saturating_mul(2).min(1 << 44))
                })
                .ok();
        }
    }
}
