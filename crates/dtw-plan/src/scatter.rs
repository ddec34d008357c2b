//! From a tile's results to their places in the caller's output.

use std::ops::Range;

use dtw_core::{Pairing, Scalar};

use crate::order::{Order, Rect};
use crate::share::share;

/// Rows and columns that are moved together, so that mirrored writes stay in the cache.
const BLOCK: usize = 64;

/// Numbers that are copied together.
const PIECE: usize = 1 << 16;

/// The output, and the order in which pairs were computed.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The pairing of the whole output.
    pub pairing: Pairing,
    /// The order of the rows.
    pub order_x: &'a Order,
    /// The order of the columns.
    pub order_y: &'a Order,
    /// Whether results are added to what is there.
    pub adds: bool,
}

/// Puts a tile's results in their places, and in the mirrored ones where the output is symmetric. Of a triangle only
/// the upper half is read, unless it `is_complete`. Large tiles are moved by several threads.
pub fn scatter<T: Scalar>(target: &Target<'_>, tile: &Rect, is_complete: bool, results: &[T], out: &mut [T]) {
    let bytes = size_of_val(results);
    if let Some(range) = direct(target, tile, is_complete) {
        let pieces = out[range].chunks_mut(PIECE).zip(results.chunks(PIECE));
        return share(pieces, bytes, |(piece, results)| piece.copy_from_slice(results));
    }
    if target.pairing == Pairing::Zipped {
        for (place, value) in tile.rows.clone().zip(results) {
            target.put(&mut out[target.order_x.series(place)], *value);
        }
        return;
    }
    let Target { order_x, order_y, .. } = target;
    let results = Results { values: results, tile };
    let rows = rows_of(order_x, &tile.rows, order_y.len(), out);
    share(rows.into_iter(), bytes, |row| target.put_row(row, results));
    if target.pairing == Pairing::SelfSymmetric {
        let mut rows = rows_of(order_y, &tile.columns, order_y.len(), out);
        share(rows.chunks_mut(BLOCK), bytes, |rows| target.put_mirrored(rows, results));
    }
}

impl Target<'_> {
    fn put<T: Scalar>(&self, place: &mut T, value: T) {
        *place = if self.adds { *place + value } else { value };
    }

    /// Puts results of a row of a tile in their places in it.
    fn put_row<T: Scalar>(&self, row: Row<'_, T>, results: Results<'_, T>) {
        let Rect { columns, pairing, .. } = results.tile;
        let first = if *pairing == Pairing::SelfSymmetric { row.place } else { columns.start };
        let values = &results.values[results.at(row.place, first)..][..columns.end - first];
        if !self.adds && self.order_y.is_given() {
            return row.values[first..columns.end].copy_from_slice(values);
        }
        for (place, value) in (first..columns.end).zip(values) {
            self.put(&mut row.values[self.order_y.series(place)], *value);
        }
    }

    /// Puts the results of some columns of a tile in the rows of the same series.
    fn put_mirrored<T: Scalar>(&self, columns: &mut [Row<'_, T>], results: Results<'_, T>) {
        let Rect { rows, pairing, .. } = results.tile;
        for top in rows.clone().step_by(BLOCK) {
            for column in &mut *columns {
                // What is on the diagonal of a triangle has its place.
                let end = if *pairing == Pairing::SelfSymmetric { column.place } else { rows.end };
                for place in top..end.min(top + BLOCK).min(rows.end) {
                    let value = results.values[results.at(place, column.place)];
                    self.put(&mut column.values[self.order_x.series(place)], value);
                }
            }
        }
    }
}

/// A tile's results.
#[derive(Clone, Copy)]
struct Results<'a, T> {
    values: &'a [T],
    tile: &'a Rect,
}

impl<T> Results<'_, T> {
    /// Where the result of a pair is.
    fn at(self, row: usize, column: usize) -> usize {
        (row - self.tile.rows.start) * self.tile.stride() + column - self.tile.columns.start
    }
}

/// A row of the output, and the place of its series.
struct Row<'a, T> {
    place: usize,
    values: &'a mut [T],
}

/// The rows of an output of so many columns whose series are at these places of an order, in the order of the places.
fn rows_of<'o, T>(order: &Order, places: &Range<usize>, columns: usize, out: &'o mut [T]) -> Vec<Row<'o, T>> {
    let mut wanted: Vec<(usize, usize)> = places.clone().map(|place| (order.series(place), place)).collect();
    wanted.sort_unstable();
    let (mut rest, mut passed) = (out, 0);
    let mut rows: Vec<Row<'o, T>> = Vec::with_capacity(wanted.len());
    for (series, place) in wanted {
        let (values, others) = rest[(series - passed) * columns..].split_at_mut(columns);
        rows.push(Row { place, values });
        (rest, passed) = (others, series + 1);
    }
    rows.sort_unstable_by_key(|row| row.place);
    rows
}

