//! Values and gradients of Soft-DTW and its divergence, of zipped pairs, and the expected alignment, within a memory
//! limit.

use std::ops::Range;

use dtw_core::{Error, Gradients, Pairing, Result, SeriesBatch, SoftResult};
use dtw_kernels::params::{self, TILE};
use dtw_plan::{Axis, Budget, Order, Pairs, Rect, Rows, TileDevice, each_tile, launch_tasks, tiles};

use crate::engine::Engine;
use crate::launch::differentiate::{Differentiator, Kernels, Tiles};
use crate::launch::job::Job;
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes_mut};
use crate::memory::region::Region;
use crate::series::device_batch::{DeviceBatch, DeviceGradients};
use crate::series::device_costs::Matrices;
use crate::series::prepared::{Preparation, Prepared};
use crate::series::source::SideSource;
use crate::state::NativePlan;

/// Strips for each multiprocessor that keep it busy.
const STRIPS_AT_ONCE: u64 = 6;

/// Edges of a launch may take so much, however few strips would be enough.
const ENOUGH_BYTES: u64 = 128 << 20;

/// Where the results of zipped pairs go, pair by pair as the batches have them.
struct Results<'a, T> {
    upstream: Option<&'a [T]>,
    values: &'a mut [T],
    /// To x and to y; `None`: not wanted.
    gradients: Option<[&'a mut [T]; 2]>,
    /// The expected alignment of the only pair.
    alignment: Option<&'a mut [T]>,
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Values and gradients of zipped pairs.
    pub(crate) fn all_gradients(
        &mut self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: Gradients<'_, T>,
    ) -> Result<()> {
        self.begin();
        let problem = self.problem.clone();
        let Some(soft) = SoftResult::of(&problem.spec().measure) else {
            unreachable!("the problem admits gradients");
        };
        let mut results = std::mem::take(&mut self.passes);
        let swept = results.gradients(&problem, [x, y], out, |[a, b], out, counts| {
            let Gradients { upstream, distances, grad_x, grad_y } = out;
            let gradients = Some([grad_x, grad_y]);
            let values = &mut *distances;
            self.soft_gradients(a, b, Results { upstream, values, gradients, alignment: None })?;
            self.keep_digits(soft, counts, (Pairing::Zipped, a, b), distances)
        });
        self.passes = results;
        swept
    }

    /// The expected alignment of one pair.
    pub(crate) fn expected_alignment(
        &mut self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<Vec<T>> {
        let cells = x.length(0) as u64 * y.length(0) as u64;
        let bytes = cells * size_of::<T>() as u64 + Tiles::of(x.length(0), y.length(0)).bytes::<T>();
        let limit = self.problem.memory_limit_bytes();
        if bytes > limit {
            return Err(Error::OutOfMemory {
                what: format!("the {} x {} alignment matrix", x.length(0), y.length(0)),
                requested_bytes: bytes,
                available_bytes: limit,
            });
        }
        let mut expected = vec![T::ZERO; cells as usize];
        let values = &mut [T::ZERO];
        let alignment = Some(&mut expected[..]);
        self.soft_gradients(x, y, Results { upstream: None, values, gradients: None, alignment })?;
        Ok(expected)
    }

    /// Sweeps pairs whose results have their place on the device; `taken` bytes of the memory limit are in use. `own`:
    /// the pairs are the series of this side with themselves.
    pub(crate) fn soft_in_place(
        &mut self,
        [x, y]: [DeviceBatch<'_>; 2],
        own: Option<usize>,
        place: InPlace,
        taken: u64,
    ) -> Result<()> {
        let (order_x, order_y) = (x.order(0), y.order(0));
        let budget = Budget::of(self.problem.memory_limit_bytes()).in_place();
        let [layout_x, layout_y] = match own {
            None => &mut self.layouts,
            Some(side) => &mut self.own_layouts[side],
        };
        let sources = [SideSource::Device(x, layout_x), SideSource::Device(y, layout_y)];
        let kernels = kernels_of::<T, M>(&self.engine.machine, self.functor.key, x.channels)?;
        let mut pairs = Pairs {
            pairing: Pairing::Zipped,
            rows: &order_x,
            columns: &order_y,
            kind: Rows::X,
            banding: &mut self.banding,
            observer: &*self.observer.0,
        };
        let mut device = GradientSweeps {
            engine: &mut self.engine,
            differentiator: &mut self.differentiator,
            kernels,
            preparation: Preparation::plain(self.functor, x.channels),
            sources,
            share: (budget.limit - budget.tables).saturating_sub(taken),
            budget,
            place: Some(place),
        };
        let wanted = TileOptions { upstream: None, alignment: false };
        each_tile(&mut device, &mut pairs, &budget, |device, pairs, tile| device.sweep(pairs, tile, wanted))
    }

    /// Sweeps all pairs forward and backward.
    fn soft_gradients(
        &mut self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        mut results: Results<'_, T>,
    ) -> Result<()> {
        let kernels = kernels_of::<T, M>(&self.engine.machine, self.functor.key, x.channels())?;
        let (order_x, order_y) = Order::of(Pairing::Zipped, x, y, 0);
        let mut pairs = Pairs {
            pairing: Pairing::Zipped,
            rows: &order_x,
            columns: &order_y,
            kind: Rows::X,
            banding: &mut self.banding,
            observer: &*self.observer.0,
        };
        let budget = Budget::of(self.problem.memory_limit_bytes());
        let mut device = GradientSweeps {
            engine: &mut self.engine,
            differentiator: &mut self.differentiator,
            kernels,
            preparation: Preparation::plain(self.functor, x.channels()),
            sources: [SideSource::Host(x), SideSource::Host(y)],
            share: budget.limit - budget.sides - budget.staging - budget.tables,
            budget,
            place: None,
        };
        each_tile(&mut device, &mut pairs, &budget, |device, pairs, tile| {
            let wanted = TileOptions { upstream: results.upstream, alignment: results.alignment.is_some() };
            device.sweep(pairs, tile, wanted)?;
            device.fetch(pairs, tile, [x, y], &mut results)?;
            let cells = pairs.cells(tile)?;
            pairs.observer.advance(cells);
            Ok(())
        })
    }
}

/// The kernels of a functor.
fn kernels_of<T: Number, M: Machine>(machine: &M, key: &str, channels: usize) -> Result<Kernels> {
    Kernels::of::<T>(key, channels > 1)
        .ok_or_else(|| Error::left_to_cpu(machine.name(), format!("the gradient of {key}")))
}

/// Zipped pairs in tiles.
struct GradientSweeps<'a, T: Number, M: Machine> {
    engine: &'a mut Engine<T, M>,
    differentiator: &'a mut Differentiator<T, M>,
    kernels: Kernels,
    preparation: Preparation,
    /// The series of rows and of columns.
    sources: [SideSource<'a, T, M>; 2],
    budget: Budget,
    /// Bytes of the budget for edges.
    share: u64,
    /// Results and series stay on the device.
    place: Option<InPlace>,
}

/// Addresses of the caller's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InPlace {
    /// Where the sweep writes values; 0: none wanted.
    pub(crate) values: u64,
    pub(crate) out: DeviceGradients,
    /// Where the series of x and y are.
    pub(crate) from: [u64; 2],
    /// Costs in place of series.
    pub(crate) matrices: Option<Matrices>,
}

impl InPlace {
    /// Whether values are all that is wanted.
    fn is_forward(&self) -> bool {
        self.matrices.is_some_and(|matrices| matrices.gradient == 0)
    }
}

/// What is asked of a tile of pairs besides gradients.
#[derive(Debug, Clone, Copy)]
struct TileOptions<'a, T> {
    /// Factors of all pairs of the call, in memory of the host.
    upstream: Option<&'a [T]>,
    alignment: bool,
}

