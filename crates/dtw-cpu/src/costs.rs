//! Soft-DTW of matrices of costs, and its derivative by every cost: `E(i,j) = ∂value/∂c(i,j)`, the expected alignment.
//!
//! Forward, `D(i,j) = c(i,j) + softmin_γ(D(i−1,j−1), D(i−1,j), D(i,j−1))`. Backward, each cell hands its share on to
//! its three predecessors in proportion to `e^(−D/γ)`, from a share of 1 at the last cell: [`crate::gradient`] has the
//! same for series. Cuturi & Blondel 2017, arXiv 1703.01541, algorithm 2.
//!
//! The costs are the caller's and take n · m numbers anyhow, so this sweep is a plain one: row by row, in f64, with a
//! logarithm per cell, which keeps the digits at any γ. Of D only every √n-th row is kept; backward, the rows between
//! are computed again.

use std::ops::Range;

use dtw_core::{Anchor, Band, ColumnRanges, Error, Observer, Result, Scalar, Spec, bail_invalid};
use rayon::prelude::*;

use crate::CpuBackend;

/// Matrices of costs, one per pair: `[pairs, n, m]`, row-major. Each may count only in its first rows and columns.
#[derive(Debug, Clone, Copy)]
pub struct CostMatrices<'a, T> {
    values: &'a [T],
    shape: [usize; 3],
    rows: Option<&'a [usize]>,
    columns: Option<&'a [usize]>,
}

impl<'a, T: Scalar> CostMatrices<'a, T> {
    /// Matrices of shape `[pairs, n, m]`, all of whose cells count.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no row or no column, or `values` is not of this shape.
    pub fn new(values: &'a [T], shape: [usize; 3]) -> Result<Self> {
        let [pairs, n, m] = shape;
        if n == 0 || m == 0 {
            bail_invalid!("a matrix of costs needs a row and a column, got shape {shape:?}");
        }
        if pairs.checked_mul(n).and_then(|rows| rows.checked_mul(m)) != Some(values.len()) {
            bail_invalid!("costs of shape {shape:?} are not {} values", values.len());
        }
        Ok(Self { values, shape, rows: None, columns: None })
    }

    /// Matrices of which only the first `rows[pair]` rows and `columns[pair]` columns count; `None` for all.
    /// What does not count is not read.
    ///
    /// # Errors
    /// [`Error::Invalid`] if these are not one number per pair, each from 1 to the size of the matrix.
    pub fn with_lengths(self, rows: Option<&'a [usize]>, columns: Option<&'a [usize]>) -> Result<Self> {
        let [pairs, n, m] = self.shape;
        for (name, lengths, most) in [("rows", rows, n), ("columns", columns, m)] {
            let Some(lengths) = lengths else { continue };
            if lengths.len() != pairs {
                bail_invalid!("expected the {name} of {pairs} pairs, got {}", lengths.len());
            }
            if let Some((pair, length)) = lengths.iter().enumerate().find(|(_, l)| !(1..=most).contains(l)) {
                bail_invalid!("the {name} of pair {pair} must be from 1 to {most}, got {length}");
            }
        }
        Ok(Self { rows, columns, ..self })
    }

    /// Rows and columns of a pair that count.
    fn lengths(&self, pair: usize) -> (usize, usize) {
        let [_, n, m] = self.shape;
        (self.rows.map_or(n, |rows| rows[pair]), self.columns.map_or(m, |columns| columns[pair]))
    }

    /// A row of a pair, with what does not count.
    fn row(&self, pair: usize, i: usize) -> &'a [T] {
        let [_, n, m] = self.shape;
        &self.values[(pair * n + i) * m..][..m]
    }

    /// What is wrong with the costs of a pair.
    fn fault(&self, pair: usize, ranges: &ColumnRanges) -> Option<Error> {
        (0..self.lengths(pair).0).find_map(|i| {
            let row = self.row(pair, i);
            let j = ranges.row(i).find(|j| !row[*j].finite())?;
            Some(Error::invalid(format!(
                "costs must be finite: that of pair {pair}, row {i}, column {j} is {}; a band forbids cells",
                row[j]
            )))
        })
    }
}

