//! Soft-DTW gradients, one pair per lane, in O(√n · m) memory per pair.
//!
//! Forward, `Z(i,j) = κ(i,j)·(Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1))`, `κ = e^(−c/γ)`. The expected alignment
//! `E(i,j) = ∂value/∂c(i,j)` is the share of all paths' weight that passes through a cell: 1 at the last cell, and each
//! cell hands its share on to its three predecessors in proportion to their Z. No logarithm, no exponential and no
//! difference of large numbers is met on the way back, and a share never leaves `[0, 1]`.
//! `∂value/∂xᵢ = Σⱼ E(i,j)·∂c(xᵢ, yⱼ)/∂xᵢ`. Cuturi & Blondel 2017, arXiv 1703.01541, algorithm 2.
//!
//! The grid is cut into tiles of √n × √m cells, or somewhat more ([`GradientTiles`]), so that what is kept of the cells
//! of a tile stays in the processor's cache. Forward, the row above and the column before each tile are kept. Backward,
//! tile by tile from the last, Z is computed again from them, this time with the weights of the predecessors, and then
//! E. A grid of one tile is swept forward once, with weights. Tiles are swept in strips of rows ([`Strip`]). Where
//! tiles are cut changes no sum: a gradient has the same bits in any batch.
//!
//! A long pair that would have few others beside it is computed otherwise: [`crate::gradient_single`].
//!
//! Lanes may differ in length: no cell of a lane depends on those beyond its last one. Outside the band κ is 0.

use std::ops::Range;

use dtw_core::recurrence::cost::Slope;
use dtw_core::recurrence::{Scaled, SoftDtw, log_of};
use dtw_core::{ColumnRanges, LocalCost, Observer, Scalar};

use crate::gradient_scratch::GradientScratch;
use crate::gradient_strip::{Before, Stretch, Strip, Weights, bounded, hand_up, pull};
use crate::gradient_tiles::{GradientTiles, ROWS};
use crate::lanes::Register;
use crate::side::Side;

/// The pairs of a batched gradient. `x` has [`ROWS`] points of padding.
pub(crate) struct Batch<'a, 'b, V> {
    pub(crate) x: &'a Side<V>,
    pub(crate) y: &'a Side<V>,
    /// Points of x and y, per lane.
    pub(crate) ends: &'b [(usize, usize)],
    /// Columns of the rows, per lane.
    pub(crate) ranges: &'b [&'b ColumnRanges],
}

/// Columns of one strip.
#[derive(Debug, Clone)]
struct Columns {
    /// Those that any lane needs.
    any: Range<usize>,
    /// Those inside the band of every row and lane, as far as the lane goes.
    all: Range<usize>,
}

impl<V: Register> Batch<'_, '_, V> {
    /// The columns of each strip, and the bounds of each row unless no lane has a band.
    fn columns(&self, n: usize, longest: usize, bounds: &mut Vec<(V, V)>, zero: V) -> Vec<Columns> {
        bounds.clear();
        if self.ranges.iter().all(|ranges| ranges.is_full()) {
            let full = Columns { any: 0..longest, all: 0..longest };
            return vec![full; n.div_ceil(ROWS)];
        }
        bounds.resize(n.next_multiple_of(ROWS), (zero, zero.constant(longest as f64)));
        let mut strips = vec![Columns { any: longest..0, all: 0..longest }; n.div_ceil(ROWS)];
        // Lanes of the same lengths have the same ranges.
        let are_alike = self.ends.iter().all(|ends| *ends == self.ends[0]);
        let lanes = if are_alike { 1 } else { self.ends.len() };
        for (lane, (&(n, m), ranges)) in self.ends.iter().zip(self.ranges).enumerate().take(lanes) {
            for (i, (first, end)) in bounds[..n].iter_mut().enumerate() {
                let (range, strip) = (ranges.row(i), &mut strips[i / ROWS]);
                if are_alike {
                    (*first, *end) = (zero.constant(range.start as f64), zero.constant(range.end as f64));
                } else {
                    first.lanes_mut()[lane] = V::Scalar::from_f64(range.start as f64);
                    end.lanes_mut()[lane] = V::Scalar::from_f64(range.end as f64);
                }
                strip.any = strip.any.start.min(range.start)..strip.any.end.max(range.end);
                let own_end = if range.end == m { longest } else { range.end };
                strip.all = strip.all.start.max(range.start)..strip.all.end.min(own_end);
            }
        }
        strips
    }

