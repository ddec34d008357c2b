//! Warping paths of zipped pairs, within a memory limit.
//!
//! A sweep writes which arrival each cell chose, two bits a cell; the walk back is the host's. Where the choices of
//! whole pairs do not fit, rows come in blocks, and only one block's choices are there at a time:
//!
//! 1. Forward: the blocks are swept one after the other, and the row above each of them is kept.
//! 2. Backward: from the last block to the first, a block is swept again from the row above it, and the walk goes on
//!    through its choices.
//!
//! Where not even these rows fit, only every q-th is kept, and the stretch between two is treated the same way. All
//! sweeps are of the same shader, so a path does not depend on the memory it was found in.

use std::ops::Range;
use std::sync::Arc;

use dtw_core::{
    Anchor, Band, ColumnRanges, OwnedBatch, Pairing, Path, Result, SearchOptions, SeriesBatch, Spec,
    Uncounted,
};
use dtw_plan::{Axis, BandLayout, Banding, Budget, Order, Pairs, Rect, TileDevice, each_tile, tiles};

use crate::calls::context::Context;
use crate::calls::search::Searcher;
use crate::gpu::readback::Readback;
use crate::launch::engine::Engine;
use crate::launch::pass::Pass;
use crate::memory::region::Region;
use crate::memory::series::Preparation;
use crate::shaders::functor::Functor;
use crate::shaders::sweep::{Mode, TRACE_WIDTH};

type Batch<'a> = SeriesBatch<'a, f32>;

/// Bytes of a word of choices: on the device, on its way, and here.
const WORD_BYTES: u64 = 3 * 4;
/// Bytes of a number of a row that is kept: here, on its way, and once more while it moves.
const KEPT_BYTES: u64 = 4;
/// Pairs that are traced at the same time, each by a workgroup.
const MOST_TASKS: u64 = 4096;

/// What walks keep between calls.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    choices: Region,
    words: Vec<u32>,
    readback: Readback,
}

impl Tracer {
    pub(crate) fn bytes(&self) -> u64 {
        let host = 4 * self.words.capacity() as u64;
        self.choices.bytes() + self.readback.bytes() + host
    }

    /// Best paths of zipped pairs.
    pub(crate) fn paths(
        &mut self,
        context: &mut Context,
        searcher: &mut Searcher,
        x: &Batch<'_>,
        y: &Batch<'_>,
    ) -> Result<Vec<Path<f32>>> {
        if context.problem.is_subsequence() {
            return self.matched_paths(context, searcher, x, y);
        }
        let mut distances = vec![0.0; x.len()];
        let observer = Arc::clone(&context.observer);
        let uncounted = Uncounted(Arc::clone(&observer));
        let (mut pass, engine) = context.pass(Pairing::Zipped);
        pass.observer = &uncounted;
        engine.distances(&mut pass, x, y, &mut distances)?;
        pass.observer = &*observer;
        let walks = self.walks(engine, &mut pass, x, y)?;
        let path = |(distance, points)| Path { distance, points };
        Ok(distances.into_iter().zip(walks).map(path).collect())
    }

