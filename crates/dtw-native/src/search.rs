//! Finding queries in references: a sweep that keeps its last column, then the best ends of that.
//!
//! The kernel's rows are the reference and its columns the query, so that the last column holds, for every point of the
//! reference, the cost of the best match that ends there.

use std::ops::Range;

use dtw_core::{Match, Observer, Pairing, Result, SearchOptions, Selection, SeriesBatch};
use dtw_kernels::params::{self, Params};
use dtw_plan::{Banding, Budget, Form, Order, Rect, RowRange, Rows, chunks, launch_tasks, tiles};

use crate::bytes::{Number, bytes_mut};
use crate::engine::{Engine, stop_if_cancelled};
use crate::functor::Functor;
use crate::scratch::Region;
use crate::side::{Bring, Preparation, blocks_for};
use crate::subsequence_blocks::Carried;
use crate::sweep::{Job, Sweeper, best_kernel};
use crate::{Buffer, Machine};

/// Most hits that are chosen on the device, where each one takes another look at all ends.
const MOST_ON_DEVICE: usize = 32;

/// Costs that are brought to the host at a time, where it chooses.
const HOST_ENDS: usize = 1 << 20;

/// How many hits, how far apart, and what they may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) top_k: usize,
    pub(crate) exclusion: usize,
    pub(crate) threshold: f64,
}

impl Wanted {
    /// What the options say, of a reference of `ends` ends.
    pub(crate) fn new(options: &SearchOptions, ends: usize) -> Self {
        let threshold = options.threshold.unwrap_or(f64::INFINITY);
        Self { top_k: options.top_k.min(ends), exclusion: options.exclusion, threshold }
    }

    /// Whether the host chooses.
    pub(crate) fn is_for_host(&self) -> bool {
        self.top_k > MOST_ON_DEVICE
    }

    /// What the host needs to choose.
    fn selection<T: Number>(&self, budget: &Budget) -> Selection<T> {
        let Self { top_k, exclusion, threshold } = *self;
        let threshold = threshold.is_finite().then_some(threshold);
        let options = SearchOptions { top_k, exclusion, threshold, normalized_window: None };
        Selection::new(&options, budget.limit / 2).within(budget.limit)
    }
}

/// What hits need on the device and on the way back; kept between calls.
#[derive(Debug)]
pub(crate) struct Searcher<T: Number, M: Machine> {
    costs: Region<M>,
    found: Region<M>,
    counts: Region<M>,
    excluded: Region<M>,
    lengths: Region<M>,
    /// Costs of windows.
    pub(crate) totals: Region<M>,
    /// What goes from block to block.
    pub(crate) carried: Carried<M>,
    host_costs: Vec<T>,
    host_found: Vec<u32>,
    host_counts: Vec<u32>,
}

impl<T: Number, M: Machine> Default for Searcher<T, M> {
    fn default() -> Self {
        Self {
            costs: Region::default(),
            found: Region::default(),
            counts: Region::default(),
            excluded: Region::default(),
            lengths: Region::default(),
            totals: Region::default(),
            carried: Carried::default(),
            host_costs: Vec::new(),
            host_found: Vec::new(),
            host_counts: Vec::new(),
        }
    }
}

/// Where candidates are: a cost for every end, task after task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates<'a> {
    pub(crate) totals: u64,
    /// 0: none.
    pub(crate) starts: u64,
    pub(crate) stride: u64,
    pub(crate) tasks: usize,
    pub(crate) longest: usize,
    /// Ends of each task; empty: all `longest`.
    pub(crate) lengths: &'a [u32],
}

