//! Which arrival each cell chose, in as many pairs as a register has lanes: what their paths are walked back by.

use dtw_core::ColumnRanges;
use dtw_core::recurrence::State;

use crate::lanes::Register;

/// Hears of the cells of a batch.
pub(crate) trait CellRecorder<V> {
    /// Whether it hears which arrival each cell chose.
    const ON: bool;
    /// Whether it hears what cells cost.
    const SEES_COSTS: bool = false;
    /// Takes, of the cell in row `i` and column `j` (0-based), a bit per lane each: whether the best arrival is the
    /// diagonal, and else whether it is from above.
    fn chosen(&mut self, i: usize, j: usize, diagonal: u64, up: u64);
    /// Takes the states of the cells in rows `first ..` of column `j`.
    #[inline(always)]
    fn passed<S: State<V>, const ROWS: usize>(&mut self, first: usize, j: usize, states: &[S; ROWS])
    where
        V: Register,
    {
        let _ = (first, j, states);
    }
}

/// Records nothing.
pub(crate) struct Unrecorded;

impl<V> CellRecorder<V> for Unrecorded {
    const ON: bool = false;
    #[inline(always)]
    fn chosen(&mut self, _: usize, _: usize, _: u64, _: u64) {}
}

/// Bits of [`Cells`] that say one thing, and so the most lanes.
const BITS: usize = 16;

/// The choices of the cells of a band.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Of each cell, row after row: the diagonal bits below, the others above.
    choices: Vec<u32>,
    /// Where column 0 of each row would be.
    rows: Vec<usize>,
}

impl Cells {
    /// Bytes of the choices in a band of so many cells.
    pub(crate) fn bytes_of(cells: u64) -> u64 {
        cells.saturating_mul(size_of::<u32>() as u64)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.choices.capacity() * size_of::<u32>() + self.rows.capacity() * size_of::<usize>()
    }

    /// Room for the cells of `ranges`, and for `padding` rows below them, which a sweep writes and nobody reads.
    pub(crate) fn prepare(&mut self, ranges: &ColumnRanges, padding: usize) {
        self.rows.clear();
        let (n, mut end) = (ranges.n(), 0);
        for i in 0..n + padding {
            let row = ranges.row(i.min(n - 1));
            self.rows.push(end_before(end, row.start));
            // The padding is one row.
            if i < n {
                end += row.len();
            }
        }
        let all = end + ranges.row(n - 1).len();
        if self.choices.len() < all {
            self.choices.resize(all, 0);
        }
    }

    /// The best path of lane `lane`: its cells, first to last.
    pub(crate) fn walk(&self, lane: usize, ranges: &ColumnRanges) -> Vec<(usize, usize)> {
        let (mut i, mut j) = (ranges.n(), ranges.m());
        let mut points = Vec::with_capacity(i + j);
        while i > 0 && j > 0 {
            points.push((i - 1, j - 1));
            let columns = ranges.row(i - 1);
            let (diagonal, up) = if columns.contains(&(j - 1)) {
                let choice = self.choices[self.rows[i - 1].wrapping_add(j - 1)] >> lane;
                (choice & 1 != 0, choice >> BITS & 1 != 0)
            } else {
                // Straight back to the band: left from its right, up from its left.
                (false, j <= columns.start)
            };
            i -= usize::from(diagonal || up);
            j -= usize::from(diagonal || !up);
        }
        points.reverse();
        points
    }
}

/// `end − start`, which is below 0 where a band begins late; sums with a column of the band are not.
fn end_before(end: usize, start: usize) -> usize {
    end.wrapping_sub(start)
}

impl<V> CellRecorder<V> for Cells {
    const ON: bool = true;
    #[inline(always)]
    fn chosen(&mut self, i: usize, j: usize, diagonal: u64, up: u64) {
        const { assert!(crate::lanes::MOST_LANES <= BITS, "a bit for each lane") };
        self.choices[self.rows[i].wrapping_add(j)] = diagonal as u32 | (up as u32) << BITS;
    }
}
