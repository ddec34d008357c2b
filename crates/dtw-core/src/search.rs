//! Searching a long reference: what is asked for, what is found, and a reference that is read block by block.
//!
//! How hits are chosen from the costs is in [`crate::selection`].

use crate::{Anchor, Dtype, Error, Problem, Remedy, Result, Scalar, Series, Task, bail_invalid};

/// A stretch of the reference that matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<T> {
    /// Cost of the match.
    pub distance: T,
    /// First matched point of the reference, 0-based.
    pub start: usize,
    /// Last matched point of the reference, inclusive.
    pub end: usize,
}

/// In which precision places are looked for. Every distance, start and end of a match is in the plan's number type,
/// whatever is chosen here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Precision {
    /// That of the plan's numbers: no match is missed.
    #[default]
    Full,
    /// Half precision proposes places, and the plan's numbers confirm them: approximate in *which* matches are found,
    /// exact in what is said of them. What is confirmed shows how far proposals are off; queries for which they are
    /// not to be trusted are searched whole ([`crate::Observer::proposed`] tells which). For subsequence DTW of
    /// `f32` with squared Euclidean cost on `cuda` and `hip`. Where half precision has no sweep (several channels, a
    /// band, queries of less than 962 points of most lengths or of several lengths, references shorter than 16 queries
    /// or read in blocks), or saves no time by an estimate (few queries, many matches of each), all are searched whole.
    Half,
}

/// How matches are chosen: the best one, unless told otherwise.
///
/// ```
/// let options = dtw_core::SearchOptions::default().with_top_k(3).with_exclusion(50);
/// assert_eq!((options.top_k, options.threshold), (3, None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// Most matches returned per query; fewer where the reference holds no more.
    pub top_k: usize,
    /// After each hit, all ends within this many points of its end are excluded. Equal costs: smaller end first.
    pub exclusion: usize,
    /// Only matches that cost at most this much; the cost is compared as it is, without a root. `None`: any finite
    /// cost.
    pub threshold: Option<f64>,
    /// `None`: subsequence DTW (free start and end; the problem's anchor is [`Anchor::Subsequence`]).
    /// `Some(length)`: every window of `length` points of the reference, z-normalised, against the z-normalised query,
    /// both ends anchored ([`Anchor::Global`]).
    pub normalized_window: Option<usize>,
    /// In which precision places are looked for.
    pub precision: Precision,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { top_k: 1, exclusion: 0, threshold: None, normalized_window: None, precision: Precision::Full }
    }
}

impl SearchOptions {
    /// Options with at most this many matches per query.
    #[must_use]
    pub fn with_top_k(mut self, top_k: usize) -> Self {
        self.top_k = top_k;
        self
    }

    /// Options with ends excluded within this many points of a hit.
    #[must_use]
    pub fn with_exclusion(mut self, exclusion: usize) -> Self {
        self.exclusion = exclusion;
        self
    }

    /// Options with matches that cost at most this much.
    #[must_use]
    pub fn with_threshold(mut self, threshold: Option<f64>) -> Self {
        self.threshold = threshold;
        self
    }

    /// Options of a search in z-normalised windows of this many points.
    #[must_use]
    pub fn with_normalized_window(mut self, normalized_window: Option<usize>) -> Self {
        self.normalized_window = normalized_window;
        self
    }

