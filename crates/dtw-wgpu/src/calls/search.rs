//! Subsequence DTW: the best end of each query in each reference, or all of them. Rows are references, columns queries.

use std::ops::Range;

use dtw_core::{
    Blocks, Error, InMemory, Match, Pairing, Result, SearchOptions, Selection, SeriesBatch, WindowSearch,
    Windows, search_pairs,
};
use dtw_plan::{Axis, BandLayout, Budget, Order, Pairs, Rect, Rows, TileDevice, Walk, tiles};
use web_time::Instant;

use crate::calls::context::Context;
use crate::gpu::failure::{NAME, unsupported};
use crate::gpu::readback::{Readback, ready};
use crate::launch::engine::Engine;
use crate::launch::job::Job;
use crate::memory::region::Region;
use crate::memory::series::Preparation;
use crate::shaders::choose::choose;
use crate::shaders::sweep::Mode;

type Batch<'a> = SeriesBatch<'a, f32>;

/// Bytes of an end: its total's bits and where its path starts.
const END_BYTES: u64 = 8;

/// Points of a block of a reference, at most.
const MOST_BLOCK: u64 = 1 << 22;

/// What a search keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct Searcher {
    ends: Region,
    readback: Readback,
    fetched: Vec<[u32; 2]>,
}

impl Searcher {
    pub(crate) fn bytes(&self) -> u64 {
        self.ends.bytes() + self.readback.bytes() + END_BYTES * self.fetched.capacity() as u64
    }
}

/// References and queries as the planner's device.
struct Searching<'a> {
    engine: &'a mut Engine,
    searcher: &'a mut Searcher,
    preparation: Preparation<'a>,
    /// References and queries.
    batches: [&'a Batch<'a>; 2],
    /// Whether all ends are wanted.
    all: bool,
}

impl TileDevice for Searching<'_> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.held_bytes(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &self.preparation, self.batches[axis as usize], order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let cells = pairs.most_cells(chunk);
        let n = pairs.longest(chunk).0 as u64;
        let (ends, tile) = (if self.all { n } else { 2 }, self.engine.budget.tile);
        if ends * END_BYTES > tile {
            return Err(self.engine.budget.exceeded("the ends of one reference", ends * END_BYTES, tile));
        }
        let tasks = self.engine.speed.tile_tasks(cells).min(tile / (ends * END_BYTES)).max(1);
        Ok(tiles(chunk, u64::MAX, tasks.min(self.engine.table_tasks(pairs, chunk))))
    }
}

impl Searching<'_> {
    /// Sweeps a tile and begins to fetch its ends: so many of each pair.
    fn launch(&mut self, pairs: &mut Pairs<'_>, tile: &Rect) -> Result<usize> {
        let Self { engine, searcher, preparation, all, .. } = self;
        let mut job = engine.job(preparation, pairs, tile, Mode::Search { all: *all })?;
        let of_task = if *all { job.longest.0 } else { 2 };
        job.params.stride = of_task as u32;
        searcher.fetched.resize(job.tasks as usize * of_task, [0; 2]);
        let bytes = END_BYTES * searcher.fetched.len() as u64;
        let results = searcher.ends.reserve(&engine.gpu, bytes, "ends of a search")?;
        engine.dispatch(&job, results, pairs.observer)?;
        searcher.readback.begin(&engine.gpu, results, 0, bytes)?;
        Ok(of_task)
    }
}

/// The hits of a pair, of all its ends or of the best one.
fn hits(options: &SearchOptions, budget: &Budget, ends: &[[u32; 2]]) -> Result<Vec<Match<f32>>> {
    if is_of_all(options) {
        let mut selection = Selection::new(options, budget.staging).within(budget.limit);
        let costs: Vec<f32> = ends.iter().map(|end| total(*end)).collect();
        selection.offer(&costs, |k| ends[k][1] as usize)?;
        return Ok(selection.finish());
    }
    let best = Match { distance: total(ends[0]), start: ends[0][1] as usize, end: ends[1][0] as usize };
    let most = options.threshold.unwrap_or(f64::INFINITY);
    let is_hit = best.distance < f32::INFINITY && f64::from(best.distance) <= most;
    Ok(if is_hit { vec![best] } else { Vec::new() })
}

/// Whether all ends are wanted.
fn is_of_all(options: &SearchOptions) -> bool {
    options.top_k != 1
}

