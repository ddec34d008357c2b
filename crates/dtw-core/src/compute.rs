//! What a device implements, and the checks in front of it.
//!
//! [`Compute`] has one method for each call of a [`Plan`]. It is called with what is promised: the one implementation
//! of [`Plan`] below checks a call first, and answers by itself where there is nothing to compute. Arguments of the
//! types [`CheckedBatches`] and [`CheckedBlocks`] can be made here only, so there is no other way to call a backend.

use std::ops::Range;
use std::sync::Arc;

use crate::{
    Anchor, Blocks, Error, Gradients, Match, NearestWindow, Observer, Pairing, Path, Plan, Problem, Ranked,
    Result, Scalar, SearchOptions, Series, SeriesBatch, Spec, Task, WindowJoin, bail_invalid,
};

/// The series of a call that passed [`Problem::check_input`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CheckedBatches<'a, T> {
    /// The series of x, or the queries of a search. At least one.
    pub x: SeriesBatch<'a, T>,
    /// The series of y, or the references of a search. At least one.
    pub y: SeriesBatch<'a, T>,
}

/// What a device computes. Its scratch memory is made in [`crate::Backend::plan`] or in the first call and kept.
///
/// A call is what the problem admits ([`Problem::admits`]), of series that the problem fits
/// ([`Problem::check_input`]). What one method is promised besides, it says. What a method returns, and its errors, are
/// those of the same method of [`Plan`].
pub trait Compute<T: Scalar>: Send {
    /// As [`Plan::problem`].
    fn problem(&self) -> &Problem;

    /// As [`Plan::scratch_bytes`].
    fn scratch_bytes(&self) -> u64;

    /// As [`Plan::observe`].
    fn observe(&mut self, observer: Arc<dyn Observer>);

    /// As [`Plan::is_usable`].
    fn is_usable(&self) -> bool {
        true
    }

    /// As [`Plan::distances`]; `out` has the length of the output, and y is x for [`Pairing::SelfSymmetric`].
    ///
    /// # Errors
    /// As [`Plan::distances`].
    fn distances(&mut self, pairs: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()>;

    /// As [`Plan::distances_within`]; promised is what [`Compute::distances`] is. The default computes all distances.
    ///
    /// # Errors
    /// As [`Plan::distances`].
    fn distances_within(&mut self, pairs: CheckedBatches<'_, T>, cutoff: f64, out: &mut [T]) -> Result<()> {
        self.distances(pairs, out)?;
        cut_off(cutoff, out);
        Ok(())
    }

    /// As [`Plan::gradients`]; x and y have equally many series, and each output has its length.
    ///
    /// # Errors
    /// As [`Plan::gradients`].
    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()>;

    /// As [`Plan::alignment`]; x and y are one series each, which need not fit the shape of the problem.
    ///
    /// # Errors
    /// As [`Plan::alignment`].
    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>>;

    /// As [`Plan::paths`]; x and y have equally many series.
    ///
    /// # Errors
    /// As [`Plan::paths`].
    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>>;

    /// As [`Plan::nearest`]; `k` is at least 1, and at most the number of series of x. The default prunes nothing.
    ///
    /// # Errors
    /// As [`Plan::nearest`].
    fn nearest(&mut self, pairs: CheckedBatches<'_, T>, k: usize) -> Result<Option<Ranked<T>>> {
        let _ = (pairs, k);
        Ok(None)
    }

    /// As [`Plan::nearest_windows`]; x and y are one series each, which have windows, and `some` is not empty. The
    /// default prunes nothing.
    ///
    /// # Errors
    /// As [`Plan::nearest_windows`].
    fn nearest_windows(
        &mut self,
        pair: CheckedBatches<'_, T>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<T>>>> {
        let _ = (pair, join, some);
        Ok(None)
    }

    /// Whether half precision can propose places of a search ([`crate::Precision::Half`]). The default: no.
    fn proposes(&self) -> bool {
        false
    }

    /// As [`Plan::matches`]; the options fit the problem, at least one hit is asked for, and every reference holds a
    /// window.
    ///
    /// # Errors
    /// As [`Plan::matches`].
    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>>;

    /// As [`Plan::matches_in_blocks`]; there is at least one query, the options fit the problem, and at least one hit
    /// is asked for.
    ///
    /// # Errors
    /// As [`Plan::matches_in_blocks`].
    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>>;
}

/// The one door: every call of every backend.
impl<T: Scalar, C: Compute<T> + ?Sized> Plan<T> for C {
    fn problem(&self) -> &Problem {
        Compute::problem(self)
    }

