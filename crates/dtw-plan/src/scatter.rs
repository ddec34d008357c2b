//! From a tile's results to their places in the caller's output.

use std::ops::Range;

use dtw_core::{Pairing, Scalar};

use crate::order::{Order, Rect};

/// Rows and columns that are moved together, so that mirrored writes stay in the cache.
const BLOCK: usize = 64;

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

/// Where a tile's results lie in the output in one piece and in their order, if they do.
pub fn direct(target: &Target<'_>, tile: &Rect, is_complete: bool) -> Option<Range<usize>> {
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

/// Puts a tile's results in their places, and in the mirrored ones where the output is symmetric. Of a triangle only
/// the upper half is read.
pub fn scatter<T: Scalar>(target: &Target<'_>, tile: &Rect, results: &[T], out: &mut [T]) {
    let put = |place: &mut T, value: T| *place = if target.adds { *place + value } else { value };
    let Target { order_x, order_y, .. } = target;
    if target.pairing == Pairing::Zipped {
        for (place, value) in tile.rows.clone().zip(results) {
            put(&mut out[order_x.series(place)], *value);
        }
        return;
    }
    let (columns, stride) = (order_y.len(), tile.stride());
    let is_mirrored = target.pairing == Pairing::SelfSymmetric;
    for top in tile.rows.clone().step_by(BLOCK) {
        for left in tile.columns.clone().step_by(BLOCK) {
            for p in top..(top + BLOCK).min(tile.rows.end) {
                let i = order_x.series(p);
                let first = if tile.pairing == Pairing::SelfSymmetric { left.max(p) } else { left };
                for q in first..(left + BLOCK).min(tile.columns.end) {
                    let value = results[(p - tile.rows.start) * stride + q - tile.columns.start];
                    let j = order_y.series(q);
                    put(&mut out[i * columns + j], value);
                    if is_mirrored && i != j {
                        put(&mut out[j * columns + i], value);
                    }
                }
            }
        }
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

    #[test]
    fn every_place_is_written() {
        let values = [0.0_f64; 300];
        let offsets: Vec<usize> =
            (0..=20).map(|s| s * 3 + s * (s + 1) / 2).map(|o: usize| o.min(300)).collect();
        let batch = SeriesBatch::ragged(&values[..offsets[20]], &offsets, 1).unwrap();
        let (x, y) = Order::of(Pairing::SelfSymmetric, &batch, &batch, 0);
        let target = Target { pairing: Pairing::SelfSymmetric, order_x: &x, order_y: &y, adds: false };
        let mut out = vec![f64::NAN; 400];
        let whole = Rect { rows: 0..20, columns: 0..20, pairing: Pairing::SelfSymmetric };
        for tile in crate::budget::tiles(&whole, 49, 1000) {
            let mut results = vec![f64::NAN; tile.outputs()];
            for (p, q) in tile.pairs() {
                let (i, j) = (x.series(p), y.series(q));
                results[(p - tile.rows.start) * tile.stride() + q - tile.columns.start] =
                    (i * j + i + j) as f64;
            }
            assert_eq!(direct(&target, &tile, true), None);
            scatter(&target, &tile, &results, &mut out);
        }
        for i in 0..20 {
            for j in 0..20 {
                assert_eq!(out[i * 20 + j], (i * j + i + j) as f64);
            }
        }
    }
}