impl<T: Number, M: Machine> Searcher<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.costs, &self.found, &self.counts, &self.excluded, &self.lengths, &self.totals]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.carried.bytes()
            + self.host_costs.capacity() * size_of::<T>()
            + (self.host_found.capacity() + self.host_counts.capacity()) * size_of::<u32>()
    }

    /// Bytes that the hits of one task take.
    pub(crate) fn task_bytes(top_k: usize, longest: usize) -> u64 {
        let hit = (size_of::<T>() + 2 * size_of::<u32>()) as u64;
        let excluded = if top_k > 1 { (longest.div_ceil(32) * size_of::<u32>()) as u64 } else { 0 };
        top_k as u64 * hit + 2 * size_of::<u32>() as u64 + excluded
    }

    /// Finds the cost of the best end of every task, without telling the host: `costs[task]`.
    /// `lengths` are those of the tasks, on the device; 0: all `longest`.
    pub(crate) fn best(machine: &M, candidates: &Candidates<'_>, lengths: u64, costs: u64) -> Result<()> {
        let p = params::Best {
            totals: candidates.totals,
            lengths,
            costs,
            stride: candidates.stride,
            tasks: candidates.tasks as u64,
            length: candidates.longest as u32,
            top_k: 1,
            ..params::Best::default()
        };
        machine.launch(best_kernel::<T>(), p.bytes(), blocks_for(p.tasks))
    }

    /// Finds the best ends of every task; [`Searcher::hits`] then has them.
    pub(crate) fn find(&mut self, machine: &M, candidates: &Candidates<'_>, wanted: Wanted) -> Result<()> {
        let Wanted { top_k, exclusion, .. } = wanted;
        let (tasks, hits) = (candidates.tasks, candidates.tasks * top_k);
        self.costs.reserve(machine, hits * size_of::<T>())?;
        self.found.reserve(machine, hits * 2 * size_of::<u32>())?;
        self.counts.reserve(machine, tasks * size_of::<u32>())?;
        let words = candidates.stride.div_ceil(32);
        let excluded = if top_k > 1 {
            self.excluded.zeros(machine, tasks * words as usize * size_of::<u32>())?
        } else {
            0
        };
        let lengths =
            if candidates.lengths.is_empty() { 0 } else { self.lengths.hold(machine, candidates.lengths)? };
        let whole = params::Best {
            totals: candidates.totals,
            starts: candidates.starts,
            lengths,
            costs: self.costs.address(),
            found: self.found.address(),
            counts: self.counts.address(),
            excluded,
            stride: candidates.stride,
            tasks: tasks as u64,
            length: candidates.longest as u32,
            top_k: top_k as u32,
            exclusion: exclusion as u64,
        };
        let kernel = best_kernel::<T>();
        if candidates.starts == 0 || size_of::<T>() == size_of::<u32>() {
            machine.launch(kernel, whole.bytes(), blocks_for(tasks as u64))?;
        } else {
            // Starts lie in slots as wide as a number, which the kernel's one stride says for the first task only.
            for k in 0..tasks as u64 {
                let step = |address: u64, bytes: u64| if address == 0 { 0 } else { address + k * bytes };
                let (number, hits) = (size_of::<T>() as u64, top_k as u64);
                let one = params::Best {
                    totals: step(whole.totals, whole.stride * number),
                    starts: step(whole.starts, whole.stride * number),
                    lengths: step(whole.lengths, 4),
                    costs: step(whole.costs, hits * number),
                    found: step(whole.found, hits * 8),
                    counts: step(whole.counts, 4),
                    excluded: step(whole.excluded, words * 4),
                    tasks: 1,
                    ..whole
                };
                machine.launch(kernel, one.bytes(), 1)?;
            }
        }
        fetch(machine, &self.costs, &mut self.host_costs, hits)?;
        fetch(machine, &self.found, &mut self.host_found, 2 * hits)?;
        fetch(machine, &self.counts, &mut self.host_counts, tasks)
    }

    /// The hits of task `k`. They come best first, so that those below a threshold come before the others.
    pub(crate) fn hits(&self, k: usize, wanted: Wanted) -> impl Iterator<Item = Match<T>> + '_ {
        let hits = (0..self.host_counts[k] as usize).map(move |hit| {
            let at = k * wanted.top_k + hit;
            let (start, end) = (self.host_found[2 * at] as usize, self.host_found[2 * at + 1] as usize);
            Match { distance: self.host_costs[at], start, end }
        });
        hits.take_while(move |hit| hit.distance.to_f64() <= wanted.threshold)
    }

    /// Chooses the hits of task `k` on the host, among `allowed` ends; its costs come a block at a time.
    pub(crate) fn hits_on_host(
        machine: &M,
        budget: &Budget,
        candidates: &Candidates<'_>,
        from: &M::Buffer,
        k: usize,
        allowed: Range<usize>,
        wanted: Wanted,
    ) -> Result<Vec<Match<T>>> {
        let mut selection = wanted.selection::<T>(budget);
        let task = k as u64 * candidates.stride * size_of::<T>() as u64;
        let at = |address: u64, end: usize| (address + task - from.address()) as usize + end * size_of::<T>();
        let (mut totals, mut starts) = (Vec::new(), Vec::new());
        for first in allowed.clone().step_by(HOST_ENDS) {
            let count = HOST_ENDS.min(allowed.end - first);
            totals.resize(count, T::ZERO);
            machine.download(from, at(candidates.totals, first), bytes_mut(&mut totals))?;
            if candidates.starts > 0 {
                // Starts lie in slots as wide as a number, one after the other.
                starts.resize(count, 0_u32);
                let slot = (candidates.starts + task - from.address()) as usize;
                machine.download(from, slot + first * size_of::<u32>(), bytes_mut(&mut starts))?;
            }
            selection.offer(&totals, |j| starts.get(j).map_or(0, |start| *start as usize))?;
        }
        let ahead = |hit: Match<T>| Match { end: allowed.start + hit.end, ..hit };
        Ok(selection.finish().into_iter().map(ahead).collect())
    }
}

