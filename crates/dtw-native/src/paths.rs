//! Warping paths: a sweep that keeps the edges between strips, then, from the last strip to the first, the strip once more
//! with its choices recorded and the walk through them (native/trace.cuh).

use dtw_core::{Error, Pairing, Path, Result, SearchOptions, SeriesBatch, Unobserved, bail_invalid};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Kernel, Pass, catalog};
use dtw_plan::{Budget, Order, Rect, Rows, chunks, launch_tasks, tiles};

use crate::bytes::{Number, bytes_mut};
use crate::engine::{Engine, stop_if_cancelled};
use crate::plan::NativePlan;
use crate::scratch::Region;
use crate::search::Wanted;
use crate::side::{Bring, Preparation, blocks_for};
use crate::sweep::{Job, LaunchBand};
use crate::{BLOCK_THREADS, Machine};

/// Columns of a strip: `kTraceColumns`.
const STRIP_COLUMNS: usize = 512;

/// Words of choices that a row of a strip has: two bits a cell.
const ROW_WORDS: usize = STRIP_COLUMNS / 16;

/// Rows of an edge are a multiple of this.
const EDGE_ROWS: usize = 32;

/// What walks need on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Tracer<T, M: Machine> {
    out: Region<M>,
    edges: Region<M>,
    progress: Region<M>,
    ticket: Region<M>,
    choices: Region<M>,
    points: Region<M>,
    state: Region<M>,
    distances: Vec<T>,
    host_points: Vec<u32>,
    host_state: Vec<u32>,
}

impl<T, M: Machine> Default for Tracer<T, M> {
    fn default() -> Self {
        let region = Region::default;
        Self {
            out: region(),
            edges: region(),
            progress: region(),
            ticket: region(),
            choices: region(),
            points: region(),
            state: region(),
            distances: Vec::new(),
            host_points: Vec::new(),
            host_state: Vec::new(),
        }
    }
}

/// The size of the largest pair of a tile.
#[derive(Debug, Clone, Copy)]
struct Size {
    n: usize,
    m: usize,
    parts: usize,
}

impl Size {
    fn strips(self) -> usize {
        self.m.div_ceil(STRIP_COLUMNS)
    }
    fn edge_rows(self) -> usize {
        self.n.next_multiple_of(EDGE_ROWS)
    }
    /// Numbers in the edges of a task.
    fn edges(self) -> usize {
        self.strips() * self.edge_rows() * self.parts
    }
    /// Most points of a path.
    fn points(self) -> usize {
        self.n + self.m
    }
    /// Bytes of a task, without its series.
    fn bytes<T>(self) -> u64 {
        let words = ROW_WORDS * self.n + 2 * self.points() + self.strips() + 4;
        ((self.edges() + 1) * size_of::<T>() + words * size_of::<u32>()) as u64
    }
}

/// The tracing kernel of a functor.
pub(crate) fn trace_kernel<T: Number>(key: &str, many: bool) -> Option<&'static Kernel> {
    catalog::other(Pass::Trace, key, T::DTYPE.name(), many)
}

