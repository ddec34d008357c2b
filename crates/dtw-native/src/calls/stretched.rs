//! A search of few queries in one long reference, which is swept in stretches side by side.

use dtw_core::{Match, Result};
use dtw_kernels::{SweepKind, params};
use dtw_plan::{BandLayout, Pairs, Rect};

use crate::calls::search::Sweeps;
use crate::launch::candidates::{BestEnd, Run};
use crate::launch::hits::HitOptions;
use crate::launch::job::Job;
use crate::launch::stretches::{Stretches, Swept};
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes};

/// Cycles of a round of hits, about 60 µs, and of each of its hits behind which another round comes, about 10 µs.
const ROUND_CYCLES: f64 = 120e3;
const HIT_CYCLES: f64 = 20e3;

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
        let wanted = self.preparation.functor;
        let Some([(costs, of_costs), (located, of_located)]) = self.stretched(pairs, tile) else {
            return Ok(None);
        };
        let least = self.whole_cycles(pairs, tile);
        if of_costs < least.min(of_located)
            && !(wanted.parts > 1 && self.wanted.is_for_host())
            && let Some(hits) = self.costs_first(pairs, tile, costs)?
        {
            return Ok(Some(hits));
        }
        if of_located >= least {
            return Ok(None);
        }
        let Some(swept) = self.sweep_in_stretches(located)? else { return Ok(None) };
        self.hits_of_all(&swept, tile, true).map(Some)
    }

    /// Estimated cycles of a tile, by the fastest sweep in full precision.
    pub(crate) fn cycles(&self, pairs: &Pairs<'_>, tile: &Rect) -> f64 {
        let stretched = self.stretched(pairs, tile).into_iter().flatten().map(|(_, cycles)| cycles);
        stretched.fold(self.whole_cycles(pairs, tile), f64::min)
    }

    /// Sweeps of a tile in stretches, of costs alone and of starts, too, and their estimated cycles; `None` if it
    /// cannot be swept so.
    fn stretched(&self, pairs: &Pairs<'_>, tile: &Rect) -> Option<[(Job, f64); 2]> {
        let is_plain = pairs.banding.layout() == BandLayout::Full
            && self.engine.sweeper.forced.is_none()
            && self.located.has(SweepKind::Block);
        let x = self.engine.x.part(pairs.rows, &tile.rows);
        // Of references of several lengths, only the device knows where each begins.
        if !is_plain || tile.rows.len() != 1 || x.offsets != 0 {
            return None;
        }
        let sides = [x, self.engine.y.part(pairs.columns, &tile.columns)];
        let located = Job::of(self.located, self.preparation.channels, sides, tile);
        let (sweeper, budget) = (&self.engine.sweeper, &self.engine.budget);
        let jobs = [Job { functor: self.located.without_starts(), ..located }, located];
        // Hits come round by round; the ends near each are taken out of the search one by one.
        let (rounds, queries) = (self.wanted.top_k as f64, tile.columns.len() as f64);
        let hits = if self.wanted.is_for_host() || sweeper.is_eager {
            0.0
        } else {
            rounds * ROUND_CYCLES + (rounds - 1.0).max(0.0) * queries * HIT_CYCLES
        };
        Some(jobs.map(|job| {
            (job, hits + Stretches::estimate::<T>(sweeper, &job, budget).unwrap_or(f64::INFINITY))
        }))
    }

    /// Hits from a sweep that knows no starts; those of the hits are looked for behind it. `None` if stretches do not
    /// agree, or if starts take too long.
    fn costs_first(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        costs: Job,
    ) -> Result<Option<Vec<Vec<Match<T>>>>> {
        let Some(swept) = self.sweep_in_stretches(costs)? else { return Ok(None) };
        let mut all = self.hits_of_all(&swept, tile, false)?;
        if self.preparation.functor.parts == 1 {
            return Ok(Some(all));
        }
        Ok(self.locate(pairs, tile, &mut all)?.then_some(all))
    }

    /// A job whose border above the first row has this total in all columns.
    fn below(&mut self, job: Job, total: T) -> Result<Job> {
        let (_, bytes) = self.engine.y.values();
        let points = bytes / size_of::<T>() / job.channels;
        let border = &mut self.searcher.carried.border;
        let sums = border.hold(&self.engine.machine, &vec![total; points])?;
        Ok(Job { y: params::Side { sums, ..job.y }, ..job })
    }

    /// Sweeps in stretches; `None` if they do not agree.
    fn sweep_in_stretches(&mut self, job: Job) -> Result<Option<Swept>> {
        // No path comes from above.
        let job = self.below(job, T::INFINITY)?;
        let (engine, carried) = (&mut *self.engine, &mut self.searcher.carried);
        carried.stretches.in_stretches::<T>(&engine.machine, &mut engine.sweeper, &job, &engine.budget)
    }

    /// The hits of all queries of a tile; `located`: the sweep knows where they start.
    fn hits_of_all(&mut self, swept: &Swept, tile: &Rect, located: bool) -> Result<Vec<Vec<Match<T>>>> {
        let queries = tile.columns.len();
        if self.wanted.is_for_host() {
            return (0..queries).map(|query| self.hits_on_host_of(swept, query, queries, located)).collect();
        }
        let HitOptions { top_k, threshold, .. } = self.wanted;
        let cut = swept.cut;
        let mut all = vec![Vec::new(); queries];
        let mut is_left = vec![true; cut.count * queries];
        let mut open: Vec<usize> = (0..queries).collect();
        for found in 1..=top_k {
            let best = self.best_of(swept, queries, &is_left)?;
            open.retain(|query| best[*query].is_some_and(|best| best.distance.to_f64() <= threshold));
            if open.is_empty() {
                break;
            }
            for query in &open {
                let Some(Best { distance, stretch, at }) = best[*query] else { continue };
                let (begin, end) = (cut.begin(stretch), cut.begin(stretch) + at);
                let mut start = 0;
                if located {
                    let (mut totals, mut starts) = (Vec::new(), Vec::new());
                    let task = stretch * queries + query;
                    self.engine.ends(&swept.edges, task, at..at + 1, (&mut totals, Some(&mut starts)))?;
                    start = begin + starts[0] as usize;
                }
                all[*query].push(Match { distance, start, end });
                if found < top_k {
                    self.exclude(swept, (*query, queries), end, &mut is_left)?;
                }
            }
        }
        Ok(all)
    }

    /// Takes the ends near one of a query's hits out of the search.
    fn exclude(
        &mut self,
        swept: &Swept,
        (query, queries): (usize, usize),
        end: usize,
        is_left: &mut [bool],
    ) -> Result<()> {
        let (cut, exclusion) = (swept.cut, self.wanted.exclusion);
        let gone = end.saturating_sub(exclusion)..end.saturating_add(exclusion).saturating_add(1);
        for s in 0..cut.count {
            let own = cut.own(s);
            let (from, to) = (gone.start.max(own.start), gone.end.min(own.end));
            if from == own.start && to == own.end {
                is_left[s * queries + query] = false;
            } else if from < to {
                self.forget(swept, s * queries + query, from - cut.begin(s), to - from)?;
            }
        }
        Ok(())
    }

    /// Makes ends of a last column as bad as can be.
    fn forget(&mut self, swept: &Swept, task: usize, first: usize, count: usize) -> Result<()> {
        let to = self.engine.sweeper.edges().buffer().expect("a search keeps its edges");
        let at = (task * swept.edges.stride as usize + first) * size_of::<T>();
        self.engine.machine.upload(to, at, bytes(&vec![T::INFINITY; count]))
    }

    /// The best end of each query in the stretches that are left; of equal costs the first.
    fn best_of(&mut self, swept: &Swept, queries: usize, is_left: &[bool]) -> Result<Vec<Option<Best<T>>>> {
        let (cut, edges) = (swept.cut, swept.edges);
        // All stretches but the first have as many ends, as far apart.
        let run = |first: usize, stretches: usize| Run {
            totals: edges.address
                + ((first * queries) as u64 * edges.stride + cut.ends(first).start as u64)
                    * size_of::<T>() as u64,
            starts: 0,
            columns: stretches * queries,
            ends: cut.ends(first).len(),
        };
        let mut runs = vec![run(0, 1)];
        if cut.count > 1 {
            runs.push(run(1, cut.count - 1));
        }
        let found = self.searcher.best_in_runs(&self.engine.machine, &runs, edges.stride)?;
        let mut best: Vec<Option<Best<T>>> = vec![None; queries];
        for (task, BestEnd { distance, at, .. }) in found.into_iter().enumerate() {
            let (stretch, best) = (task / queries, &mut best[task % queries]);
            if is_left[task] && distance < best.map_or(T::INFINITY, |best| best.distance) {
                *best = Some(Best { distance, stretch, at: cut.ends(stretch).start + at as usize });
            }
        }
        Ok(best)
    }

    /// The hits of a query, chosen on the host.
    fn hits_on_host_of(
        &mut self,
        swept: &Swept,
        query: usize,
        queries: usize,
        located: bool,
    ) -> Result<Vec<Match<T>>> {
        let mut selection = self.wanted.selection::<T>(&self.engine.budget);
        let (mut totals, mut starts) = (Vec::new(), Vec::new());
        for stretch in 0..swept.cut.count {
            let (task, ends) = (stretch * queries + query, swept.cut.ends(stretch));
            self.engine.ends(&swept.edges, task, ends, (&mut totals, located.then_some(&mut starts)))?;
            let begin = swept.cut.begin(stretch);
            selection.offer(&totals, |j| starts.get(j).map_or(0, |start| begin + *start as usize))?;
        }
        Ok(selection.finish())
    }
}