/// The total of an end; infinity where no path ends there, which shaders do not know.
fn total(end: [u32; 2]) -> f32 {
    let total = f32::from_bits(end[0]);
    if total >= f32::MAX { f32::INFINITY } else { total }
}

/// Whether a whole reference fits the memory, beside the queries and with its ends.
fn holds_ends(
    context: &Context,
    pairing: Pairing,
    queries: &Batch<'_>,
    references: &Batch<'_>,
    options: &SearchOptions,
) -> bool {
    let (budget, channels) = (&context.engine.budget, queries.channels());
    let preparation =
        Preparation { spec: context.problem.spec(), functor: context.functor, channel: None, channels };
    // As the planner shares out: a side leaves to the other what it does not need, or half.
    let of_queries = match pairing {
        Pairing::Zipped => preparation.held_bytes(queries.max_length()),
        _ => {
            let all = Order::given(queries, 0).total(|length| preparation.held_bytes(length));
            all.min(budget.sides / 2)
        }
    };
    let longest = references.max_length();
    preparation.held_bytes(longest).saturating_add(of_queries) <= budget.sides
        && (!is_of_all(options) || longest as u64 * END_BYTES <= budget.tile)
}

impl Searcher {
    /// Calls `put` with the number of a query, that of a reference, and the hits of the one in the other.
    async fn search(
        &mut self,
        context: &mut Context,
        pairing: Pairing,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
        mut put: impl FnMut(usize, usize, Vec<Match<f32>>),
    ) -> Result<()> {
        let (mut pass, engine) = context.pass(pairing);
        pass.kind = Rows::Y;
        let (budget, all) = (engine.budget, is_of_all(options));
        let (rows, columns) = Order::of(pairing, references, queries, 0);
        let (preparation, batches) = (pass.preparation(queries.channels()), [references, queries]);
        let mut pairs = pass.pairs(&rows, &columns);
        let mut device = Searching { engine, searcher: self, preparation, batches, all };
        let mut walk = Walk::new(&device, &mut pairs, &budget)?;
        while let Some(tile) = walk.next(&mut device, &mut pairs)? {
            let begun = Instant::now();
            let of_task = device.launch(&mut pairs, &tile)?;
            let Searching { engine, searcher, .. } = &mut device;
            searcher.readback.finish_async(&engine.gpu, &mut searcher.fetched).await?;
            let cells = pairs.cells(&tile)?;
            // A browser shows its speed by whole tiles: it does not wait for dispatches.
            if cfg!(target_arch = "wasm32") {
                engine.speed.learn(cells, begun.elapsed());
            }
            for ((row, column), ends) in tile.pairs().zip(searcher.fetched.chunks_exact(of_task)) {
                let ends = if all { &ends[..rows.length(row)] } else { ends };
                put(columns.series(column), rows.series(row), hits(options, &budget, ends)?);
            }
            pairs.observer.advance(cells);
        }
        Ok(())
    }

    /// The cost of the best match of every pair.
    pub(crate) fn distances(
        &mut self,
        context: &mut Context,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        out: &mut [f32],
    ) -> Result<()> {
        let (pairing, columns) = (context.problem.pairing(), references.len());
        self.each_match(context, pairing, queries, references, &SearchOptions::default(), |q, r, hits| {
            let at = if pairing == Pairing::Zipped { q } else { q * columns + r };
            out[at] = hits.first().map_or(f32::INFINITY, |hit| hit.distance);
        })
    }

    /// The best matches of every query in every reference, in that order.
    pub(crate) fn matches(
        &mut self,
        context: &mut Context,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        let columns = references.len();
        self.each_match(context, Pairing::Cross, queries, references, options, |q, r, hits| {
            matches[q * columns + r] = hits
        })?;
        Ok(matches)
    }

    /// As `matches`, where nothing may wait.
    pub(crate) async fn matches_async(
        &mut self,
        context: &mut Context,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        if options.top_k == 0 || matches.is_empty() {
            return Ok(matches);
        }
        if !holds_ends(context, Pairing::Cross, queries, references, options) {
            let what = "a reference whose ends do not fit the memory, in a call that does not wait";
            return Err(Error::left_to_cpu(NAME, what));
        }
        let columns = references.len();
        let put = |q, r, hits| matches[q * columns + r] = hits;
        self.search(context, Pairing::Cross, queries, references, options, put).await?;
        Ok(matches)
    }

