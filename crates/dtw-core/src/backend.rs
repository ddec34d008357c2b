//! What callers see of a device: [`Backend`] and [`Plan`].
//!
//! **The contract.** A [`Backend`] is cheap to hold and shared between threads. [`Backend::plan`] does everything that
//! depends on the problem and not on the values: it chooses and compiles. A [`Plan`] is then called any number of
//! times; its scratch memory is made in `plan` or in the first call and kept. A call either writes every output value
//! or returns an error; nothing falls back, is truncated or is left empty silently. The same input, device and version
//! give the same bits.
//!
//! Each call is checked once, before the backend hears of it: a backend implements [`crate::Compute`], which is called
//! with what is promised, and its [`Plan`] is made of that. So bad input is the same [`crate::Error::Invalid`]
//! everywhere. `dtw-conformance` checks all of this.

use std::ops::Range;
use std::sync::Arc;

use crate::search::Blocks;
use crate::{
    Match, NearestWindow, Observer, Problem, Result, Scalar, SearchOptions, Series, SeriesBatch, Task,
    WindowJoin,
};

/// A device, or a way of using one, that computes distances on values of type `T`.
pub trait Backend<T: Scalar>: Send + Sync + std::fmt::Debug {
    /// Short name: `"cpu"`, `"cuda"` …
    fn name(&self) -> &'static str;

    /// Whether the backend can do this task of this problem.
    ///
    /// # Errors
    /// What [`Problem::admits`] says; [`crate::Error::Unsupported`] naming what it cannot do and which backend can.
    fn supports(&self, problem: &Problem, task: Task) -> Result<()>;

    /// Prepares to solve problems of this shape.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`], or [`crate::Error::OutOfMemory`] when the problem's memory limit is too small.
    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>>;

    /// Whether [`Plan::nearest`] of such a problem may find the nearest series without all distances. The default: no.
    fn prunes_nearest(&self, problem: &Problem) -> bool {
        let _ = problem;
        false
    }

    /// Whether [`Plan::nearest_windows`] of such a problem may find the nearest windows without all distances. The
    /// default: no.
    fn prunes_windows(&self, problem: &Problem) -> bool {
        let _ = problem;
        false
    }

    /// Whether calls of a plan leave the host's cores idle, so that a caller had better use them meanwhile. The
    /// default: no, of backends that compute on them.
    fn computes_elsewhere(&self) -> bool {
        false
    }

    /// Takes in series for [`WeightedTotal`], if that saves what [`Plan::gradients`] of zipped pairs would copy in
    /// every call. `problem`: of these pairs, `max_length_x` the points of the centre. `weights`: one per series.
    ///
    /// `None`: callers zip the pairs themselves. The default, of backends that compute where the series are; others say
    /// so of series that do not fit the problem's memory limit all at once, with their gradients.
    ///
    /// # Errors
    /// As [`Plan::gradients`].
    fn weighted_total(
        &self,
        problem: &Problem,
        series: SeriesBatch<'_, T>,
        weights: &[f64],
    ) -> Result<Option<Box<dyn WeightedTotal<T>>>> {
        let _ = (problem, series, weights);
        Ok(None)
    }
}

/// The weighted total of the values of a centre with each of the series that a backend has taken in, and its gradient:
///
/// ```text
/// f(c) = Σ_s w_s · d(c, y_s)
/// ```
///
/// Made by [`Backend::weighted_total`], for steps of an optimiser. A call is told the centre and gives back the value
/// and one gradient; series and the gradients of single pairs stay with the backend.
pub trait WeightedTotal<T: Scalar>: Send {
    /// As [`Plan::observe`].
    fn observe(&mut self, observer: Arc<dyn Observer>);

    /// The value, and the gradient to the centre. Both are `[length, channels]`. Values and gradients of single pairs
    /// are those of [`Plan::gradients`] within rounding; they are summed in `f64`, always in the same order.
    ///
    /// # Errors
    /// As [`Plan::gradients`].
    fn value_and_gradient(&mut self, center: &[T], gradient: &mut [f64]) -> Result<f64>;
}

/// Numbers of series and their distances, nearest first.
pub type Ranked<T> = Vec<(usize, T)>;

/// A prepared, reusable computation. Whatever implements [`crate::Compute`] is one.
pub trait Plan<T: Scalar>: Send {
    /// The problem this plan solves.
    fn problem(&self) -> &Problem;

    /// Bytes of scratch memory held.
    fn scratch_bytes(&self) -> u64;

    /// Reports progress to, and asks for cancellation from, this observer in all later calls.
    fn observe(&mut self, observer: Arc<dyn Observer>);

    /// Whether calls can succeed. They cannot once the device that the plan was made on is known to be lost; those of a
    /// new plan may.
    fn is_usable(&self) -> bool;

