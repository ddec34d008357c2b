//! Matches of any length in a reference that comes block after block: in memory that does not depend on its length.
//!
//! A block is swept as a grid of its own (native/sweeps/block.cuh) whose border is the last row of the block before, so
//! that its costs are those of one sweep of the whole, to the last bit. That row has one state for each point of a
//! query. It goes through the host, which knows where its paths really start. The host also chooses among the ends of
//! all blocks.

use std::ops::Range;
use std::sync::Arc;

use dtw_core::{
    Blocks, InMemory, Match, Pairing, Result, SearchOptions, Selection, SeriesBatch, WindowSearch, Windows,
    search_pairs,
};
use dtw_kernels::SweepKind;
use dtw_kernels::params::{CARRIED, PAD};
use dtw_plan::{Budget, Order, Rect, cut, launch_tasks};

use crate::launch::job::Job;
use crate::launch::stretches::{Cut, Swept};
use crate::launch::sweep::Sweeper;
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes_mut};
use crate::series::prepared::{HostSeries, Preparation};
use crate::state::NativePlan;

/// Points of a block, where memory allows.
const MOST_POINTS: u64 = 1 << 20;

/// Points of a block for which queries are searched together, where not all of them fit.
const LEAST_POINTS: usize = 1 << 8;

/// Queries that are searched together, and what is asked of each block.
struct Scan<'a> {
    preparation: Preparation,
    order: &'a Order,
    places: &'a Range<usize>,
    budget: Budget,
}

/// The row before a block.
struct Border<T> {
    /// Totals, as the queries lie on the device: infinite before the first block.
    totals: Vec<T>,
    /// For each query and each of its points, where the best path starts.
    starts: Vec<Vec<usize>>,
}

impl<T: Number> Border<T> {
    fn new(scan: &Scan<'_>) -> Self {
        let lengths = || scan.places.clone().map(|k| scan.order.length(k));
        let points = PAD as usize + lengths().map(Preparation::stride).sum::<usize>();
        Self { totals: vec![T::INFINITY; points], starts: lengths().map(|length| vec![0; length]).collect() }
    }