/// Downloads `count` numbers.
fn fetch<M: Machine, V: crate::bytes::Plain + Default>(
    machine: &M,
    from: &Region<M>,
    to: &mut Vec<V>,
    count: usize,
) -> Result<()> {
    to.clear();
    to.resize(count, V::default());
    machine.download(from.buffer().expect("reserved before"), 0, bytes_mut(to))
}

/// A search over all pairs of a pairing.
pub(crate) struct Search<'a, T: Number, M: Machine> {
    pub(crate) engine: &'a mut Engine<T, M>,
    pub(crate) searcher: &'a mut Searcher<T, M>,
    pub(crate) banding: &'a mut Banding,
    pub(crate) functor: Functor,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) wanted: Wanted,
    pub(crate) references: Order,
    pub(crate) queries: Order,
}

impl<T: Number, M: Machine> Search<'_, T, M> {
    /// Calls `each` with query, reference and hits of every pair.
    pub(crate) fn run(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let usual = self.engine.budget;
        if self.banding.form() == Form::Full {
            // Without a band there are no tables, and the last column is as long as the reference.
            self.engine.budget = usual.without_tables();
        }
        let done = self.run_within(pairing, queries, references, each);
        self.engine.budget = usual;
        done
    }

    fn run_within(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        mut each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        self.banding.check(pairing, &self.references, &self.queries, Rows::Y)?;
        let preparation = Preparation::plain(self.functor, queries.channels());
        let chunks = self.chunks(pairing, &preparation)?;
        let (mut here_x, mut here_y) = (0..0, 0..0);
        for chunk in &chunks {
            stop_if_cancelled(self.observer)?;
            let Engine { machine, staging, budget, x, y, .. } = &mut *self.engine;
            if here_x != chunk.rows {
                let series = Bring { batch: references, order: &self.references, places: &chunk.rows };
                x.load(machine, staging, budget, &preparation, series)?;
                here_x = chunk.rows.clone();
            }
            if here_y != chunk.columns {
                let series = Bring { batch: queries, order: &self.queries, places: &chunk.columns };
                y.load(machine, staging, budget, &preparation, series)?;
                here_y = chunk.columns.clone();
            }
            let (outputs, tasks) = self.tile_size(chunk)?;
            for tile in tiles(chunk, outputs, tasks) {
                stop_if_cancelled(self.observer)?;
                self.tile(&tile, queries.channels(), &mut each)?;
                let cells = self.banding.cells_of(&tile, &self.references, &self.queries, Rows::Y)?;
                self.observer.advance(cells);
            }
        }
        Ok(())
    }

    /// Whether whole references fit the memory, with their last columns and hits.
    pub(crate) fn fits(&mut self, pairing: Pairing, channels: usize) -> bool {
        let usual = self.engine.budget;
        self.engine.budget = usual.without_tables();
        let preparation = Preparation::plain(self.functor, channels);
        let whole = Rect { rows: 0..self.references.len(), columns: 0..self.queries.len(), pairing };
        let fits = preparation.staged_bytes::<T>(self.references.longest(whole.rows.clone()))
            <= usual.staging
            && self.chunks(pairing, &preparation).is_ok()
            && self.tile_size(&whole).is_ok();
        self.engine.budget = usual;
        fits
    }

    fn chunks(&self, pairing: Pairing, preparation: &Preparation) -> Result<Vec<Rect>> {
        let bytes = |order: &Order, k: usize| preparation.bytes::<T>(order.length(k));
        chunks(
            pairing,
            (self.references.len(), self.queries.len()),
            &self.engine.budget,
            |k| bytes(&self.references, k),
            |k| bytes(&self.queries, k),
        )
    }

    /// Most tasks whose edges and hits fit, and most that one launch should take.
    fn tile_size(&mut self, chunk: &Rect) -> Result<(u64, u64)> {
        let n = self.references.longest(chunk.rows.clone());
        let m = self.queries.longest(chunk.columns.clone());
        let budget = &self.engine.budget;
        let edge = Sweeper::<M>::kept_bytes::<T>(&self.functor, n, m, budget);
        if edge > budget.edges {
            return Err(budget.exceeded(
                "the last column of a search (the backend cpu needs none)",
                edge,
                budget.edges,
            ));
        }
        let on_device = if self.wanted.is_for_host() { 1 } else { self.wanted.top_k };
        let hits = Searcher::<T, M>::task_bytes(on_device, n.next_multiple_of(32));
        if hits > budget.tile {
            return Err(budget.exceeded("the matches of a pair", hits, budget.tile));
        }
        let mut tasks = launch_tasks(n as u64 * m as u64, self.engine.sweeper.multiprocessors);
        let ranges = budget.tables / size_of::<RowRange>() as u64;
        if self.banding.most_ranges(&self.references, &self.queries) > ranges {
            tasks = tasks.min((ranges / n.max(1) as u64).max(1));
        }
        Ok(((budget.edges / edge).min(budget.tile / hits), tasks))
    }

    fn tile(
        &mut self,
        tile: &Rect,
        channels: usize,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let Engine { budget, x, y, sweeper, machine, .. } = &mut *self.engine;
        let (n, m) = (self.references.longest(tile.rows.clone()), self.queries.longest(tile.columns.clone()));
        let job = Job {
            functor: self.functor,
            channels,
            x: x.part(&self.references, &tile.rows),
            y: y.part(&self.queries, &tile.columns),
            pairing: tile.pairing,
            tasks: tile.tasks(),
            out: 0,
            out_stride: 0,
            cells: n as u64 * m as u64,
            keeps_edges: true,
            only_missing: false,
            last_row: 0,
        };
        let band = sweeper.band(self.banding, tile, &self.references, &self.queries, Rows::Y)?;
        let edges = sweeper.launch::<T>(&job, band, budget)?.expect("a search keeps its edges");
        let lengths: Vec<u32> = if self.references.is_equal_length() {
            Vec::new()
        } else {
            tile.pairs().map(|(r, _)| self.references.length(r) as u32).collect()
        };
        let candidates = Candidates {
            totals: edges.address,
            starts: if self.functor.parts == 1 {
                0
            } else {
                edges.address + edges.part_stride * size_of::<T>() as u64
            },
            stride: edges.stride,
            tasks: tile.tasks() as usize,
            longest: n,
            lengths: &lengths,
        };
        if self.banding.form() != Form::Full || self.wanted.is_for_host() {
            return self.on_host(tile, &candidates, each);
        }
        self.searcher.find(machine, &candidates, self.wanted)?;
        for (k, (r, q)) in tile.pairs().enumerate() {
            each(q, r, self.searcher.hits(k, self.wanted).collect());
        }
        Ok(())
    }

    /// Chosen here: many hits; and in a band, where only the ends that the query's last row allows count.
    fn on_host(
        &mut self,
        tile: &Rect,
        candidates: &Candidates<'_>,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let Engine { sweeper, machine, budget, .. } = &*self.engine;
        let buffer = sweeper.edges().buffer().expect("a search keeps its edges");
        for (k, (r, q)) in tile.pairs().enumerate() {
            let (n, m) = (self.queries.length(q), self.references.length(r));
            let allowed =
                if self.banding.form() == Form::Full { 0..m } else { self.banding.ranges(n, m)?.row(n - 1) };
            let hits = Searcher::hits_on_host(machine, budget, candidates, buffer, k, allowed, self.wanted)?;
            each(q, r, hits);
        }
        Ok(())
    }
}
