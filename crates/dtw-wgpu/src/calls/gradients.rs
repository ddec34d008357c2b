//! Values and gradients of Soft-DTW and its divergence, of zipped pairs, and the expected alignment.
//!
//! Forward, each cell's shares of its predecessors are kept; backward, they become the expected alignment E, cell by
//! cell; a third shader sums E times the slopes of the costs, along rows and along columns. Where the grids of enough
//! pairs do not fit the memory, they are cut into blocks of rows: a sweep before keeps the rows between blocks, and the
//! blocks are taken from the last to the first. Where they are cut depends on memory alone, not on the device's speed.

use std::ops::Range;

use dtw_core::recurrence::{One, dispatch};
use dtw_core::{Error, Gradients, LocalCost, Pairing, Result, SeriesBatch, SoftResult};
use dtw_plan::{Axis, Order, Pairs, Rect, TileDevice, each_tile, tiles};

use crate::calls::context::Context;
use crate::calls::gradient_blocks::{GradientBlocks, NUMBER, SHARES, STATE};
use crate::gpu::launch::Launch;
use crate::gpu::readback::Readback;
use crate::launch::engine::Engine;
use crate::launch::job::{Job, Piece};
use crate::launch::queue::Queue;
use crate::launch::recurrence::{Finish, Lengths};
use crate::memory::region::Region;
use crate::memory::series::Preparation;
use crate::shaders::params::Params;
use crate::shaders::sweep::{Mode, Sweep};

type Batch<'a> = SeriesBatch<'a, f32>;

/// Rows of a dispatch that one is sure to need.
const DISPATCHED_ROWS: u64 = 256;

/// What gradients keep between calls.
#[derive(Debug, Default)]
pub(crate) struct Differentiator {
    /// Shares, then E, of a block of rows of all pairs; behind them the states of their last cells.
    grid: Region,
    /// The rows between blocks.
    kept: Region,
    /// Last cells of the sweep forward, for which nobody asks.
    unused: Region,
    /// What cells hand on across strips and blocks on the way back.
    edges: Region,
    sums: Region,
    readback: Readback,
    states: Vec<f32>,
    fetched: Vec<[f32; 2]>,
}

impl Differentiator {
    pub(crate) fn bytes(&self) -> u64 {
        [&self.grid, &self.kept, &self.unused, &self.edges, &self.sums].map(Region::bytes).iter().sum::<u64>()
            + self.readback.bytes()
            + NUMBER * self.states.capacity() as u64
            + STATE * self.fetched.capacity() as u64
    }
}

/// Where the results of pairs go, pair by pair as the batches have them.
enum Results<'a> {
    Gradients(Gradients<'a, f32>),
    /// The expected alignment of the only pair.
    Alignment(&'a mut [f32]),
}

/// Zipped pairs as the planner's device.
struct Soft<'a> {
    engine: &'a mut Engine,
    own: &'a mut Differentiator,
    preparation: Preparation<'a>,
    batches: [&'a Batch<'a>; 2],
    /// Rows of a block; none where each pair has its own.
    rows: Option<u64>,
}

impl TileDevice for Soft<'_> {
    /// With its gradient: on the device, on its way back, and as it is put in its place.
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.held_bytes(length) + 3 * STATE * (length * self.preparation.channels) as u64
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &self.preparation, self.batches[axis as usize], order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let (n, m) = pairs.longest(chunk);
        let (n, m) = (n as u64, m as u64);
        let budget = self.engine.budget;
        // The longest series need not be a pair: where they would not fit, pairs are taken one by one.
        let cut = GradientBlocks::of(n, m, chunk.tasks(), self.share()).ok();
        self.rows = cut.map(|cut| cut.rows);
        let rows = self.rows.unwrap_or(n).min(DISPATCHED_ROWS);
        // Gradients of a tile are as long as its longest: in sum no longer than the series they are counted with.
        let points = |rows: &Order, places: &Range<usize>| -> u64 {
            places.clone().map(|place| rows.length(place) as u64).sum()
        };
        let points_of_both = points(pairs.rows, &chunk.rows) + points(pairs.columns, &chunk.columns);
        let tasks = cut
            .map_or(1, |cut| cut.tasks)
            .min(budget.edges / 2 / ((rows + 1 + m) * STATE))
            .min(points_of_both / (n + m))
            .min(self.engine.speed.tile_tasks(rows * m))
            .min(self.engine.table_tasks(pairs, chunk));
        Ok(tiles(chunk, u64::MAX, tasks.max(1)))
    }
}

