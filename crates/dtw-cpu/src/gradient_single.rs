//! The Soft-DTW gradient of one long pair: tiles of its grid in the lanes, where [`crate::gradient`] has pairs.
//!
//! ```text
//!        t=0 t=1 t=2 t=3
//!   b=0   0   1   2   3      Tiles with the same b + t do not depend on each other: they are swept side by side, a
//!   b=1   1   2   3   4      register-full at a time. Between two such diagonals, the edges of the tiles lie in
//!   b=2   2   3   4   5      memory, one number for each cell, and so do the sums of the gradients.
//! ```
//!
//! Every cell and every sum is computed as in a batch, in the same order, so the bits are the same.

use std::ops::Range;

use dtw_core::recurrence::cost::Slope;
use dtw_core::recurrence::{Scaled, SoftDtw, log_of};
use dtw_core::{ColumnRanges, LocalCost, Observer, Scalar, Series};

use crate::gradient_strip::{Before, Stretch, Strip, Weights, bounded, hand_up, pull};
use crate::gradient_tiles::ROWS;
use crate::lanes::Register;
use crate::side::Side;

/// Sides of tiles to choose from: the larger, the less there is to fetch and put away; the smaller, the more of them
/// are side by side.
const SIDES: [usize; 3] = [16, 32, 48];

/// Memory for the gradient of one pair; grows to what it needs and is reused.
#[derive(Debug)]
pub(crate) struct SingleScratch<V: Register> {
    /// Mantissa and exponent of Z in the rows above the tiles and in the columns before them, each with the cell before
    /// its first.
    rows: Vec<[V::Scalar; 2]>,
    columns: Vec<[V::Scalar; 2]>,
    /// What is handed up to each column, and beside each row, as in a batch.
    shares: Vec<V::Scalar>,
    beside: Vec<[V::Scalar; 2]>,
    /// Gradients, without the constant factors until the end.
    pub(crate) grad_x: Vec<V::Scalar>,
    pub(crate) grad_y: Vec<V::Scalar>,
    tiles: Tiles<V>,
}

/// Inputs and edges of the tiles that are in the lanes.
#[derive(Debug)]
struct Tiles<V> {
    x: Side<V>,
    y: Side<V>,
    edge: Vec<Scaled<V>>,
    left: Vec<Scaled<V>>,
    weights: Vec<Weights<V>>,
    shares: Vec<V>,
    beside: Vec<[V; 2]>,
    expected: Vec<[V; ROWS]>,
    bounds: Vec<[V; 2]>,
    grad_x: Vec<V>,
    grad_y: Vec<V>,
}

impl<V: Register> SingleScratch<V> {
    pub(crate) fn new() -> Self {
        Self {
            rows: Vec::new(),
            columns: Vec::new(),
            shares: Vec::new(),
            beside: Vec::new(),
            grad_x: Vec::new(),
            grad_y: Vec::new(),
            tiles: Tiles {
                x: Side::new(),
                y: Side::new(),
                edge: Vec::new(),
                left: Vec::new(),
                weights: Vec::new(),
                shares: Vec::new(),
                beside: Vec::new(),
                expected: Vec::new(),
                bounds: Vec::new(),
                grad_x: Vec::new(),
                grad_y: Vec::new(),
            },
        }
    }

    /// Bytes held.
    pub(crate) fn held_bytes(&self) -> usize {
        let pairs = self.rows.capacity() + self.columns.capacity() + self.beside.capacity();
        let single = self.shares.capacity() + self.grad_x.capacity() + self.grad_y.capacity();
        let tiles = &self.tiles;
        let wide = 2 * (tiles.edge.capacity() + tiles.left.capacity() + tiles.beside.capacity())
            + 3 * ROWS * tiles.weights.capacity()
            + ROWS * tiles.expected.capacity()
            + 2 * tiles.bounds.capacity()
            + tiles.shares.capacity()
            + tiles.grad_x.capacity()
            + tiles.grad_y.capacity();
        (2 * pairs + single) * size_of::<V::Scalar>()
            + wide * size_of::<V>()
            + tiles.x.bytes()
            + tiles.y.bytes()
    }
}