    /// Lanes that end in the strip of row `first`, with their last row in it and their end column.
    fn ending(&self, first: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let rows = first..first + ROWS;
        let ends = self.ends.iter().enumerate().filter(move |(_, (n, _))| rows.contains(&(n - 1)));
        ends.map(move |(lane, &(n, m))| (lane, n - 1 - first, m))
    }
}

/// Values of all lanes into `value(lane, value)`, gradients into the scratch, and E of the first lane, row by row, into
/// `expected` if that is there. Returns false where the observer cancelled; it is asked before each strip of a tile.
#[inline(always)]
pub(crate) fn gradients<V: Register>(
    soft: &SoftDtw<V, LocalCost>,
    token: V::Token,
    batch: &Batch<'_, '_, V>,
    scratch: &mut GradientScratch<V>,
    value: impl FnMut(usize, f64),
    expected: Option<&mut [V::Scalar]>,
    observer: &dyn Observer,
) -> bool {
    let zero = V::splat(token, V::Scalar::ZERO);
    let n = batch.ends.iter().map(|e| e.0).max().unwrap_or(0);
    let m = batch.ends.iter().map(|e| e.1).max().unwrap_or(0);
    let columns = batch.columns(n, m, &mut scratch.bounds, zero);
    let cut = GradientTiles::of(n, m, columns.iter().map(|columns| columns.any.len()).max().unwrap_or(0));
    scratch.prepare(cut, batch.x.channels(), zero);
    let context = GradientContext { soft, token, batch, cut, columns: &columns, zero };
    if !context.forward(scratch, value, observer) || !context.backward(scratch, expected, observer) {
        return false;
    }
    let factor = zero.constant(Slope::<V>::factor(soft.cost()));
    for x in &mut scratch.grad_x {
        *x = *x * factor;
    }
    for y in &mut scratch.grad_y {
        *y = zero - *y * factor;
    }
    true
}

/// What both passes know.
struct GradientContext<'a, 'g, V: Register> {
    soft: &'g SoftDtw<V, LocalCost>,
    token: V::Token,
    batch: &'g Batch<'a, 'g, V>,
    cut: GradientTiles,
    columns: &'g [Columns],
    zero: V,
}

impl<V: Register> GradientContext<'_, '_, V> {
    /// Sweeps columns `range` of the strip of row `first`, masked if need be.
    #[inline(always)]
    fn sweep(
        &self,
        first: usize,
        bounds: &[(V, V)],
        range: Range<usize>,
        edge: &mut [Scaled<V>],
        before: &mut Before<V>,
        weights: Option<&mut [Weights<V>]>,
    ) {
        let Self { soft, token, batch, zero, .. } = *self;
        let all = &self.columns[first / ROWS].all;
        let bounds = (range.start < all.start || all.end < range.end).then(
            #[inline(always)]
            || {
                let mut of_rows = [bounded((zero, zero)); ROWS];
                for (own, bounds) in of_rows.iter_mut().zip(bounds.get(first..).unwrap_or_default()) {
                    *own = bounded(*bounds);
                }
                of_rows
            },
        );
        let strip = Strip { token, soft, x: batch.x, y: batch.y, first };
        strip.sweep(Stretch { first: range.start, edge, before, weights, bounds });
    }

