//! Distances of one pairing under one functor: series in chunks, results in tiles, a tile's transfer under the next
//! tile's sweep.

use std::ops::Range;

use dtw_core::{Error, Observer, Pairing, Result, SeriesBatch};
use dtw_plan::{
    Banding, Budget, Order, Rect, RowRange, Rows, Target, chunks, direct, launch_tasks, parts, runs, scatter,
    tiles,
};

use crate::bytes::{Number, bytes_mut};
use crate::functor::Functor;
use crate::scratch::Region;
use crate::side::{Bring, Preparation, Prepared, Staging};
use crate::sweep::{Job, Sweeper};
use crate::{Machine, TRANSFER_SLOTS};

/// Tasks per multiprocessor from which a run of shorter columns gets a launch of its own.
const RUN_TASKS: u64 = 64;

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
    host: Vec<T>,
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

/// A tile under way.
struct Pending {
    tile: Rect,
    slot: usize,
    cells: u64,
    /// Whether both halves of a symmetric tile have been written.
    is_complete: bool,
}

/// One pass with its series in order.
struct Run<'a, 'b, T> {
    pass: &'a mut Pass<'b>,
    x: &'a SeriesBatch<'a, T>,
    y: &'a SeriesBatch<'a, T>,
    order_x: &'a Order,
    order_y: &'a Order,
    preparation: Preparation,
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
            host: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.staging.bytes()
            + self.x.bytes()
            + self.y.bytes()
            + self.sweeper.bytes()
            + self.out.iter().map(Region::bytes).sum::<usize>()
            + self.host.capacity() * size_of::<T>()
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
        let (order_x, order_y) = Order::of(pass.pairing, x, y, dropped);
        pass.banding.check(pass.pairing, &order_x, &order_y, Rows::X)?;
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        self.sweeper.weigh::<T>(&pass.functor, longest)?;
        let preparation = Preparation {
            functor: pass.functor,
            channels: x.channels(),
            channel: pass.channel,
            normalize: false,
            times: x.has_times(),
        };
        let mut run = Run { pass, x, y, order_x: &order_x, order_y: &order_y, preparation };
        let mut pending = None;
        let result = self.all_tiles(&mut run, &mut pending, out);
        if let (Err(_), Some(left)) = (&result, pending.take()) {
            // Nothing of a stopped call may still be under way in the next one; its own error would say nothing new.
            let _ = self.take(&left);
        }
        result
    }

    fn all_tiles(
        &mut self,
        run: &mut Run<'_, '_, T>,
        pending: &mut Option<Pending>,
        out: &mut [T],
    ) -> Result<()> {
        let (order_x, order_y) = (run.order_x, run.order_y);
        let preparation = run.preparation;
        let chunks = chunks(
            run.pass.pairing,
            (order_x.len(), order_y.len()),
            &self.budget,
            |k| preparation.bytes::<T>(order_x.length(k)),
            |k| preparation.bytes::<T>(order_y.length(k)),
        )?;
        let (mut here_x, mut here_y) = (0..0, 0..0);
        let mut slot = 0;
        for chunk in &chunks {
            stop_if_cancelled(run.pass.observer)?;
            let (machine, staging, budget) = (&self.machine, &mut self.staging, &self.budget);
            if here_x != chunk.rows {
                let series = Bring { batch: run.x, order: order_x, places: &chunk.rows };
                self.x.load(machine, staging, budget, &preparation, series)?;
                here_x = chunk.rows.clone();
            }
            if chunk.pairing != Pairing::SelfSymmetric && here_y != chunk.columns {
                let series = Bring { batch: run.y, order: order_y, places: &chunk.columns };
                self.y.load(machine, staging, budget, &preparation, series)?;
                here_y = chunk.columns.clone();
            }
            let (outputs, tasks) = self.tile_size(run, chunk);
            for tile in tiles(chunk, outputs, tasks) {
                stop_if_cancelled(run.pass.observer)?;
                let bytes = tile.outputs() * size_of::<T>();
                self.out[slot].reserve(&self.machine, bytes)?;
                let is_complete = self.sweep_tile(run, &tile, self.out[slot].address())?;
                let cells = run.pass.banding.cells_of(&tile, order_x, order_y, Rows::X)?;
                let buffer = self.out[slot].buffer().expect("reserved above");
                self.machine.download_begin(slot, buffer, 0, bytes)?;
                let before = pending.replace(Pending { tile, slot, cells, is_complete });
                if let Some(before) = before {
                    self.finish(run, &before, out)?;
                }
                slot = (slot + 1) % TRANSFER_SLOTS;
            }
        }
        match pending.take() {
            Some(last) => self.finish(run, &last, out),
            None => Ok(()),
        }
    }

    /// Most results and most tasks of a tile.
    fn tile_size(&self, run: &mut Run<'_, '_, T>, chunk: &Rect) -> (u64, u64) {
        let outputs = (self.budget.tile / size_of::<T>() as u64).max(1);
        let n = run.order_x.longest(chunk.rows.clone());
        let m = run.order_y.longest(chunk.columns.clone());
        // The longest need not be a pair, and then the band need not leave them a path.
        let cells = run.pass.banding.cells(n, m).unwrap_or(n as u64 * m as u64);
        let mut tasks = launch_tasks(cells, self.sweeper.multiprocessors);
        let ranges = self.budget.tables / size_of::<RowRange>() as u64;
        if run.pass.banding.most_ranges(run.order_x, run.order_y) > ranges {
            tasks = tasks.min((ranges / n.max(1) as u64).max(1));
        }
        (outputs, tasks)
    }

    /// Launches the sweeps of a tile; whether every place of it gets a result.
    fn sweep_tile(&mut self, run: &mut Run<'_, '_, T>, tile: &Rect, out: u64) -> Result<bool> {
        let begins = self.runs(run, tile)?;
        let is_whole = begins.is_empty();
        for part in parts(tile, &begins) {
            self.sweep_part(run, tile, &part, out)?;
        }
        Ok(is_whole)
    }

    /// Where a tile's columns are cut for kernels of their width, counted from its first column.
    fn runs(&self, run: &mut Run<'_, '_, T>, tile: &Rect) -> Result<Vec<usize>> {
        let lengths = run.order_y.lengths();
        if lengths.is_empty() {
            return Ok(Vec::new());
        }
        let lengths = &lengths[tile.columns.clone()];
        let job = self.job(run, tile, tile, 0);
        let form = run.pass.banding.form();
        let width_for = |m: usize| {
            let mut narrower = job;
            narrower.y.length = m as u32;
            match self.sweeper.choice::<T>(&narrower, form, &self.budget) {
                Ok(choice) if !choice.kernel.has_strips() => choice.kernel.width() as usize,
                _ => usize::MAX / 4,
            }
        };
        let of_column = match tile.pairing {
            Pairing::Zipped => 1,
            _ => tile.rows.len() as u64,
        };
        let least = RUN_TASKS * u64::from(self.sweeper.multiprocessors);
        Ok(runs(lengths, of_column, least, width_for))
    }

    fn sweep_part(&mut self, run: &mut Run<'_, '_, T>, tile: &Rect, part: &Rect, out: u64) -> Result<()> {
        let job = self.job(run, tile, part, out);
        let (x, y) = (run.order_x, run.order_y);
        let band = self.sweeper.band(run.pass.banding, part, x, y, Rows::X)?;
        self.sweeper.launch::<T>(&job, band, &self.budget)?;
        Ok(())
    }

    fn job(&self, run: &mut Run<'_, '_, T>, tile: &Rect, part: &Rect, out: u64) -> Job {
        let columns = if is_within(&self.x, run, &part.columns) { &self.x } else { &self.y };
        let (x, y) = (self.x.part(run.order_x, &part.rows), columns.part(run.order_y, &part.columns));
        let (n, m) = (x.length as usize, y.length as usize);
        let row = part.rows.start - tile.rows.start;
        let column = part.columns.start - tile.columns.start;
        let at = if tile.pairing == Pairing::Zipped { row } else { row * tile.stride() + column };
        Job {
            functor: run.pass.functor,
            channels: run.preparation.prepared_channels(),
            x,
            y,
            pairing: part.pairing,
            tasks: part.tasks(),
            out: out + (at * size_of::<T>()) as u64,
            out_stride: tile.stride(),
            cells: run.pass.banding.cells(n, m).unwrap_or(n as u64 * m as u64),
            keeps_edges: false,
            only_missing: false,
            last_row: 0,
        }
    }

    /// Waits for a tile and puts its results in their places.
    fn finish(&mut self, run: &Run<'_, '_, T>, pending: &Pending, out: &mut [T]) -> Result<()> {
        let target = Target {
            pairing: run.pass.pairing,
            order_x: run.order_x,
            order_y: run.order_y,
            adds: run.pass.adds,
        };
        if let Some(range) = direct(&target, &pending.tile, pending.is_complete) {
            let buffer = self.out[pending.slot].buffer().expect("a tile is under way");
            self.machine.download_end(pending.slot, buffer, 0, bytes_mut(&mut out[range]))?;
        } else {
            self.take(pending)?;
            scatter(&target, &pending.tile, &self.host[..pending.tile.outputs()], out);
        }
        run.pass.observer.advance(pending.cells);
        Ok(())
    }

    /// Waits for a tile, whose results go to `self.host`.
    fn take(&mut self, pending: &Pending) -> Result<()> {
        let outputs = pending.tile.outputs();
        if self.host.len() < outputs {
            self.host.resize(outputs, T::ZERO);
        }
        let buffer = self.out[pending.slot].buffer().expect("a tile is under way");
        self.machine.download_end(pending.slot, buffer, 0, bytes_mut(&mut self.host[..outputs]))
    }
}

/// Whether the columns of a symmetric pass are among the rows that are on the device.
fn is_within<T: Number, M: Machine>(
    x: &Prepared<T, M>,
    run: &Run<'_, '_, T>,
    columns: &Range<usize>,
) -> bool {
    let places = x.places();
    run.pass.pairing == Pairing::SelfSymmetric && places.start <= columns.start && columns.end <= places.end
}

/// An error if the observer says so.
pub(crate) fn stop_if_cancelled(observer: &dyn Observer) -> Result<()> {
    if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