    /// Where a path of query `k` starts in the reference, of which `done` points were before the block.
    fn start(&self, k: usize, start: u32, done: usize) -> usize {
        match start.checked_sub(CARRIED) {
            None => done + start as usize,
            Some(column) => self.starts[k][column as usize - 1],
        }
    }
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// The best matches of every query in a reference that is read once.
    pub(crate) fn subsequence_matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let order = Order::given(queries, 0);
        self.scan(queries, (&order, &(0..queries.len())), reference, options)
    }

    /// Calls `each` with query, reference and hits of every pair: for references of which not even one row fits the
    /// memory.
    pub(crate) fn each_in_blocks(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        options: &SearchOptions,
        each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        self.begin();
        let order = Order::given(queries, 0);
        let search = |all: Range<usize>, reference: &mut InMemory<'_, T>| {
            let mut found = Vec::new();
            for places in self.query_runs(queries.channels(), &order, &all)? {
                found.extend(self.scan(queries, (&order, &places), &mut reference.clone(), options)?);
            }
            Ok(found)
        };
        search_pairs(pairing, queries.len(), references, search, each)
    }

    /// Queries that fit the memory together, with blocks that are worth a launch where there is room.
    fn query_runs(&self, channels: usize, order: &Order, all: &Range<usize>) -> Result<Vec<Range<usize>>> {
        let preparation = Preparation::plain(self.functor, channels);
        let budget = self.engine.budget.without_tables();
        let query_bytes = |k: usize| query_bytes::<T>(&preparation, order.length(all.start + k));
        let column =
            Sweeper::<M>::kept_bytes::<T>(&self.functor, LEAST_POINTS, order.longest(all.clone()), &budget);
        let most = usize::try_from(budget.edges / column).unwrap_or(usize::MAX).max(1);
        let runs = cut(all.len(), budget.sides / 2, &budget, query_bytes)?;
        let pieces = runs.into_iter().flat_map(|run| {
            let end = run.end;
            run.step_by(most).map(move |first| first..end.min(first.saturating_add(most)))
        });
        Ok(pieces.map(|run| all.start + run.start..all.start + run.end).collect())
    }

    /// The best matches of the queries at these places.
    fn scan(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        (order, places): (&Order, &Range<usize>),
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let channels = queries.channels();
        if !self.functor.has(SweepKind::Block) {
            return Err(self.unsupported("a search with a measure other than dtw".to_owned()));
        }
        let preparation = Preparation::plain(self.functor, channels);
        let budget = self.engine.budget.without_tables();
        let points = self.block_points(&preparation, order, places, &budget)?;
        let scan = Scan { preparation, order, places, budget };
        let series = HostSeries { batch: queries, order, places };
        let engine = &mut self.engine;
        engine.y.load(&engine.machine, &mut engine.staging, &budget, &preparation, series)?;

        let hits_bytes = budget.limit / 2 / places.len() as u64;
        let selection = |_| Selection::new(options, hits_bytes).within(budget.limit);
        let selections = places.clone().map(selection).collect();
        let search = WindowSearch { length: 1, channels, most: points, selections };
        let mut border = Border::<T>::new(&scan);
        let (mut totals, mut starts) = (Vec::new(), Vec::new());
        let cells: u64 = places.clone().map(|k| order.length(k) as u64).sum();
        let observer = Arc::clone(&self.observer.0);
        search.each_block(reference, &*observer, |Windows { first, count, points }, selections| {
            let swept = self.sweep_block(&scan, points, &border)?;
            for (k, selection) in selections.iter_mut().enumerate() {
                for stretch in 0..swept.cut.count {
                    let task = stretch * places.len() + k;
                    let ends = swept.cut.ends(stretch);
                    self.engine.ends(&swept.edges, task, ends, (&mut totals, Some(&mut starts)))?;
                    let begin = first + swept.cut.begin(stretch);
                    selection.offer(&totals, |j| border.start(k, starts[j], begin))?;
                }
            }
            border = self.last_row(&scan, &border, swept.cut, first)?;
            observer.advance(cells * count as u64);
            Ok(())
        })
    }

    /// Points of a block, so that the last columns of all queries fit, and one of them on the host.
    fn block_points(
        &self,
        preparation: &Preparation,
        order: &Order,
        places: &Range<usize>,
        budget: &Budget,
    ) -> Result<usize> {
        let queries = places.clone().map(|k| query_bytes::<T>(preparation, order.length(k))).sum();
        if queries > budget.sides / 2 {
            let what = "the queries of a search that reads its reference block by block";
            return Err(budget.exceeded(what, queries, budget.sides / 2));
        }
        let m = order.longest(places.clone());
        let columns = |rows: usize| {
            let column = Sweeper::<M>::kept_bytes::<T>(&preparation.functor, rows, m, budget);
            places.len() as u64 * column
        };
        let (fixed, least) = (columns(0), columns(32));
        if least > budget.edges {
            return Err(budget.exceeded("the last columns of a block of 32 points", least, budget.edges));
        }
        let on_device = (budget.edges - fixed) / (least - fixed) * 32;
        // A point of the reference, a total and a start.
        let point = ((preparation.channels + 1) * size_of::<T>() + size_of::<u32>()) as u64;
        if point > budget.tile {
            return Err(budget.exceeded("a point of the reference", point, budget.tile));
        }
        let cells = places.clone().map(|k| order.length(k) as u64).sum();
        let launch = launch_tasks(cells, self.engine.sweeper.multiprocessors);
        Ok(on_device.min(budget.tile / point).min(launch).min(MOST_POINTS) as usize)
    }

    /// Sweeps a block; its last columns and its last row stay on the device.
    fn sweep_block(&mut self, scan: &Scan<'_>, block: &[T], border: &Border<T>) -> Result<Swept> {
        let Scan { preparation, order, places, budget, .. } = scan;
        let (engine, carried) = (&mut self.engine, &mut self.searcher.carried);
        let points = block.len() / preparation.channels;
        let raw = engine.staging.upload(&engine.machine, block)?;
        engine.x.load_windows(&engine.machine, preparation, (raw, 0), 1, points)?;
        let mut y = engine.y.part(order, places);
        y.sums = carried.border.hold(&engine.machine, &border.totals)?;
        let rect = Rect { rows: 0..1, columns: (*places).clone(), pairing: Pairing::Cross };
        let sides = [engine.x.part(&Order::equal(1, points), &rect.rows), y];
        let job = Job::of(preparation.functor, preparation.channels, sides, &rect);
        carried.stretches.sweep::<T>(&engine.machine, &mut engine.sweeper, &job, budget)
    }

    /// The last row of a block before which there were `done` points: the border of the next one.
    fn last_row(&self, scan: &Scan<'_>, before: &Border<T>, cut: Cut, done: usize) -> Result<Border<T>> {
        let Scan { order, places, .. } = *scan;
        let stride = order.longest(places.clone());
        let row = self.searcher.carried.stretches.states.buffer().expect("a block has been swept");
        let done = done + cut.begin(cut.count - 1);
        let mut totals = vec![T::ZERO; places.len() * stride];
        // The starts of a query lie one after the other, in as many numbers as its totals.
        let words = stride * size_of::<T>() / size_of::<u32>();
        let mut starts = vec![0_u32; places.len() * words];
        let machine = &self.engine.machine;
        // Totals of all stretches come before starts of all; those of the last stretch are the block's.
        let (of_stretch, last) = (size_of_val(&*totals), cut.count - 1);
        machine.download(row, last * of_stretch, bytes_mut(&mut totals))?;
        machine.download(row, (cut.count + last) * of_stretch, bytes_mut(&mut starts))?;
        let mut next = Border::new(scan);
        for (k, first) in self.engine.y.first_points().iter().enumerate() {
            let length = order.length(places.start + k);
            let first = *first as usize;
            next.totals[first..first + length].copy_from_slice(&totals[k * stride..][..length]);
            let starts = starts[k * words..][..length].iter();
            next.starts[k] = starts.map(|start| before.start(k, *start, done)).collect();
        }
        Ok(next)
    }
}

/// What a query of this many points brings: itself, its border and its last row, here and on the device.
fn query_bytes<T>(preparation: &Preparation, length: usize) -> u64 {
    let rows = 2 * (Preparation::stride(length) + 2 * length) * size_of::<T>();
    preparation.bytes::<T>(length) + (rows + 2 * length * size_of::<usize>()) as u64
}