    /// Values, and the edges of the tiles, or the weights of the only tile.
    #[inline(always)]
    fn forward(
        &self,
        scratch: &mut GradientScratch<V>,
        mut value: impl FnMut(usize, f64),
        observer: &dyn Observer,
    ) -> bool {
        let GradientScratch { kept_rows, kept_columns, edge, weights, bounds, .. } = scratch;
        let cut = self.cut;
        let nothing = Scaled::zero(self.zero);
        for (columns, first) in self.columns.iter().zip((0..).step_by(ROWS)) {
            if !cut.is_one() && first % cut.height == 0 {
                let (block, span) = (first / cut.height, self.span(first / cut.height));
                let kept = &mut kept_rows[block * cut.row()..][..cut.row()];
                kept[span.start..=span.end].copy_from_slice(&edge[span.start..=span.end]);
            }
            let mut before = Before { rows: [nothing; ROWS], corner: edge[columns.any.start] };
            let mut from = columns.any.start;
            while from < columns.any.end {
                if observer.cancelled() {
                    return false;
                }
                let to = self.end(first, from, columns.any.end.min((from / cut.width + 1) * cut.width));
                let above = &mut edge[from + 1..=to];
                let weights = cut.is_one().then(
                    #[inline(always)]
                    || {
                        let of_strip = &mut weights[first / ROWS * cut.stored..];
                        &mut of_strip[from - columns.any.start..to - columns.any.start]
                    },
                );
                self.sweep(first, bounds, from..to, above, &mut before, weights);
                if to.is_multiple_of(cut.width) && to < cut.m {
                    let at = to / cut.width * cut.column() + first + 1;
                    kept_columns[at..at + ROWS].copy_from_slice(&before.rows);
                }
                self.tell(first, to, &before, &mut value);
                from = to;
            }
            // No cell of the rows below this strip is before its first column.
            edge[columns.any.start] = nothing;
        }
        true
    }

    /// The end of the columns from `from` on in which no lane ends, up to `to`.
    #[inline(always)]
    fn end(&self, first: usize, from: usize, to: usize) -> usize {
        self.batch.ending(first).map(|(.., end)| end).filter(|end| *end > from).fold(to, usize::min)
    }

    /// Tells the values of the lanes that end in the strip of row `first` at column `to`.
    #[inline(always)]
    fn tell(&self, first: usize, to: usize, before: &Before<V>, value: &mut impl FnMut(usize, f64)) {
        for (lane, row, _) in self.batch.ending(first).filter(|(.., end)| *end == to) {
            let Scaled { mantissa, exponent } = &before.rows[row];
            let log = log_of(mantissa.lanes()[lane], exponent.lanes()[lane]);
            value(lane, -self.soft.gamma() * log);
        }
    }

    /// Columns of the strips of a block.
    #[inline(always)]
    fn span(&self, block: usize) -> Range<usize> {
        let first = block * self.cut.height / ROWS;
        let strips = &self.columns[first..self.columns.len().min(first + self.cut.height / ROWS)];
        let start = strips.iter().map(|strip| strip.any.start).min().unwrap_or(0);
        start..strips.iter().map(|strip| strip.any.end).max().unwrap_or(0)
    }