    /// As `search`; block by block where whole references do not fit the memory.
    pub(crate) fn each_match(
        &mut self,
        context: &mut Context,
        pairing: Pairing,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
        put: impl FnMut(usize, usize, Vec<Match<f32>>),
    ) -> Result<()> {
        // A band needs the whole reference.
        let is_banded = context.banding.layout() != BandLayout::Full;
        if is_banded || holds_ends(context, pairing, queries, references, options) {
            return ready(self.search(context, pairing, queries, references, options, put));
        }
        let search = |some: Range<usize>, reference: &mut InMemory<'_, f32>| {
            self.matches_in_blocks(context, &queries.slice(some), reference, options)
        };
        search_pairs(pairing, queries.len(), references, search, put)
    }

    /// The best matches of each query in a reference that comes block by block. The last row of a block stays on the
    /// device until the next one comes.
    pub(crate) fn matches_in_blocks(
        &mut self,
        context: &mut Context,
        queries: &Batch<'_>,
        reference: &mut dyn Blocks<f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let Context { problem, functor, engine, observer, .. } = context;
        let (budget, channels) = (engine.budget, queries.channels());
        let (order, tasks) = (Order::given(queries, 0), queries.len());
        let m = queries.max_length();
        let preparation = Preparation { spec: problem.spec(), functor: *functor, channel: None, channels };
        let of_queries = order.total(|length| preparation.held_bytes(length));
        let carried = (tasks * (m + 2)) as u64 * END_BYTES;
        if of_queries > budget.sides {
            return Err(budget.exceeded("the queries of a search in blocks", of_queries, budget.sides));
        }
        if carried > budget.edges / 2 {
            return Err(budget.exceeded("the last rows of a search in blocks", carried, budget.edges / 2));
        }
        let most = engine.gpu.limits().max_compute_workgroups_per_dimension as usize;
        if tasks > most {
            return Err(unsupported(format!(
                "{tasks} queries at once in a reference that comes in blocks: search for at most {most} at a time"
            )));
        }
        // Rows of a block: its points, its ends for all queries, and the edges of its strips.
        let own_edges = (budget.edges - carried) / (tasks as u64 * END_BYTES);
        let block = (budget.staging / preparation.held_bytes(1))
            .min(budget.tile / (tasks as u64 * END_BYTES))
            .min(own_edges.saturating_sub(1))
            .clamp(1, MOST_BLOCK);
        engine.edges.reserve(&engine.gpu, carried + tasks as u64 * (block + 1) * END_BYTES, "edges")?;
        engine.y.load(&engine.gpu, &preparation, queries, &order, &(0..tasks))?;
        let share = budget.staging / tasks as u64;
        let selections = (0..tasks).map(|_| Selection::new(options, share).within(budget.limit)).collect();
        let search = WindowSearch { length: 1, channels, most: block as usize, selections };
        let mut costs = Vec::new();
        search.each_block(reference, &**observer, |Windows { first, count: n, points }, selections| {
            if first + n > u32::MAX as usize / 2 {
                return Err(Error::left_to_cpu(
                    NAME,
                    format!("a reference of more than {} points", u32::MAX / 2),
                ));
            }
            let batch = SeriesBatch::equal(points, 1, n, channels)?;
            engine.x.load(&engine.gpu, &preparation, &batch, &Order::given(&batch, 0), &(0..1))?;
            let mode = Mode::Search { all: true };
            let mut sweep = choose(&engine.gpu, *functor, channels, (usize::MAX, m), false, mode);
            sweep.one_strip = false;
            let rect = Rect { rows: 0..1, columns: 0..tasks, pairing: Pairing::Cross };
            let mut params = engine.params_of(&preparation, &rect, false);
            (params.stride, params.row_base, params.saves) = (n as u32, first as u32, 1);
            let bytes = (tasks * n) as u64 * END_BYTES;
            let results = self.ends.reserve(&engine.gpu, bytes, "ends of a search")?;
            let cells = n as u64 * m as u64;
            let job = Job { sweep, params, tasks: tasks as u64, longest: (n, m), cells, within_x: false };
            engine.dispatch(&job, results, &**observer)?;
            self.fetched.resize(tasks * n, [0; 2]);
            self.readback.fetch(&engine.gpu, results, 0, &mut self.fetched)?;
            for (selection, ends) in selections.iter_mut().zip(self.fetched.chunks_exact(n)) {
                costs.clear();
                costs.extend(ends.iter().map(|end| total(*end)));
                selection.offer(&costs, |k| ends[k][1] as usize)?;
            }
            observer.advance(order.total(|length| length as u64) * n as u64);
            Ok(())
        })
    }
}