    /// Options of a search whose places are proposed in this precision.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Checks the options against the problem of a plan.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the option, or the measure that has no search.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        problem.admits(Task::Matches)?;
        if let Some(threshold) = self.threshold.filter(|d| !(*d >= 0.0 && d.is_finite())) {
            bail_invalid!("a threshold is a finite cost of at least 0, got {threshold}");
        }
        match (problem.spec().anchor, self.normalized_window) {
            (_, Some(0)) => bail_invalid!("a window needs at least one point, got 0"),
            (Anchor::Subsequence, Some(_)) => bail_invalid!(
                "z-normalised windows have both ends fixed: plan them with the global anchor, not the subsequence anchor"
            ),
            (Anchor::Global, None) => bail_invalid!(
                "a search needs the subsequence anchor, or z-normalised windows (SearchOptions::normalized_window)"
            ),
            (_, Some(_)) if self.precision == Precision::Half => {
                bail_invalid!("half precision proposes matches of any length, not z-normalised windows")
            }
            _ => Ok(()),
        }
    }

    /// Checks that places may be looked for in the precision that is asked for, in series of this type on a backend
    /// where half precision `proposes` or does not.
    ///
    /// # Errors
    /// [`crate::Error::Undefined`] naming what can.
    pub fn check_precision(&self, dtype: Dtype, proposes: bool) -> Result<()> {
        let refuse = |what: &str, remedies| Err(Error::Undefined { what: what.to_owned(), remedies });
        match self.precision {
            Precision::Full => Ok(()),
            Precision::Half if dtype != Dtype::F32 => {
                refuse("half precision proposes places of f32 searches alone", &[Remedy::Dtype(Dtype::F32)])
            }
            Precision::Half if !proposes => refuse(
                "half precision proposes places on cuda and hip alone",
                &[Remedy::Backend("cuda"), Remedy::Backend("hip")],
            ),
            Precision::Half => Ok(()),
        }
    }

    /// Checks that every reference, of these numbers of points, holds a window.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the reference and both lengths.
    pub fn check_windows(&self, lengths: impl IntoIterator<Item = usize>) -> Result<()> {
        let Some(length) = self.normalized_window else { return Ok(()) };
        match lengths.into_iter().enumerate().find(|(_, points)| *points < length) {
            Some((r, points)) => {
                bail_invalid!("reference {r} has {points} points, fewer than a window of {length}")
            }
            None => Ok(()),
        }
    }
}

/// A reference that is read a block at a time, so that it need not fit in memory.
pub trait Blocks<T: Scalar>: Send {
    /// Values per point.
    fn channels(&self) -> usize;

    /// Appends the next points to `block`, at most `points` of them; none at the end, and then none for good.
    ///
    /// # Errors
    /// What stops the reading; the search returns it.
    fn read(&mut self, points: usize, block: &mut Vec<T>) -> Result<()>;

    /// Whether this is a stream that is followed: each block is searched before the next one is read, and hits are told
    /// to [`Blocks::settled`] as soon as nothing that may come can change them. A search returns what is left at the
    /// end.
    ///
    /// Such a search needs a threshold and finds all matches: [`SearchOptions::top_k`] has no effect.
    fn is_followed(&self) -> bool {
        false
    }

    /// Hits of a query that are settled, in the order of their ends. Called of a followed stream alone.
    ///
    /// # Errors
    /// What stops the search; it returns it.
    fn settled(&mut self, query: usize, hits: &[Match<T>]) -> Result<()> {
        let _ = (query, hits);
        Ok(())
    }
}

/// A reference in memory, for what reads block by block.
#[derive(Debug, Clone, Copy)]
pub struct InMemory<'a, T> {
    rest: &'a [T],
    channels: usize,
}

impl<'a, T> InMemory<'a, T> {
    /// From the first point on.
    pub fn new(series: Series<'a, T>) -> Self {
        Self { rest: series.values, channels: series.channels }
    }
}

impl<T: Scalar> Blocks<T> for InMemory<'_, T> {
    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> Result<()> {
        let (now, rest) = self.rest.split_at(self.rest.len().min(points.saturating_mul(self.channels)));
        block.extend_from_slice(now);
        self.rest = rest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_without_a_window_is_refused_by_its_number() {
        let mut options = SearchOptions::default();
        assert!(options.check_windows([0, 1]).is_ok());
        options.normalized_window = Some(5);
        assert!(options.check_windows([5, 6]).is_ok());
        let error = options.check_windows([7, 5, 4, 3]).unwrap_err().to_string();
        assert!(error.contains("reference 2 has 4 points, fewer than a window of 5"), "{error}");
    }
}