    /// E and gradients, without the constant factors, from the edges of the tiles.
    #[inline(always)]
    fn backward(
        &self,
        scratch: &mut GradientScratch<V>,
        mut expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> bool {
        let cut = self.cut;
        for block in (0..cut.blocks()).rev() {
            let span = self.span(block);
            scratch.beside.fill([self.zero; 2]);
            for tile in (span.start / cut.width..span.end.div_ceil(cut.width)).rev() {
                if (!cut.is_one() && !self.weigh(block, tile, scratch, observer))
                    || !self.share(block, tile, scratch, expected.as_deref_mut(), observer)
                {
                    return false;
                }
            }
        }
        true
    }

    /// The strips of a tile that have cells in it: number in the tile, first row, columns.
    fn strips(
        &self,
        block: usize,
        tile: usize,
    ) -> impl DoubleEndedIterator<Item = (usize, usize, Range<usize>)> {
        let (cut, columns) = (self.cut, self.columns);
        let rows = block * cut.height..cut.n.min((block + 1) * cut.height);
        let (from, to) = (tile * cut.width, (tile + 1) * cut.width);
        (0..(rows.end - rows.start).div_ceil(ROWS))
            .map(move |strip| {
                let first = rows.start + strip * ROWS;
                let any = &columns[first / ROWS].any;
                (strip, first, any.start.max(from)..any.end.min(to))
            })
            .filter(|(.., columns)| !columns.is_empty())
    }

    /// Weights of all cells of a tile.
    #[inline(always)]
    fn weigh(
        &self,
        block: usize,
        tile: usize,
        scratch: &mut GradientScratch<V>,
        observer: &dyn Observer,
    ) -> bool {
        let GradientScratch { kept_rows, kept_columns, tile_edge, weights, bounds, .. } = scratch;
        let cut = self.cut;
        let nothing = Scaled::zero(self.zero);
        let (start, span) = (tile * cut.width, self.span(block));
        let slots = span.start.max(start)..=span.end.min(start + cut.width);
        let kept = &kept_rows[block * cut.row()..][slots.clone()];
        tile_edge[slots.start() - start..=slots.end() - start].copy_from_slice(kept);
        for (number, first, columns) in self.strips(block, tile) {
            if observer.cancelled() {
                return false;
            }
            let at = columns.start - start..columns.end - start;
            let mut before = Before { rows: [nothing; ROWS], corner: tile_edge[at.start] };
            if at.start == 0 {
                let kept = &kept_columns[tile * cut.column() + first..][..=ROWS];
                before.corner = kept[0];
                before.rows.copy_from_slice(&kept[1..]);
            }
            let above = &mut tile_edge[at.start + 1..=at.end];
            let weights = &mut weights[number * cut.stored..][..columns.len()];
            self.sweep(first, bounds, columns, above, &mut before, Some(weights));
            tile_edge[at.start] = nothing;
        }
        true
    }

    /// E of a tile from its weights and what its right and lower neighbours hand to it; gradients from E.
    #[inline(always)]
    fn share(
        &self,
        block: usize,
        tile: usize,
        scratch: &mut GradientScratch<V>,
        mut expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> bool {
        let GradientScratch { weights, shares, beside, expected: e, grad_x, grad_y, .. } = scratch;
        let Self { cut, batch, .. } = *self;
        let channels = batch.x.channels();
        for (number, first, columns) in self.strips(block, tile).rev() {
            if observer.cancelled() {
                return false;
            }
            let weights = &weights[number * cut.stored..][..columns.len()];
            let kept: &mut [[V; 2]; ROWS] =
                beside[number * ROWS..].first_chunk_mut().expect("a tile has whole strips");
            let mut to = columns.end;
            while to > columns.start {
                let mut from = columns.start;
                for (lane, row, end) in batch.ending(first).filter(|(.., end)| *end <= to) {
                    if end == to {
                        kept[row][0].lanes_mut()[lane] = V::Scalar::from_f64(1.0);
                    } else {
                        from = from.max(end);
                    }
                }
                let at = from - columns.start..to - columns.start;
                hand_up(self.token, &weights[at.clone()], &mut shares[from..to], kept, &mut e[at]);
                to = from;
            }
            if columns.start == self.columns[first / ROWS].any.start && columns.start > 0 {
                // The rows above may begin earlier, and no cell of this strip will hand that on.
                shares[columns.start - 1] = kept[0][1];
            }
            let e = &mut e[..columns.len()];
            if let Some(expected) = &mut expected {
                for (j, e) in columns.clone().zip(&*e) {
                    for (i, e) in (first..cut.n).zip(e) {
                        expected[i * cut.m + j] = e.lanes()[0];
                    }
                }
            }
            let (i, j) = ((first + 1) * channels, (columns.start + 1) * channels);
            let points = (&batch.x.points()[i..], &batch.y.points()[j..]);
            let to = (&mut grad_x[i..], &mut grad_y[j..]);
            pull(self.token, self.soft.cost(), points, channels, e, to);
        }
        true
    }
}
