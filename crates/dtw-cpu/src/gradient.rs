//! Soft-DTW gradients, one pair per lane, in O(√n · m) memory per pair.
//!
//! Forward, `Z(i,j) = κ(i,j)·(Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1))`, `κ = e^(−c/γ)`. The expected alignment
//! `E(i,j) = ∂value/∂c(i,j)` is the share of all paths' weight that passes through a cell: 1 at the last cell, and each
//! cell hands its share on to its three predecessors in proportion to their Z. No logarithm, no exponential and no
//! difference of large numbers is met on the way back, and a share never leaves `[0, 1]`.
//! `∂value/∂xᵢ = Σⱼ E(i,j)·2(xᵢ − yⱼ)`. Cuturi & Blondel 2017, arXiv 1703.01541, algorithm 2.
//!
//! Forward, one row of Z in every block of rows is kept; backward, each block's rows are computed again from it. E is
//! used as it is made and never stored. Lanes of different length and bands are one thing: a column range per row and
//! lane, outside of which κ is 0.

use dtw_core::recurrence::{Recurrence, Scaled, SoftDtw, log_of};
use dtw_core::{Observer, Scalar};

use crate::batched::{read, write};
use crate::lanes::Register;
use crate::side::{Side, Stored};

/// Columns between two settled states of a row.
const SETTLE_COLUMNS: usize = 8;

/// Memory of a batched gradient; grows to what it needs and is reused.
#[derive(Debug)]
pub(crate) struct GradientScratch<V> {
    /// Rows of Z that start a block.
    kept: Vec<V>,
    /// The Z rows of one block, the row before it first.
    block: Vec<V>,
    /// Two rows of shares.
    backward: Vec<V>,
    /// First and end column of each row, per lane.
    bounds: Vec<(V, V)>,
    /// Gradient to x and y, point by point as [`Side`] lays points out.
    pub(crate) grad_x: Vec<V>,
    pub(crate) grad_y: Vec<V>,
}

impl<V> Default for GradientScratch<V> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            block: Vec::new(),
            backward: Vec::new(),
            bounds: Vec::new(),
            grad_x: Vec::new(),
            grad_y: Vec::new(),
        }
    }
}

/// Rows of a block for `n` rows.
fn block_rows(n: usize) -> usize {
    n.isqrt().max(1)
}

impl<V: Register> GradientScratch<V> {
    /// Bytes held.
    pub(crate) fn held_bytes(&self) -> usize {
        let rows = self.kept.capacity() + self.block.capacity() + self.backward.capacity();
        let points = 2 * self.bounds.capacity() + self.grad_x.capacity() + self.grad_y.capacity();
        (rows + points) * size_of::<V>()
    }

    /// Bytes needed for lengths `n`, `m`.
    pub(crate) fn bytes(n: usize, m: usize, channels: usize) -> u64 {
        let block = block_rows(n);
        let rows = n.div_ceil(block) + block + 3;
        let states = rows as u64 * (m as u64 + 2) * 2;
        let points = (n + m + 2) as u64 * channels as u64 + 2 * n as u64;
        (states + points) * size_of::<V>() as u64
    }
}

/// The pairs of a batched gradient.
pub(crate) struct Batch<'a, V> {
    pub(crate) x: &'a Side<V>,
    pub(crate) y: &'a Side<V>,
    /// Points of x and y, per lane.
    pub(crate) ends: &'a [(usize, usize)],
    /// Column range of row `i` (0-based) in lane `l`; only asked for rows and lanes that exist.
    pub(crate) bounds: &'a dyn Fn(usize, usize) -> std::ops::Range<usize>,
}

