//! Soft-DTW gradients, one pair per lane, in O(√n · m) memory per pair.
//!
//! Forward, `Z(i,j) = κ(i,j)·(Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1))`, `κ = e^(−c/γ)`. The expected alignment
//! `E(i,j) = ∂value/∂c(i,j)` is the share of all paths' weight that passes through a cell: 1 at the last cell, and each
//! cell hands its share on to its three predecessors in proportion to their Z. No logarithm, no exponential and no
//! difference of large numbers is met on the way back, and a share never leaves `[0, 1]`.
//! `∂value/∂xᵢ = Σⱼ E(i,j)·∂c(xᵢ, yⱼ)/∂xᵢ`. Cuturi & Blondel 2017, arXiv 1703.01541, algorithm 2.
//!
//! The grid is cut into tiles of √n × √m cells, or somewhat more, so that what is kept of the cells of a tile stays in
//! the processor's cache. Forward, the row above and the column before each tile are kept. Backward, tile by tile from
//! the last, Z is computed again from them, this time with the weights of the predecessors, and then E. Tiles are
//! swept in strips of rows ([`Strip`]). Where tiles are cut changes no sum: a gradient has the same bits in any batch.
//!
//! A long pair that would have few others beside it is computed otherwise: [`crate::gradient_single`].
//!
//! Lanes may differ in length: no cell of a lane depends on those beyond its last one. Outside the band κ is 0.

use std::ops::Range;

use dtw_core::recurrence::cost::Cost;
use dtw_core::recurrence::{Scaled, SoftDtw, log_of};
use dtw_core::{ColumnRanges, Observer, Scalar};

use crate::gradient_strip::{Before, ROWS, Smooth, Strip, Weights, hand_up, pull};
use crate::lanes::Register;
use crate::side::{Side, Stored};

/// Least rows and columns of a tile. On an AMD Zen 5, 32 rather than 48 is 4% slower, 16 is 10%; tiles of 64 no longer
/// fit beside the rest in an L2 cache of 1 MiB.
const LEAST_SIDE: usize = 48;

/// Memory of a batched gradient; grows to what it needs and is reused.
#[derive(Debug)]
pub(crate) struct GradientScratch<V> {
    /// Rows of Z above the tiles, and columns of Z before them; each with the cell before its first.
    kept_rows: Vec<Scaled<V>>,
    kept_columns: Vec<Scaled<V>>,
    /// The last row of Z, forward, and in a tile; with the cell before its first.
    edge: Vec<Scaled<V>>,
    tile_edge: Vec<Scaled<V>>,
    /// Weights of the cells of a tile, strip by strip.
    weights: Vec<Weights<V>>,
    /// What the rows below hand up to each column.
    shares: Vec<V>,
    /// What the tile to the right hands to each row's left neighbour, and to the one above that.
    beside: Vec<[V; 2]>,
    /// E of a strip in a tile.
    expected: Vec<[V; ROWS]>,
    /// First and end column of each row, per lane; none where no lane has a band.
    bounds: Vec<(V, V)>,
    /// Gradient to x and y, point by point as [`Side`] lays points out.
    pub(crate) grad_x: Vec<V>,
    pub(crate) grad_y: Vec<V>,
}

impl<V> Default for GradientScratch<V> {
    fn default() -> Self {
        Self {
            kept_rows: Vec::new(),
            kept_columns: Vec::new(),
            edge: Vec::new(),
            tile_edge: Vec::new(),
            weights: Vec::new(),
            shares: Vec::new(),
            beside: Vec::new(),
            expected: Vec::new(),
            bounds: Vec::new(),
            grad_x: Vec::new(),
            grad_y: Vec::new(),
        }
    }
}

/// How a grid is cut into tiles.
#[derive(Debug, Clone, Copy)]
struct Shape {
    n: usize,
    m: usize,
    /// Rows of a tile, in whole strips, and its columns.
    height: usize,
    width: usize,
}

impl Shape {
    fn of(n: usize, m: usize) -> Self {
        let side = |length: usize| length.isqrt().max(LEAST_SIDE).min(length);
        Self { n, m, height: side(n).next_multiple_of(ROWS), width: side(m) }
    }
    /// Tiles below each other.
    fn blocks(self) -> usize {
        self.n.div_ceil(self.height)
    }
    /// Tiles beside each other.
    fn tiles(self) -> usize {
        self.m.div_ceil(self.width)
    }
    /// States of a kept column: all rows of the strips, and the cell above.
    fn column(self) -> usize {
        self.n.next_multiple_of(ROWS) + 1
    }
    /// States of a kept row: all columns, and the cell before them.
    fn row(self) -> usize {
        self.m + 1
    }
    /// Strips of a tile.
    fn strips(self) -> usize {
        self.height / ROWS
    }
}