/// How the grid of a pair is cut into tiles, and what that costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    n: usize,
    m: usize,
    height: usize,
    width: usize,
    /// In registers of cells of a batch.
    pub(crate) cost: usize,
}

impl Cut {
    /// The cheapest, for registers of `lanes`.
    pub(crate) fn best(ranges: &ColumnRanges, lanes: usize) -> Self {
        let cut = |side: usize| Self::with_side(ranges, lanes, side);
        let cuts = SIDES.into_iter().map(cut);
        cuts.min_by_key(|cut| cut.cost).unwrap_or_else(|| cut(SIDES[0]))
    }

    fn with_side(ranges: &ColumnRanges, lanes: usize, side: usize) -> Self {
        let (n, m) = (ranges.n(), ranges.m());
        // No smaller than what would take the memory of a batch with one pair.
        let side = |length: usize| side.max(length.isqrt() / lanes).min(length);
        let (height, width) = (side(n).next_multiple_of(ROWS), side(m));
        let mut cut = Self { n, m, height, width, cost: 0 };
        let mut counts = vec![0_usize; n.div_ceil(height) + m.div_ceil(width)];
        for block in 0..cut.blocks() {
            for tile in cut.tiles(block, ranges) {
                counts[block + tile] += 1;
            }
        }
        let registers: usize = counts.iter().map(|count| count.div_ceil(lanes)).sum();
        cut.cost = registers * (height * width + (height + width) * lanes / 2);
        cut
    }

    fn blocks(&self) -> usize {
        self.n.div_ceil(self.height)
    }
    /// Rows of a block.
    fn rows_of(&self, block: usize) -> Range<usize> {
        block * self.height..self.n.min((block + 1) * self.height)
    }
    /// Columns of a tile.
    fn columns_of(&self, tile: usize) -> Range<usize> {
        tile * self.width..self.m.min((tile + 1) * self.width)
    }
    /// The tiles of a block that the band touches.
    fn tiles(&self, block: usize, ranges: &ColumnRanges) -> Range<usize> {
        let rows = self.rows_of(block);
        let (start, end) = (ranges.row(rows.start).start, ranges.row(rows.end - 1).end);
        start / self.width..end.div_ceil(self.width)
    }
    fn row(&self) -> usize {
        self.m + 1
    }
    fn column(&self) -> usize {
        self.n + 1
    }
}

/// The pair, and how its gradient is computed.
pub(crate) struct Single<'s, V: Register> {
    pub(crate) soft: &'s SoftDtw<V, LocalCost>,
    pub(crate) token: V::Token,
    pub(crate) x: Series<'s, V::Scalar>,
    pub(crate) y: Series<'s, V::Scalar>,
    pub(crate) ranges: &'s ColumnRanges,
    pub(crate) cut: Cut,
}

/// Number of the block and the tile in it.
type Place = (usize, usize);

fn fresh<T: Copy>(buffer: &mut Vec<T>, len: usize, value: T) {
    buffer.clear();
    buffer.resize(len, value);
}

#[inline(always)]
fn put<V: Register>(state: &mut Scaled<V>, lane: usize, [mantissa, exponent]: [V::Scalar; 2]) {
    state.mantissa.lanes_mut()[lane] = mantissa;
    state.exponent.lanes_mut()[lane] = exponent;
}

#[inline(always)]
fn take<V: Register>(state: &Scaled<V>, lane: usize) -> [V::Scalar; 2] {
    [state.mantissa.lanes()[lane], state.exponent.lanes()[lane]]
}

