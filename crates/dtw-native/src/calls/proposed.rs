//! Searches in which half precision proposes places and full precision confirms them.
//!
//! Halves say for every end of a reference what the match that ends there costs, nearly, lowered by a margin. The best
//! ends are swept in full precision, and their costs take the places of the proposals, until the best ends are all
//! confirmed: then every other end was proposed at more than they cost. So no number of a half leaves this file, and a
//! hit has the bits of a search in full precision.
//!
//! That no better end was missed rests on the margin. Whatever is confirmed shows how far proposals are off: where one
//! was too high by half of the margin, where hits do not settle soon, or where confirming costs as much as a sweep, the
//! query is searched whole, in full precision.

use std::ops::Range;

use dtw_core::{Match, Pairing, Precision, Result};
use dtw_kernels::SweepKind;
use dtw_plan::{BandLayout, Budget, Pairs, Rect};

use crate::calls::search::Sweeps;
use crate::engine::Engine;
use crate::launch::hits::HitOptions;
use crate::launch::job::Job;
use crate::launch::locate::{Above, Locator, Window};
use crate::launch::propose::{self, Confirmed, Known, MOST_EXCESS, Proposals};
use crate::machine::Machine;
use crate::memory::bytes::Number;

/// Rounds in which hits settle, or the query is searched whole.
const ROUNDS: usize = 8;

/// Ends that are looked at beyond the wanted ones, from the second round on.
const MORE: usize = 8;

/// Ends around a proposal that are confirmed with it, on both sides: a part of the query's length, twice as many in
/// each round.
const ZONE: usize = 16;

/// A sweep of the whole is estimated at so many times as much, for some proposals settle nothing.
const LEAST_GAIN: f64 = 1.2;

/// References are shorter than so many query lengths: a sweep in full precision is about as fast.
const LEAST_LENGTHS: usize = 16;

/// A pair of a tile that is searched by proposals.
#[derive(Debug, Clone, Copy)]
struct Open {
    reference: usize,
    query: usize,
    is_open: bool,
    /// Cells that were confirmed.
    cells: u64,
}

/// How long it is hoped that hits settle.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Cycles that confirmations may take yet.
    left: f64,
    is_endless: bool,
}

impl Patience {
    /// Confirmations may take half of what a sweep of the whole takes.
    fn new(whole: f64, is_endless: bool) -> Self {
        Self { left: whole / 2.0, is_endless }
    }

    /// Whether to go on in a round in which so many of all pairs are open: few are after the first confirmation, or
    /// proposals tell little of these series.
    fn lasts(&self, round: usize, open: usize, all: usize) -> bool {
        self.is_endless || round == 0 || 2 * open <= all
    }

    /// Whether a confirmation of so many cycles is worth it, which it then takes.
    fn affords(&mut self, cycles: f64) -> bool {
        self.left -= cycles;
        self.is_endless || self.left >= 0.0
    }
}