    /// Distances of all pairs into `out`, shaped as the [`crate::Pairing`] says. `y` is ignored for
    /// [`crate::Pairing::SelfSymmetric`]. For [`crate::Anchor::Subsequence`] the distance is the best match's cost.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for bad input, [`crate::Error::Cancelled`] when the observer said so.
    fn distances(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, out: &mut [T]) -> Result<()>;

    /// [`Plan::distances`] of which those above `cutoff` are infinite, and the others have the same bits. The CPU
    /// leaves out most of the work of large distances by DTW (squared Euclidean cost, one channel); any other plan
    /// computes all distances first.
    ///
    /// # Errors
    /// As [`Plan::distances`]; [`crate::Error::Invalid`] for a cutoff that is no number, and for similarities
    /// ([`crate::Measure::is_similarity`]).
    fn distances_within(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        cutoff: f64,
        out: &mut [T],
    ) -> Result<()>;

    /// Values and gradients of zipped pairs. O(√n·m) scratch memory per pair in flight.
    ///
    /// # Errors
    /// As [`Plan::distances`]; for measures without a gradient, what [`Problem::admits`] says.
    fn gradients(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        out: Gradients<'_, T>,
    ) -> Result<()>;

    /// The expected alignment `E = ∂value/∂cost` of one pair, shape `[n, m]`.
    ///
    /// # Errors
    /// As [`Plan::gradients`], of measures with an expected alignment, and [`crate::Error::OutOfMemory`] when `n·m`
    /// values exceed the memory limit.
    fn alignment(&mut self, x: Series<'_, T>, y: Series<'_, T>) -> Result<Vec<T>>;

    /// Best warping paths of zipped pairs. Ties: diagonal, then `(i−1, j)`, then `(i, j−1)`, walking back.
    ///
    /// Memory: two bits per cell where that fits the problem's memory limit; beyond it the grid is cut recursively and
    /// recomputed, in O(n + m) memory and O(n·m·log n) time at worst.
    ///
    /// # Errors
    /// As [`Plan::distances`]; for measures without a path, what [`Problem::admits`] says.
    fn paths(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>) -> Result<Vec<Path<T>>>;

    /// The number and the distance of the `k` series of `x` nearest to each series of `y`, shape `[n_y, k]`: nearest
    /// first, of equal distances the smaller number first, with the bits of [`Plan::distances`]. `None` where all
    /// distances have to be computed ([`Backend::prunes_nearest`]; lengths that differ, values so large that distances
    /// may overflow, too little memory). The problem pairs x and y by [`crate::Pairing::Cross`].
    ///
    /// # Errors
    /// As [`Plan::distances`]; [`crate::Error::Invalid`] when `k` is 0 or more than x has series.
    fn nearest(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        k: usize,
    ) -> Result<Option<Ranked<T>>>;

    /// For `some` windows of `y`, by their numbers, the nearest window of `x` that the join does not exclude: by
    /// distance, of equal distances the first, with the bits of [`Plan::distances`] of the windows. `None` where all
    /// distances have to be computed ([`Backend::prunes_nearest`]; steps of many points, values so large that distances
    /// may overflow, too little memory). The shape of the problem does not matter here. Memory: O(points of `x`).
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for bad input, series of other channels, what [`WindowJoin::check`] says, windows that
    /// `y` does not have, and the subsequence anchor; [`crate::Error::Cancelled`] when the observer said so.
    fn nearest_windows(
        &mut self,
        x: Series<'_, T>,
        y: Series<'_, T>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<T>>>>;

    /// The best matches of each query (series of `x`) in each reference (series of `y`), in pair order.
    ///
    /// # Errors
    /// As [`Plan::distances`]; unless the measure is DTW, what [`Problem::admits`] says.
    fn matches(
        &mut self,
        queries: SeriesBatch<'_, T>,
        references: SeriesBatch<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>>;

    /// The best matches of each query in a reference that is read once, block by block: the same as [`Plan::matches`]
    /// finds in the whole, however long it is. The lengths of `y` in the problem's shape do not matter here.
    ///
    /// # Errors
    /// As [`Plan::matches`], and what `reference` says; [`crate::Error::Unsupported`] where a backend has no such
    /// search.
    fn matches_in_blocks(
        &mut self,
        queries: SeriesBatch<'_, T>,
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>>;
}

/// Where [`Plan::gradients`] writes. Lengths are checked.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Upstream gradient, one per pair; `None` is all ones.
    pub upstream: Option<&'a [T]>,
    /// Values, one per pair.
    pub distances: &'a mut [T],
    /// Gradient to x, laid out as the values of x.
    pub grad_x: &'a mut [T],
    /// Gradient to y, laid out as the values of y.
    pub grad_y: &'a mut [T],
}

/// A warping path and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Path<T> {
    /// The distance.
    pub distance: T,
    /// Matched points `(i, j)`, 0-based, from the first to the last. For derivative measures the indices are those of
    /// the derivative: point `i` of it belongs to point `i + 1` of the series.
    pub points: Vec<(usize, usize)>,
}