/// A tile of pairs under way.
struct Tile<'a> {
    job: Job,
    /// What is dispatched at once of a block.
    piece: Piece,
    queue: Queue<'a>,
}

impl Tile<'_> {
    /// Sweeps a block of rows, in reverse if asked.
    fn sweep(&mut self, launch: &Launch, block: &Range<u64>, in_reverse: bool) -> Result<()> {
        let params = Params { block: block.start as u32, ..self.job.params };
        self.queue.put_block(launch, &self.job, params, self.piece, block.clone(), in_reverse)
    }

    /// Adds what a block has to the gradients of one side, of pairs of `n` and `m` points.
    fn pull(
        &mut self,
        engine: &Engine,
        launch: &Launch,
        block: &Range<u64>,
        (n, m): (u64, u64),
        of_x: bool,
    ) -> Result<()> {
        let Job { params, tasks, sweep, .. } = &self.job;
        let (channels, lanes) = (u64::from(params.channels), u64::from(sweep.lanes.count()));
        let (points, along) = if of_x { (block.end - block.start, 0..m) } else { (m, block.clone()) };
        let values = tasks * points * channels;
        let run = engine.gpu.loop_limit().unwrap_or(u64::MAX).min(along.end - along.start);
        let most = u64::from(engine.gpu.limits().max_compute_workgroups_per_dimension) * lanes;
        let step = (engine.speed.cells() / run).clamp(lanes, most);
        let mut params = Params {
            stride: (points * channels) as u32,
            block: block.start as u32,
            edge_first: if of_x { 0 } else { (tasks * n * channels) as u32 },
            edge_stride: (channels * if of_x { n } else { m }) as u32,
            ..*params
        };
        for from in along.clone().step_by(run as usize) {
            let to = along.end.min(from + run) as u32;
            if of_x {
                (params.strip_first, params.strip_end) = (from as u32, to);
            } else {
                (params.row_first, params.row_end) = (from as u32, to);
            }
            for first in (0..values).step_by(step as usize) {
                let end = values.min(first + step);
                (params.first, params.end) = (first as u32, end as u32);
                let count = end - first;
                self.queue.put(launch, &params, count.div_ceil(lanes), count * run)?;
            }
        }
        Ok(())
    }
}