/// Where a tile's results lie in the output in one piece and in their order, if they do.
fn direct(target: &Target<'_>, tile: &Rect, is_complete: bool) -> Option<Range<usize>> {
    if target.adds || !target.order_x.is_given() || !target.order_y.is_given() {
        return None;
    }
    let columns = target.order_y.len();
    match target.pairing {
        Pairing::Zipped => Some(tile.rows.clone()),
        Pairing::Cross if tile.columns.len() == columns => {
            Some(tile.rows.start * columns..tile.rows.end * columns)
        }
        Pairing::SelfSymmetric if is_complete && tile.rows.len() == columns => Some(0..columns * columns),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dtw_core::SeriesBatch;

    use super::*;

    #[test]
    fn results_lie_in_one_piece_where_whole_rows_do() {
        let (x, y, sorted) = (Order::equal(6, 9), Order::equal(4, 9), Order::ragged([3, 5].into_iter(), 0));
        let direct = |pairing, order_y: &Order, tile: (Range<usize>, Range<usize>), is_complete, adds| {
            let target = Target { pairing, order_x: &x, order_y, adds };
            direct(&target, &Rect { rows: tile.0, columns: tile.1, pairing }, is_complete)
        };
        let (cross, zipped, symmetric) = (Pairing::Cross, Pairing::Zipped, Pairing::SelfSymmetric);
        assert_eq!(direct(cross, &y, (2..5, 0..4), false, false), Some(8..20));
        assert_eq!(direct(cross, &y, (2..5, 0..3), true, false), None);
        assert_eq!(direct(cross, &y, (2..5, 0..4), true, true), None);
        assert_eq!(direct(cross, &sorted, (2..5, 0..2), true, false), Some(4..10));
        assert_eq!(direct(zipped, &x, (2..5, 2..5), false, false), Some(2..5));
        // Of a triangle only the whole has both halves.
        assert_eq!(direct(symmetric, &x, (0..6, 0..6), true, false), Some(0..36));
        assert_eq!(direct(symmetric, &x, (0..6, 0..6), false, false), None);
        assert_eq!(direct(symmetric, &x, (0..3, 0..6), true, false), None);
        let batch = SeriesBatch::ragged(&[0.0_f64; 8], &[0, 3, 8], 1).unwrap();
        let (longest_first, _) = Order::of(cross, &batch, &batch, 0);
        assert_eq!(direct(cross, &longest_first, (2..5, 0..2), true, false), None);
    }

    /// What stands for the result of a pair, whichever comes first.
    fn result(i: usize, j: usize) -> f64 {
        (i * j + i + j) as f64
    }

    fn check(pairing: Pairing, (x, y): (&Order, &Order), (outputs, tasks): (u64, u64), is_complete: bool) {
        let columns = y.len();
        for adds in [false, true] {
            let target = Target { pairing, order_x: x, order_y: y, adds };
            let mut out = vec![if adds { 0.5 } else { f64::NAN }; x.len() * columns];
            let whole = Rect { rows: 0..x.len(), columns: 0..columns, pairing };
            for tile in crate::budget::tiles(&whole, outputs, tasks) {
                let mut results = vec![f64::NAN; tile.outputs()];
                for (p, q) in tile.pairs() {
                    let at =
                        |p: usize, q: usize| (p - tile.rows.start) * tile.stride() + q - tile.columns.start;
                    results[at(p, q)] = result(x.series(p), y.series(q));
                    if is_complete && tile.pairing == Pairing::SelfSymmetric {
                        results[at(q, p)] = results[at(p, q)];
                    }
                }
                scatter(&target, &tile, is_complete, &results, &mut out);
            }
            let before = if adds { 0.5 } else { 0.0 };
            for (k, value) in out.iter().enumerate() {
                assert_eq!(*value, result(k / columns, k % columns) + before, "{k} of {target:?}");
            }
        }
    }

    #[test]
    fn every_place_is_written() {
        let lengths = |count: usize| (0..count).map(|s| 3 + s * 7 % 11);
        let (few, many) = (20, 530);
        let sorted = |count: usize| Order::ragged(lengths(count), 0).sorted();
        let symmetric = Pairing::SelfSymmetric;
        for order in [Order::equal(few, 9), sorted(few)] {
            for is_complete in [false, true] {
                check(symmetric, (&order, &order), (49, 1000), is_complete);
                check(symmetric, (&order, &order), (400, 1000), is_complete);
            }
        }
        // So many that several threads take part.
        for order in [Order::equal(many, 9), sorted(many)] {
            assert!(many * many * 8 > 2 << 20);
            check(symmetric, (&order, &order), (u64::MAX, u64::MAX), false);
            check(Pairing::Cross, (&order, &order), (u64::MAX, u64::MAX), false);
        }
        check(Pairing::Cross, (&sorted(few), &Order::equal(few, 9)), (7, 1000), false);
        check(Pairing::Cross, (&Order::equal(few, 9), &sorted(few)), (50, 1000), false);
    }
}
