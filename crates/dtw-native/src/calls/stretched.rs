//! A search of few queries in one long reference, which is swept in stretches side by side.

use dtw_core::{Match, Result};
use dtw_kernels::SweepKind;
use dtw_plan::{BandLayout, Pairs, Rect};

use crate::calls::search::Sweeps;
use crate::launch::hits::HitOptions;
use crate::launch::job::Job;
use crate::launch::stretches::{Stretches, Swept};
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes};

/// The best end of some that were looked through.
#[derive(Debug, Clone, Copy)]
struct Best<T> {
    distance: T,
    stretch: usize,
    /// In the stretch's last column.
    at: usize,
}

impl<T: Number, M: Machine> Sweeps<'_, T, M> {
    /// The hits of each query of a tile with one reference, if its sweep is faster in stretches.
    pub(crate) fn in_stretches(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
    ) -> Result<Option<Vec<Vec<Match<T>>>>> {
        let functor = self.located;
        let is_plain = pairs.banding.layout() == BandLayout::Full
            && self.engine.sweeper.forced.is_none()
            && functor.has(SweepKind::Block);
        let x = self.engine.x.part(pairs.rows, &tile.rows);
        // Of references of several lengths, only the device knows where each begins.
        if !is_plain || tile.rows.len() != 1 || x.offsets != 0 {
            return Ok(None);
        }
        let sides = [x, self.engine.y.part(pairs.columns, &tile.columns)];
        let job = Job::of(functor, self.preparation.channels, sides, tile);
        let whole = Job { functor: self.preparation.functor, keeps_edges: true, ..job };
        let Some(least) = self.engine.sweeper.estimate::<T>(&whole) else { return Ok(None) };
        let Some(swept) = self.sweep_in_stretches(job, least)? else { return Ok(None) };
        let queries = tile.columns.len();
        let hits = (0..queries).map(|q| self.hits_of(&swept, q, queries));
        hits.collect::<Result<_>>().map(Some)
    }

    /// Sweeps in stretches if that takes fewer cycles than this.
    fn sweep_in_stretches(&mut self, mut job: Job, most_cycles: f64) -> Result<Option<Swept>> {
        let (engine, carried) = (&mut *self.engine, &mut self.searcher.carried);
        if !Stretches::is_worth::<T>(&engine.sweeper, &job, &engine.budget, most_cycles) {
            return Ok(None);
        }
        // No path comes from above.
        let (_, bytes) = engine.y.values();
        let points = bytes / size_of::<T>() / job.channels;
        job.y.sums = carried.border.hold(&engine.machine, &vec![T::INFINITY; points])?;
        carried.stretches.in_stretches::<T>(&engine.machine, &mut engine.sweeper, &job, &engine.budget)
    }

    /// The hits of a query.
    fn hits_of(&mut self, swept: &Swept, query: usize, queries: usize) -> Result<Vec<Match<T>>> {
        if self.wanted.is_for_host() {
            return self.hits_on_host_of(swept, query, queries);
        }
        let HitOptions { top_k, exclusion, threshold } = self.wanted;
        let (cut, mut hits) = (swept.cut, Vec::new());
        let mut is_left = vec![true; cut.count];
        while hits.len() < top_k {
            let Some(Best { distance, stretch, at }) = self.best_of(swept, query, queries, &is_left)? else {
                break;
            };
            if distance.to_f64() > threshold {
                break;
            }
            let task = stretch * queries + query;
            let mut start = (Vec::new(), Vec::new());
            self.engine.ends(&swept.edges, task, at..at + 1, (&mut start.0, &mut start.1))?;
            let (begin, end) = (cut.begin(stretch), cut.begin(stretch) + at);
            hits.push(Match { distance, start: begin + start.1[0] as usize, end });
            if hits.len() < top_k {
                let gone = end.saturating_sub(exclusion)..end.saturating_add(exclusion).saturating_add(1);
                for (s, is_left) in is_left.iter_mut().enumerate() {
                    let own = cut.own(s);
                    let (from, to) = (gone.start.max(own.start), gone.end.min(own.end));
                    if from == own.start && to == own.end {
                        *is_left = false;
                    } else if from < to {
                        self.forget(swept, s * queries + query, from - cut.begin(s), to - from)?;
                    }
                }
            }
        }
        Ok(hits)
    }

    /// Makes ends of a last column as bad as can be.
    fn forget(&mut self, swept: &Swept, task: usize, first: usize, count: usize) -> Result<()> {
        let to = self.engine.sweeper.edges().buffer().expect("a search keeps its edges");
        let at = (task * swept.edges.stride as usize + first) * size_of::<T>();
        self.engine.machine.upload(to, at, bytes(&vec![T::INFINITY; count]))
    }

    /// The best end of the stretches that are left; of equal costs the first.
    fn best_of(
        &mut self,
        swept: &Swept,
        query: usize,
        queries: usize,
        is_left: &[bool],
    ) -> Result<Option<Best<T>>> {
        let (cut, edges) = (swept.cut, swept.edges);
        let column = |stretch: usize| {
            let first = (stretch * queries + query) as u64 * edges.stride + cut.ends(stretch).start as u64;
            edges.address + first * size_of::<T>() as u64
        };
        // All but the first have as many ends, as far apart.
        let mut runs = vec![(column(0), 1, cut.ends(0).len())];
        if cut.count > 1 {
            runs.push((column(1), cut.count - 1, cut.ends(1).len()));
        }
        let stride = edges.stride * queries as u64;
        let found = self.searcher.best_in_runs(&self.engine.machine, &runs, stride)?;
        let mut best: Option<Best<T>> = None;
        for (stretch, (distance, end)) in found.into_iter().enumerate() {
            if is_left[stretch] && distance < best.map_or(T::INFINITY, |best| best.distance) {
                best = Some(Best { distance, stretch, at: cut.ends(stretch).start + end as usize });
            }
        }
        Ok(best)
    }

    /// The hits of a query, chosen on the host.
    fn hits_on_host_of(&mut self, swept: &Swept, query: usize, queries: usize) -> Result<Vec<Match<T>>> {
        let mut selection = self.wanted.selection::<T>(&self.engine.budget);
        let (mut totals, mut starts) = (Vec::new(), Vec::new());
        for stretch in 0..swept.cut.count {
            let (task, ends) = (stretch * queries + query, swept.cut.ends(stretch));
            self.engine.ends(&swept.edges, task, ends, (&mut totals, &mut starts))?;
            selection.offer(&totals, |j| swept.cut.begin(stretch) + starts[j] as usize)?;
        }
        Ok(selection.finish())
    }
}
