//! Searching z-normalised windows: every window of a reference against normalised queries.
//!
//! A reference is read block by block, once, in memory that does not depend on its length. The windows of a block are
//! normalised here and compared on the device; the hits are chosen here.

use dtw_core::normalize::z_normalize;
use dtw_core::{
    Blocks, InMemory, Match, OwnedBatch, Pairing, Result, SearchOptions, Selection, SeriesBatch,
    WindowBlocks, Windows,
};
use dtw_plan::stop_if_cancelled;

use crate::engine::Pass;
use crate::plan::WgpuPlan;

type Batch<'a> = SeriesBatch<'a, f32>;

/// Windows of a block, where memory allows: enough to fill any device.
const MOST_WINDOWS: u64 = 1 << 18;

impl WgpuPlan {
    /// The best windows of `length` points for every query in every reference, in that order.
    pub(crate) fn window_matches(
        &mut self,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        options.check_windows(references)?;
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        for (r, reference) in references.iter().enumerate() {
            let mut reference = InMemory::new(reference);
            let hits = self.window_matches_in_blocks(queries, &mut reference, options, length)?;
            for (q, hits) in hits.into_iter().enumerate() {
                matches[q * references.len() + r] = hits;
            }
        }
        Ok(matches)
    }

    /// The same in a reference that is read once.
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        queries: &Batch<'_>,
        reference: &mut dyn Blocks<f32>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let (channels, count) = (queries.channels(), queries.len());
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut normalized = OwnedBatch::new(channels)?;
        for (q, query) in queries.iter().enumerate() {
            normalized.push(query.values)?;
            z_normalize(normalized.series_mut(q), channels);
        }
        let normalized = normalized.batch();

        // A window brings its points, normalised and as they are, and a cost of each query.
        let budget = self.engine.budget;
        let own_points = 4 * (length * channels) as u64;
        let (window, costs_of_one) = (own_points + 4 * channels as u64, 4 * count as u64);
        if own_points + window > budget.staging {
            return Err(budget.exceeded("a window", own_points + window, budget.staging));
        }
        if costs_of_one > budget.tile {
            return Err(budget.exceeded("the costs of one window", costs_of_one, budget.tile));
        }
        let most = ((budget.staging - own_points) / window).min(budget.tile / costs_of_one).min(MOST_WINDOWS);
        let share = budget.limit / 4 / count as u64;
        let mut selections: Vec<Selection<f32>> =
            (0..count).map(|_| Selection::new(options, share).within(budget.limit)).collect();
        let mut blocks = WindowBlocks::new(length, channels);
        let (mut windows, mut costs) = (Vec::new(), Vec::new());
        loop {
            stop_if_cancelled(&*self.observer)?;
            let Some(Windows { first, count: given, points }) = blocks.next(reference, most as usize)? else {
                return Ok(blocks.matches(selections));
            };
            if given == 0 {
                continue;
            }
            windows.clear();
            for window in points.windows(length * channels).step_by(channels) {
                windows.extend_from_slice(window);
                let start = windows.len() - window.len();
                z_normalize(&mut windows[start..], channels);
            }
            costs.resize(count * given, 0.0);
            let mut pass = Pass {
                spec: self.problem.spec(),
                functor: self.functor,
                excess: false,
                channel: None,
                pairing: Pairing::Cross,
                banding: &mut self.banding,
                observer: &*self.observer,
                adds: false,
            };
            let batch = SeriesBatch::equal(&windows, given, length, channels)?;
            self.engine.distances(&mut pass, &normalized, &batch, &mut costs)?;
            for (selection, costs) in selections.iter_mut().zip(costs.chunks_exact(given)) {
                selection.offer(costs, |w| first + w)?;
            }
        }
    }
}