impl<T: Number, M: Machine> Tracer<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.out, &self.edges, &self.progress, &self.ticket, &self.choices, &self.points, &self.state]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.distances.capacity() * size_of::<T>()
            + (self.host_points.capacity() + self.host_state.capacity()) * size_of::<u32>()
    }

    /// Traces the tasks of a job; paths and distances are then on the host. `self.host_state` holds where they end.
    fn trace(
        &mut self,
        engine: &Engine<T, M>,
        kernel: &'static Kernel,
        job: &Job,
        band: LaunchBand,
        size: Size,
        is_cancelled: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let (machine, tasks) = (&engine.machine, job.tasks as usize);
        let (strips, words) = (size.strips(), ROW_WORDS * size.n);
        self.out.reserve(machine, tasks * size_of::<T>())?;
        self.edges.reserve(machine, tasks * size.edges() * size_of::<T>())?;
        self.choices.reserve(machine, tasks * words * size_of::<u32>())?;
        self.points.reserve(machine, tasks * size.points() * 2 * size_of::<u32>())?;
        let mut p = params::Sweep {
            out: self.out.address(),
            spread: 1,
            edges: self.edges.address(),
            edge_stride: size.edge_rows() as u64,
            edge_part_stride: (tasks * strips * size.edge_rows()) as u64,
            progress: self.progress.zeros(machine, tasks * strips * size_of::<u32>())?,
            ticket: self.ticket.zeros(machine, size_of::<u64>())?,
            choices: self.choices.address(),
            choice_stride: words as u64,
            strips: strips as u32,
            keep_edges: 1,
            ..engine.sweeper.params(job, band)
        };
        let resident = machine.resident_blocks(kernel)?.max(1);
        machine.launch(kernel, p.bytes(), resident.min(blocks_for((tasks * strips) as u64)))?;
        let mut walk = params::Walk {
            choices: p.choices,
            points: self.points.address(),
            state: self.state.hold(machine, &self.host_state)?,
            path_stride: size.points() as u64,
            choice_stride: words as u64,
            tasks: job.tasks,
            ..params::Walk::default()
        };
        let walker = catalog::other(Pass::Walk, "walk", "", false).expect("permutations.toml lists it");
        (p.out, p.keep_edges) = (0, 0);
        for strip in (0..strips as u32).rev() {
            is_cancelled()?;
            self.ticket.zeros(machine, size_of::<u64>())?;
            (p.only_strip, walk.strip) = (strip, strip);
            machine.launch(kernel, p.bytes(), resident.min(blocks_for(tasks as u64)))?;
            machine.launch(walker, walk.bytes(), job.tasks.div_ceil(u64::from(BLOCK_THREADS)) as u32)?;
        }
        fetch(machine, &self.out, &mut self.distances, tasks)?;
        fetch(machine, &self.state, &mut self.host_state, 4 * tasks)?;
        fetch(machine, &self.points, &mut self.host_points, 2 * tasks * size.points())
    }

    /// The path of task `k` from its first point to its last, as (row, column).
    fn path(&self, k: usize, size: Size) -> impl Iterator<Item = (usize, usize)> + '_ {
        let steps = self.host_state[4 * k + 2] as usize;
        let first = k * size.points();
        (first..first + steps)
            .rev()
            .map(|at| (self.host_points[2 * at] as usize, self.host_points[2 * at + 1] as usize))
    }
}

fn fetch<M: Machine, V: crate::bytes::Plain + Default>(
    machine: &M,
    from: &Region<M>,
    to: &mut Vec<V>,
    count: usize,
) -> Result<()> {
    to.resize(count, V::default());
    machine.download(from.buffer().expect("reserved before"), 0, bytes_mut(to))
}