impl Soft<'_> {
    /// Bytes for grids and for the rows between blocks.
    fn share(&self) -> u64 {
        let Engine { budget, gpu, .. } = &*self.engine;
        let limits = gpu.limits();
        (budget.limit / 8).min(limits.max_storage_buffer_binding_size).min(limits.max_buffer_size)
    }

    /// Rows of a block of pairs of `n` and `m` points.
    fn block_rows(&self, n: u64, m: u64) -> Result<u64> {
        let refused = |least| {
            let what = format!("the grid of a gradient of {n} and {m} points");
            self.engine.budget.exceeded(&what, least, self.share())
        };
        match self.rows {
            Some(rows) => Ok(rows.min(n)),
            None => Ok(GradientBlocks::of(n, m, 1, self.share()).map_err(refused)?.rows),
        }
    }

    /// Sweeps a tile of pairs forward and backward, and puts its results in their places.
    fn tile(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, results: &mut Results<'_>) -> Result<()> {
        let (longest, tasks) = (pairs.longest(tile), tile.tasks());
        let (n, m) = (longest.0 as u64, longest.1 as u64);
        let rows = self.block_rows(n, m)?;
        let Self { engine, own, preparation, .. } = self;
        let (functor, channels) = (preparation.functor, preparation.channels);
        let is_gradient = matches!(results, Results::Gradients(_));
        let ends = SHARES * rows * m * tasks;
        let mut job = engine.job(preparation, pairs, tile, Mode::Shares)?;
        let shares = job.sweep;
        (job.longest.0, job.cells) = (rows as usize, rows * m);
        job.params = Params {
            end: tasks as u32,
            saves: 1,
            pitch: m as u32,
            plane: (rows * m) as u32,
            ends: ends as u32,
            ..job.params
        };
        let grid =
            own.grid.reserve(&engine.gpu, NUMBER * (ends + 2 * tasks), "the grid of gradients")?.clone();
        let share = engine.budget.edges / 2;
        let piece = job
            .piece(engine.speed.cells(), engine.gpu.loop_limit(), share)
            .ok_or_else(|| engine.budget.exceeded("the edges of a gradient", job.edge_bytes(1, 1), share))?;
        job.params = job.params_with_edges(tasks, piece.rows);
        let edge_bytes = job.edge_bytes(tasks, piece.rows);
        let edges = engine.edges.reserve(&engine.gpu, edge_bytes, "edges")?.clone();
        let back = own.edges.reserve(&engine.gpu, edge_bytes, "edges of gradients")?.clone();
        let slopes = is_gradient && channels > 1 && functor.cost == Some(LocalCost::Euclidean);
        let backward = engine.sweep(preparation, pairs, tile, Mode::Backward { slopes });
        let forward = engine.launch(&shares, &grid, &edges, false)?;
        let backward = engine.launch(&backward, &grid, &back, false)?;
        let blocks: Vec<_> = (0..n).step_by(rows as usize).map(|row| row..n.min(row + rows)).collect();
        let row_bytes = tasks * m * STATE;
        let kept_bytes = (blocks.len() as u64 - 1) * row_bytes;
        let kept = own.kept.reserve(&engine.gpu, kept_bytes, "rows of a gradient")?.clone();
        let mut before = None;
        if blocks.len() > 1 {
            // Distances of pairs that end in a block are there before the last one; nobody asks for them.
            let unused = own.unused.reserve(&engine.gpu, tasks * STATE, "states")?;
            let plain = Sweep { mode: Mode::Distances, ..shares };
            before = Some(engine.launch(&plain, unused, &edges, false)?);
        }
        let mut sums = None;
        if is_gradient {
            let bytes = tasks * (n + m) * channels as u64 * STATE;
            let buffer = own.sums.reserve(&engine.gpu, bytes, "gradients")?.clone();
            let clear =
                |encoder: &mut wgpu::CommandEncoder, _: &_| encoder.clear_buffer(&buffer, 0, Some(bytes));
            engine.gpu.submit("clearing gradients", clear)?;
            let mut of_side = |of_x| {
                let sweep = engine.sweep(preparation, pairs, tile, Mode::Pull { of_x });
                engine.launch(&sweep, &grid, &buffer, false)
            };
            sums = Some(([of_side(true)?, of_side(false)?], buffer, bytes));
        }
        let engine = &**engine;
        let mut under_way = Tile { job, piece, queue: Queue::new(engine, pairs.observer) };
        if let Some(before) = before {
            for (k, block) in (0..).zip(&blocks[..blocks.len() - 1]) {
                under_way.sweep(&before, block, false)?;
                engine.gpu.copy("keeping rows", (&edges, 0), (&kept, k * row_bytes), row_bytes)?;
            }
        }
        for (k, block) in blocks.iter().enumerate().rev() {
            let k = k as u64;
            if k > 0 {
                engine.gpu.copy("keeping rows", (&kept, (k - 1) * row_bytes), (&edges, 0), row_bytes)?;
            }
            under_way.sweep(&forward, block, false)?;
            under_way.sweep(&backward, block, true)?;
            if let Some((launches, ..)) = &sums {
                for (launch, of_x) in launches.iter().zip([true, false]) {
                    under_way.pull(engine, launch, block, (n, m), of_x)?;
                }
            }
            if let Results::Alignment(out) = results {
                let out = &mut out[(block.start * m) as usize..(block.end * m) as usize];
                own.readback.fetch(&engine.gpu, &grid, 0, out)?;
            }
        }
        let Results::Gradients(out) = results else { return Ok(()) };
        own.states.resize(2 * tasks as usize, 0.0);
        own.readback.fetch(&engine.gpu, &grid, NUMBER * ends, &mut own.states)?;
        if let Some((_, buffer, bytes)) = &sums {
            own.fetched.clear();
            own.fetched.reserve_exact((bytes / STATE) as usize);
            own.fetched.resize((bytes / STATE) as usize, [0.0; 2]);
            own.readback.fetch(&engine.gpu, buffer, 0, &mut own.fetched)?;
        }
        self.put(pairs, tile, out);
        Ok(())
    }

    /// Puts the results of a tile in their places.
    fn put(&mut self, pairs: &Pairs<'_>, tile: &Rect, out: &mut Gradients<'_, f32>) {
        let Differentiator { states, fetched, .. } = &*self.own;
        let Preparation { spec, functor, channels, .. } = self.preparation;
        let lengths = Lengths::of_places(pairs.rows, pairs.columns, tile);
        let mut values = vec![0.0; tile.rows.len()];
        let finish = Finish { states: Some((states, 2)), parts: 2, lengths: &lengths, out: &mut values };
        dispatch::<f32, One<f32>, _>(spec, 0.0, finish);
        let (n, m) = pairs.longest(tile);
        let (of_x, of_y) = fetched.split_at(tile.rows.len() * n * channels);
        for (k, place) in tile.rows.clone().enumerate() {
            let pair = pairs.rows.series(place);
            out.distances[pair] = values[k];
            let factor = functor.slope() * out.upstream.map_or(1.0, |upstream| f64::from(upstream[pair]));
            for (side, (sums, longest, sign, grad)) in
                [(of_x, n, 1.0, &mut *out.grad_x), (of_y, m, -1.0, &mut *out.grad_y)].into_iter().enumerate()
            {
                let batch = self.batches[side];
                let (from, to) = (k * longest * channels, batch.offset(pair) * channels);
                let count = batch.length(pair) * channels;
                for (own, [sum, lost]) in grad[to..to + count].iter_mut().zip(&sums[from..from + count]) {
                    // Adding 0 makes 0 of −0.
                    *own = (sign * factor * (f64::from(*sum) - f64::from(*lost))) as f32 + 0.0;
                }
            }
        }
    }
}