impl<V: Register> GradientScratch<V> {
    /// Bytes held.
    pub(crate) fn held_bytes(&self) -> usize {
        let states = [&self.kept_rows, &self.kept_columns, &self.edge, &self.tile_edge];
        let states: usize = states.iter().map(|states| states.capacity()).sum();
        let points = self.shares.capacity() + self.grad_x.capacity() + self.grad_y.capacity();
        states * size_of::<Scaled<V>>()
            + self.weights.capacity() * size_of::<Weights<V>>()
            + self.expected.capacity() * size_of::<[V; ROWS]>()
            + (self.beside.capacity() + self.bounds.capacity()) * size_of::<[V; 2]>()
            + points * size_of::<V>()
    }

    /// Bytes needed for lengths `n`, `m`.
    pub(crate) fn bytes(n: usize, m: usize, channels: usize) -> u64 {
        let shape = Shape::of(n, m);
        let kept = shape.blocks() as u64 * shape.row() as u64 + shape.tiles() as u64 * shape.column() as u64;
        let edges = (shape.row() + shape.width + 1) as u64;
        let states = (kept + edges) * size_of::<Scaled<V>>() as u64;
        let weights = (shape.strips() * shape.width * size_of::<Weights<V>>()) as u64;
        let points = (n + ROWS + m + 2) as u64 * channels as u64;
        let rest = m + 1 + 2 * shape.height + ROWS * shape.width + 2 * shape.column();
        states + weights + (points + rest as u64) * size_of::<V>() as u64
    }

    /// Puts a gradient into a lane, as if a batch had computed it.
    pub(crate) fn put(
        &mut self,
        lane: usize,
        token: V::Token,
        channels: usize,
        (x, y): (&[V::Scalar], &[V::Scalar]),
    ) {
        for (to, from) in [(&mut self.grad_x, x), (&mut self.grad_y, y)] {
            if to.len() < channels + from.len() {
                to.resize(channels + from.len(), V::splat(token, V::Scalar::ZERO));
            }
            for (to, from) in to[channels..].iter_mut().zip(from) {
                to.lanes_mut()[lane] = *from;
            }
        }
    }

