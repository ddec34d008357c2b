//! Finding queries in references: a sweep that keeps its last column, then the best ends of that.
//!
//! The kernel's rows are the reference and its columns the query, so that the last column holds, for every point of the
//! reference, the cost of the best match that ends there.

use std::ops::Range;

use dtw_core::{Match, Observer, Pairing, Precision, Result};
use dtw_plan::{
    Axis, BandLayout, Banding, Budget, Order, Pairs, Rect, Rows, TileDevice, chunks, each_tile, tiles,
};

use crate::engine::Engine;
use crate::launch::candidates::Candidates;
use crate::launch::functor::Functor;
use crate::launch::hits::{HitOptions, Searcher};
use crate::launch::job::{Edges, Job};
use crate::launch::propose::{self, Proposals};
use crate::launch::sweep::Sweeper;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::prepared::Preparation;
use crate::series::source::SideSource;

/// Bytes of prepared series, at least: of their tables.
const LEAST_SIDES: u64 = 1 << 16;

/// A search over all pairs of a pairing.
pub(crate) struct Search<'a, T: Number, M: Machine> {
    pub(crate) engine: &'a mut Engine<T, M>,
    pub(crate) searcher: &'a mut Searcher<T, M>,
    pub(crate) banding: &'a mut Banding,
    pub(crate) functor: Functor,
    /// The functor that knows where matches start.
    pub(crate) located: Functor,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) wanted: HitOptions,
    pub(crate) channels: usize,
    pub(crate) references: Order,
    pub(crate) queries: Order,
    /// The series of references and of queries.
    pub(crate) sources: [SideSource<'a, T, M>; 2],
}

impl<'a, T: Number, M: Machine> Search<'a, T, M> {
    /// Calls `each` with query, reference and hits of every pair.
    pub(crate) fn run(
        self,
        pairing: Pairing,
        mut each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        self.within(pairing, |sweeps, pairs| {
            let budget = sweeps.engine.budget;
            each_tile(sweeps, pairs, &budget, |sweeps, pairs, tile| {
                sweeps.hits(pairs, tile, &mut each)?;
                let cells = pairs.cells(tile)?;
                pairs.observer.advance(cells);
                Ok(())
            })
        })
    }

    /// Puts the cost of the best match of every pair in its place on the device, from `costs` on.
    pub(crate) fn run_in_place(self, pairing: Pairing, costs: u64) -> Result<()> {
        self.within(pairing, |sweeps, pairs| {
            let budget = sweeps.engine.budget.in_place();
            sweeps.in_place = true;
            each_tile(sweeps, pairs, &budget, |sweeps, pairs, tile| sweeps.best(pairs, tile, costs))
        })
    }

    /// Whether whole references fit the memory, with their last columns and hits.
    pub(crate) fn fits(&mut self, pairing: Pairing) -> bool {
        let usual = self.engine.budget;
        let budget = usual.without_tables();
        let preparation = Preparation::plain(self.functor, self.channels);
        let whole = Rect { rows: 0..self.references.len(), columns: 0..self.queries.len(), pairing };
        let bytes = |length: usize| preparation.bytes::<T>(length);
        let longest = (self.references.longest(whole.rows.clone()), self.queries.longest(whole.columns));
        self.engine.budget = budget;
        let fits = preparation.staged_bytes::<T>(longest.0) <= budget.staging
            && chunks(pairing, (&self.references, &self.queries), &budget, bytes, bytes).is_ok()
            && most_tasks(self.engine, &self.functor, Some(self.wanted), longest).is_ok();
        self.engine.budget = usual;
        fits
    }

    /// The shares of the memory: last columns have what series leave. Without a band there are no tables, and the last
    /// column is as long as the reference.
    fn shares(&self, preparation: &Preparation) -> Budget {
        let usual = self.engine.budget;
        let budget = if self.banding.layout() == BandLayout::Full { usual.without_tables() } else { usual };
        let bytes = |length: usize| preparation.bytes::<T>(length);
        let both = self.references.total(bytes).saturating_add(self.queries.total(bytes));
        // What an earlier call has left there may be larger.
        budget.with_sides(both.saturating_mul(2).saturating_add(LEAST_SIDES))
    }

