//! A machine as the planner's device. It brings and prepares series, and sweeps tiles into slots or straight to their
//! places.

use std::ops::Range;

use dtw_core::{Observer, Pairing, Result, SeriesBatch};
use dtw_plan::{
    Axis, Banding, Budget, Fetch, Order, Output, Pairs, Rect, RowRange, Rows, TileDevice, bands, fetch_tiles,
    launch_tasks, parts, runs, tiles,
};

use crate::launch::bands::TABLES;
use crate::launch::functor::Functor;
use crate::launch::job::{Edges, Job};
use crate::launch::sweep::Sweeper;
use crate::machine::{Machine, TRANSFER_SLOTS};
use crate::memory::bytes::{Number, bytes_mut, values};
use crate::memory::region::Region;
use crate::series::prepared::{HostSeries, Preparation, Prepared, Staging};
use crate::series::source::SideSource;

/// Tasks per multiprocessor from which a run of shorter columns gets a launch of its own.
const RUN_TASKS: u64 = 64;

/// How many times as long a launch may take whose results stay on the device: no transfer waits for its end, and each
/// end leaves multiprocessors idle.
const LONG_LAUNCHES: u64 = 8;

/// A machine, and all the memory that its plan holds.
#[derive(Debug)]
pub(crate) struct Engine<T: Number, M: Machine> {
    pub(crate) machine: M,
    pub(crate) budget: Budget,
    pub(crate) staging: Staging<T, M>,
    pub(crate) x: Prepared<T, M>,
    pub(crate) y: Prepared<T, M>,
    pub(crate) sweeper: Sweeper<M>,
    out: [Region<M>; TRANSFER_SLOTS],
}

impl<T: Number, M: Machine> Engine<T, M> {
    pub(crate) fn new(machine: M, limit_bytes: u64) -> Self {
        let sweeper = Sweeper::new(machine.clone());
        Self {
            machine,
            budget: Budget::of(limit_bytes),
            staging: Staging::default(),
            x: Prepared::default(),
            y: Prepared::default(),
            sweeper,
            out: std::array::from_fn(|_| Region::default()),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.staging.bytes()
            + self.x.bytes()
            + self.y.bytes()
            + self.sweeper.bytes()
            + self.out.iter().map(Region::bytes).sum::<usize>()
    }

    /// Room for the results of a tile in a slot; where it is.
    pub(crate) fn reserve_slot(&mut self, slot: usize, tile: &Rect) -> Result<u64> {
        let region = &mut self.out[slot];
        region.reserve(&self.machine, tile.outputs() * size_of::<T>())?;
        Ok(region.address())
    }

    /// Where the results of a tile are that was swept into this slot.
    pub(crate) fn slot(&self, slot: usize) -> u64 {
        self.out[slot].address()
    }

    /// Brings these ends of a task's last column: totals, and where their paths start if that is wanted.
    pub(crate) fn ends(
        &self,
        edges: &Edges,
        task: usize,
        ends: Range<usize>,
        (totals, starts): (&mut Vec<T>, Option<&mut Vec<u32>>),
    ) -> Result<()> {
        totals.resize(ends.len(), T::ZERO);
        let from = self.sweeper.edges().buffer().expect("a search keeps its edges");
        // Starts lie in slots as wide as a number, one after the other.
        let column = task * edges.stride as usize;
        let behind = (column + edges.part_stride as usize) * size_of::<T>();
        self.machine.download(from, (column + ends.start) * size_of::<T>(), bytes_mut(totals))?;
        let Some(starts) = starts else { return Ok(()) };
        starts.resize(ends.len(), 0);
        self.machine.download(from, behind + ends.start * size_of::<u32>(), bytes_mut(starts))
    }

    /// Prepares the series at these places for the side of an axis.
    pub(crate) fn load(
        &mut self,
        axis: Axis,
        source: &mut SideSource<'_, T, M>,
        preparation: &Preparation,
        order: &Order,
        places: &Range<usize>,
    ) -> Result<()> {
        let Self { machine, staging, budget, x, y, .. } = self;
        let side = match axis {
            Axis::Rows => x,
            Axis::Columns => y,
        };
        match source {
            SideSource::Host(batch) => {
                side.load(machine, staging, budget, preparation, HostSeries { batch, order, places })
            }
            SideSource::Device(batch, layout) => {
                let series = layout.place(machine, batch, order, places, size_of::<T>())?;
                side.load_from_caller(machine, preparation, order, places, &series)
            }
        }
    }

    /// Most tasks of a launch for pairs of a chunk with at most so many cells; more of them where results stay on the
    /// device.
    pub(crate) fn launch_tasks(&self, pairs: &Pairs<'_>, chunk: &Rect, cells: u64, in_place: bool) -> u64 {
        let times = if in_place { LONG_LAUNCHES } else { 1 };
        let tasks = launch_tasks(cells, self.sweeper.multiprocessors).saturating_mul(times);
        let ranges = self.budget.tables / (TABLES * size_of::<RowRange>()) as u64;
        if pairs.banding.most_ranges(pairs.rows, pairs.columns) <= ranges {
            return tasks;
        }
        let (n, _) = pairs.longest(chunk);
        tasks.min((ranges / n.max(1) as u64).max(1))
    }

    /// Distances of all pairs into `out`, in the places the pairing says.
    pub(crate) fn distances(
        &mut self,
        pass: &mut Pass<'_>,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let y = if pass.pairing == Pairing::SelfSymmetric { x } else { y };
        let dropped = pass.functor.preparation.dropped();
        let (rows, columns) = Order::of(pass.pairing, x, y, dropped);
        let longest = rows.longest(0..rows.len()).max(columns.longest(0..columns.len()));
        let mut pairs = Pairs {
            pairing: pass.pairing,
            rows: &rows,
            columns: &columns,
            kind: Rows::X,
            banding: &mut *pass.banding,
            observer: pass.observer,
        };
        self.sweeper.weigh::<T>(&pass.functor, longest)?;
        let plain = Preparation::plain(pass.functor, x.channels());
        let preparation = Preparation { channel: pass.channel, times: x.has_times(), ..plain };
        let budget = self.budget;
        let mut output = Output { values: out, adds: pass.adds };
        let mut device = Distances::new(self, preparation, [SideSource::Host(x), SideSource::Host(y)]);
        fetch_tiles(&mut device, &mut pairs, &budget, &mut output)
    }
}

/// What one pass over the pairs computes.
pub(crate) struct Pass<'a> {
    pub(crate) functor: Functor,
    /// The one channel that is swept; `None`: all together.
    pub(crate) channel: Option<usize>,
    pub(crate) pairing: Pairing,
    pub(crate) banding: &'a mut Banding,
    pub(crate) observer: &'a dyn Observer,
    /// Whether results are added to what the output holds.
    pub(crate) adds: bool,
}

