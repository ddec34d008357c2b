//! Where matches start whose ends and costs are known: sweeps that know no starts are twice as fast, so costs come
//! first, and starts are looked for behind the hits alone.

use dtw_core::{Error, Match, Result};
use dtw_kernels::SweepKind;
use dtw_plan::{BandLayout, Pairs, Rect};

use crate::calls::search::Sweeps;
use crate::engine::Engine;
use crate::launch::candidates::BestEnd;
use crate::launch::hits::Searcher;
use crate::launch::job::Job;
use crate::launch::locate::{Above, Locator, Window, is_from_above, last_ends};
use crate::machine::Machine;
use crate::memory::bytes::Number;

/// Windows in which the start of a match is looked for, in quarters of a query length: most paths are hardly longer
/// than the query. Behind them comes all that is before its end.
const WINDOWS: [usize; 3] = [5, 8, 32];

/// A hit whose start is looked for.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Pair of the tile, and its hit.
    pair: usize,
    hit: usize,
    window: Window,
    /// The window's first point in the reference.
    begin: usize,
}

impl<T: Number, M: Machine> Sweeps<'_, T, M> {
    /// Whether costs come first where a tile is swept whole.
    pub(crate) fn costs_come_first(&self, pairs: &Pairs<'_>, tile: &Rect) -> bool {
        self.costs_first_cycles(pairs, tile) < self.located_cycles(pairs, tile)
    }

    /// Estimated cycles of a tile that is not swept in stretches.
    pub(crate) fn whole_cycles(&self, pairs: &Pairs<'_>, tile: &Rect) -> f64 {
        let hits = match self.engine.sweeper.is_eager {
            true => 0.0,
            false => Searcher::<T, M>::cycles(self.wanted, tile.tasks(), pairs.longest(tile).0),
        };
        hits + self.costs_first_cycles(pairs, tile).min(self.located_cycles(pairs, tile))
    }

    /// Estimated cycles of a tile of which costs and starts are swept at once; infinite if no kernel can.
    fn located_cycles(&self, pairs: &Pairs<'_>, tile: &Rect) -> f64 {
        let job = self.job(pairs, tile, self.preparation.functor);
        self.engine.sweeper.estimate::<T>(&job).map_or(f64::INFINITY, |(cycles, _)| cycles)
    }

    /// Estimated cycles of a tile that is swept whole, costs first; infinite if it cannot be.
    fn costs_first_cycles(&self, pairs: &Pairs<'_>, tile: &Rect) -> f64 {
        let (located, costs) = (self.preparation.functor, self.located.without_starts());
        let Engine { sweeper, budget, .. } = &*self.engine;
        let is_plain = pairs.banding.layout() == BandLayout::Full
            && sweeper.forced.is_none()
            && located.has(SweepKind::Block);
        if !is_plain || located.parts == costs.parts || self.wanted.is_for_host() {
            return f64::INFINITY;
        }
        let job = self.job(pairs, tile, costs);
        let Some((cycles, bytes)) = sweeper.estimate::<T>(&job) else { return f64::INFINITY };
        if bytes > budget.edges {
            return f64::INFINITY;
        }
        let hits = job.tasks.saturating_mul(self.wanted.top_k as u64);
        let rows = (WINDOWS[0] as u64 * u64::from(job.y.length)).div_ceil(4).min(u64::from(job.x.length));
        cycles + Locator::estimate::<T>(sweeper, &Job { functor: located, ..job }, hits, rows as u32)
    }

    /// Fills in the starts of the hits of each pair of a tile; `false`: so many of them are further up that a sweep of
    /// the whole takes less time.
    pub(crate) fn locate(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        all: &mut [Vec<Match<T>>],
    ) -> Result<bool> {
        let mut left: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (pair, (r, q)) in tile.pairs().enumerate() {
            left.extend((0..all[pair].len()).map(|hit| (pair, hit, r, q)));
        }
        let job = self.job_of_windows(pairs, tile);
        for quarters in WINDOWS.into_iter().map(Some).chain([None]) {
            let mut open: Vec<Open> = left
                .iter()
                .map(|(pair, hit, r, q)| {
                    let (ends, columns) = (all[*pair][*hit].end + 1, pairs.columns.length(*q));
                    let rows = quarters
                        .map_or(ends, |quarters| ends.min(quarters.saturating_mul(columns).div_ceil(4)));
                    let begin = ends - rows;
                    let window = Window {
                        reference: self.engine.x.first_point(*r) + begin as u64,
                        rows: rows as u32,
                        query: self.engine.y.first_point(*q),
                        columns: columns as u32,
                    };
                    Open { pair: *pair, hit: *hit, window, begin }
                })
                .collect();
            let rows = open.iter().map(|open| open.window.rows).max().unwrap_or(0);
            let cycles = Locator::estimate::<T>(&self.engine.sweeper, &job, open.len() as u64, rows);
            if cycles > self.located_cycles(pairs, tile) {
                return Ok(false);
            }
            // Neighbours of as many rows are looked at together.
            open.sort_by_key(|open| std::cmp::Reverse(open.window.rows));
            let above = if quarters.is_some() { Above::Anything } else { Above::Nothing };
            let windows: Vec<Window> = open.iter().map(|open| open.window).collect();
            let found = self.ends_of(&job, &windows, above)?;
            let mut is_open = vec![false; tile.tasks() as usize * self.wanted.top_k];
            for (open, end) in open.iter().zip(found) {
                let hit = &mut all[open.pair][open.hit];
                if !is_from_above(end.start) && end.distance == hit.distance {
                    hit.start = open.begin + end.start as usize;
                } else {
                    is_open[open.pair * self.wanted.top_k + open.hit] = true;
                }
            }
            left.retain(|(pair, hit, ..)| is_open[pair * self.wanted.top_k + hit]);
            if left.is_empty() {
                return Ok(true);
            }
        }
        let reason = "two sweeps of the same cells gave different costs".into();
        Err(Error::Backend { backend: self.engine.machine.name(), reason, remedies: &[] })
    }

    /// What the last end of each window costs, and where its path starts in the window. Windows of as many rows are
    /// neighbours.
    fn ends_of(&mut self, job: &Job, windows: &[Window], above: Above) -> Result<Vec<BestEnd<T>>> {
        let Engine { machine, sweeper, budget, y, .. } = &mut *self.engine;
        let points = y.values().1 / size_of::<T>() / job.channels;
        let mut found = Vec::with_capacity(windows.len());
        let mut rest = windows;
        while let Some(longest) = rest.iter().map(|window| window.rows).max() {
            let most = Locator::most::<T>(sweeper, job, longest, budget);
            let what = "the last column of a window";
            let most = most.ok_or_else(|| budget.exceeded(what, budget.edges + 1, budget.edges))?;
            let (now, later) = rest.split_at(rest.len().min(most));
            let locator = &mut self.searcher.carried.locator;
            let edges = locator.sweep::<T>(machine, sweeper, (job, points), (now, above), budget)?;
            let runs = last_ends::<T>(&edges, now, 1);
            found.extend(self.searcher.best_in_runs(machine, &runs, edges.stride)?);
            rest = later;
        }
        Ok(found)
    }
}