    fn scratch_bytes(&self) -> u64 {
        Compute::scratch_bytes(self)
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        Compute::observe(self, observer);
    }

    fn is_usable(&self) -> bool {
        Compute::is_usable(self)
    }

    fn distances(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, out: &mut [T]) -> Result<()> {
        let problem = Compute::problem(self);
        let y = if problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        let pairs = checked(problem, x, y)?;
        problem.check_output(out.len())?;
        if out.is_empty() { Ok(()) } else { Compute::distances(self, pairs, out) }
    }

    fn distances_within(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        cutoff: f64,
        out: &mut [T],
    ) -> Result<()> {
        let problem = Compute::problem(self);
        check_cutoff(problem.spec(), cutoff)?;
        let y = if problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        let pairs = checked(problem, x, y)?;
        problem.check_output(out.len())?;
        if out.is_empty() { Ok(()) } else { Compute::distances_within(self, pairs, cutoff, out) }
    }

    fn gradients(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        out: Gradients<'_, T>,
    ) -> Result<()> {
        let problem = Compute::problem(self);
        problem.admits(Task::Gradients)?;
        let pairs = checked(problem, x, y)?;
        problem.check_zipped("gradients")?;
        check_lengths(&x, &y, &out)?;
        if x.is_empty() { Ok(()) } else { Compute::gradients(self, pairs, out) }
    }

    fn alignment(&mut self, x: Series<'_, T>, y: Series<'_, T>) -> Result<Vec<T>> {
        Compute::problem(self).admits(Task::Alignment)?;
        let pair = checked_pair(x, y)?;
        Compute::alignment(self, pair)
    }

    fn paths(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>) -> Result<Vec<Path<T>>> {
        let problem = Compute::problem(self);
        problem.admits(Task::Paths)?;
        let pairs = checked(problem, x, y)?;
        problem.check_zipped("paths")?;
        if x.is_empty() { Ok(Vec::new()) } else { Compute::paths(self, pairs) }
    }

    fn nearest(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        k: usize,
    ) -> Result<Option<Ranked<T>>> {
        let pairs = checked(Compute::problem(self), x, y)?;
        if k == 0 || k > x.len() {
            bail_invalid!("expected 1 to {} nearest series of x, got {k}", x.len());
        }
        if y.is_empty() { Ok(Some(Vec::new())) } else { Compute::nearest(self, pairs, k) }
    }

    fn nearest_windows(
        &mut self,
        x: Series<'_, T>,
        y: Series<'_, T>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<T>>>> {
        let pair = checked_pair(x, y)?;
        join.check(&x, "x")?;
        join.check(&y, "y")?;
        let count = join.count(y.len());
        if some.start > some.end || some.end > count {
            bail_invalid!("expected some of the {count} windows of y, got those of {some:?}");
        }
        if Compute::problem(self).spec().anchor != Anchor::Global {
            bail_invalid!("windows have both ends fixed: plan them with the global anchor");
        }
        if some.is_empty() { Ok(Some(Vec::new())) } else { Compute::nearest_windows(self, pair, join, some) }
    }

    fn matches(
        &mut self,
        queries: SeriesBatch<'_, T>,
        references: SeriesBatch<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let problem = Compute::problem(self);
        options.check(problem)?;
        options.check_precision(T::DTYPE, Compute::proposes(self))?;
        let searched = checked(problem, queries, references)?;
        options.check_windows((0..references.len()).map(|r| references.length(r)))?;
        let pairs = queries.len() * references.len();
        if pairs == 0 || options.top_k == 0 {
            return Ok(vec![Vec::new(); pairs]);
        }
        Compute::matches(self, searched, options)
    }