impl<T: Number, M: Machine> TileDevice for GradientSweeps<'_, T, M> {
    /// A series takes room for its gradient, too.
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        if self.place.is_some() {
            return 0;
        }
        let values = Preparation::stride(length) * self.preparation.channels * size_of::<T>();
        self.preparation.bytes::<T>(length) + values as u64
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        let source = &mut self.sources[axis as usize];
        let (Some(_), SideSource::Device(batch, layout)) = (&self.place, &mut *source) else {
            return self.engine.load(axis, source, &self.preparation, order, places);
        };
        let Engine { machine, x, y, .. } = &mut *self.engine;
        let side = match axis {
            Axis::Rows => x,
            Axis::Columns => y,
        };
        let series = layout.place(machine, batch, order, places, size_of::<T>())?;
        side.borrow(self.preparation.channels, order, places, &series);
        Ok(())
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let (n, m) = pairs.longest(chunk);
        let is_forward = self.place.is_some_and(|place| place.is_forward());
        let size = Tiles::of(n, m);
        let bytes = if is_forward { size.value_bytes::<T>() } else { size.bytes::<T>() };
        if bytes > self.share {
            let what = format!("the edges of tiles of a pair of {n} and {m} points");
            return Err(self.budget.exceeded(&what, bytes, self.share));
        }
        let cells = n as u64 * m as u64;
        // More at once would not be faster, only take more memory.
        let multiprocessors = u64::from(self.engine.sweeper.multiprocessors);
        let enough = (STRIPS_AT_ONCE * multiprocessors).div_ceil(n.div_ceil(TILE as usize) as u64);
        let at_once = (self.share / bytes).min((ENOUGH_BYTES / bytes).max(enough));
        Ok(tiles(chunk, at_once, launch_tasks(cells, self.engine.sweeper.multiprocessors)))
    }
}

