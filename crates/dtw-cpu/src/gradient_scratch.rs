//! How the grid of a Soft-DTW gradient is cut into tiles, and the memory that its sweeps need.
//!
//! ```text
//! a wide grid              a narrow band
//! +-----+-----+-----+      +---------------+
//! |     |     |     |      |###            |      Rows alone are cut. The weights of a strip are stored from the first
//! +-----+-----+-----+      |   ###         |      column of its band on, so there is room for more rows in a tile.
//! |     |     |     |      +---------------+
//! +-----+-----+-----+      |      ###      |
//! |     |     |     |      |         ###   |
//! +-----+-----+-----+      +---------------+
//! ```

use dtw_core::Scalar;
use dtw_core::recurrence::Scaled;

use crate::gradient_strip::{ROWS, Weights};
use crate::lanes::Register;

/// Rows and columns of a tile that its weights are in the cache for. On an AMD Zen 5, 32 rather than 48 is 4% slower,
/// 16 is 10%; tiles of 64 no longer fit beside the rest in an L2 cache of 1 MiB.
const SIDE: usize = 48;

/// Columns of a strip, at most, that are not cut.
const NARROW: usize = 2 * SIDE;

/// How a grid is cut into tiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Rows of a tile, in whole strips, and its columns.
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Columns of a strip in a tile, at most.
    pub(crate) stored: usize,
}

/// Cuts into pieces of one length: of `side`, or up to a sixth more where that makes fewer.
fn piece(length: usize, side: usize) -> usize {
    length.div_ceil(length.div_ceil(side + side / 6).max(1))
}

impl Shape {
    /// `widest`: columns of any strip, at most.
    pub(crate) fn of(n: usize, m: usize, widest: usize) -> Self {
        let (width, stored, side) = if widest <= NARROW {
            (m, widest, SIDE * SIDE / widest.max(1))
        } else {
            let width = piece(m, m.isqrt().max(SIDE));
            (width, width, SIDE)
        };
        let height = piece(n, n.isqrt().max(side)).next_multiple_of(ROWS);
        Self { n, m, height, width, stored }
    }
    /// Tiles below each other.
    pub(crate) fn blocks(self) -> usize {
        self.n.div_ceil(self.height)
    }
    /// Tiles beside each other.
    pub(crate) fn tiles(self) -> usize {
        self.m.div_ceil(self.width)
    }
    /// Whether the grid is one tile.
    pub(crate) fn is_one(self) -> bool {
        self.height >= self.n && self.width >= self.m
    }
    /// States of a kept column: all rows of the strips, and the cell above.
    pub(crate) fn column(self) -> usize {
        self.n.next_multiple_of(ROWS) + 1
    }
    /// States of a kept row: all columns, and the cell before them.
    pub(crate) fn row(self) -> usize {
        self.m + 1
    }
    /// Columns of the strips of a tile, together.
    fn weights(self) -> usize {
        self.height / ROWS * self.stored
    }
    /// States that are kept.
    fn kept(self) -> usize {
        self.blocks() * self.row() + self.tiles() * self.column()
    }

    /// As many [`Shape::kept`] and [`Shape::weights`] as any band needs.
    fn most(n: usize, m: usize) -> (usize, usize) {
        let (wide, narrow) = (Self::of(n, m, m), Self::of(n, m, NARROW.min(m)));
        // Rounding up to whole strips may add one, or save a tile of the widest narrow band.
        let rows = n.isqrt().max(SIDE * SIDE / NARROW);
        let weights = (rows + rows / 6 + ROWS) / ROWS * NARROW + SIDE * SIDE / ROWS;
        let all = n.div_ceil(ROWS) * m.min(NARROW);
        (wide.kept().max(narrow.kept() + narrow.row()), wide.weights().max(weights.min(all)))
    }
}