    /// Makes room for a grid and its first states.
    fn prepare(&mut self, shape: Shape, channels: usize, zero: V) {
        fn fresh<T: Copy>(buffer: &mut Vec<T>, len: usize, value: T) {
            buffer.clear();
            buffer.resize(len, value);
        }
        /// For what is written before it is read.
        fn room<T: Copy>(buffer: &mut Vec<T>, len: usize, value: T) {
            if buffer.len() < len {
                buffer.resize(len, value);
            }
        }
        let nothing = Scaled::zero(zero);
        fresh(&mut self.kept_rows, shape.blocks() * shape.row(), nothing);
        fresh(&mut self.kept_columns, shape.tiles() * shape.column(), nothing);
        fresh(&mut self.edge, shape.row(), nothing);
        fresh(&mut self.shares, shape.row(), zero);
        fresh(&mut self.beside, shape.height, [zero; 2]);
        fresh(&mut self.grad_x, (shape.n + 1 + ROWS) * channels, zero);
        fresh(&mut self.grad_y, (shape.m + 1) * channels, zero);
        room(&mut self.tile_edge, shape.width + 1, nothing);
        room(&mut self.weights, shape.strips() * shape.width, [[zero; 3]; ROWS]);
        room(&mut self.expected, shape.width, [zero; ROWS]);
        self.edge[0] = Scaled::one(zero);
        self.kept_columns[0] = Scaled::one(zero);
    }
}

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
    fn columns(&self, shape: Shape, bounds: &mut Vec<(V, V)>, zero: V) -> Vec<Columns> {
        bounds.clear();
        if self.ranges.iter().all(|ranges| ranges.is_full()) {
            let full = Columns { any: 0..shape.m, all: 0..shape.m };
            return vec![full; shape.n.div_ceil(ROWS)];
        }
        bounds.resize(shape.column() - 1, (zero, zero.constant(shape.m as f64)));
        let mut strips = vec![Columns { any: shape.m..0, all: 0..shape.m }; shape.n.div_ceil(ROWS)];
        for (lane, (&(n, m), ranges)) in self.ends.iter().zip(self.ranges).enumerate() {
            for (i, (first, end)) in bounds[..n].iter_mut().enumerate() {
                let (range, strip) = (ranges.row(i), &mut strips[i / ROWS]);
                first.lanes_mut()[lane] = V::Scalar::from_f64(range.start as f64);
                end.lanes_mut()[lane] = V::Scalar::from_f64(range.end as f64);
                strip.any = strip.any.start.min(range.start)..strip.any.end.max(range.end);
                let own_end = if range.end == m { shape.m } else { range.end };
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
pub(crate) fn gradients<'a, V, P, C>(
    soft: &SoftDtw<V, C>,
    token: V::Token,
    batch: &Batch<'a, '_, V>,
    scratch: &mut GradientScratch<V>,
    value: impl FnMut(usize, f64),
    expected: Option<&mut [V::Scalar]>,
    observer: &dyn Observer,
) -> bool
where
    V: Register + 'a,
    P: Stored<'a, V>,
    C: Smooth<V> + Cost<V, P>,
{
    let zero = V::splat(token, V::Scalar::ZERO);
    let n = batch.ends.iter().map(|e| e.0).max().unwrap_or(0);
    let m = batch.ends.iter().map(|e| e.1).max().unwrap_or(0);
    let shape = Shape::of(n, m);
    scratch.prepare(shape, batch.x.channels(), zero);
    let columns = batch.columns(shape, &mut scratch.bounds, zero);
    let grid = Grid { soft, batch, shape, columns: &columns, zero };
    if !grid.forward::<P>(scratch, value, observer) || !grid.backward::<P>(scratch, expected, observer) {
        return false;
    }
    let factor = zero.constant(C::FACTOR);
    for x in &mut scratch.grad_x {
        *x = *x * factor;
    }
    for y in &mut scratch.grad_y {
        *y = zero - *y * factor;
    }
    true
}

/// What both passes know.
struct Grid<'a, 'g, V, C> {
    soft: &'g SoftDtw<V, C>,
    batch: &'g Batch<'a, 'g, V>,
    shape: Shape,
    columns: &'g [Columns],
    zero: V,
}

impl<'a, V: Register + 'a, C: Smooth<V>> Grid<'a, '_, V, C> {
    #[inline(always)]
    fn strip<P: Stored<'a, V>>(&self, first: usize, bounds: &[(V, V)]) -> Strip<'_, 'a, V, P, C>
    where
        C: Cost<V, P>,
    {
        let Self { soft, batch, zero, .. } = *self;
        let rows = std::array::from_fn(
            #[inline(always)]
            |r| batch.x.sample::<P, SoftDtw<V, C>>(&[], first + r + 1),
        );
        let bounds = std::array::from_fn(
            #[inline(always)]
            |r| bounds.get(first + r).copied().unwrap_or((zero, zero)),
        );
        Strip { soft, rows, y: batch.y, bounds }
    }

    /// Sweeps columns `range` of the strip of row `first`, masked if need be.
    #[inline(always)]
    fn sweep<P: Stored<'a, V>, const KEEP: bool>(
        &self,
        strip: &Strip<'_, 'a, V, P, C>,
        columns: &Columns,
        range: Range<usize>,
        edge: &mut [Scaled<V>],
        before: &mut Before<V>,
        weights: &mut [Weights<V>],
    ) where
        C: Cost<V, P>,
    {
        if columns.all.start <= range.start && range.end <= columns.all.end {
            strip.sweep::<KEEP, false>(range.start, edge, before, weights);
        } else {
            strip.sweep::<KEEP, true>(range.start, edge, before, weights);
        }
    }

    /// Values, and the edges of the tiles.
    #[inline(always)]
    fn forward<P: Stored<'a, V>>(
        &self,
        scratch: &mut GradientScratch<V>,
        mut value: impl FnMut(usize, f64),
        observer: &dyn Observer,
    ) -> bool
    where
        C: Cost<V, P>,
    {
        let GradientScratch { kept_rows, kept_columns, edge, bounds, .. } = scratch;
        let Self { shape, batch, .. } = *self;
        let nothing = Scaled::zero(self.zero);
        for (columns, first) in self.columns.iter().zip((0..).step_by(ROWS)) {
            if first % shape.height == 0 {
                kept_rows[first / shape.height * shape.row()..][..shape.row()].copy_from_slice(edge);
            }
            let strip = self.strip::<P>(first, bounds);
            let mut before = Before { rows: [nothing; ROWS], corner: edge[columns.any.start] };
            let mut from = columns.any.start;
            while from < columns.any.end {
                if observer.cancelled() {
                    return false;
                }
                let ends = batch.ending(first).map(|(.., end)| end).filter(|end| *end > from);
                let to = ends.fold(columns.any.end.min((from / shape.width + 1) * shape.width), usize::min);
                let above = &mut edge[from + 1..=to];
                self.sweep::<P, false>(&strip, columns, from..to, above, &mut before, &mut []);
                if to % shape.width == 0 && to < shape.m {
                    let at = to / shape.width * shape.column() + first + 1;
                    kept_columns[at..at + ROWS].copy_from_slice(&before.rows);
                }
                for (lane, row, _) in batch.ending(first).filter(|(.., end)| *end == to) {
                    let Scaled { mantissa, exponent } = &before.rows[row];
                    let log = log_of(mantissa.lanes()[lane], exponent.lanes()[lane]);
                    value(lane, -self.soft.gamma() * log);
                }
                from = to;
            }
            // No cell of the rows below this strip is before its first column.
            edge[columns.any.start] = nothing;
        }
        true
    }

    /// E and gradients, without the constant factors, from the edges of the tiles.
    #[inline(always)]
    fn backward<P: Stored<'a, V>>(
        &self,
        scratch: &mut GradientScratch<V>,
        mut expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> bool
    where
        C: Cost<V, P>,
    {
        let shape = self.shape;
        for block in (0..shape.blocks()).rev() {
            let rows = block * shape.height..shape.n.min((block + 1) * shape.height);
            let strips = &self.columns[rows.start / ROWS..rows.end.div_ceil(ROWS)];
            let start = strips.iter().map(|strip| strip.any.start).min().unwrap_or(0);
            let end = strips.iter().map(|strip| strip.any.end).max().unwrap_or(0);
            scratch.beside.fill([self.zero; 2]);
            for tile in (start / shape.width..end.div_ceil(shape.width)).rev() {
                if !self.weigh::<P>(block, tile, scratch, observer)
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
        let (shape, columns) = (self.shape, self.columns);
        let rows = block * shape.height..shape.n.min((block + 1) * shape.height);
        let (from, to) = (tile * shape.width, (tile + 1) * shape.width);
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
    fn weigh<P: Stored<'a, V>>(
        &self,
        block: usize,
        tile: usize,
        scratch: &mut GradientScratch<V>,
        observer: &dyn Observer,
    ) -> bool
    where
        C: Cost<V, P>,
    {
        let GradientScratch { kept_rows, kept_columns, tile_edge, weights, bounds, .. } = scratch;
        let shape = self.shape;
        let nothing = Scaled::zero(self.zero);
        let start = tile * shape.width;
        let slots = shape.width.min(shape.m - start) + 1;
        tile_edge[..slots].copy_from_slice(&kept_rows[block * shape.row() + start..][..slots]);
        for (number, first, columns) in self.strips(block, tile) {
            if observer.cancelled() {
                return false;
            }
            let at = columns.start - start..columns.end - start;
            let mut before = Before { rows: [nothing; ROWS], corner: tile_edge[at.start] };
            if at.start == 0 {
                let kept = &kept_columns[tile * shape.column() + first..][..=ROWS];
                before.corner = kept[0];
                before.rows.copy_from_slice(&kept[1..]);
            }
            let weights = &mut weights[number * shape.width..][at.clone()];
            let above = &mut tile_edge[at.start + 1..=at.end];
            let strip = self.strip::<P>(first, bounds);
            let of_strip = &self.columns[first / ROWS];
            self.sweep::<P, true>(&strip, of_strip, columns, above, &mut before, weights);
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
        let Self { shape, batch, .. } = *self;
        let (start, channels) = (tile * shape.width, batch.x.channels());
        for (number, first, columns) in self.strips(block, tile).rev() {
            if observer.cancelled() {
                return false;
            }
            let weights = &weights[number * shape.width..][..shape.width];
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
                let at = from - start..to - start;
                hand_up(&weights[at.clone()], &mut shares[from..to], kept, &mut e[at]);
                to = from;
            }
            if columns.start == self.columns[first / ROWS].any.start && columns.start > 0 {
                // The rows above may begin earlier, and no cell of this strip will hand that on.
                shares[columns.start - 1] = kept[0][1];
            }
            let e = &mut e[columns.start - start..columns.end - start];
            if let Some(expected) = &mut expected {
                for (j, e) in columns.clone().zip(&*e) {
                    for (i, e) in (first..shape.n).zip(e) {
                        expected[i * shape.m + j] = e.lanes()[0];
                    }
                }
            }
            let (i, j) = ((first + 1) * channels, (columns.start + 1) * channels);
            let points = (&batch.x.points()[i..], &batch.y.points()[j..]);
            pull::<V, C>(points, channels, e, &mut grad_x[i..], &mut grad_y[j..]);
        }
        true
    }
}