impl CpuBackend {
    /// Soft-DTW of matrices of costs into `values`, one per pair, and the derivatives by the costs into `expected`,
    /// which has the shape of the costs; they are 0 where costs do not count and outside of the band.
    ///
    /// It takes time `O(pairs · n · m)`, and beside the arrays `O(√n · m)` memory for each thread. Costs may be of any
    /// sign. Results do not depend on the number of threads.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a bad `gamma`, a band that does not fit, slices of wrong lengths, costs that are not
    /// finite or whose sums are not; [`Error::Cancelled`] if the observer says so.
    pub fn soft_dtw_of_costs<T: Scalar>(
        &self,
        costs: &CostMatrices<'_, T>,
        gamma: f64,
        band: &Band,
        values: &mut [T],
        expected: Option<&mut [T]>,
        observer: &dyn Observer,
    ) -> Result<()> {
        Spec::soft_dtw(gamma).with_band(band.clone()).check()?;
        let [pairs, n, m] = costs.shape;
        if values.len() != pairs {
            bail_invalid!("values needs {pairs} values, got a slice of {}", values.len());
        }
        if let Some(found) = expected.as_ref().filter(|expected| expected.len() != costs.values.len()) {
            bail_invalid!("expected needs {} values, got a slice of {}", costs.values.len(), found.len());
        }
        let ranges_of = |pair| {
            let (n, m) = costs.lengths(pair);
            band.ranges(n, m, Anchor::Global)
        };
        let ranges = (0..pairs).map(ranges_of).collect::<Result<Vec<_>>>()?;
        let mut outlets: Vec<Option<&mut [T]>> = match expected {
            Some(expected) => expected.chunks_exact_mut(n * m).map(Some).collect(),
            None => values.iter().map(|_| None).collect(),
        };
        self.threads.run(|| {
            // The first fault, whatever the threads do.
            let fault = |pair: usize| costs.fault(pair, &ranges[pair]);
            if let Some(fault) = (0..pairs).into_par_iter().find_map_first(fault) {
                return Err(fault);
            }
            let outlets = values.par_iter_mut().zip(outlets.par_iter_mut()).enumerate();
            outlets.try_for_each_init(Scratch::default, |scratch, (pair, (value, expected))| {
                let one = One { costs, pair, ranges: &ranges[pair], gamma, observer };
                *value = one.forward(scratch)?;
                if let Some(expected) = expected {
                    one.backward(scratch, expected)?;
                }
                observer.advance(one.ranges.cells());
                Ok(())
            })
        })
    }
}

/// Memory of one pair, reused.
#[derive(Debug, Default)]
struct Scratch {
    /// A row of D, with the cell before its first: slot `j + 1` is of column `j`.
    row: Vec<f64>,
    /// The rows before those of each block, as `row`.
    kept: Vec<f64>,
    /// Shares of the predecessors of the cells of a block.
    weights: Vec<[f64; 3]>,
    /// What the row below hands up to each column.
    shares: Vec<f64>,
}

/// One pair.
struct One<'a, T> {
    costs: &'a CostMatrices<'a, T>,
    pair: usize,
    ranges: &'a ColumnRanges,
    gamma: f64,
    observer: &'a dyn Observer,
}