impl Differentiator {
    /// Values and gradients of zipped pairs.
    pub(crate) fn gradients(
        &mut self,
        context: &mut Context,
        x: &Batch<'_>,
        y: &Batch<'_>,
        out: Gradients<'_, f32>,
    ) -> Result<()> {
        let problem = context.problem.clone();
        let Some(soft) = SoftResult::of(&problem.spec().measure) else {
            unreachable!("the problem admits gradients");
        };
        let mut results = std::mem::take(&mut context.passes);
        let swept = results.gradients(&problem, [x, y], out, |[a, b], out, counts| {
            let mut results = Results::Gradients(out);
            self.soft_gradients(context, a, b, &mut results)?;
            let Results::Gradients(out) = results else { return Ok(()) };
            context.keep_digits(soft, counts, (Pairing::Zipped, a, b), out.distances)
        });
        context.passes = results;
        swept
    }

    /// The expected alignment of one pair.
    pub(crate) fn alignment(
        &mut self,
        context: &mut Context,
        x: &Batch<'_>,
        y: &Batch<'_>,
    ) -> Result<Vec<f32>> {
        let (n, m) = (x.length(0), y.length(0));
        let (cells, limit) = (n as u64 * m as u64, context.engine.budget.limit);
        if cells * NUMBER > limit {
            return Err(Error::OutOfMemory {
                what: format!("the {n} x {m} alignment matrix"),
                requested_bytes: cells * NUMBER,
                available_bytes: limit,
            });
        }
        let mut expected = vec![0.0; cells as usize];
        self.soft_gradients(context, x, y, &mut Results::Alignment(&mut expected))?;
        Ok(expected)
    }

    /// Sweeps all pairs forward and backward.
    fn soft_gradients(
        &mut self,
        context: &mut Context,
        x: &Batch<'_>,
        y: &Batch<'_>,
        results: &mut Results<'_>,
    ) -> Result<()> {
        let (mut pass, engine) = context.pass(Pairing::Zipped);
        let (rows, columns) = pass.orders(x, y);
        let (budget, preparation) = (engine.budget, pass.preparation(x.channels()));
        let mut device = Soft { engine, own: self, preparation, batches: [x, y], rows: None };
        each_tile(&mut device, &mut pass.pairs(&rows, &columns), &budget, |device, pairs, tile| {
            device.tile(pairs, tile, results)?;
            pairs.observer.advance(pairs.cells(tile)?);
            Ok(())
        })
    }
}