impl<V: Register> Single<'_, V> {
    /// The value; gradients into the scratch, and E, row by row, into `expected` if that is there. Nothing where the
    /// observer cancelled; it is asked before each strip of tiles.
    #[inline(always)]
    pub(crate) fn gradients(
        &self,
        scratch: &mut SingleScratch<V>,
        mut expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> Option<f64> {
        let Self { cut, ranges, .. } = self;
        let nothing = take(&Scaled::zero(V::splat(self.token, V::Scalar::ZERO)), 0);
        let one = take(&Scaled::one(V::splat(self.token, V::Scalar::ZERO)), 0);
        let zero = V::Scalar::ZERO;
        fresh(&mut scratch.rows, cut.blocks() * cut.row(), nothing);
        fresh(&mut scratch.columns, cut.m.div_ceil(cut.width) * cut.column(), nothing);
        fresh(&mut scratch.shares, cut.m, zero);
        fresh(&mut scratch.beside, cut.n, [zero; 2]);
        fresh(&mut scratch.grad_x, cut.n * self.x.channels, zero);
        fresh(&mut scratch.grad_y, cut.m * self.x.channels, zero);
        (scratch.rows[0], scratch.columns[0]) = (one, one);
        let weights = cut.height / ROWS * cut.width;
        if scratch.tiles.weights.len() < weights {
            scratch.tiles.weights.resize(weights, [[V::splat(self.token, zero); 3]; ROWS]);
        }

        let mut diagonals = vec![Vec::<Place>::new(); cut.blocks() + cut.m.div_ceil(cut.width) - 1];
        for block in 0..cut.blocks() {
            for tile in cut.tiles(block, ranges) {
                diagonals[block + tile].push((block, tile));
            }
        }
        let mut value = f64::NAN;
        for places in diagonals.iter().flat_map(|diagonal| diagonal.chunks(V::LANES)) {
            if let Some([mantissa, exponent]) = self.sweep(false, places, scratch, observer)? {
                value = -self.soft.gamma() * log_of(mantissa, exponent);
            }
        }
        for places in diagonals.iter().rev().flat_map(|diagonal| diagonal.chunks(V::LANES)) {
            self.sweep(true, places, scratch, observer)?;
            self.share(places, scratch, expected.as_deref_mut(), observer)?;
        }
        let factor = V::Scalar::from_f64(Slope::<V>::factor(self.soft.cost()));
        for x in &mut scratch.grad_x {
            *x = *x * factor;
        }
        for y in &mut scratch.grad_y {
            *y = zero - *y * factor;
        }
        Some(value)
    }

    /// Largest height and width of these tiles.
    fn size(&self, places: &[Place]) -> (usize, usize) {
        let heights = places.iter().map(|(block, _)| self.cut.rows_of(*block).len());
        let widths = places.iter().map(|(_, tile)| self.cut.columns_of(*tile).len());
        (heights.max().unwrap_or(0), widths.max().unwrap_or(0))
    }

    /// Fills the lanes with these tiles' points, edges and bounds. Returns whether any cell is outside the band.
    #[inline(always)]
    fn fetch(&self, places: &[Place], scratch: &mut SingleScratch<V>) -> bool {
        let Self { cut, ranges, token, x, y, .. } = *self;
        let SingleScratch { rows, columns, tiles, .. } = scratch;
        let (height, width) = self.size(places);
        let padded = height.next_multiple_of(ROWS);
        let channels = x.channels;
        let blocks: Vec<_> = places
            .iter()
            .map(|(block, _)| {
                let rows = cut.rows_of(*block);
                Series { values: &x.values[rows.start * channels..rows.end * channels], ..x }
            })
            .collect();
        let parts: Vec<_> = places
            .iter()
            .map(|(_, tile)| {
                let columns = cut.columns_of(*tile);
                Series { values: &y.values[columns.start * channels..columns.end * channels], ..y }
            })
            .collect();
        tiles.x.fill(token, &blocks, height, ROWS);
        tiles.y.fill(token, &parts, width, 0);
        let zero = V::splat(token, V::Scalar::ZERO);
        let nothing = Scaled::zero(zero);
        fresh(&mut tiles.edge, width + 1, nothing);
        fresh(&mut tiles.left, padded + 1, nothing);
        fresh(&mut tiles.bounds, padded, [zero, zero.constant(width as f64)]);
        let mut is_masked = false;
        for (lane, &(block, tile)) in places.iter().enumerate() {
            let (of_x, of_y) = (cut.rows_of(block), cut.columns_of(tile));
            let above = &rows[block * cut.row() + of_y.start..][..=of_y.len()];
            for (edge, above) in tiles.edge.iter_mut().zip(above) {
                put(edge, lane, *above);
            }
            let before = &columns[tile * cut.column() + of_x.start..][..=of_x.len()];
            for (left, before) in tiles.left.iter_mut().zip(before) {
                put(left, lane, *before);
            }
            put(&mut tiles.left[0], lane, above[0]);
            if ranges.is_full() {
                continue;
            }
            for (i, bounds) in of_x.zip(&mut tiles.bounds) {
                let own = ranges.row(i);
                is_masked |= own.start > of_y.start || own.end < of_y.end;
                let within = |column: usize| V::Scalar::from_f64(column.saturating_sub(of_y.start) as f64);
                bounds[0].lanes_mut()[lane] = within(own.start);
                bounds[1].lanes_mut()[lane] = within(own.end);
            }
        }
        is_masked
    }

    /// Z of these tiles. Forward, their last rows and columns are put away; backward, the weights of all cells stay in
    /// the scratch. Returns the last cell of the pair, if it is among them.
    #[inline(always)]
    fn sweep(
        &self,
        is_backward: bool,
        places: &[Place],
        scratch: &mut SingleScratch<V>,
        observer: &dyn Observer,
    ) -> Option<Option<[V::Scalar; 2]>> {
        let is_masked = self.fetch(places, scratch);
        let cut = self.cut;
        let (height, width) = self.size(places);
        let mut last = None;
        for first in (0..height).step_by(ROWS) {
            if observer.cancelled() {
                return None;
            }
            let before = self.strip(is_backward, first, width, is_masked, &mut scratch.tiles);
            if is_backward {
                continue;
            }
            for (lane, &(block, tile)) in places.iter().enumerate() {
                let (of_x, of_y) = (cut.rows_of(block), cut.columns_of(tile));
                for (i, state) in (of_x.start + first..of_x.end).zip(&before.rows) {
                    if of_y.end < cut.m {
                        scratch.columns[(tile + 1) * cut.column() + i + 1] = take(state, lane);
                    } else if i + 1 == cut.n {
                        last = Some(take(state, lane));
                    }
                }
            }
        }
        if !is_backward {
            for (lane, &(block, tile)) in places.iter().enumerate() {
                let of_y = cut.columns_of(tile);
                if cut.rows_of(block).end < cut.n {
                    let below = &mut scratch.rows[(block + 1) * cut.row() + of_y.start + 1..][..of_y.len()];
                    for (below, edge) in below.iter_mut().zip(&scratch.tiles.edge[1..]) {
                        *below = take(edge, lane);
                    }
                }
            }
        }
        Some(last)
    }

    /// The strip of tiles that begins with their row `first`.
    #[inline(always)]
    fn strip(
        &self,
        is_backward: bool,
        first: usize,
        width: usize,
        is_masked: bool,
        tiles: &mut Tiles<V>,
    ) -> Before<V> {
        let Tiles { x, y, edge, left, weights, bounds, .. } = tiles;
        let bounds = is_masked.then(
            #[inline(always)]
            || {
                let mut of_rows = [(left[0].mantissa, left[0].mantissa); ROWS];
                for (own, [first, end]) in of_rows.iter_mut().zip(&bounds[first..]) {
                    *own = bounded((*first, *end));
                }
                of_rows
            },
        );
        let mut before = Before { rows: [left[first]; ROWS], corner: left[first] };
        before.rows.copy_from_slice(&left[first + 1..][..ROWS]);
        let weights = is_backward.then(
            #[inline(always)]
            || &mut weights[first / ROWS * width..][..width],
        );
        let strip = Strip { token: self.token, soft: self.soft, x, y, first };
        strip.sweep(Stretch { first: 0, edge: &mut edge[1..], before: &mut before, weights, bounds });
        before
    }

    /// E of these tiles from their weights, and gradients from E.
    #[inline(always)]
    fn share(
        &self,
        places: &[Place],
        scratch: &mut SingleScratch<V>,
        mut expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> Option<()> {
        let Self { cut, ranges, .. } = *self;
        let (height, width) = self.size(places);
        let (padded, channels) = (height.next_multiple_of(ROWS), self.x.channels);
        let SingleScratch { shares, beside, grad_x, grad_y, tiles, .. } = scratch;
        let zero = V::splat(self.token, V::Scalar::ZERO);
        fresh(&mut tiles.shares, width, zero);
        fresh(&mut tiles.beside, padded, [zero; 2]);
        fresh(&mut tiles.grad_x, padded * channels, zero);
        fresh(&mut tiles.grad_y, width * channels, zero);
        fresh(&mut tiles.expected, width, [zero; ROWS]);
        for (lane, &(block, tile)) in places.iter().enumerate() {
            let (of_x, of_y) = (cut.rows_of(block), cut.columns_of(tile));
            let put = |to: &mut [V], from: &[V::Scalar]| {
                for (to, from) in to.iter_mut().zip(from) {
                    to.lanes_mut()[lane] = *from;
                }
            };
            put(&mut tiles.shares, &shares[of_y.clone()]);
            put(&mut tiles.grad_x, &grad_x[of_x.start * channels..of_x.end * channels]);
            put(&mut tiles.grad_y, &grad_y[of_y.start * channels..of_y.end * channels]);
            put(tiles.beside.as_flattened_mut(), beside[of_x.clone()].as_flattened());
            if of_x.end == cut.n && of_y.end == cut.m {
                tiles.beside[of_x.len() - 1][0].lanes_mut()[lane] = V::Scalar::from_f64(1.0);
            }
        }
        for first in (0..padded).step_by(ROWS).rev() {
            if observer.cancelled() {
                return None;
            }
            let kept: &mut [[V; 2]; ROWS] =
                tiles.beside[first..].first_chunk_mut().expect("a tile has whole strips");
            let weights = &tiles.weights[first / ROWS * width..][..width];
            hand_up(self.token, weights, &mut tiles.shares, kept, &mut tiles.expected);
            if let Some(expected) = &mut expected {
                for (lane, &(block, tile)) in places.iter().enumerate() {
                    let of_x = cut.rows_of(block);
                    for (j, e) in cut.columns_of(tile).zip(&tiles.expected) {
                        for (i, e) in (of_x.start + first..of_x.end).zip(e) {
                            expected[i * cut.m + j] = e.lanes()[lane];
                        }
                    }
                }
            }
            let points = (&tiles.x.points()[(first + 1) * channels..], &tiles.y.points()[channels..]);
            let to = (&mut tiles.grad_x[first * channels..], &mut tiles.grad_y[..]);
            pull(self.token, self.soft.cost(), points, channels, &mut tiles.expected, to);
        }
        for (lane, &(block, tile)) in places.iter().enumerate() {
            let (of_x, of_y) = (cut.rows_of(block), cut.columns_of(tile));
            let take = |to: &mut [V::Scalar], from: &[V]| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = from.lanes()[lane];
                }
            };
            take(&mut shares[of_y.clone()], &tiles.shares);
            take(&mut grad_x[of_x.start * channels..of_x.end * channels], &tiles.grad_x);
            take(&mut grad_y[of_y.start * channels..of_y.end * channels], &tiles.grad_y);
            take(beside[of_x.clone()].as_flattened_mut(), tiles.beside.as_flattened());
            // No tile of this block will hand on what goes up along the diagonal.
            if tile > 0 && tile == cut.tiles(block, ranges).start {
                shares[of_y.start - 1] = beside[of_x.start][1];
            }
        }
        Some(())
    }
}