/// Distances of the pairs of a call under one functor.
#[derive(Debug)]
pub(crate) struct Distances<'a, T: Number, M: Machine> {
    pub(crate) engine: &'a mut Engine<T, M>,
    pub(crate) functor: Functor,
    /// Is swept with before; the functor then does the pairs that this gave up.
    pub(crate) before: Option<Functor>,
    pub(crate) preparation: Preparation,
    /// The series of rows and of columns.
    pub(crate) sources: [SideSource<'a, T, M>; 2],
    /// Only results that are NaN in their slot are wanted.
    pub(crate) only_missing: bool,
    /// Where all results have their place on the device; `None`: those of a tile go to its slot.
    pub(crate) place: Option<u64>,
}

/// Where results of a rectangle go on the device.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Address of the first.
    address: u64,
    /// The pair that the first is of.
    first: (usize, usize),
    /// Numbers from row to row.
    stride: usize,
}

impl<T: Number, M: Machine> TileDevice for Distances<'_, T, M> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.bytes::<T>(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &mut self.sources[axis as usize], &self.preparation, order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let cells = pairs.most_cells(chunk);
        let tasks = self.engine.launch_tasks(pairs, chunk, cells, self.place.is_some());
        if self.place.is_none() {
            let outputs = (self.engine.budget.tile / size_of::<T>() as u64).max(1);
            return Ok(tiles(chunk, outputs, tasks));
        }
        Ok(match chunk.pairing {
            Pairing::SelfSymmetric => bands(chunk, tasks),
            Pairing::Cross | Pairing::Zipped => tiles(chunk, u64::MAX, tasks),
        })
    }
}

impl<T: Number, M: Machine> Fetch<T> for Distances<'_, T, M> {
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, slot: usize) -> Result<bool> {
        let address = self.engine.reserve_slot(slot, tile)?;
        let first = (tile.rows.start, tile.columns.start);
        let to = Place { address, first, stride: tile.stride() };
        self.sweep_tile(pairs, tile, to)
    }

    fn begin_fetch(&mut self, slot: usize, results: usize) -> Result<()> {
        let buffer = self.engine.out[slot].buffer().expect("a tile is under way");
        self.engine.machine.download_begin(slot, buffer, 0, results * size_of::<T>())
    }

    fn finish_fetch(&mut self, slot: usize, results: usize, take: &mut dyn FnMut(&[T])) -> Result<()> {
        let buffer = self.engine.out[slot].buffer().expect("a tile is under way");
        let bytes = results * size_of::<T>();
        self.engine.machine.download_end(slot, buffer, 0, bytes, &mut |bytes| take(values(bytes)))
    }
}

