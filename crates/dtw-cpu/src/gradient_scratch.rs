//! The memory that the sweeps of a Soft-DTW gradient need.

use dtw_core::Scalar;
use dtw_core::recurrence::Scaled;

use crate::gradient_strip::Weights;
use crate::gradient_tiles::{GradientTiles, ROWS};
use crate::lanes::Register;

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
        let (kept, weights) = GradientTiles::most(n, m);
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
    pub(crate) fn prepare(&mut self, cut: GradientTiles, channels: usize, zero: V) {
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
        room(&mut self.kept_rows, cut.blocks() * cut.row(), nothing);
        fresh(&mut self.kept_columns, cut.tiles() * cut.column(), nothing);
        fresh(&mut self.edge, cut.row(), nothing);
        fresh(&mut self.shares, cut.row(), zero);
        fresh(&mut self.beside, cut.height, [zero; 2]);
        fresh(&mut self.grad_x, (cut.n + 1 + ROWS) * channels, zero);
        fresh(&mut self.grad_y, (cut.m + 1) * channels, zero);
        room(&mut self.tile_edge, cut.width + 1, nothing);
        room(&mut self.weights, cut.weights(), [[zero; 3]; ROWS]);
        room(&mut self.expected, cut.stored, [zero; ROWS]);
        self.edge[0] = Scaled::one(zero);
        self.kept_columns[0] = Scaled::one(zero);
    }
}