/// Values of all lanes into `value(lane, value)`, gradients into the scratch, and E of the first lane, row by row, into
/// `expected` if that is there. Returns false where the observer cancelled.
#[inline(always)]
pub(crate) fn gradients<'a, V, P>(
    soft: &SoftDtw<V>,
    token: V::Token,
    batch: &Batch<'a, V>,
    scratch: &mut GradientScratch<V>,
    mut value: impl FnMut(usize, f64),
    mut expected: Option<&mut [V::Scalar]>,
    observer: &dyn Observer,
) -> bool
where
    V: Register + 'a,
    P: Stored<'a, V>,
{
    let zero = V::splat(token, V::Scalar::ZERO);
    let n = batch.ends.iter().map(|e| e.0).max().unwrap_or(0);
    let m = batch.ends.iter().map(|e| e.1).max().unwrap_or(0);
    let channels = batch.x.channels();
    let nothing = Scaled::zero(zero);
    let width = (m + 2) * 2;
    let height = block_rows(n);

    let fresh = |buffer: &mut Vec<V>, len: usize| {
        buffer.clear();
        buffer.resize(len, zero);
    };
    fresh(&mut scratch.kept, n.div_ceil(height) * width);
    fresh(&mut scratch.block, (height + 1) * width);
    fresh(&mut scratch.backward, 2 * (m + 1));
    fresh(&mut scratch.grad_x, (n + 1) * channels);
    fresh(&mut scratch.grad_y, (m + 1) * channels);
    scratch.bounds.clear();
    let mut unions = Vec::with_capacity(n);
    for i in 0..n {
        let (mut first, mut end) = (zero, zero);
        let mut union = m..0;
        for (lane, ends) in batch.ends.iter().enumerate() {
            if i < ends.0 {
                let range = (batch.bounds)(i, lane);
                first.lanes_mut()[lane] = V::Scalar::from_f64(range.start as f64);
                end.lanes_mut()[lane] = V::Scalar::from_f64(range.end as f64);
                union = union.start.min(range.start)..union.end.max(range.end);
            }
        }
        scratch.bounds.push((first, end));
        unions.push(union);
    }
    let GradientScratch { kept, block, backward, bounds, grad_x, grad_y } = scratch;

    let row_of = Rows { soft, batch, bounds, unions: &unions, slots: m + 2 };

    // Forward: keep the row above each block.
    let mut total = nothing;
    {
        let (mut above, mut here) = block.split_at_mut(width);
        here = &mut here[..width];
        for slot in 1..m + 2 {
            write(above, slot, nothing);
        }
        write(above, 0, Scaled::one(zero));
        for row in 0..n {
            if observer.cancelled() {
                return false;
            }
            if row % height == 0 {
                kept[row / height * width..][..width].copy_from_slice(above);
            }
            row_of.forward::<P>(row, above, here);
            for (lane, &(end_x, end_y)) in batch.ends.iter().enumerate() {
                if end_x == row + 1 {
                    let state: Scaled<V> = read(here, end_y);
                    total.mantissa.lanes_mut()[lane] = state.mantissa.lanes()[lane];
                    total.exponent.lanes_mut()[lane] = state.exponent.lanes()[lane];
                }
            }
            std::mem::swap(&mut above, &mut here);
        }
    }
    for lane in 0..batch.ends.len() {
        value(lane, -soft.gamma() * log_of(total.mantissa.lanes()[lane], total.exponent.lanes()[lane]));
    }

    // Backward, block by block from the last. `shares` is what the row below has handed up.
    let one = zero.constant(1.0);
    let two = zero.constant(2.0);
    let (mut shares, mut above_shares) = backward.split_at_mut(m + 1);
    for first in (0..n).step_by(height).rev() {
        let rows = first..(first + height).min(n);
        block[..width].copy_from_slice(&kept[first / height * width..][..width]);
        for (k, row) in rows.clone().enumerate() {
            let (above, rest) = block[k * width..].split_at_mut(width);
            row_of.forward::<P>(row, above, &mut rest[..width]);
        }
        for row in rows.rev() {
            if observer.cancelled() {
                return false;
            }
            let (above, here) = block[(row - first) * width..][..2 * width].split_at(width);
            let x = batch.x.sample::<P, SoftDtw<V>>(&[], row + 1);
            above_shares.fill(zero);
            let mut from_right = zero;
            let ends_here = batch.ends.iter().any(|e| e.0 == row + 1);
            for j in unions[row].clone().rev() {
                let mut e = shares[j + 1] + from_right;
                if ends_here {
                    for (lane, _) in batch.ends.iter().enumerate().filter(|(_, e)| **e == (row + 1, j + 1)) {
                        e.lanes_mut()[lane] = V::Scalar::from_f64(1.0);
                    }
                }
                let diagonal: Scaled<V> = read(above, j);
                let up: Scaled<V> = read(above, j + 1);
                let left: Scaled<V> = read(here, j);
                let exponent = diagonal.exponent.max(up.exponent).max(left.exponent);
                let by_diagonal = diagonal.mantissa.scale_down(diagonal.exponent - exponent);
                let by_up = up.mantissa.scale_down(up.exponent - exponent);
                let by_left = left.mantissa.scale_down(left.exponent - exponent);
                let sum = by_diagonal + by_up + by_left;
                let each = e * (one / V::select(zero.less(sum), sum, one));
                above_shares[j] = above_shares[j] + each * by_diagonal;
                above_shares[j + 1] = above_shares[j + 1] + each * by_up;
                from_right = each * by_left;

                if let Some(expected) = &mut expected {
                    expected[row * m + j] = e.lanes()[0];
                }
                let y = batch.y.sample::<P, SoftDtw<V>>(&[], j + 1);
                for k in 0..channels {
                    let pull = e * two * (x.point.get(k) - y.point.get(k));
                    let (at_x, at_y) = ((row + 1) * channels + k, (j + 1) * channels + k);
                    grad_x[at_x] = grad_x[at_x] + pull;
                    grad_y[at_y] = grad_y[at_y] - pull;
                }
            }
            std::mem::swap(&mut shares, &mut above_shares);
        }
    }
    true
}