/// Memory of a batched gradient; grows to what it needs and is reused.
#[derive(Debug)]
pub(crate) struct GradientScratch<V> {
    /// Rows of Z above the tiles, and columns of Z before them; each with the cell before its first.
    pub(crate) kept_rows: Vec<Scaled<V>>,
    pub(crate) kept_columns: Vec<Scaled<V>>,
    /// The last row of Z, forward, and in a tile; with the cell before its first.
    pub(crate) edge: Vec<Scaled<V>>,
    pub(crate) tile_edge: Vec<Scaled<V>>,
    /// Weights of the cells of a tile, strip by strip.
    pub(crate) weights: Vec<Weights<V>>,
    /// What the rows below hand up to each column.
    pub(crate) shares: Vec<V>,
    /// What the tile to the right hands to each row's left neighbour, and to the one above that.
    pub(crate) beside: Vec<[V; 2]>,
    /// E of a strip in a tile.
    pub(crate) expected: Vec<[V; ROWS]>,
    /// First and end column of each row, per lane; none where no lane has a band.
    pub(crate) bounds: Vec<(V, V)>,
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

    /// Bytes needed for lengths `n`, `m`, whatever the band.
    pub(crate) fn bytes(n: usize, m: usize, channels: usize) -> u64 {
        let (kept, weights) = Shape::most(n, m);
        let column = n.next_multiple_of(ROWS) + 1;
        let states = (kept + 2 * (m + 1)) as u64 * size_of::<Scaled<V>>() as u64;
        let points = (n + ROWS + m + 2) as u64 * channels as u64;
        let rest = (4 * column + (ROWS + 1) * (m + 1)) as u64;
        states + (weights * size_of::<Weights<V>>()) as u64 + (points + rest) * size_of::<V>() as u64
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
    pub(crate) fn prepare(&mut self, shape: Shape, channels: usize, zero: V) {
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
        room(&mut self.kept_rows, shape.blocks() * shape.row(), nothing);
        fresh(&mut self.kept_columns, shape.tiles() * shape.column(), nothing);
        fresh(&mut self.edge, shape.row(), nothing);
        fresh(&mut self.shares, shape.row(), zero);
        fresh(&mut self.beside, shape.height, [zero; 2]);
        fresh(&mut self.grad_x, (shape.n + 1 + ROWS) * channels, zero);
        fresh(&mut self.grad_y, (shape.m + 1) * channels, zero);
        room(&mut self.tile_edge, shape.width + 1, nothing);
        room(&mut self.weights, shape.weights(), [[zero; 3]; ROWS]);
        room(&mut self.expected, shape.stored, [zero; ROWS]);
        self.edge[0] = Scaled::one(zero);
        self.kept_columns[0] = Scaled::one(zero);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_band_needs_more_than_is_said() {
        let lengths = [1, 4, 5, 23, 30, 48, 50, 55, 57, 97, 100, 130, 333, 500, 1000, 9999, 60_000];
        for n in lengths {
            for m in lengths {
                let (kept, weights) = Shape::most(n, m);
                for widest in (1..=m.min(2 * NARROW)).chain([m]) {
                    let shape = Shape::of(n, m, widest);
                    assert!(shape.kept() <= kept, "{n} x {m}, {widest}: {} of {kept} states", shape.kept());
                    assert!(
                        shape.weights() <= weights,
                        "{n} x {m}, {widest}: {} of {weights}",
                        shape.weights()
                    );
                    assert!(shape.stored >= widest.min(shape.width) && shape.height.is_multiple_of(ROWS));
                }
            }
        }
    }

    #[test]
    fn short_pairs_and_narrow_bands_are_cut_little() {
        assert!(Shape::of(50, 50, 50).is_one());
        let banded = Shape::of(500, 500, 24);
        assert_eq!((banded.tiles(), banded.blocks(), banded.stored), (1, 5, 24));
        let full = Shape::of(500, 500, 500);
        assert_eq!((full.tiles(), full.blocks()), (9, 9));
    }
}