    fn matches_in_blocks(
        &mut self,
        queries: SeriesBatch<'_, T>,
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let problem = Compute::problem(self);
        options.check(problem)?;
        options.check_precision(T::DTYPE, Compute::proposes(self))?;
        problem.check_queries(&queries, reference.channels())?;
        let least = options.normalized_window.unwrap_or(1);
        let mut all = *options;
        if reference.is_followed() {
            if options.threshold.is_none() {
                bail_invalid!(
                    "a search that follows a stream needs a threshold: the largest distance of a match"
                );
            }
            all.top_k = usize::MAX;
        }
        let options = &all;
        let mut reference = CheckedBlocks { blocks: reference, least, done: 0 };
        if queries.is_empty() || options.top_k == 0 {
            reference.read_all()?;
            return Ok(vec![Vec::new(); queries.len()]);
        }
        Compute::matches_in_blocks(self, &queries, &mut reference, options)
    }
}

/// Checks a cutoff of [`Plan::distances_within`].
///
/// # Errors
/// [`Error::Invalid`] for a cutoff that is no number, and for a measure whose larger values are the nearer ones.
pub fn check_cutoff(spec: &Spec, cutoff: f64) -> Result<()> {
    if cutoff.is_nan() {
        bail_invalid!("a cutoff is a number, got {cutoff}");
    }
    if spec.measure.is_similarity() {
        bail_invalid!(
            "a cutoff is for distances: of {}, larger values are nearer, and none can be left out",
            spec.measure.key()
        );
    }
    Ok(())
}

/// Makes values above the cutoff infinite.
pub fn cut_off<T: Scalar>(cutoff: f64, out: &mut [T]) {
    for value in out {
        if value.to_f64() > cutoff {
            *value = T::INFINITY;
        }
    }
}

/// The batches of a call of this problem.
fn checked<'a, T: Scalar>(
    problem: &Problem,
    x: SeriesBatch<'a, T>,
    y: SeriesBatch<'a, T>,
) -> Result<CheckedBatches<'a, T>> {
    problem.check_batches(&x, &y)?;
    Ok(CheckedBatches { x, y })
}

/// Two series as a call of their own, which need not fit the shape of the problem.
fn checked_pair<'a, T: Scalar>(x: Series<'a, T>, y: Series<'a, T>) -> Result<CheckedBatches<'a, T>> {
    let pair = CheckedBatches { x: SeriesBatch::single(x), y: SeriesBatch::single(y) };
    for (name, batch) in [("x", &pair.x), ("y", &pair.y)] {
        batch.check(name)?;
    }
    if x.channels != y.channels {
        bail_invalid!("x has {} channels, y has {}: they must be equal", x.channels, y.channels);
    }
    Ok(pair)
}

/// Checks the lengths of what gradients are written to, and of the upstream gradient.
fn check_lengths<T>(x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>, out: &Gradients<'_, T>) -> Result<()> {
    for (name, got, expected) in [
        ("upstream", out.upstream.map_or(x.len(), <[_]>::len), x.len()),
        ("distances", out.distances.len(), x.len()),
        ("grad_x", out.grad_x.len(), x.values().len()),
        ("grad_y", out.grad_y.len(), y.values().len()),
    ] {
        if got != expected {
            bail_invalid!("{name} needs {expected} values, got a slice of {got}");
        }
    }
    Ok(())
}

/// A reference whose blocks are looked at as they are read.
///
/// Reading fails with [`Error::Invalid`] for parts of points, for more points than were asked for, for values that are
/// not finite, and at the end of a reference in which nothing can be found: it is empty, or shorter than a window.
pub struct CheckedBlocks<'a, T: Scalar> {
    blocks: &'a mut dyn Blocks<T>,
    /// Points of the shortest reference.
    least: usize,
    /// Points read.
    done: usize,
}

impl<T: Scalar> CheckedBlocks<'_, T> {
    /// Looks at all of it.
    fn read_all(&mut self) -> Result<()> {
        let mut block = Vec::new();
        loop {
            block.clear();
            self.read(1 << 16, &mut block)?;
            if block.is_empty() {
                return Ok(());
            }
        }
    }
}

impl<T: Scalar> Blocks<T> for CheckedBlocks<'_, T> {
    fn channels(&self) -> usize {
        self.blocks.channels()
    }

    fn is_followed(&self) -> bool {
        self.blocks.is_followed()
    }

    fn settled(&mut self, query: usize, hits: &[Match<T>]) -> Result<()> {
        self.blocks.settled(query, hits)
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> Result<()> {
        let (before, channels) = (block.len(), self.channels());
        self.blocks.read(points, block)?;
        let values = block.get(before..).unwrap_or_default();
        if !values.len().is_multiple_of(channels) || values.len() > points * channels {
            bail_invalid!(
                "a block of {} values is not at most {points} points of {channels} channels",
                values.len()
            );
        }
        if let Some(at) = values.iter().position(|value| !value.finite()) {
            return Err(Error::invalid(format!(
                "the reference has {} at point {}, channel {}: expected finite numbers",
                values[at],
                self.done + at / channels,
                at % channels
            )));
        }
        self.done += values.len() / channels;
        if !values.is_empty() || self.done >= self.least {
            return Ok(());
        }
        if self.done == 0 {
            bail_invalid!("the reference is empty: a search needs at least one point");
        }
        bail_invalid!("the reference has {} points, fewer than a window of {}", self.done, self.least)
    }
}
