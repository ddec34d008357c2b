//! How fast the device is, as far as it has shown: so that no dispatch takes longer than a desktop's watchdog allows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A dispatch should be done in this time.
const DISPATCH: Duration = Duration::from_millis(40);
/// And a tile in this, so that its results are taken while the next one is swept.
const TILE: Duration = Duration::from_millis(20);
/// Tasks that a device does at the same time, for all that is known: fewer would leave most of it idle, and show too
/// low a speed.
pub(crate) const PARALLEL: u64 = 512;
/// Tiles that took less tell more of their transfer than of the sweep.
const LEAST: Duration = Duration::from_millis(4);

/// A dispatch that was done before anybody looked seems to have taken no time: of what it shows, this is believed.
const MOST_GROWTH: u64 = 8;

/// What a device has shown of its speed.
#[derive(Debug)]
pub(crate) struct Speed {
    /// Cells a second.
    cells: AtomicU64,
    /// Whether it is a processor that pretends to be a GPU.
    is_software: bool,
}

impl Speed {
    /// The speed of a device that has shown nothing yet: slower than any that is sold, or than any processor that
    /// pretends to be
    /// one.
    pub(crate) fn new(is_software: bool) -> Self {
        let cells = AtomicU64::new(if is_software { 50_000_000 } else { 10_000_000_000 });
        Self { cells, is_software }
    }

    /// The speed of a device that is taken to do so many cells a second.
    #[cfg(test)]
    pub(crate) fn of(cells: u64) -> Self {
        Self { cells: AtomicU64::new(cells), is_software: true }
    }

    fn cells_in(&self, time: Duration) -> u64 {
        (self.cells.load(Ordering::Relaxed) as f64 * time.as_secs_f64()) as u64
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
        (self.cells_in(TILE) / cells.max(1)).max(if self.is_software { 1 } else { PARALLEL })
    }

    /// Learns from cells that took so long: the sweep, its transfer and waiting. So the device is at least so fast,
    /// unless the clock errs: that it is faster is believed by steps of eight, that it is slower by halves, and not of
    /// tiles that were too short to tell.
    pub(crate) fn learn(&self, cells: u64, took: Duration) {
        // A clock that was reset.
        if took.is_zero() {
            return;
        }
        let seen = (cells as f64 / took.as_secs_f64().max(1e-6)) as u64;
        let before = self.cells.load(Ordering::Relaxed);
        if seen > before || took >= LEAST {
            let cells = seen.clamp(before / 2, before.saturating_mul(MOST_GROWTH));
            self.cells.store(cells.max(1_000_000), Ordering::Relaxed);
        }
    }
}
