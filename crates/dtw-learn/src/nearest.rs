//! The k nearest series.
//!
//! ```text
//! neighbours of y_j  =  the k indices i of smallest d(x_i, y_j); of equal ones the smaller i first
//! ```
//!
//! Where the measure is a similarity ([`dtw_core::Measure::is_similarity`]) the k largest are taken instead. The
//! matrix is swept in tiles and never held: memory is one tile plus `k` entries per series of y. Where the backend can
//! tell by bounds which series are not among the nearest ([`dtw_core::Backend::prunes_nearest`]), these are not swept;
//! the result is the same. Knows no labels.
//!
//! ```
//! use dtw_core::{SeriesBatch, Spec};
//! use dtw_learn::{Context, nearest};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let x = SeriesBatch::equal(&[0.0_f64, 0.0, 5.0, 5.0, 1.0, 1.0], 3, 2, 1)?;
//! let y = SeriesBatch::equal(&[0.9, 0.9], 1, 2, 1)?;
//! let found = nearest(&Context::new(&backend), &Spec::dtw(), x, y, 2)?;
//! assert_eq!(found.indices(0), [2, 0]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use dtw_core::{Pairing, Problem, Result, Scalar, SeriesBatch, Shape, Spec, bail_invalid};

use crate::Context;
use crate::tiled::for_each_finite_tile;

/// The nearest series of x to each series of y, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors<T> {
    k: usize,
    indices: Vec<usize>,
    distances: Vec<T>,
}

impl<T> Neighbors<T> {
    /// Neighbours in the order of series, `k` of each.
    pub(crate) fn of(k: usize, indices: Vec<usize>, distances: Vec<T>) -> Self {
        Self { k, indices, distances }
    }
    /// Series of y asked about.
    pub fn len(&self) -> usize {
        self.indices.len() / self.k
    }
    /// No series of y.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
    /// Neighbours per series.
    pub fn k(&self) -> usize {
        self.k
    }
    /// Indices into x of the neighbours of series `j` of y, nearest first.
    ///
    /// # Panics
    /// When `j >= self.len()`.
    pub fn indices(&self, j: usize) -> &[usize] {
        &self.indices[j * self.k..(j + 1) * self.k]
    }
    /// Distances (or similarities) of the neighbours of series `j` of y, in the order of [`Neighbors::indices`].
    ///
    /// # Panics
    /// When `j >= self.len()`.
    pub fn distances(&self, j: usize) -> &[T] {
        &self.distances[j * self.k..(j + 1) * self.k]
    }
    /// All indices, shape `[n_y, k]`, row-major.
    pub fn all_indices(&self) -> &[usize] {
        &self.indices
    }
    /// All distances, shape `[n_y, k]`, row-major.
    pub fn all_distances(&self) -> &[T] {
        &self.distances
    }
}

/// A candidate; the greatest is the one to drop first.
struct Candidate<T> {
    /// The distance, or the negated similarity; never −0, so that `total_cmp` sees ties.
    rank: f64,
    index: usize,
    distance: T,
}

impl<T> Ord for Candidate<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.index.cmp(&other.index))
    }
}
impl<T> PartialOrd for Candidate<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> PartialEq for Candidate<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for Candidate<T> {}

/// The `k` series of `x` nearest to each series of `y`.
///
/// `x[i]` is the first argument of the distance and `y[j]` the second, which matters for subsequence distances and
/// explicit band ranges alone. Time: `n_x · n_y` sweeps and O(log k) per pair, at most. Memory: one tile, and `n_y · k`
/// entries.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when `k` is 0 or more than x has series, for bad series or parameters, or for a
/// distance that is not finite; otherwise as [`crate::for_each_tile`].
pub fn nearest<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    k: usize,
) -> Result<Neighbors<T>> {
    nearest_of(context, spec, x, y, k, |i, j| format!("series {i} of x and series {j} of y"))
}

/// [`nearest`], where `pair(i, j)` says in an error which two series these are.
pub(crate) fn nearest_of<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    k: usize,
    pair: impl Fn(usize, usize) -> String,
) -> Result<Neighbors<T>> {
    if k == 0 {
        bail_invalid!("k nearest neighbours need k >= 1, got 0");
    }
    if k > x.len() {
        bail_invalid!("{k} nearest neighbours were asked for, but x has only {} series", x.len());
    }
    if let Some(found) = pruned(context, spec, x, y, k)? {
        return Ok(found);
    }
    let sign = if spec.measure.is_similarity() { -1.0 } else { 1.0 };
    let mut best: Vec<BinaryHeap<Candidate<T>>> =
        (0..y.len()).map(|_| BinaryHeap::with_capacity(k)).collect();
    for_each_finite_tile(context, spec, Pairing::Cross, x, y, pair, |tile, values| {
        for (index, row) in tile.rows.clone().zip(values.chunks_exact(tile.columns.len())) {
            for (heap, distance) in best[tile.columns.clone()].iter_mut().zip(row) {
                let candidate =
                    Candidate { rank: sign * distance.to_f64() + 0.0, index, distance: *distance };
                if heap.len() < k {
                    heap.push(candidate);
                } else if let Some(mut worst) = heap.peek_mut()
                    && candidate < *worst
                {
                    *worst = candidate;
                }
            }
        }
        Ok(())
    })?;
    let mut found =
        Neighbors { k, indices: Vec::with_capacity(k * y.len()), distances: Vec::with_capacity(k * y.len()) };
    for candidate in best.into_iter().flat_map(BinaryHeap::into_sorted_vec) {
        found.indices.push(candidate.index);
        found.distances.push(candidate.distance);
    }
    Ok(found)
}

/// Series of y that are searched for at a time, at least.
const LEAST_AT_ONCE: usize = 64;
/// Pairs whose distances a plan makes room for, nearly, where that is more.
const PAIRS_AT_ONCE: usize = 1 << 22;

/// [`nearest`] by the backend's bounds, where it has some.
fn pruned<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    k: usize,
) -> Result<Option<Neighbors<T>>> {
    if y.is_empty() {
        return Ok(None);
    }
    let whole = Problem::of(spec.clone(), Pairing::Cross, &x, &y)?;
    if !context.backend().prunes_nearest(&whole) {
        return Ok(None);
    }
    // Checked here as a whole, so that errors name the series of the batch and not of a part.
    whole.check_input(&x, &y)?;
    let at_once = (PAIRS_AT_ONCE / x.len()).max(LEAST_AT_ONCE).min(y.len());
    let mut found =
        Neighbors { k, indices: Vec::with_capacity(k * y.len()), distances: Vec::with_capacity(k * y.len()) };
    for first in (0..y.len()).step_by(at_once) {
        context.check_cancelled()?;
        let some = y.slice(first..(first + at_once).min(y.len()));
        let shape = Shape { n_y: some.len(), ..Shape::of(&x, &y) };
        let mut plan = context.plan(Problem::new(spec.clone(), Pairing::Cross, shape)?, 0)?;
        let Some(nearest) = plan.nearest(x, some, k)? else { return Ok(None) };
        for (index, distance) in nearest {
            found.indices.push(index);
            found.distances.push(distance);
        }
    }
    Ok(Some(found))
}