    /// Paths of the best match of each x in its y. Between its ends a path is the best one of both as wholes: the
    /// totals along it are the same, and no other cell's total is smaller than in the open grid.
    fn matched_paths(
        &mut self,
        context: &mut Context,
        searcher: &mut Searcher,
        x: &Batch<'_>,
        y: &Batch<'_>,
    ) -> Result<Vec<Path<f32>>> {
        let mut found = vec![None; x.len()];
        let uncounted = Arc::new(Uncounted(Arc::clone(&context.observer)));
        let observer = std::mem::replace(&mut context.observer, uncounted);
        let searched =
            searcher.each_match(context, Pairing::Zipped, x, y, &SearchOptions::default(), |q, _, hits| {
                found[q] = hits.into_iter().next();
            });
        context.observer = observer;
        searched?;
        // Where every match costs too much for a number, the path ends at the last point.
        let stretches: Vec<Range<usize>> =
            (0..x.len()).map(|s| found[s].map_or(0..y.length(s), |hit| hit.start..hit.end + 1)).collect();
        let channels = y.channels();
        let mut parts = OwnedBatch::new(channels)?;
        for (s, stretch) in stretches.iter().enumerate() {
            parts.push(&y.get(s).values[stretch.start * channels..stretch.end * channels])?;
        }
        let parts = parts.batch();
        let spec = Spec { anchor: Anchor::Global, band: Band::Full, ..context.problem.spec().clone() };
        let functor = Functor::of(&spec).expect("whole series have shaders, too");
        let longest = x.max_length().max(parts.max_length());
        let mut walks_in = |context: &mut Context, band: &Band, x: &Batch<'_>, y: &Batch<'_>| {
            let mut banding = Banding::new(band, Anchor::Global, longest);
            let (mut pass, engine) = context.pass(Pairing::Zipped);
            (pass.spec, pass.functor, pass.banding) = (&spec, functor, &mut banding);
            engine.forget_band();
            let walks = self.walks(engine, &mut pass, x, y);
            engine.forget_band();
            walks
        };
        let walks = if context.banding.layout() == BandLayout::Full {
            walks_in(context, &Band::Full, x, &parts)?
        } else {
            let mut walks = Vec::with_capacity(x.len());
            for (s, stretch) in stretches.iter().enumerate() {
                let open = context.banding.ranges(x.length(s), y.length(s))?;
                let cut = |i| {
                    let row: Range<usize> = open.row(i);
                    row.start.max(stretch.start) - stretch.start
                        ..row.end.min(stretch.end).saturating_sub(stretch.start)
                };
                let band = match found[s] {
                    Some(_) if !open.is_full() => Band::Ranges((0..x.length(s)).map(cut).collect()),
                    _ => Band::Full,
                };
                let (one, part) = (SeriesBatch::single(x.get(s)), SeriesBatch::single(parts.get(s)));
                walks.extend(walks_in(context, &band, &one, &part)?);
            }
            walks
        };
        let paths = walks.into_iter().zip(stretches).zip(found);
        Ok(paths
            .map(|((mut points, stretch), hit)| {
                points.iter_mut().for_each(|(_, j)| *j += stretch.start);
                Path { distance: hit.map_or(f32::INFINITY, |hit| hit.distance), points }
            })
            .collect())
    }

    /// The paths of zipped pairs, without their distances.
    fn walks(
        &mut self,
        engine: &mut Engine,
        pass: &mut Pass<'_>,
        x: &Batch<'_>,
        y: &Batch<'_>,
    ) -> Result<Vec<Points>> {
        let (rows, columns) = pass.orders(x, y);
        let longest = rows.longest(0..rows.len()).max(columns.longest(0..columns.len()));
        engine.weigh(pass.spec, &pass.functor, longest)?;
        let preparation = pass.preparation(x.channels());
        let own = engine.budget;
        // Distances before may have filled twice that.
        engine.release_beyond(own.limit / 4);
        // Choices and kept rows take most of the memory here.
        let budget = Budget { sides: own.sides.min(own.limit / 4), ..own };
        let cut = TraceBlocks::default();
        let mut walks = Walks { engine, tracer: self, preparation, batches: [x, y], budget, cut };
        let mut paths = vec![Vec::new(); x.len()];
        each_tile(&mut walks, &mut pass.pairs(&rows, &columns), &budget, |walks, pairs, tile| {
            for (place, points) in tile.rows.clone().zip(walks.tile(pairs, tile)?) {
                paths[pairs.rows.series(place)] = points;
            }
            pairs.observer.advance(pairs.cells(tile)?);
            Ok(())
        })?;
        Ok(paths)
    }
}

/// What a walk goes through, as (row, column).
type Points = Vec<(usize, usize)>;

/// How the pairs of a tile are traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TraceBlocks {
    /// Pairs at a time.
    tasks: u64,
    /// Rows of a block.
    rows: u64,
    /// Rows kept on each of the levels.
    fan: u64,
    levels: u32,
}

impl TraceBlocks {
    /// The cut of pairs of `n` rows and `m` columns, whose blocks have at most `most_rows` rows, in so many bytes;
    /// `Err`: what the finest cut takes.
    fn of((n, m): (u64, u64), most_rows: u64, bytes: u64) -> Result<Self, u64> {
        let of_row = WORD_BYTES * m.div_ceil(u64::from(TRACE_WIDTH));
        let kept = KEPT_BYTES * m;
        let of_task = |rows: u64, kept_rows: u64| rows * of_row + kept_rows * kept;
        let blocks = n.div_ceil(most_rows);
        // While rows are kept, two more are on their way.
        let whole = of_task(most_rows, if blocks > 1 { blocks + 2 } else { 0 });
        if whole <= bytes {
            return Ok(Self { tasks: bytes / whole, rows: most_rows, fan: blocks, levels: 1 });
        }
        let rows = (bytes / 2 / of_row).clamp(1, most_rows);
        let blocks = n.div_ceil(rows);
        let mut least = u64::MAX;
        for levels in 1..=u64::BITS {
            let fan = (2..=blocks).find(|fan| fan.saturating_pow(levels) >= blocks).unwrap_or(1);
            let taken = of_task(rows, fan * u64::from(levels) + 2);
            if taken <= bytes {
                return Ok(Self { tasks: 1, rows, fan, levels });
            }
            least = least.min(taken);
            if fan <= 2 {
                break;
            }
        }
        Err(least)
    }
}

