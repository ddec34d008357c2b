//! Searching z-normalised windows: every window of a reference, normalised on the device, against normalised queries.

use std::ops::Range;

use dtw_core::{Match, Pairing, Result, SearchOptions, search_each};
use dtw_plan::{Axis, Order, Pairs, Rect, Rows, cut, launch_tasks, stop_if_cancelled};

use crate::launch::candidates::Candidates;
use crate::launch::hits::{HitOptions, Searcher};
use crate::launch::job::Job;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::prepared::Preparation;
use crate::series::source::Source;
use crate::state::NativePlan;

/// The packed values of a reference.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a, T> {
    Host(&'a [T]),
    /// Where they are on the device.
    Device(u64),
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// The best windows of `length` points for every query in every reference, in that order.
    pub(crate) fn window_matches(
        &mut self,
        queries: Source<'_, T>,
        references: Source<'_, T>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<T>>>> {
        self.begin();
        let order_references = references.order(0);
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        let order = queries.order(0);
        for n in order.distinct() {
            self.banding.cells(n, length)?;
        }
        // Of queries of several lengths in the caller's memory, only the device knows where they lie.
        let lie_known = matches!(queries, Source::Host(_)) || order.is_equal_length();
        if lie_known && self.prunes(queries.channels(), options) {
            return self.pruned_matches(queries, references, options, length);
        }
        let longest = references.longest() - length + 1;
        let wanted = HitOptions::new(options, longest, matches.len());
        let on_device = if wanted.is_for_host() { 1 } else { wanted.top_k };
        let preparation = self.window_preparation(queries.channels());
        let budget = self.engine.budget;
        // A query brings itself, the costs of all windows and its hits.
        let costs = longest as u64 * size_of::<T>() as u64;
        let query_bytes = |k: usize| {
            let hits = Searcher::<T, M>::task_bytes(on_device, longest);
            preparation.bytes::<T>(order.length(k)) + costs + hits
        };
        let longest_query = (0..queries.len()).map(query_bytes).max().unwrap_or(0);
        if longest_query > budget.sides / 2 {
            // Too many windows for their costs to be there at once.
            let (Source::Host(queries), Source::Host(references)) = (queries, references) else {
                return Err(budget.exceeded("the costs of all windows", longest_query, budget.sides / 2));
            };
            return search_each(queries.len(), references, |reference| {
                self.window_matches_in_blocks(queries, reference, options, length)
            });
        }
        for places in cut(queries.len(), budget.sides / 2, &budget, query_bytes)? {
            stop_if_cancelled(&*self.observer.0)?;
            let mut source = queries.with_tables(&mut self.layouts[0]);
            self.engine.load(Axis::Rows, &mut source, &preparation, &order, &places)?;
            for r in 0..references.len() {
                let windows = order_references.length(r) - length + 1;
                let reference = match references {
                    Source::Host(batch) => Raw::Host(batch.get(r).values),
                    Source::Device(batch) => Raw::Device(batch.first_value::<T>(r)),
                };
                self.windows(&preparation, &order, &places, reference, windows, length)?;
                let candidates = Candidates {
                    totals: self.searcher.totals.address(),
                    starts: 0,
                    stride: windows as u64,
                    tasks: places.len(),
                    longest: windows,
                    lengths: &[],
                };
                if !wanted.is_for_host() {
                    self.searcher.find(&self.engine.machine, &candidates, wanted)?;
                }
                for (k, q) in places.clone().enumerate() {
                    let hits = if wanted.is_for_host() {
                        let from = self.searcher.totals.buffer().expect("the costs are there");
                        let machine = &self.engine.machine;
                        Searcher::hits_on_host(machine, &budget, &candidates, from, k, 0..windows, wanted)?
                    } else {
                        self.searcher.hits(k, wanted).collect()
                    };
                    matches[q * references.len() + r] = hits
                        .into_iter()
                        .map(|hit| Match {
                            distance: hit.distance,
                            start: hit.end,
                            end: hit.end + length - 1,
                        })
                        .collect();
                }
            }
        }
        Ok(matches)
    }

    /// Queries and windows are normalised.
    pub(crate) fn window_preparation(&self, channels: usize) -> Preparation {
        Preparation { normalize: true, ..Preparation::plain(self.functor, channels) }
    }

    /// Costs of every window of one reference for the queries that are on the device: `totals[query][window]`.
    pub(crate) fn windows(
        &mut self,
        preparation: &Preparation,
        order: &Order,
        places: &Range<usize>,
        reference: Raw<'_, T>,
        windows: usize,
        length: usize,
    ) -> Result<()> {
        let (engine, channels) = (&mut self.engine, preparation.channels);
        let budget = engine.budget;
        let totals = places.len() * windows * size_of::<T>();
        self.searcher.totals.reserve(&engine.machine, totals)?;
        let n = order.longest(places.clone());
        let cells = n as u64 * length as u64;
        let point = (channels * size_of::<T>()) as u64;
        let (staged, window) = (length as u64 * point, preparation.bytes::<T>(length));
        if staged > budget.staging || window > budget.sides / 2 {
            return Err(budget.exceeded("a window", window.max(staged), budget.staging));
        }
        let most = (budget.sides / 2 / window)
            .min((budget.staging - staged) / point + 1)
            .min(launch_tasks(cells * places.len() as u64, engine.sweeper.multiprocessors));
        for first in (0..windows).step_by(most as usize) {
            stop_if_cancelled(&*self.observer.0)?;
            let count = windows.min(first + most as usize) - first;
            let raw = match reference {
                Raw::Host(values) => {
                    let values = &values[first * channels..(first + count + length - 1) * channels];
                    engine.staging.upload(&engine.machine, values)?
                }
                Raw::Device(address) => address + first as u64 * point,
            };
            engine.y.load_windows(&engine.machine, preparation, (raw, 0), count, length)?;
            let own = Order::equal(count, length);
            let rect = Rect { rows: places.clone(), columns: 0..count, pairing: Pairing::Cross };
            let sides = [engine.x.part(order, places), engine.y.part(&own, &(0..count))];
            let job = Job {
                out: self.searcher.totals.address() + (first * size_of::<T>()) as u64,
                out_stride: windows,
                ..Job::of(self.functor, channels, sides, &rect)
            };
            let mut pairs = Pairs {
                pairing: Pairing::Cross,
                rows: order,
                columns: &own,
                kind: Rows::X,
                banding: &mut self.banding,
                observer: &*self.observer.0,
            };
            let band = engine.sweeper.band(&mut pairs, &rect)?;
            engine.sweeper.launch::<T>(&job, band, &budget)?;
            let cells = pairs.cells(&rect)?;
            pairs.observer.advance(cells);
        }
        Ok(())
    }
}