impl<T: Number, M: Machine> Sweeps<'_, T, M> {
    /// Calls `each` with query, reference and hits of every pair of a tile that proposals find; the other pairs, by
    /// their numbers in the tile. `None`: proposals are not asked for, or are not worth it.
    pub(crate) fn proposed(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<Option<Vec<usize>>> {
        let job = self.job(pairs, tile, self.located);
        if self.wanted.precision == Precision::Full {
            return Ok(None);
        }
        if !self.is_proposable(pairs, tile, &job) {
            for (reference, query) in tile.pairs() {
                pairs.observer.proposed(query, reference, false);
            }
            return Ok(None);
        }
        let machine = self.engine.machine.clone();
        self.engine.sweeper.shrink(self.engine.budget.edges - propose::share(&self.engine.budget));
        self.searcher.carried.proposals.propose(&machine, &job)?;
        let lengths: Vec<u32> = if pairs.rows.is_equal_length() {
            Vec::new()
        } else {
            tile.pairs().map(|(r, _)| pairs.rows.length(r) as u32).collect()
        };
        let open = |(reference, query)| Open { reference, query, is_open: true, cells: 0 };
        let mut all: Vec<Open> = tile.pairs().map(open).collect();
        let (of_windows, mut whole) = (self.job_of_windows(pairs, tile), Vec::new());
        let mut patience = Patience::new(self.cycles(pairs, tile), self.engine.sweeper.is_eager);
        for round in 0..ROUNDS {
            let hits_of =
                |top_k: usize| HitOptions { top_k: top_k.min(job.x.length as usize), ..self.wanted };
            let candidates = self.searcher.carried.proposals.candidates(&job, &lengths);
            let mut wanted = hits_of(self.wanted.top_k);
            self.searcher.find(&machine, &candidates, wanted)?;
            for (task, pair) in all.iter_mut().enumerate().filter(|(_, pair)| pair.is_open) {
                let hits: Vec<Match<T>> = self.searcher.hits(task, wanted).collect();
                if let Some(hits) = settled(&hits) {
                    pairs.observer.proposed(pair.query, pair.reference, true);
                    each(pair.query, pair.reference, hits);
                    pair.is_open = false;
                }
            }
            let open = all.iter().filter(|pair| pair.is_open).count();
            if open == 0 || !patience.lasts(round, open, all.len()) {
                break;
            }
            if round > 0 {
                wanted = hits_of(self.wanted.top_k + MORE);
                self.searcher.find(&machine, &candidates, wanted)?;
            }
            let mut windows: Vec<Confirmed> = Vec::new();
            for (task, pair) in all.iter_mut().enumerate().filter(|(_, pair)| pair.is_open) {
                let hits: Vec<Match<T>> = self.searcher.hits(task, wanted).collect();
                let here = self.windows_of(pairs, task, pair, &hits, round);
                let columns = pairs.columns.length(pair.query) as u64;
                pair.cells += here.iter().map(|each| u64::from(each.window.rows) * columns).sum::<u64>();
                if pair.cells > pairs.rows.length(pair.reference) as u64 * columns / 2 {
                    pair.is_open = false;
                    whole.push(task);
                } else {
                    windows.extend(here);
                }
            }
            let rows = windows.iter().map(|each| each.window.rows).max().unwrap_or(0);
            let sweeper = &self.engine.sweeper;
            if !patience.affords(Locator::estimate::<T>(sweeper, &of_windows, windows.len() as u64, rows)) {
                break;
            }
            for task in self.confirm(&of_windows, windows)? {
                if std::mem::replace(&mut all[task].is_open, false) {
                    whole.push(task);
                }
            }
        }
        whole.extend(all.iter().enumerate().filter(|(_, pair)| pair.is_open).map(|(task, _)| task));
        whole.sort_unstable();
        for task in &whole {
            pairs.observer.proposed(all[*task].query, all[*task].reference, false);
        }
        Ok(Some(whole))
    }

    /// Whether halves can propose, and are worth it.
    fn is_proposable(&self, pairs: &Pairs<'_>, tile: &Rect, job: &Job) -> bool {
        let (m, lengths) = (job.y.length as usize, |q: usize| pairs.columns.length(q));
        let sweeper = &self.engine.sweeper;
        let shortest = tile.rows.clone().map(|r| pairs.rows.length(r)).min().unwrap_or(0);
        size_of::<T>() == size_of::<f32>()
            && tile.pairing == Pairing::Cross
            && pairs.banding.layout() == BandLayout::Full
            && job.functor.key == "subsequence_dtw"
            && job.channels == 1
            && sweeper.forced.is_none()
            && job.functor.has(SweepKind::Block)
            && !self.wanted.is_for_host()
            && tile.columns.clone().all(|q| lengths(q) == m)
            && shortest >= LEAST_LENGTHS * m
            && Proposals::<M>::can(job, &self.engine.budget)
            && (sweeper.is_eager || self.is_faster_proposed(pairs, tile, job))
    }

    /// Whether proposals and the windows that confirm them are estimated to take less time than a sweep of the whole.
    fn is_faster_proposed(&self, pairs: &Pairs<'_>, tile: &Rect, job: &Job) -> bool {
        let sweeper = &self.engine.sweeper;
        let hits = job.tasks.saturating_mul(self.wanted.top_k as u64);
        let rows = u64::from(job.y.length) * 5 / 4;
        let proposed = Proposals::<M>::cycles(job, &sweeper.hardware)
            + Locator::estimate::<T>(sweeper, job, hits, rows as u32);
        LEAST_GAIN * proposed < self.cycles(pairs, tile)
    }

    /// The windows in which those of some hits that are not certain are confirmed. No end is in two of them.
    fn windows_of(
        &self,
        pairs: &Pairs<'_>,
        task: usize,
        pair: &Open,
        hits: &[Match<T>],
        round: usize,
    ) -> Vec<Confirmed> {
        let (points, columns) = (pairs.rows.length(pair.reference), pairs.columns.length(pair.query));
        let radius = (columns / ZONE).max(1) << round.min(4);
        let mut uncertain: Vec<(usize, Known)> =
            hits.iter().map(|hit| (hit.end, Known::of(hit.start))).collect();
        uncertain.retain(|(_, known)| !matches!(known, Known::Start(_)));
        uncertain.sort_unstable_by_key(|(end, _)| *end);
        let mut windows: Vec<Confirmed> = Vec::new();
        let mut done = 0;
        for (end, known) in uncertain {
            if end < done {
                continue;
            }
            let zone: Range<usize> = done.max(end.saturating_sub(radius))..points.min(end + radius + 1);
            done = zone.end;
            // Most paths are hardly longer than the query. Where one came from further up, more is swept.
            let run_up = match known {
                Known::Bound => columns.saturating_mul(4 << round),
                _ => columns + columns / 8,
            };
            let begin = zone.start.saturating_sub(run_up);
            let window = Window {
                reference: self.engine.x.first_point(pair.reference) + begin as u64,
                rows: (zone.end - begin) as u32,
                query: self.engine.y.first_point(pair.query),
                columns: columns as u32,
            };
            windows.push(Confirmed { window, task, begin, ends: zone.len() as u32 });
        }
        windows
    }

    /// Sweeps windows in full precision, and puts what comes out beside the proposals. Returns the tasks of which some
    /// proposal was too high.
    fn confirm(&mut self, job: &Job, windows: Vec<Confirmed>) -> Result<Vec<usize>> {
        let Engine { machine, sweeper, budget, y, .. } = &mut *self.engine;
        let points = y.values().1 / size_of::<T>() / job.channels;
        let budget = Budget { edges: budget.edges - propose::share(budget), ..*budget };
        let (first, others): (Vec<_>, Vec<_>) = windows.into_iter().partition(|each| each.begin == 0);
        let mut too_high = Vec::new();
        for (windows, above) in [(first, Above::Nothing), (others, Above::Anything)] {
            let mut rest = &windows[..];
            while let Some(longest) = rest.iter().map(|each| each.window.rows).max() {
                let Some(most) = Locator::most::<T>(sweeper, job, longest, &budget) else {
                    // They stay proposals, so that their queries are searched whole.
                    too_high.extend(rest.iter().map(|each| each.task));
                    break;
                };
                let (now, later) = rest.split_at(rest.len().min(most));
                let swept: Vec<Window> = now.iter().map(|each| each.window).collect();
                let carried = &mut self.searcher.carried;
                let edges =
                    carried.locator.sweep::<T>(machine, sweeper, (job, points), (&swept, above), &budget)?;
                let excess = carried.proposals.confirm(machine, &edges, now)?;
                let high = now.iter().zip(excess).filter(|(_, excess)| **excess > MOST_EXCESS);
                too_high.extend(high.map(|(each, _)| each.task));
                rest = later;
            }
        }
        Ok(too_high)
    }
}

/// The hits with their starts, if all of them are certain.
fn settled<T: Copy>(hits: &[Match<T>]) -> Option<Vec<Match<T>>> {
    let certain = |hit: &Match<T>| match Known::of(hit.start) {
        Known::Start(start) => Some(Match { start, ..*hit }),
        Known::Proposed | Known::Bound => None,
    };
    hits.iter().map(certain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends() {
        let mut patience = Patience::new(100.0, false);
        assert!(patience.lasts(0, 10, 10) && patience.lasts(1, 5, 10) && !patience.lasts(1, 6, 10));
        assert!(patience.affords(30.0) && patience.affords(20.0) && !patience.affords(1.0));
        let mut endless = Patience::new(100.0, true);
        assert!(endless.lasts(3, 10, 10) && endless.affords(1e9));
    }
}