/// The walks of zipped pairs.
struct Walks<'a> {
    engine: &'a mut Engine,
    tracer: &'a mut Tracer,
    preparation: Preparation<'a>,
    batches: [&'a Batch<'a>; 2],
    budget: Budget,
    /// How the pairs of the chunk that is there are traced.
    cut: TraceBlocks,
}

impl TileDevice for Walks<'_> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.held_bytes(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &self.preparation, self.batches[axis as usize], order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        self.cut = self.blocks_of(pairs, chunk)?;
        self.cut.tasks = self.cut.tasks.min(self.engine.table_tasks(pairs, chunk));
        Ok(tiles(chunk, u64::MAX, self.cut.tasks))
    }
}

impl Walks<'_> {
    /// How the pairs of a rectangle are traced, as many as fit.
    fn blocks_of(&self, pairs: &Pairs<'_>, rect: &Rect) -> Result<TraceBlocks> {
        let (n, m) = pairs.longest(rect);
        let sweep = self.engine.sweep(&self.preparation, pairs, rect, Mode::Trace);
        let Budget { limit, sides, edges, tables, .. } = self.budget;
        let state = sweep.functor.state_bytes();
        let own_edges = |rows: u64| (rows + 1 + m as u64) * state;
        if own_edges(1) > edges {
            return Err(self.budget.exceeded("the edges of a pair", own_edges(1), edges));
        }
        let most_rows = self
            .engine
            .block_rows(&sweep, self.preparation.channels as u32, (n, m))
            .min(edges / state - 1 - m as u64);
        let binding = self.engine.gpu.limits().max_storage_buffer_binding_size;
        let share = (limit - sides - edges - tables).min(WORD_BYTES / 4 * binding);
        let cut = TraceBlocks::of((n as u64, m as u64), most_rows, share)
            .map_err(|bytes| self.budget.exceeded("the warping path of one pair", bytes, share))?;
        let columns = (m as u64).min(u64::from(sweep.strip_columns()));
        let tasks = cut
            .tasks
            .min(edges / own_edges(cut.rows))
            .min(self.engine.speed.tasks(cut.rows * columns))
            .min(MOST_TASKS);
        Ok(TraceBlocks { tasks: tasks.max(1), ..cut })
    }

    /// The paths of a tile's pairs.
    fn tile(&mut self, pairs: &mut Pairs<'_>, tile: &Rect) -> Result<Vec<Points>> {
        let cut = self.cut;
        let Self { engine, tracer, preparation, .. } = self;
        let mut job = engine.job(preparation, pairs, tile, Mode::Trace)?;
        let (longest, tasks) = (job.longest, job.tasks);
        let words = cut.rows.min(longest.0 as u64) * (longest.1 as u64).div_ceil(u64::from(TRACE_WIDTH));
        job.params.choices = words as u32;
        let carried = tasks * longest.1 as u64;
        engine.edges.reserve(&engine.gpu, job.edge_bytes(tasks, cut.rows), "edges")?;
        let Tracer { choices, words: host, readback } = &mut **tracer;
        let results = choices.reserve(&engine.gpu, 4 * words * tasks, "choices of paths")?;
        host.resize((words * tasks) as usize, 0);
        let leaves_band = preparation.functor.needs.leaves_band && pairs.banding.layout() != BandLayout::Full;
        let mut walkers = Vec::with_capacity(tasks as usize);
        for place in tile.rows.clone() {
            let (n, m) = (pairs.rows.length(place), pairs.columns.length(place));
            let band = if leaves_band { Some(pairs.banding.ranges(n, m)?) } else { None };
            let words = m.div_ceil(TRACE_WIDTH as usize);
            walkers.push(Walker { i: n, j: m, words, band, points: Vec::new() });
        }

        let n = longest.0 as u64;
        let blocks = n.div_ceil(cut.rows);
        let rows_of = |block: u64| block * cut.rows..((block + 1) * cut.rows).min(n);
        // Stretches of blocks that are still to be walked through, the last ones last: the row above, and the level.
        let mut stack: Vec<(Range<u64>, Vec<f32>, u32)> = vec![(0..blocks, Vec::new(), cut.levels)];
        while let Some((stretch, above, level)) = stack.pop() {
            if !walkers.iter().any(|walker| walker.is_below(stretch.start * cut.rows)) {
                continue;
            }
            if stretch.start > 0 {
                let edges = engine.edges.buffer().expect("they are reserved");
                engine.gpu.upload(edges, 0, &above)?;
            }
            if stretch.end - stretch.start > 1 {
                let piece = cut.fan.saturating_pow(level - 1);
                let (mut start, mut above) = (stretch.start, above);
                while start < stretch.end {
                    let end = (start + piece).min(stretch.end);
                    let mut below = Vec::new();
                    if end < stretch.end {
                        for block in start..end {
                            engine.dispatch_block(&job, results, rows_of(block), pairs.observer)?;
                        }
                        let edges = engine.edges.buffer().expect("they are reserved");
                        below.resize(carried as usize, 0.0);
                        readback.fetch(&engine.gpu, edges, 0, &mut below)?;
                    }
                    stack.push((start..end, std::mem::replace(&mut above, below), level - 1));
                    start = end;
                }
                continue;
            }
            let rows = rows_of(stretch.start);
            engine.dispatch_block(&job, results, rows.clone(), pairs.observer)?;
            readback.fetch(&engine.gpu, results, 0, host)?;
            for (walker, choices) in walkers.iter_mut().zip(host.chunks_exact(words as usize)) {
                walker.walk(rows.start as usize, choices);
            }
        }
        Ok(walkers.into_iter().map(Walker::finish).collect())
    }
}