    /// Calls `work` with the pairs, and with what sweeps them.
    fn within<R>(
        self,
        pairing: Pairing,
        work: impl FnOnce(&mut Sweeps<'a, T, M>, &mut Pairs<'_>) -> Result<R>,
    ) -> Result<R> {
        let usual = self.engine.budget;
        let preparation = Preparation::plain(self.functor, self.channels);
        self.engine.budget = self.shares(&preparation);
        let Engine { budget, sweeper, x, y, .. } = &mut *self.engine;
        if (x.bytes() + y.bytes()) as u64 > budget.sides {
            (*x, *y) = Default::default();
        }
        sweeper.shrink(budget.edges);
        if self.wanted.precision == Precision::Full {
            self.searcher.carried.proposals = Proposals::default();
        }
        let mut pairs = Pairs {
            pairing,
            rows: &self.references,
            columns: &self.queries,
            kind: Rows::Y,
            banding: self.banding,
            observer: self.observer,
        };
        let mut sweeps = Sweeps {
            engine: self.engine,
            searcher: self.searcher,
            preparation,
            located: self.located,
            wanted: self.wanted,
            sources: self.sources,
            in_place: false,
        };
        let done = work(&mut sweeps, &mut pairs);
        sweeps.engine.budget = usual;
        done
    }
}

/// The sweeps of a search.
pub(crate) struct Sweeps<'a, T: Number, M: Machine> {
    pub(crate) engine: &'a mut Engine<T, M>,
    pub(crate) searcher: &'a mut Searcher<T, M>,
    pub(crate) preparation: Preparation,
    pub(crate) located: Functor,
    pub(crate) wanted: HitOptions,
    sources: [SideSource<'a, T, M>; 2],
    /// Whether costs are put in their places on the device.
    in_place: bool,
}

/// Most tasks whose edges, and hits if some are wanted, fit at once, of references and queries that are at most so
/// long.
fn most_tasks<T: Number, M: Machine>(
    engine: &Engine<T, M>,
    functor: &Functor,
    wanted: Option<HitOptions>,
    (n, m): (usize, usize),
) -> Result<u64> {
    let budget = &engine.budget;
    let edge = Sweeper::<M>::kept_bytes::<T>(functor, n, m, budget);
    if edge > budget.edges {
        let what = "the last column of a search (the backend cpu needs none)";
        return Err(budget.exceeded(what, edge, budget.edges));
    }
    let Some(wanted) = wanted else { return Ok(budget.edges / edge) };
    let on_device = if wanted.is_for_host() { 1 } else { wanted.top_k };
    let hits = Searcher::<T, M>::task_bytes(on_device, n.next_multiple_of(32));
    if hits > budget.tile {
        return Err(budget.exceeded("the matches of a pair", hits, budget.tile));
    }
    Ok((budget.edges / edge).min(budget.tile / hits))
}

impl<T: Number, M: Machine> TileDevice for Sweeps<'_, T, M> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.bytes::<T>(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &mut self.sources[axis as usize], &self.preparation, order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let (n, m) = pairs.longest(chunk);
        let tasks = self.engine.launch_tasks(pairs, chunk, n as u64 * m as u64, self.in_place);
        let wanted = (!self.in_place).then_some(self.wanted);
        let mut most = most_tasks(self.engine, &self.preparation.functor, wanted, (n, m))?;
        if self.wanted.precision == Precision::Half {
            let proposed = propose::most_tasks(chunk.columns.len(), (n, m), &self.engine.budget);
            most = if proposed > 1 { most.min(proposed) } else { most };
        }
        if !self.in_place {
            return Ok(tiles(chunk, most, tasks));
        }
        if chunk.pairing == Pairing::Zipped || pairs.rows.len() == 1 {
            return Ok(tiles(chunk, most, tasks));
        }
        // Costs come out task by task, with queries running fastest; in their places references do. So one query at a
        // time.
        let of_query = |q: usize| Rect { columns: q..q + 1, ..chunk.clone() };
        Ok(chunk.columns.clone().flat_map(|q| tiles(&of_query(q), most, tasks)).collect())
    }
}

