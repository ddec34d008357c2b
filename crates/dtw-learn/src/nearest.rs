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

use dtw_core::{
    Anchor, Band, Pairing, Problem, Result, Scalar, SeriesBatch, Shape, SoftResult, Spec, bail_invalid,
};

use crate::Context;
use crate::ranking::Ranking;
use crate::tiled::for_each_finite_tile;

/// Most threads that rank the distances of a tile, and how many of them are worth threads.
const RANKING_THREADS: usize = 4;
const RANKING_VALUES: usize = 1 << 18;

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

/// The `k` series of `x` nearest to each series of `y`.
///
/// `x[i]` is the first argument of the distance and `y[j]` the second, which matters for subsequence distances and
/// explicit band ranges alone. Time: `n_x · n_y` sweeps and O(log k) per pair, at most; half as many sweeps where `x`
/// and `y` are the very same series ([`SeriesBatch::is`]) of a measure of best paths. Memory: a tile, or two, and
/// `n_y · k` entries.
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
    let mut found = pruned(context, spec, x, y, k)?;
    let first = found.len();
    if first == y.len() && first > 0 {
        return Ok(found);
    }
    let announced = pairing(context, spec, &x, &y)?;
    let rest = y.slice(first..y.len());
    let pairing = if first == 0 { best_pairing(spec, &x, &y) } else { Pairing::Cross };
    let mut ranking = Ranking::new(k, rest.len(), spec.measure.is_similarity());
    let pair = |i, j| pair(i, first + j);
    for_each_finite_tile(context, spec, pairing, x, rest, &pair, &mut |tile, values| {
        let (rows, columns) = (tile.rows.clone(), tile.columns.clone());
        let threads = ranking_threads(context, values.len());
        ranking.offer_rows(rows.clone(), columns.clone(), values, threads);
        if tile.is_mirrored(pairing) {
            ranking.offer_columns(rows, columns, values, threads);
        }
        Ok(())
    })?;
    if pairing != announced {
        context.check_cancelled()?;
        let cells = |pairing| Problem::of(spec.clone(), pairing, &x, &rest)?.cells(&x, &rest);
        context.observer().advance(cells(announced)?.saturating_sub(cells(pairing)?));
    }
    let (mut indices, mut distances) = ranking.finish();
    found.indices.append(&mut indices);
    found.distances.append(&mut distances);
    Ok(found)
}

/// Threads that rank so many distances: where the host's cores are idle, a tile is ranked sooner than the next one is
/// there.
pub(crate) fn ranking_threads<T: Scalar>(context: &Context<'_, T>, values: usize) -> usize {
    if values < RANKING_VALUES || !context.backend().computes_elsewhere() {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, usize::from).min(RANKING_THREADS)
}

/// Grid cells that [`nearest`] tells the observer of.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for bad series or parameters.
pub fn nearest_cells<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
) -> Result<u64> {
    let problem = Problem::of(spec.clone(), pairing(context, spec, &x, &y)?, &x, &y)?;
    problem.check_input(&x, &y)?;
    problem.cells(&x, &y)
}

/// The pairs that are announced. A backend that prunes sees all of them.
fn pairing<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: &SeriesBatch<'_, T>,
    y: &SeriesBatch<'_, T>,
) -> Result<Pairing> {
    let best = best_pairing(spec, x, y);
    if best == Pairing::Cross {
        return Ok(best);
    }
    let whole = Problem::of(spec.clone(), Pairing::Cross, x, y)?;
    Ok(if context.backend().prunes_nearest(&whole) { Pairing::Cross } else { best })
}

/// The pairs that are swept where all distances are ranked. Half of them are enough for series with themselves where
/// `d(x, y)` and `d(y, x)` have the same bits. Sums over all paths are the same but for their last digits.
fn best_pairing<T: Scalar>(spec: &Spec, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Pairing {
    if is_symmetric(spec) && x.is(y) { Pairing::SelfSymmetric } else { Pairing::Cross }
}

/// Whether `d(x, y)` and `d(y, x)` have the same bits.
pub(crate) fn is_symmetric(spec: &Spec) -> bool {
    spec.anchor == Anchor::Global
        && !matches!(spec.band, Band::Ranges(_))
        && SoftResult::of(&spec.measure).is_none()
}

/// Series of y that are searched for at a time, at least.
const LEAST_AT_ONCE: usize = 64;
/// Pairs whose distances a plan makes room for, nearly, where that is more.
const PAIRS_AT_ONCE: usize = 1 << 22;

/// [`nearest`] by the backend's bounds, where it has some, of the first series of y, as many as are worth it.
fn pruned<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    k: usize,
) -> Result<Neighbors<T>> {
    let mut found = Neighbors { k, indices: Vec::new(), distances: Vec::new() };
    if y.is_empty() {
        return Ok(found);
    }
    let whole = Problem::of(spec.clone(), Pairing::Cross, &x, &y)?;
    if !context.backend().prunes_nearest(&whole) {
        return Ok(found);
    }
    // Checked here as a whole, so that errors name the series of the batch and not of a part.
    whole.check_input(&x, &y)?;
    let at_once = (PAIRS_AT_ONCE / x.len()).max(LEAST_AT_ONCE).min(y.len());
    for first in (0..y.len()).step_by(at_once) {
        context.check_cancelled()?;
        let some = y.slice(first..(first + at_once).min(y.len()));
        let shape = Shape { n_y: some.len(), ..Shape::of(&x, &y) };
        let mut plan = context.plan(Problem::new(spec.clone(), Pairing::Cross, shape)?, 0)?;
        let Some(nearest) = plan.nearest(x, some, k)? else { break };
        for (index, distance) in nearest {
            found.indices.push(index);
            found.distances.push(distance);
        }
    }
    Ok(found)
}