impl<'a, T: Number, M: Machine> Distances<'a, T, M> {
    /// All pairs once, by the preparation's functor; results of a tile go to its slot.
    pub(crate) fn new(
        engine: &'a mut Engine<T, M>,
        preparation: Preparation,
        sources: [SideSource<'a, T, M>; 2],
    ) -> Self {
        let functor = preparation.functor;
        Self { engine, functor, before: None, preparation, sources, only_missing: false, place: None }
    }

    /// Launches the sweeps of a tile whose results have their place among all others.
    pub(crate) fn sweep_in_place(&mut self, pairs: &mut Pairs<'_>, tile: &Rect) -> Result<()> {
        let address = self.place.expect("results have their place");
        let to = Place { address, first: (0, 0), stride: pairs.columns.len() };
        if pairs.pairing == Pairing::SelfSymmetric && tile.pairing == Pairing::Cross {
            return tile.rows.clone().try_for_each(|row| self.sweep_row(pairs, row, &tile.columns, to));
        }
        self.sweep_tile(pairs, tile, to)?;
        Ok(())
    }

    /// Launches the pairs of a row of a symmetric matrix with columns that are not among the rows on the device.
    /// Kernels write mirrored results for triangles only, so this is a piece of the first row of the triangle that
    /// begins at the row's place on the diagonal.
    fn sweep_row(
        &mut self,
        pairs: &mut Pairs<'_>,
        row: usize,
        columns: &Range<usize>,
        to: Place,
    ) -> Result<()> {
        let part = Rect { rows: row..row + 1, columns: columns.clone(), pairing: Pairing::Cross };
        let mut job = self.job(pairs, &part, to);
        let left_out = columns.start - row;
        job.pairing = Pairing::SelfSymmetric;
        job.first_task = left_out as u64;
        job.y = self.engine.y.numbered_from(left_out, job.y);
        job.x.count = job.y.count;
        job.out -= (left_out * size_of::<T>()) as u64;
        self.launch(pairs, &part, &job)
    }

    /// Launches the sweeps of a tile; whether every place of it gets a result.
    fn sweep_tile(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, to: Place) -> Result<bool> {
        let begins = self.runs(pairs, tile, to);
        for part in parts(tile, &begins) {
            self.sweep_part(pairs, &part, to)?;
        }
        Ok(begins.is_empty())
    }

    /// Where a tile's columns are cut for kernels of their width, counted from its first column.
    fn runs(&self, pairs: &mut Pairs<'_>, tile: &Rect, to: Place) -> Vec<usize> {
        let lengths = pairs.columns.lengths();
        if lengths.is_empty() || pairs.columns.is_given() || self.functor.in_tiles {
            // Series have one length, or come in any order, or tiles have one width.
            return Vec::new();
        }
        let lengths = &lengths[tile.columns.clone()];
        let job = self.job(pairs, tile, to);
        let layout = pairs.banding.layout();
        let width_for = |m: usize| {
            let mut narrower = job;
            narrower.y.length = m as u32;
            match self.engine.sweeper.choice::<T>(&narrower, layout, &self.engine.budget) {
                Ok(choice) if !choice.kernel.has_strips() => choice.kernel.width() as usize,
                _ => usize::MAX / 4,
            }
        };
        let of_column = match tile.pairing {
            Pairing::Zipped => 1,
            _ => tile.rows.len() as u64,
        };
        let least = RUN_TASKS * u64::from(self.engine.sweeper.multiprocessors);
        runs(lengths, of_column, least, width_for)
    }

    fn sweep_part(&mut self, pairs: &mut Pairs<'_>, part: &Rect, to: Place) -> Result<()> {
        let job = self.job(pairs, part, to);
        self.launch(pairs, part, &job)
    }

    fn launch(&mut self, pairs: &mut Pairs<'_>, part: &Rect, job: &Job) -> Result<()> {
        let Engine { sweeper, budget, .. } = &mut *self.engine;
        let band = sweeper.band(pairs, part)?;
        if let Some(functor) = self.before {
            let first = Job { functor, only_missing: false, ..*job };
            sweeper.launch::<T>(&first, band, budget)?;
        }
        sweeper.launch::<T>(job, band, budget)?;
        Ok(())
    }

    fn job(&self, pairs: &mut Pairs<'_>, part: &Rect, to: Place) -> Job {
        let Engine { x, y, .. } = &*self.engine;
        let columns = if is_within(x, pairs.pairing, &part.columns) { x } else { y };
        // Tasks of a triangle are counted by its columns, of which there may be more than rows.
        let rows = if part.pairing == Pairing::SelfSymmetric { &part.columns } else { &part.rows };
        let (x, y) = (x.part(pairs.rows, rows), columns.part(pairs.columns, &part.columns));
        let (n, m) = (x.length as usize, y.length as usize);
        let (row, column) = (part.rows.start - to.first.0, part.columns.start - to.first.1);
        let at = if pairs.pairing == Pairing::Zipped { row } else { row * to.stride + column };
        let job = Job::of(self.functor, self.preparation.prepared_channels(), [x, y], part);
        Job {
            out: to.address + (at * size_of::<T>()) as u64,
            out_stride: to.stride,
            cells: pairs.banding.cells(n, m).unwrap_or(job.cells),
            only_missing: self.only_missing || self.before.is_some(),
            ..job
        }
    }
}

/// Whether the columns of a symmetric pass are among the rows that are on the device.
fn is_within<T: Number, M: Machine>(x: &Prepared<T, M>, pairing: Pairing, columns: &Range<usize>) -> bool {
    let places = x.places();
    pairing == Pairing::SelfSymmetric && places.start <= columns.start && columns.end <= places.end
}
