//! What the loop asks of a device: to take series, to sweep a tile, to give results back. No address, no buffer.

use std::ops::Range;

use dtw_core::{Observer, Pairing, Result};

use crate::banding::{Banding, Rows};
use crate::order::{Order, Rect};

/// Transfers of results that may be under way at once, each with its slot.
pub const SLOTS: usize = 2;

/// A side of the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The rows of a rectangle, and of a sweep.
    Rows,
    /// Its columns.
    Columns,
}

/// The pairs of a call, and what is known of them before any is swept.
pub struct Pairs<'a> {
    /// Which pairs of a row and a column.
    pub pairing: Pairing,
    /// The series of the rows.
    pub rows: &'a Order,
    /// The series of the columns; those of the rows once more for [`Pairing::SelfSymmetric`].
    pub columns: &'a Order,
    /// Which series of the problem the rows are.
    pub kind: Rows,
    /// The band.
    pub banding: &'a mut Banding,
    /// Is told of cells, and says when to stop.
    pub observer: &'a dyn Observer,
}

impl Pairs<'_> {
    /// Cells of all pairs of a rectangle.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves one no path.
    pub fn cells(&mut self, rect: &Rect) -> Result<u64> {
        self.banding.cells_of(rect, self.rows, self.columns, self.kind)
    }

    /// The longest series of a rectangle: points of its rows and of its columns.
    pub fn longest(&self, rect: &Rect) -> (usize, usize) {
        (self.rows.longest(rect.rows.clone()), self.columns.longest(rect.columns.clone()))
    }

    /// Cells of the largest pair of a rectangle, at most.
    pub fn most_cells(&mut self, rect: &Rect) -> u64 {
        let (n, m) = self.longest(rect);
        // The longest need not be a pair, and then the band need not leave them a path.
        self.banding.cells_in(self.kind, n, m).unwrap_or(n as u64 * m as u64)
    }
}

/// A device that sweeps the pairs of a call tile by tile.
pub trait TileDevice {
    /// Bytes that a series of `length` points (as swept) takes on the device.
    fn series_bytes(&self, axis: Axis, length: usize) -> u64;

    /// Brings the series at these places of an order to the device. Those of the same side that were there may go.
    ///
    /// # Errors
    /// What the device says.
    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()>;

    /// The tiles of a chunk, whose series are on the device: see [`crate::tiles`].
    ///
    /// # Errors
    /// [`dtw_core::Error::OutOfMemory`] where not even one pair fits.
    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>>;
}

/// A device whose results come back: each tile's under the sweep of the next.
pub trait Fetch<T>: TileDevice {
    /// Begins to sweep a tile, whose results go to a slot, [`Rect::outputs`] numbers: row after row, those of zipped
    /// pairs one after the other. `true` if the lower half of a symmetric tile is filled too.
    ///
    /// # Errors
    /// What the device says; nothing is in the slot then.
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, slot: usize) -> Result<bool>;

    /// Begins to bring `results` numbers of a slot here, once they are there; returns without waiting.
    ///
    /// # Errors
    /// What the device says; the slot is free again then.
    fn begin_fetch(&mut self, slot: usize, results: usize) -> Result<()>;

    /// Waits for the `results` numbers of a slot and hands them to `take`. The slot is free then, also after an error.
    ///
    /// # Errors
    /// What the device says of the sweep or of the transfer; nothing is handed over then.
    fn finish_fetch(&mut self, slot: usize, results: usize, take: &mut dyn FnMut(&[T])) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use dtw_core::{Anchor, Band, Unobserved};

    use super::*;

    #[test]
    fn the_cells_of_a_rectangle_and_of_its_largest_pair() {
        let (rows, columns) = (Order::ragged([9, 4, 2].into_iter(), 0), Order::ragged([7, 3].into_iter(), 0));
        let rect = Rect { rows: 1..3, columns: 0..2, pairing: Pairing::Cross };
        let itakura = Band::Itakura { max_slope: 2.0 };
        let held = |n, m| itakura.ranges(n, m, Anchor::Global).unwrap().cells();
        // Of the second the rows are points of y; slopes of 2 leave 4 points and 9 no path.
        for (band, kind, whole, largest) in
            [(&Band::Full, Rows::X, Some((4 + 2) * (7 + 3)), 4 * 7), (&itakura, Rows::Y, None, held(7, 4))]
        {
            let banding = &mut Banding::new(band, Anchor::Global, 9);
            let (rows, columns, observer) = (&rows, &columns, &Unobserved);
            let mut pairs = Pairs { pairing: Pairing::Cross, rows, columns, kind, banding, observer };
            assert_eq!(pairs.longest(&rect), (4, 7));
            assert_eq!(pairs.most_cells(&rect), largest);
            assert_eq!(pairs.cells(&rect).ok(), whole);
            if band == &itakura {
                let far = Rect { rows: 0..1, columns: 1..2, pairing: Pairing::Cross };
                assert!(pairs.cells(&far).is_err());
                assert_eq!(pairs.most_cells(&far), 9 * 3, "at most");
            }
        }
    }
}
