//! Matches of any length: in whole references where they fit the memory, else block after block.

use dtw_core::{Match, Pairing, Result, SearchOptions, SeriesBatch};
use dtw_plan::BandLayout;

use crate::calls::search::Search;
use crate::launch::hits::HitOptions;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::source::Source;
use crate::state::NativePlan;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// A search, to be run.
    pub(crate) fn search<'a>(
        &'a mut self,
        queries: Source<'a, T>,
        references: Source<'a, T>,
        wanted: HitOptions,
    ) -> Search<'a, T, M> {
        let [of_queries, of_references] = &mut self.layouts;
        Search {
            engine: &mut self.engine,
            searcher: &mut self.searcher,
            banding: &mut self.banding,
            functor: self.functor,
            located: self.functor,
            observer: &*self.observer.0,
            wanted,
            channels: queries.channels(),
            references: references.order(0),
            queries: queries.order(0),
            sources: [references.with_tables(of_references), queries.with_tables(of_queries)],
        }
    }

    /// The cost of the best match of every pair.
    pub(crate) fn subsequence_distances(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let (pairing, columns) = (self.problem.pairing(), references.len());
        let pairs = out.len();
        let put = |q: usize, r: usize, hits: Vec<Match<T>>| {
            let at = if pairing == Pairing::Zipped { q } else { q * columns + r };
            out[at] = hits.first().map_or(T::INFINITY, |hit| hit.distance);
        };
        let options = SearchOptions::default();
        let banded = self.banding.layout() != BandLayout::Full;
        let wanted = HitOptions::new(&options, references.max_length(), pairs);
        let mut search = self.search(Source::Host(queries), Source::Host(references), wanted);
        search.functor = search.functor.without_starts();
        // A band needs the whole reference.
        if banded || search.fits(pairing) {
            return search.run(pairing, put);
        }
        self.each_in_blocks(pairing, queries, references, &options, put)
    }

    /// The best matches of every query in every reference, in that order.
    pub(crate) fn subsequence_matches(
        &mut self,
        queries: Source<'_, T>,
        references: Source<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        let wanted = HitOptions::new(options, references.longest(), matches.len());
        let columns = references.len();
        let put = |q: usize, r: usize, hits: Vec<Match<T>>| matches[q * columns + r] = hits;
        let banded = self.banding.layout() != BandLayout::Full;
        let mut search = self.search(queries, references, wanted);
        match (queries, references) {
            (Source::Host(queries), Source::Host(references)) if !banded && !search.fits(Pairing::Cross) => {
                self.each_in_blocks(Pairing::Cross, queries, references, options, put)?;
            }
            _ => search.run(Pairing::Cross, put)?,
        }
        Ok(matches)
    }
}
