//! Searching z-normalised windows of a reference that is read block by block: in memory that does not depend on its
//! length.
//!
//! A block's windows are normalised and compared on the device; their costs come to the host, which chooses among all
//! blocks. The last points of a block are kept for the windows that reach into the next one. So the costs are those of
//! the whole reference to the last bit.

use std::sync::Arc;

use dtw_core::{Blocks, Match, Result, SearchOptions, Selection, SeriesBatch, WindowSearch, Windows};
use dtw_plan::Order;

use crate::calls::windows::Raw;
use crate::launch::bounds::WINDOWS_AT_ONCE;
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes_mut};
use crate::series::prepared::HostSeries;
use crate::state::NativePlan;

/// Windows of a block, where memory allows: enough for many launches that fill the device.
const MOST_WINDOWS: u64 = 1 << 20;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// The best windows of `length` points for every query, in a reference that is read once.
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let (channels, count, number) = (queries.channels(), queries.len(), size_of::<T>() as u64);
        let order = Order::given(queries, 0);
        for n in order.distinct() {
            self.banding.cells(n, length)?;
        }
        let preparation = self.window_preparation(channels);
        let budget = self.engine.budget;
        let queries_bytes = (0..count).map(|q| preparation.bytes::<T>(order.length(q))).sum();
        if queries_bytes > budget.sides / 2 {
            return Err(budget.exceeded(
                "the queries of a search that reads its reference block by block",
                queries_bytes,
                budget.sides / 2,
            ));
        }
        // A window brings its point, twice, and a cost of each query on the device; costs of one query come to the
        // host.
        let window_bytes = (count + 1 + 2 * channels) as u64 * number;
        let least = window_bytes + 2 * (length * channels) as u64 * number;
        if least > budget.tile {
            return Err(budget.exceeded("the costs of one window", least, budget.tile));
        }
        let prunes = self.prunes(channels, options);
        let most = if prunes {
            // Costs of few windows are there at once: a block is what is brought at once.
            (budget.staging / 2 / number).clamp(1, WINDOWS_AT_ONCE as u64)
        } else {
            (1 + (budget.tile - least) / window_bytes).min(MOST_WINDOWS)
        };
        let places = 0..count;
        let series = HostSeries { batch: queries, order: &order, places: &places };
        let engine = &mut self.engine;
        engine.x.load(&engine.machine, &mut engine.staging, &budget, &preparation, series)?;

        let hits_bytes = budget.limit / 2 / count as u64;
        let selection = |_| Selection::new(options, hits_bytes).within(budget.limit);
        let selections = places.clone().map(selection).collect();
        let search = WindowSearch { length, channels, most: most as usize, selections };
        let observer = Arc::clone(&self.observer.0);
        if prunes {
            let mut hunts = self.hunts(&order, &places, options, length)?;
            let found = search.each_block(
                reference,
                &*observer,
                |Windows { first, count, points }, selections| {
                    self.hunt(
                        &mut hunts,
                        selections,
                        &order,
                        &places,
                        Raw::Host(points),
                        first..first + count,
                    )
                },
            )?;
            self.tell(&hunts);
            return Ok(found);
        }
        let mut costs = Vec::new();
        search.run(reference, &*observer, |Windows { count: windows, points, .. }, offer| {
            self.windows(&preparation, &order, &places, Raw::Host(points), windows, length)?;
            let totals = self.searcher.totals.buffer().expect("the costs are there");
            costs.resize(windows, T::ZERO);
            for q in places.clone() {
                let at = q * windows * size_of::<T>();
                self.engine.machine.download(totals, at, bytes_mut(&mut costs))?;
                offer(q, 0, &costs)?;
            }
            Ok(())
        })
    }
}