/// Why there is no warping path.
pub(crate) fn no_path(backend: &'static str, spec: &dtw_core::Spec, channels: usize) -> Error {
    let key = spec.key();
    let what = if spec.measure.sums_channels() && channels > 1 {
        format!("a warping path of {key} for {channels} channels: each channel is warped on its own")
    } else {
        format!(
            "a warping path of {key}: it sums over all paths; soft_dtw has an expected alignment instead (cpu)"
        )
    };
    Error::Unsupported { backend, what }
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Best paths of zipped pairs.
    pub(crate) fn all_paths(
        &mut self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<Vec<Path<T>>> {
        let spec = self.problem.spec();
        if !spec.measure.has_path(x.channels()) {
            return Err(no_path(self.engine.machine.name(), spec, x.channels()));
        }
        if x.len() != y.len() {
            bail_invalid!("paths are found for zipped pairs: x has {} series, y has {}", x.len(), y.len());
        }
        if x.is_empty() {
            return Ok(Vec::new());
        }
        if !self.problem.is_subsequence() {
            return self.traced(x, y, Rows::X, None);
        }
        // The kernel's rows are the reference; where its path ends is found first.
        let mut ends = vec![(0, T::INFINITY); x.len()];
        let observer = std::mem::replace(&mut self.observer.0, std::sync::Arc::new(Unobserved));
        let wanted = Wanted::new(&SearchOptions::default(), y.max_length());
        let mut search = self.search(x, y, wanted);
        search.functor = search.functor.without_starts();
        let found = search.run(Pairing::Zipped, x, y, |q, _, hits| {
            ends[q] = hits.first().map_or((y.length(q) - 1, T::INFINITY), |hit| (hit.end, hit.distance));
        });
        self.observer.0 = observer;
        found?;
        self.traced(y, x, Rows::Y, Some(&ends))
    }

    /// Paths of pairs whose kernel rows are `rows`; `ends` has the last row of each and the path's cost.
    fn traced(
        &mut self,
        rows: &SeriesBatch<'_, T>,
        columns: &SeriesBatch<'_, T>,
        kind: Rows,
        ends: Option<&[(usize, T)]>,
    ) -> Result<Vec<Path<T>>> {
        let many = rows.channels() > 1;
        let kernel = trace_kernel::<T>(self.functor.key, many).ok_or_else(|| {
            self.unsupported(format!("a path of {}: the cpu backend can", self.functor.key))
        })?;
        let dropped = if self.functor.derivative { 2 } else { 0 };
        let (order_x, order_y) = Order::of(Pairing::Zipped, rows, columns, dropped);
        self.banding.check(Pairing::Zipped, &order_x, &order_y, kind)?;
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        self.engine.sweeper.weigh::<T>(&self.functor, longest)?;
        let preparation = Preparation {
            functor: self.functor,
            channels: rows.channels(),
            channel: None,
            normalize: false,
            times: rows.has_times(),
        };
        // Edges and choices take most of the memory here.
        let limit = self.problem.memory_limit_bytes();
        let budget = Budget { sides: limit / 8, ..Budget::of(limit) };
        let share = limit - budget.sides - budget.staging;
        let mut paths = vec![Path { distance: T::ZERO, points: Vec::new() }; rows.len()];
        let bytes = |order: &Order, k: usize| preparation.bytes::<T>(order.length(k));
        let chunks = chunks(
            Pairing::Zipped,
            (order_x.len(), order_y.len()),
            &budget,
            |k| bytes(&order_x, k),
            |k| bytes(&order_y, k),
        )?;
        for chunk in &chunks {
            stop_if_cancelled(&*self.observer.0)?;
            let engine = &mut self.engine;
            let (machine, staging) = (&engine.machine, &mut engine.staging);
            let series = Bring { batch: rows, order: &order_x, places: &chunk.rows };
            engine.x.load(machine, staging, &budget, &preparation, series)?;
            let series = Bring { batch: columns, order: &order_y, places: &chunk.columns };
            engine.y.load(machine, staging, &budget, &preparation, series)?;
            let size = self.size_of(chunk, &order_x, &order_y);
            if size.bytes::<T>() > share {
                return Err(budget.exceeded("the warping path of one pair", size.bytes::<T>(), share));
            }
            let cells = size.n as u64 * size.m as u64;
            let tasks = launch_tasks(cells, self.engine.sweeper.multiprocessors);
            for tile in tiles(chunk, share / size.bytes::<T>(), tasks) {
                stop_if_cancelled(&*self.observer.0)?;
                self.trace_tile(&tile, kernel, &order_x, &order_y, kind, ends)?;
                let size = self.size_of(&tile, &order_x, &order_y);
                for (k, place) in tile.rows.clone().enumerate() {
                    let s = order_x.series(place);
                    let points = self.tracer.path(k, size);
                    paths[s] = Path {
                        distance: ends.map_or(self.tracer.distances[k], |ends| ends[s].1),
                        points: match kind {
                            Rows::X => points.collect(),
                            Rows::Y => points.map(|(i, j)| (j, i)).collect(),
                        },
                    };
                }
                let cells = self.banding.cells_of(&tile, &order_x, &order_y, kind)?;
                self.observer.0.advance(cells);
            }
        }
        Ok(paths)
    }

    fn size_of(&self, rect: &Rect, order_x: &Order, order_y: &Order) -> Size {
        Size {
            n: order_x.longest(rect.rows.clone()),
            m: order_y.longest(rect.columns.clone()),
            parts: self.functor.parts,
        }
    }

    fn trace_tile(
        &mut self,
        tile: &Rect,
        kernel: &'static Kernel,
        order_x: &Order,
        order_y: &Order,
        kind: Rows,
        ends: Option<&[(usize, T)]>,
    ) -> Result<()> {
        let size = self.size_of(tile, order_x, order_y);
        let job = Job {
            functor: self.functor,
            channels: self.problem.shape().channels,
            x: self.engine.x.part(order_x, &tile.rows),
            y: self.engine.y.part(order_y, &tile.columns),
            pairing: Pairing::Zipped,
            tasks: tile.tasks(),
            out: 0,
            out_stride: 0,
            cells: size.n as u64 * size.m as u64,
            keeps_edges: false,
            only_missing: false,
            last_row: 0,
        };
        let band = self.engine.sweeper.band(&mut self.banding, tile, order_x, order_y, kind)?;
        self.tracer.host_state.clear();
        for place in tile.rows.clone() {
            let last = ends.map_or(order_x.length(place), |ends| ends[order_x.series(place)].0 + 1);
            self.tracer.host_state.extend([last as u32, order_y.length(place) as u32, 0, 0]);
        }
        let observer = &*self.observer.0;
        self.tracer.trace(&self.engine, kernel, &job, band, size, || stop_if_cancelled(observer))
    }
}