impl<T: Number, M: Machine> Sweeps<'_, T, M> {
    /// The job that sweeps a tile by this functor.
    pub(crate) fn job(&self, pairs: &Pairs<'_>, tile: &Rect, functor: Functor) -> Job {
        let Engine { x, y, .. } = &*self.engine;
        let sides = [x.part(pairs.rows, &tile.rows), y.part(pairs.columns, &tile.columns)];
        Job { keeps_edges: true, ..Job::of(functor, self.preparation.channels, sides, tile) }
    }

    /// The job of a tile as one of windows: their places count from the first prepared point of all.
    pub(crate) fn job_of_windows(&self, pairs: &Pairs<'_>, tile: &Rect) -> Job {
        let Engine { x, y, .. } = &*self.engine;
        let mut job = self.job(pairs, tile, self.located);
        (job.x.values, job.y.values) = (x.values().0, y.values().0);
        job
    }

    /// Sweeps a tile by this functor; its last columns stay on the device.
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, functor: Functor) -> Result<(Job, Edges)> {
        let job = self.job(pairs, tile, functor);
        let Engine { budget, sweeper, .. } = &mut *self.engine;
        let band = sweeper.band(pairs, tile)?;
        let edges = sweeper.launch::<T>(&job, band, budget)?.expect("a search keeps its edges");
        Ok((job, edges))
    }

    /// Calls `each` with query, reference and hits of every pair of a tile.
    fn hits(
        &mut self,
        pairs: &mut Pairs<'_>,
        tile: &Rect,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let Some(left) = self.proposed(pairs, tile, each)? else { return self.swept_hits(pairs, tile, each) };
        if left.is_empty() {
            return Ok(());
        }
        self.make_room_for(pairs, tile, tile.tasks());
        // Of each reference, the runs of queries that are left; or all, where that takes less time.
        let queries = tile.columns.len();
        let runs = left.chunk_by(|a, b| a + 1 == *b && a / queries == b / queries).map(|run| {
            let (row, first) = (tile.rows.start + run[0] / queries, tile.columns.start + run[0] % queries);
            Rect { rows: row..row + 1, columns: first..first + run.len(), pairing: tile.pairing }
        });
        let runs: Vec<Rect> = runs.collect();
        if runs.iter().map(|run| self.cycles(pairs, run)).sum::<f64>() < self.cycles(pairs, tile) {
            return runs.iter().try_for_each(|run| self.swept_hits(pairs, run, each));
        }
        self.swept_hits(pairs, tile, &mut |query, reference, hits| {
            let task = (reference - tile.rows.start) * queries + query - tile.columns.start;
            if left.binary_search(&task).is_ok() {
                each(query, reference, hits);
            }
        })
    }

    /// Gives back the memory of proposals where it is needed for sweeping so many pairs of a tile whole.
    fn make_room_for(&mut self, pairs: &Pairs<'_>, tile: &Rect, tasks: u64) {
        let budget = &self.engine.budget;
        let (n, m) = pairs.longest(tile);
        let each = Sweeper::<M>::kept_bytes::<T>(&self.preparation.functor, n, m, budget);
        if tasks * each > budget.edges - propose::share(budget) {
            self.searcher.carried.proposals = Proposals::default();
        }
    }

    /// The same, by sweeps of the whole.
    fn swept_hits(
        &mut self,
        pairs: &mut Pairs<'_>,
        tile: &Rect,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        if let Some(hits) = self.in_stretches(pairs, tile)? {
            for ((r, q), hits) in tile.pairs().zip(hits) {
                each(q, r, hits);
            }
            return Ok(());
        }
        let costs = self.costs_come_first(pairs, tile).then(|| self.located.without_starts());
        for functor in costs.into_iter().chain([self.preparation.functor]) {
            let Some(all) = self.hits_of_sweep(pairs, tile, functor, each)? else { continue };
            for ((r, q), hits) in tile.pairs().zip(all) {
                each(q, r, hits);
            }
            break;
        }
        Ok(())
    }

    /// The hits of a tile by this functor's sweep; `None` if starts take too long to find behind it, or if the host has
    /// called `each`.
    fn hits_of_sweep(
        &mut self,
        pairs: &mut Pairs<'_>,
        tile: &Rect,
        functor: Functor,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<Option<Vec<Vec<Match<T>>>>> {
        let (job, edges) = self.sweep(pairs, tile, functor)?;
        let lengths: Vec<u32> = if pairs.rows.is_equal_length() {
            Vec::new()
        } else {
            tile.pairs().map(|(r, _)| pairs.rows.length(r) as u32).collect()
        };
        let candidates = Candidates {
            totals: edges.address,
            starts: if job.functor.parts == 1 {
                0
            } else {
                edges.address + edges.part_stride * size_of::<T>() as u64
            },
            stride: edges.stride,
            tasks: tile.tasks() as usize,
            longest: job.x.length as usize,
            lengths: &lengths,
        };
        if pairs.banding.layout() != BandLayout::Full || self.wanted.is_for_host() {
            self.on_host(pairs, tile, &candidates, each)?;
            return Ok(None);
        }
        self.searcher.find(&self.engine.machine, &candidates, self.wanted)?;
        let mut all: Vec<Vec<Match<T>>> =
            (0..candidates.tasks).map(|k| self.searcher.hits(k, self.wanted).collect()).collect();
        let has_starts = functor.parts == self.preparation.functor.parts;
        Ok((has_starts || self.locate(pairs, tile, &mut all)?).then_some(all))
    }

    /// Chosen here: many hits; and in a band, where only the ends that the query's last row allows count.
    fn on_host(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        candidates: &Candidates<'_>,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let Engine { sweeper, machine, budget, .. } = &*self.engine;
        let buffer = sweeper.edges().buffer().expect("a search keeps its edges");
        for (k, (r, q)) in tile.pairs().enumerate() {
            let allowed = self.allowed(pairs, r, q)?;
            let hits = Searcher::hits_on_host(machine, budget, candidates, buffer, k, allowed, self.wanted)?;
            each(q, r, hits);
        }
        Ok(())
    }

    /// Puts the costs of a tile in their places: as many as there are pairs, one after the other.
    fn best(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, costs: u64) -> Result<()> {
        let (job, edges) = self.sweep(pairs, tile, self.preparation.functor)?;
        let candidates = Candidates {
            totals: edges.address,
            starts: 0,
            stride: edges.stride,
            tasks: tile.tasks() as usize,
            longest: job.x.length as usize,
            lengths: &[],
        };
        let references = pairs.rows.len();
        let (r, q) = (tile.rows.start, tile.columns.start);
        let at = if tile.pairing == Pairing::Zipped { r } else { q * references + r };
        let costs = costs + (at * size_of::<T>()) as u64;
        if pairs.banding.layout() != BandLayout::Full {
            return self.best_in_band(pairs, tile, &candidates, costs);
        }
        // Zipped pairs and those of one query have the references' lengths in the order of their tasks.
        let lengths = if references > 1 { job.x.lengths } else { 0 };
        Searcher::<T, M>::best(&self.engine.machine, &candidates, lengths, costs)
    }

    /// Puts the costs of a tile in their places where only the ends that the query's last row allows count: a launch
    /// for each run of pairs with the same ends.
    fn best_in_band(
        &self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        candidates: &Candidates<'_>,
        costs: u64,
    ) -> Result<()> {
        let number = size_of::<T>() as u64;
        let mut runs: Vec<(Range<usize>, u64)> = Vec::new();
        if pairs.rows.is_equal_length() && pairs.columns.is_equal_length() {
            runs.push((self.allowed(pairs, tile.rows.start, tile.columns.start)?, tile.tasks()));
        } else {
            for (r, q) in tile.pairs() {
                let allowed = self.allowed(pairs, r, q)?;
                match runs.last_mut().filter(|(ends, _)| *ends == allowed) {
                    Some((_, tasks)) => *tasks += 1,
                    None => runs.push((allowed, 1)),
                }
            }
        }
        let mut task = 0;
        for (ends, tasks) in runs {
            let run = Candidates {
                totals: candidates.totals + (task * candidates.stride + ends.start as u64) * number,
                tasks: tasks as usize,
                longest: ends.len(),
                ..*candidates
            };
            Searcher::<T, M>::best(&self.engine.machine, &run, 0, costs + task * number)?;
            task += tasks;
        }
        Ok(())
    }

    /// The ends that the last row of a query allows in a reference.
    fn allowed(&self, pairs: &Pairs<'_>, reference: usize, query: usize) -> Result<Range<usize>> {
        let (n, m) = (pairs.columns.length(query), pairs.rows.length(reference));
        if pairs.banding.layout() == BandLayout::Full {
            return Ok(0..m);
        }
        Ok(pairs.banding.ranges(n, m)?.row(n - 1))
    }
}