/// A walk back, under way.
#[derive(Debug)]
struct Walker {
    /// The cell under the walk; both count from 1, and it is done where one is 0.
    i: usize,
    j: usize,
    /// Words of a row of choices.
    words: usize,
    /// The band, where the walk may leave it.
    band: Option<ColumnRanges>,
    /// What it has gone through, last first.
    points: Points,
}

impl Walker {
    /// Whether it still has to come to this row, which counts from 0, or to rows below.
    fn is_below(&self, row: u64) -> bool {
        self.i as u64 > row && self.j > 0
    }

    /// Goes through a block of rows, the first of which is `first`.
    fn walk(&mut self, first: usize, choices: &[u32]) {
        const WIDTH: usize = TRACE_WIDTH as usize;
        while self.i > first && self.j > 0 {
            let (i, j) = (self.i - 1, self.j - 1);
            self.points.push((i, j));
            let outside = self.band.as_ref().map(|band| band.row(i)).filter(|row| !row.contains(&j));
            let choice = match outside {
                // Straight back to the band: left from its right, up from its left.
                Some(row) => 2 - u32::from(j < row.start),
                None => choices[(i - first) * self.words + j / WIDTH] >> (2 * (j % WIDTH)) & 3,
            };
            self.i -= usize::from(choice != 2);
            self.j -= usize::from(choice != 1);
        }
    }

    fn finish(mut self) -> Points {
        self.points.reverse();
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_cover_all_rows_within_their_memory() {
        for (n, m) in [(1, 1), (5, 1000), (1000, 5), (1000, 1000), (100_000, 70_000), (1 << 20, 1 << 20)] {
            for bytes in (4..40).map(|bits| 1 << bits) {
                let Ok(cut) = TraceBlocks::of((n, m), n, bytes) else { continue };
                let blocks = n.div_ceil(cut.rows);
                assert!(cut.fan.saturating_pow(cut.levels) >= blocks, "{cut:?}");
                let words = cut.rows * m.div_ceil(16);
                let kept = if blocks > 1 { cut.fan * u64::from(cut.levels) } else { 0 };
                assert!(cut.tasks * (12 * words + 4 * kept * m) <= bytes, "{cut:?} in {bytes}");
            }
        }
        assert_eq!(
            TraceBlocks::of((100, 160), 100, 2 * 12_000),
            Ok(TraceBlocks { tasks: 2, rows: 100, fan: 1, levels: 1 })
        );
        let long = TraceBlocks::of((1 << 20, 1 << 20), 1 << 20, 1 << 30).unwrap();
        assert!(long.levels == 2 && long.tasks == 1, "{long:?}");
        assert!(TraceBlocks::of((100, 160), 100, 12 * 10).is_err_and(|bytes| bytes > 120));
    }
}