impl<T: Scalar> One<'_, T> {
    /// The value. Keeps the rows that [`One::backward`] starts from.
    fn forward(&self, scratch: &mut Scratch) -> Result<T> {
        let (n, m) = self.costs.lengths(self.pair);
        let Scratch { row, kept, .. } = scratch;
        row.clear();
        row.resize(m + 1, f64::INFINITY);
        row[0] = 0.0;
        kept.clear();
        for i in 0..n {
            if i % height(n) == 0 {
                kept.extend_from_slice(row);
            }
            self.sweep(i, row, None)?;
        }
        // Adding 0 makes 0 of −0.
        let value = T::from_f64(row[m]) + T::ZERO;
        if !value.finite() {
            bail_invalid!("the costs of pair {}, or gamma, are so large that Soft-DTW is {value}", self.pair);
        }
        Ok(value)
    }

    /// D of row `i` in place of the row above, and the shares of the predecessors of its cells.
    fn sweep(&self, i: usize, row: &mut [f64], mut weights: Option<&mut [[f64; 3]]>) -> Result<()> {
        if self.observer.cancelled() {
            return Err(Error::Cancelled);
        }
        let costs = self.costs.row(self.pair, i);
        let columns = self.ranges.row(i);
        // No cell of this row, nor of those below, is before its first column.
        let mut diagonal = std::mem::replace(&mut row[columns.start], f64::INFINITY);
        let mut left = f64::INFINITY;
        for j in columns {
            let up = row[j + 1];
            let (least, shares) = soft_min([diagonal, up, left], self.gamma);
            left = costs[j].to_f64() + least;
            (diagonal, row[j + 1]) = (up, left);
            if let Some(weights) = &mut weights {
                weights[j] = shares;
            }
        }
        Ok(())
    }

    /// E of all cells.
    fn backward(&self, scratch: &mut Scratch, expected: &mut [T]) -> Result<()> {
        let (n, m) = self.costs.lengths(self.pair);
        let stride = self.costs.shape[2];
        let Scratch { row, kept, weights, shares } = scratch;
        expected.fill(T::ZERO);
        weights.resize(height(n) * m, [0.0; 3]);
        shares.clear();
        shares.resize(m, 0.0);
        shares[m - 1] = 1.0;
        for block in (0..n.div_ceil(height(n))).rev() {
            let rows = block * height(n)..n.min((block + 1) * height(n));
            row.copy_from_slice(&kept[block * (m + 1)..][..=m]);
            for (i, weights) in rows.clone().zip(weights.chunks_exact_mut(m)) {
                self.sweep(i, row, Some(weights))?;
            }
            for (i, weights) in rows.zip(weights.chunks_exact(m)).rev() {
                hand_up(self.ranges.row(i), weights, shares, &mut expected[i * stride..]);
            }
        }
        Ok(())
    }
}

/// Rows of a block.
fn height(n: usize) -> usize {
    n.isqrt().max(1)
}

/// The soft minimum, and the share of each in it: positive numbers that add up to 1. No share, and infinity, where all
/// are infinite.
fn soft_min(arrivals: [f64; 3], gamma: f64) -> (f64, [f64; 3]) {
    let least = arrivals[0].min(arrivals[1]).min(arrivals[2]);
    if least == f64::INFINITY {
        return (least, [0.0; 3]);
    }
    let shares =
        arrivals.map(|arrival| if arrival == least { 1.0 } else { ((least - arrival) / gamma).exp() });
    let sum: f64 = shares.iter().sum();
    (least - gamma * sum.ln(), shares.map(|share| share / sum))
}

/// E of a row from what the row below hands up; `shares` become what this row hands up.
fn hand_up<T: Scalar>(columns: Range<usize>, weights: &[[f64; 3]], shares: &mut [f64], expected: &mut [T]) {
    let start = columns.start;
    // What the cell to the right hands to this one, and to the one above it.
    let (mut beside, mut above) = (0.0, 0.0);
    for j in columns.rev() {
        let share = shares[j] + beside;
        let [diagonal, up, left] = weights[j];
        expected[j] = T::from_f64(share);
        shares[j] = share * up + above;
        (beside, above) = (share * left, share * diagonal);
    }
    if start > 0 {
        shares[start - 1] = above;
    }
}