/// What a row of Z is computed from.
struct Rows<'a, 'g, V> {
    soft: &'g SoftDtw<V>,
    batch: &'g Batch<'a, V>,
    bounds: &'g [(V, V)],
    /// Columns of each row that any lane needs.
    unions: &'g [std::ops::Range<usize>],
    slots: usize,
}

impl<'a, V: Register + 'a> Rows<'a, '_, V> {
    /// Row `row` (0-based) of Z from the one above it. Slot `j + 1` holds column `j`.
    #[inline(always)]
    fn forward<P: Stored<'a, V>>(&self, row: usize, above: &[V], here: &mut [V]) {
        let x = self.batch.x.sample::<P, SoftDtw<V>>(&[], row + 1);
        let zero = x.time;
        let nothing = Scaled::zero(zero);
        for slot in 0..self.slots {
            write(here, slot, nothing);
        }
        let mut left = nothing;
        for j in self.unions[row].clone() {
            let y = self.batch.y.sample::<P, SoftDtw<V>>(&[], j + 1);
            let price = within(Recurrence::<V, P>::price(self.soft, &x, &y, zero), self.bounds[row], j);
            let state = Scaled::weighted_sum(read(above, j), read(above, j + 1), left, price);
            let settled = state.settle();
            write(here, j + 1, settled);
            // What is handed on to the right is the chain that binds: settled now and then only.
            left = if j % SETTLE_COLUMNS == 0 { settled } else { state };
        }
    }
}

/// `price` where the lane's band holds column `j`, else 0.
#[inline(always)]
fn within<V: Register>(price: Scaled<V>, (first, end): (V, V), j: usize) -> Scaled<V> {
    let nothing = Scaled::zero(price.mantissa);
    let j = price.mantissa.constant(j as f64);
    let (from, to) = (first.less_equal(j), j.less(end));
    Scaled {
        mantissa: V::select(from, V::select(to, price.mantissa, nothing.mantissa), nothing.mantissa),
        exponent: V::select(from, V::select(to, price.exponent, nothing.exponent), nothing.exponent),
    }
}