impl<T: Number, M: Machine> GradientSweeps<'_, T, M> {
    /// Launches the sweeps of a tile of pairs.
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, wanted: TileOptions<'_, T>) -> Result<()> {
        let (n, m) = pairs.longest(tile);
        let Engine { machine, sweeper, x, y, .. } = &mut *self.engine;
        let sides = [x.part(pairs.rows, &tile.rows), y.part(pairs.columns, &tile.columns)];
        let Preparation { functor, channels, .. } = self.preparation;
        let job = Job { keeps_edges: true, ..Job::of(functor, channels, sides, tile) };
        let band = sweeper.band(pairs, tile)?;
        let own = &mut *self.differentiator;
        let mut p = params::Soft { sweep: sweeper.params_beside(&job, band)?, ..params::Soft::default() };
        if let Some(InPlace { values, out, from, matrices }) = self.place {
            let first = (tile.rows.start * size_of::<T>()) as u64;
            p.sweep.pairs.out = if values == 0 { 0 } else { values + first };
            p.upstream = if out.upstream == 0 { 0 } else { out.upstream + first };
            if let Some(matrices) = matrices {
                matrices.tell::<T>(&mut p, tile.rows.start);
            } else {
                p.grad_x = out.grad_x.wrapping_add(job.x.values.wrapping_sub(from[0]));
                p.grad_y = out.grad_y.wrapping_add(job.y.values.wrapping_sub(from[1]));
            }
        } else {
            own.values.reserve(machine, tile.rows.len() * size_of::<T>())?;
            p.sweep.pairs.out = own.values.address();
            let [grad_x, grad_y] = &mut own.gradients;
            p.grad_x = gradient_of(machine, x, job.x.values, grad_x)?;
            p.grad_y = gradient_of(machine, y, job.y.values, grad_y)?;
        }
        if let Some(upstream) = wanted.upstream {
            own.host.clear();
            own.host.extend(tile.rows.clone().map(|place| upstream[pairs.rows.series(place)]));
            p.upstream = own.upstream.hold(machine, &own.host)?;
        }
        if wanted.alignment {
            p.alignment = own.alignment.zeros(machine, n * m * size_of::<T>())?;
            p.alignment_row = m as u64;
        }
        if self.place.is_some_and(|place| place.is_forward()) {
            return own.launch_values(machine, self.kernels, p, Tiles::of(n, m));
        }
        own.launch(machine, self.kernels, p, Tiles::of(n, m))
    }

    /// Brings the results of a tile to their places.
    fn fetch(
        &mut self,
        pairs: &Pairs<'_>,
        tile: &Rect,
        batches: [&SeriesBatch<'_, T>; 2],
        results: &mut Results<'_, T>,
    ) -> Result<()> {
        let Engine { machine, x, y, .. } = &mut *self.engine;
        let Differentiator { values, gradients, alignment, host, .. } = &mut *self.differentiator;
        host.resize(tile.rows.len(), T::ZERO);
        machine.download(values.buffer().expect("reserved before"), 0, bytes_mut(host))?;
        for (place, value) in tile.rows.clone().zip(&*host) {
            results.values[pairs.rows.series(place)] = *value;
        }
        if let Some(expected) = &mut results.alignment {
            machine.download(alignment.buffer().expect("reserved before"), 0, bytes_mut(expected))?;
        }
        let Some(outputs) = &mut results.gradients else { return Ok(()) };
        let sides = [(&*x, pairs.rows), (&*y, pairs.columns)];
        for (side, (output, (prepared, order))) in outputs.iter_mut().zip(sides).enumerate() {
            let (batch, channels) = (batches[side], self.preparation.channels);
            let first =
                |place: usize| prepared.first_points()[place - prepared.places().start] as usize * channels;
            let last = tile.rows.end - 1;
            let (start, end) = (first(tile.rows.start), first(last) + order.length(last) * channels);
            host.resize(end - start, T::ZERO);
            let region = gradients[side].buffer().expect("reserved before");
            machine.download(region, start * size_of::<T>(), bytes_mut(host))?;
            for place in tile.rows.clone() {
                let s = order.series(place);
                let (from, to) = (first(place) - start, batch.offset(s) * channels);
                let count = order.length(place) * channels;
                output[to..to + count].copy_from_slice(&host[from..from + count]);
            }
        }
        Ok(())
    }
}

/// Memory for the gradients to a side's series, as these lie; the address that belongs to that of a part's values.
fn gradient_of<T: Number, M: Machine>(
    machine: &M,
    side: &Prepared<T, M>,
    values: u64,
    region: &mut Region<M>,
) -> Result<u64> {
    let (start, bytes) = side.values();
    region.reserve(machine, bytes)?;
    Ok(region.address() + (values - start))
}
