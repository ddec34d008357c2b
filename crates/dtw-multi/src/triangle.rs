//! The upper triangle of a symmetric matrix, cut into tiles, and the places of their values.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dtw_core::Scalar;

use crate::work::Work;

/// Most tiles along a side. A piece lies in one row of tiles.
const MOST: usize = 64;

/// Series along a side of a tile, at least.
const LEAST_SIDE: usize = 16;

/// Threads that move the values of a piece, at most, and bytes that are worth one.
const MOVERS: usize = 4;
const WORTH: usize = 1 << 20;

/// A square matrix whose rows of tiles are locked one by one.
pub(crate) struct Square<'a, T> {
    count: usize,
    side: usize,
    strips: Vec<Mutex<&'a mut [T]>>,
}

/// Tiles that follow each other in one row: from `columns.start` on, of `0 .. tiles`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Row of tiles.
    pub(crate) row: usize,
    /// Columns of tiles.
    pub(crate) columns: Range<usize>,
    /// Tiles along a side.
    tiles: usize,
    /// Whether rows of tiles below follow.
    goes_on: bool,
}

impl<'a, T: Scalar> Square<'a, T> {
    /// Over the values of `count` series with each other.
    pub(crate) fn new(count: usize, out: &'a mut [T]) -> Self {
        let side = count.div_ceil(MOST).max(LEAST_SIDE).min(count.max(1));
        let strips = out.chunks_mut(side * count).map(Mutex::new).collect();
        Self { count, side, strips }
    }

    /// All tiles of the upper triangle.
    pub(crate) fn run(&self) -> Run {
        let tiles = self.strips.len();
        Run { row: 0, columns: 0..tiles, tiles, goes_on: true }
    }

    /// Series of some tiles.
    pub(crate) fn series(&self, tiles: Range<usize>) -> Range<usize> {
        tiles.start * self.side..(tiles.end * self.side).min(self.count)
    }

    /// Puts the values of `rows × columns` in their places and, if the rectangle is off the diagonal, in those of its
    /// mirror image. Both lie within one row of tiles. Several threads do so where there are many: meanwhile the device
    /// is idle.
    pub(crate) fn put(&self, rows: Range<usize>, columns: Range<usize>, values: &[T]) {
        let mirrored =
            if rows == columns { 0..0 } else { columns.start / self.side..columns.end.div_ceil(self.side) };
        // Beside those of the mirror image, the rows themselves.
        let count = mirrored.len() + 1;
        let next = AtomicUsize::new(0);
        let labour = || {
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    0 => self.put_rows(&rows, &columns, values),
                    k if k < count => self.put_mirrored(mirrored.start + k - 1, &rows, &columns, values),
                    _ => return,
                }
            }
        };
        let threads = (size_of_val(values) / WORTH).clamp(1, MOVERS.min(count));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(labour);
            }
            labour();
        });
    }

    fn put_rows(&self, rows: &Range<usize>, columns: &Range<usize>, values: &[T]) {
        self.in_strip(rows.start / self.side, |own, top| {
            for (row, values) in rows.clone().zip(values.chunks_exact(columns.len())) {
                let start = (row - top) * self.count;
                own[start + columns.start..start + columns.end].copy_from_slice(values);
            }
        });
    }

    /// Puts the mirror image of the columns that are series of this row of tiles in its place there.
    fn put_mirrored(&self, strip: usize, rows: &Range<usize>, columns: &Range<usize>, values: &[T]) {
        let mirrored = self.series(strip..strip + 1);
        self.in_strip(strip, |own, top| {
            // A few cache lines of the values at a time.
            for part in rows.clone().step_by(16) {
                let part = part..(part + 16).min(rows.end);
                for column in mirrored.clone() {
                    let start = (column - top) * self.count;
                    let place = &mut own[start + part.start..start + part.end];
                    for (value, row) in place.iter_mut().zip(part.clone()) {
                        *value = values[(row - rows.start) * columns.len() + column - columns.start];
                    }
                }
            }
        });
    }

    /// Calls `write` with a row of tiles and the number of its first series.
    fn in_strip(&self, strip: usize, write: impl FnOnce(&mut [T], usize)) {
        let mut own = self.strips[strip].lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut own, strip * self.side);
    }
}

impl Run {
    /// Whether the first tile is on the diagonal.
    pub(crate) fn begins_on_diagonal(&self) -> bool {
        self.columns.start == self.row && !self.columns.is_empty()
    }
}

impl Work for Run {
    fn units(&self) -> usize {
        let below = if self.goes_on { self.tiles.saturating_sub(self.row + 1) } else { 0 };
        self.columns.len() + below * (below + 1) / 2
    }

    fn split(&mut self, units: usize) -> Self {
        let middle = (self.columns.start + units).min(self.columns.end);
        let taken = Self { columns: self.columns.start..middle, goes_on: false, ..self.clone() };
        self.columns.start = middle;
        if self.columns.is_empty() && self.goes_on && self.row + 1 < self.tiles {
            self.row += 1;
            self.columns = self.row..self.tiles;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_the_triangle_once() {
        for tiles in [1, 2, 3, 9] {
            for most in 1..=tiles + 1 {
                let mut rest = Run { row: 0, columns: 0..tiles, tiles, goes_on: true };
                let mut seen = vec![0; tiles * tiles];
                let mut left = rest.units();
                assert_eq!(left, tiles * (tiles + 1) / 2);
                while rest.units() > 0 {
                    let run = rest.split(most.min(rest.units()));
                    assert!(run.units() > 0 && run.units() == run.columns.len());
                    left -= run.units();
                    assert_eq!(rest.units(), left);
                    run.columns.for_each(|column| seen[run.row * tiles + column] += 1);
                }
                for row in 0..tiles {
                    for column in 0..tiles {
                        assert_eq!(seen[row * tiles + column], i32::from(column >= row));
                    }
                }
            }
        }
    }

    #[test]
    fn values_and_their_mirror_images_find_their_places() {
        // Values of a piece of the larger one are worth several threads.
        for count in [70, 2000] {
            check(count);
        }
    }

    fn check(count: usize) {
        let value = |a: usize, b: usize| (a.min(b) * 1000 + a.max(b)) as f64;
        let mut out = vec![-1.0; count * count];
        let square = Square::new(count, &mut out);
        let mut rest = square.run();
        while rest.units() > 0 {
            let run = rest.split((count / 50).min(rest.units()));
            let rows = square.series(run.row..run.row + 1);
            let mut columns = run.columns.clone();
            if run.begins_on_diagonal() {
                let values: Vec<_> =
                    rows.clone().flat_map(|a| rows.clone().map(move |b| value(a, b))).collect();
                square.put(rows.clone(), rows.clone(), &values);
                columns.start += 1;
            }
            if !columns.is_empty() {
                let columns = square.series(columns);
                let values: Vec<_> =
                    rows.clone().flat_map(|a| columns.clone().map(move |b| value(a, b))).collect();
                square.put(rows, columns, &values);
            }
        }
        for a in 0..count {
            for b in 0..count {
                assert_eq!(out[a * count + b], value(a, b), "{a} {b}");
            }
        }
    }
}
