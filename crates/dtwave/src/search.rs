//! Searches of a session.

use dtw_core::{Anchor, Blocks, Error, Match, Pairing, Plan, Result, SearchOptions, SeriesBatch};

use crate::device::Float;
use crate::input::{AsBatch, AsSeries};
use crate::session::Session;

impl Session {
    /// The best matches of `query` in `reference`, best first. With [`SearchOptions::normalized_window`] the session's
    /// spec is used as it is (both ends anchored); otherwise its anchor is taken to be [`Anchor::Subsequence`].
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters.
    pub fn search<T: Float>(
        &self,
        query: &(impl AsSeries<T> + ?Sized),
        reference: &(impl AsSeries<T> + ?Sized),
        options: &SearchOptions,
    ) -> Result<Vec<Match<T>>> {
        let (x, y) = (query.as_series(), reference.as_series());
        let (x, y) = (SeriesBatch::single(x.series()), SeriesBatch::single(y.series()));
        let matches = |plan: &mut dyn Plan<T>| plan.matches(x, y, options);
        let mut found = self.searching(options).with_plan(Pairing::Cross, &x, &y, matches)?;
        found.pop().ok_or_else(|| Error::invalid("one query has one list of matches"))
    }

    /// The best matches of each query in each reference: those of query `q` in reference `r` at `q · references + r`.
    /// Otherwise as [`search`](Self::search); several queries use several threads.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters.
    pub fn search_all<T: Float>(
        &self,
        queries: &(impl AsBatch<T> + ?Sized),
        references: &(impl AsBatch<T> + ?Sized),
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let (x, y) = (queries.as_batch()?, references.as_batch()?);
        let (x, y) = (x.batch(), y.batch());
        self.searching(options).with_plan(Pairing::Cross, &x, &y, |plan| plan.matches(x, y, options))
    }

    /// The best matches of each query in a reference that need not fit in memory: it is read once, block by block, and
    /// searched for all queries while the next block is read. The hits are those of [`search_all`](Self::search_all).
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and for a band without [`SearchOptions::normalized_window`],
    /// which needs the whole reference; what `reference` says.
    pub fn search_blocks<T: Float>(
        &self,
        queries: &(impl AsBatch<T> + ?Sized),
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let queries = queries.as_batch()?;
        let x = queries.batch();
        // A plan knows that there is one reference.
        let one = vec![T::ZERO; x.channels()];
        let y = SeriesBatch::equal(&one, 1, 1, x.channels())?;
        let matches = |plan: &mut dyn Plan<T>| plan.matches_in_blocks(x, reference, options);
        self.searching(options).with_plan(Pairing::Cross, &x, &y, matches)
    }

    /// This session with the anchor that a search needs.
    fn searching(&self, options: &SearchOptions) -> Self {
        let anchor = if options.normalized_window.is_some() { Anchor::Global } else { Anchor::Subsequence };
        self.with_spec(dtw_core::Spec { anchor, ..self.spec().clone() })
    }
}
