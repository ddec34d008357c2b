//! The device as the planner sees it: series brought, tiles swept into slots, results fetched.

use std::ops::Range;
use std::sync::Arc;

use dtw_core::recurrence::{One, dispatch, excess};
use dtw_core::{Observer, Pairing, Result, SeriesBatch, Spec};
use dtw_plan::{
    Axis, Banding, Budget, Device, Fetch, Form, Order, Output, Pairs, Rect, Rows, SLOTS, Table, Target, Walk,
    fetch_tiles, scatter, tiles,
};
use web_time::Instant;

use crate::choose::choose;
use crate::dispatch::Job;
use crate::functor::Functor;
use crate::gpu::Gpu;
use crate::pace::Pace;
use crate::params::Params;
use crate::readback::Readback;
use crate::recurrence::{Finish, Lengths, Weights};
use crate::shader::{Mode, Sweep};
use crate::side::{Preparation, Side};
use crate::windows::DeviceWindows;

/// A buffer that grows.
#[derive(Debug, Default)]
pub(crate) struct Region(Option<wgpu::Buffer>);

impl Region {
    /// The buffer, of at least so many bytes. What was in it may be gone.
    pub(crate) fn reserve(&mut self, gpu: &Gpu, bytes: u64, label: &str) -> Result<&wgpu::Buffer> {
        if self.0.as_ref().is_none_or(|buffer| buffer.size() < bytes) {
            self.0 = None;
            self.0 = Some(gpu.storage(bytes, label)?);
        }
        Ok(self.0.as_ref().expect("it was made"))
    }

    pub(crate) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.0.as_ref()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, wgpu::Buffer::size)
    }
}

/// Results on their way, and what is needed to finish them.
#[derive(Debug, Default)]
struct Slot {
    results: Region,
    readback: Readback,
    lengths: Option<Lengths>,
    cells: u64,
    begun: Option<Instant>,
}

impl Slot {
    fn bytes(&self) -> u64 {
        self.results.bytes() + self.readback.bytes() + self.lengths.as_ref().map_or(0, Lengths::bytes)
    }
}

/// A GPU, and all the memory that its plan holds.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) gpu: Gpu,
    pub(crate) pace: Arc<Pace>,
    pub(crate) budget: Budget,
    pub(crate) x: Side,
    pub(crate) y: Side,
    pub(crate) params: Option<wgpu::Buffer>,
    pub(crate) tables: Region,
    pub(crate) edges: Region,
    pub(crate) weights: Region,
    /// Steepness and longest series of the weights that are there.
    weighed: Option<(f64, usize)>,
    table: Table,
    slots: [Slot; SLOTS],
    room: Vec<f32>,
    host: Vec<f32>,
}

impl Engine {
    pub(crate) fn new(gpu: Gpu, pace: Arc<Pace>, limit_bytes: u64) -> Self {
        let limits = gpu.limits();
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let budget = Budget::of(limit_bytes);
        let budget = Budget {
            sides: budget.sides.min(binding),
            // Raw series are bound, with their tables.
            staging: budget.staging.min(binding / 2),
            tile: budget.tile.min(binding / 4),
            edges: budget.edges.min(binding),
            tables: budget.tables.min(binding),
            ..budget
        };
        Self {
            gpu,
            pace,
            budget,
            x: Side::default(),
            y: Side::default(),
            params: None,
            tables: Region::default(),
            edges: Region::default(),
            weights: Region::default(),
            weighed: None,
            table: Table::default(),
            slots: Default::default(),
            room: Vec::new(),
            host: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        let slots: u64 = self.slots.iter().map(Slot::bytes).sum();
        let host = 4 * (self.room.capacity() + self.host.capacity()) as u64 + self.table.bytes() as u64;
        self.x.bytes()
            + self.y.bytes()
            + self.tables.bytes()
            + self.edges.bytes()
            + self.weights.bytes()
            + slots
            + host
    }

    /// Gives back what series and results took, if that is more than so many bytes.
    pub(crate) fn release_beyond(&mut self, bytes: u64) {
        if self.bytes() > bytes {
            (self.x, self.y) = (Side::default(), Side::default());
            self.slots = Default::default();
            (self.room, self.host) = (Vec::new(), Vec::new());
        }
    }

    /// Brings the weights of cells that a functor needs for series of up to `longest` points.
    pub(crate) fn weigh(&mut self, spec: &Spec, functor: &Functor, longest: usize) -> Result<()> {
        let Some(g) = functor.weights else { return Ok(()) };
        if self.weighed.is_some_and(|(own, most)| own == g && most >= longest) {
            return Ok(());
        }
        let weights = dispatch::<f32, One<f32>, _>(spec, 0.0, Weights { longest });
        let bytes = bytemuck::cast_slice(&weights);
        let buffer = self.weights.reserve(&self.gpu, bytes.len() as u64, "weights")?;
        self.gpu.upload(buffer, 0, bytes)?;
        self.weighed = Some((g, longest));
        Ok(())
    }

    /// Brings the series of a side at these places of an order.
    pub(crate) fn load(
        &mut self,
        axis: Axis,
        preparation: &Preparation<'_>,
        batch: &SeriesBatch<'_, f32>,
        order: &Order,
        places: &Range<usize>,
    ) -> Result<()> {
        let side = match axis {
            Axis::Rows => &mut self.x,
            Axis::Columns => &mut self.y,
        };
        side.load(&self.gpu, preparation, batch, order, places)
    }

    /// Tasks of a tile, at most, that the memory for the tables of bands allows.
    pub(crate) fn table_tasks(&self, pairs: &mut Pairs<'_>, chunk: &Rect) -> u64 {
        let ranges = self.budget.tables / 16;
        if pairs.banding.most_ranges(pairs.rows, pairs.columns) <= ranges {
            return u64::MAX;
        }
        (ranges / pairs.longest(chunk).0.max(1) as u64).max(1)
    }

    /// To be called where the next band is another one: a table is known by the lengths that it is for.
    pub(crate) fn forget_band(&mut self) {
        self.table = Table::default();
    }

    /// What the device has to know of the band of a rectangle; brings its table if there is one.
    pub(crate) fn band(&mut self, pairs: &mut Pairs<'_>, rect: &Rect, params: &mut Params) -> Result<()> {
        match pairs.banding.form() {
            Form::Full => {}
            Form::Sakoe { radius, is_fraction } => {
                params.band = if is_fraction { 2 } else { 1 };
                // Beyond every grid that is swept, and far from overflow in the shader.
                params.radius = if is_fraction { radius } else { radius.min(1 << 30) };
            }
            Form::Table => {
                params.band = 3;
                let Self { gpu, table, tables, .. } = self;
                let is_new = pairs.banding.fill(table, rect, pairs.rows, pairs.columns, pairs.kind)?;
                let ranges = 2 * table.ranges.len();
                if !table.offsets.is_empty() {
                    params.band_offsets = ranges as u32;
                }
                if is_new {
                    let mut words: Vec<u32> = table.ranges.iter().flat_map(|r| [r.start, r.end]).collect();
                    words.extend(table.offsets.iter().map(|offset| *offset as u32));
                    let bytes = bytemuck::cast_slice(&words);
                    let buffer = tables.reserve(gpu, bytes.len() as u64, "band")?;
                    gpu.upload(buffer, 0, bytes)?;
                    table.is_on_the_device();
                }
            }
        }
        Ok(())
    }

    /// Distances of all pairs into `out`, in the places the pairing says.
    pub(crate) fn distances(
        &mut self,
        pass: &mut Pass<'_>,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let (rows, columns) = pass.orders(x, y);
        self.distances_of(pass, [&rows, &columns], [Source::Batch(x), Source::Batch(y)], out)
    }

    /// The same of series in these orders, which come from somewhere.
    pub(crate) fn distances_of(
        &mut self,
        pass: &mut Pass<'_>,
        orders: [&Order; 2],
        sources: [Source<'_>; 2],
        out: &mut [f32],
    ) -> Result<()> {
        let (budget, mut room) = (self.budget, std::mem::take(&mut self.host));
        let mut output = Output { values: out, adds: pass.adds, room: &mut room };
        let mut device = self.begin(pass, sources, orders)?;
        let swept = fetch_tiles(&mut device, &mut pass.pairs(orders[0], orders[1]), &budget, &mut output);
        self.host = room;
        swept
    }

    /// As `distances`, where nothing may wait: one tile after the other.
    pub(crate) async fn distances_async(
        &mut self,
        pass: &mut Pass<'_>,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let (rows, columns) = pass.orders(x, y);
        let (budget, mut room) = (self.budget, std::mem::take(&mut self.host));
        let target = Target { pairing: pass.pairing, order_x: &rows, order_y: &columns, adds: pass.adds };
        let mut device = self.begin(pass, [Source::Batch(x), Source::Batch(y)], [&rows, &columns])?;
        let mut pairs = pass.pairs(&rows, &columns);
        let mut walk = Walk::new(&device, &mut pairs, &budget)?;
        while let Some(tile) = walk.next(&mut device, &mut pairs)? {
            device.sweep(&mut pairs, &tile, 0)?;
            device.begin_fetch(0, tile.outputs())?;
            room.resize(tile.outputs(), 0.0);
            device.finish_fetch_async(0, &mut room).await?;
            scatter(&target, &tile, &room, out);
            pairs.observer.advance(pairs.cells(&tile)?);
        }
        self.host = room;
        Ok(())
    }

    /// The device of a pass, which finds its weights there.
    fn begin<'a>(
        &'a mut self,
        pass: &Pass<'a>,
        sources: [Source<'a>; 2],
        orders: [&Order; 2],
    ) -> Result<Distances<'a>> {
        let longest = orders.map(|order| order.longest(0..order.len())).into_iter().max().unwrap_or(0);
        self.weigh(pass.spec, &pass.functor, longest)?;
        let preparation = Preparation {
            spec: pass.spec,
            functor: pass.functor,
            channel: pass.channel,
            channels: sources[0].channels(),
        };
        let columns = if pass.pairing == Pairing::SelfSymmetric { 0 } else { 1 };
        let sources = [sources[0], sources[columns]];
        Ok(Distances { engine: self, preparation, excess: pass.excess, sources })
    }
}

/// What one pass over the pairs computes.
pub(crate) struct Pass<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) functor: Functor,
    /// Whether the functor gives the excess of the measure.
    pub(crate) excess: bool,
    pub(crate) channel: Option<usize>,
    pub(crate) pairing: Pairing,
    pub(crate) banding: &'a mut Banding,
    pub(crate) observer: &'a dyn Observer,
    /// Whether results are added to what the output holds.
    pub(crate) adds: bool,
}

impl Pass<'_> {
    /// In which order the series lie on the device.
    fn orders(&self, x: &SeriesBatch<'_, f32>, y: &SeriesBatch<'_, f32>) -> (Order, Order) {
        let y = if self.pairing == Pairing::SelfSymmetric { x } else { y };
        Order::of(self.pairing, x, y, self.functor.preparation.dropped())
    }

    fn pairs<'b>(&'b mut self, rows: &'b Order, columns: &'b Order) -> Pairs<'b> {
        let Self { pairing, banding, observer, .. } = self;
        Pairs { pairing: *pairing, rows, columns, kind: Rows::X, banding, observer: *observer }
    }
}

/// Distances of the pairs of a call.
struct Distances<'a> {
    engine: &'a mut Engine,
    preparation: Preparation<'a>,
    excess: bool,
    sources: [Source<'a>; 2],
}

/// Where the series of a side come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    Batch(&'a SeriesBatch<'a, f32>),
    Windows(&'a DeviceWindows<'a>),
}

impl Source<'_> {
    fn channels(self) -> usize {
        match self {
            Self::Batch(batch) => batch.channels(),
            Self::Windows(windows) => windows.channels,
        }
    }
}

impl Device for Distances<'_> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.held_bytes(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.make_params()?;
        let Engine { gpu, pace, params, x, y, .. } = &mut *self.engine;
        let side = match axis {
            Axis::Rows => x,
            Axis::Columns => y,
        };
        match self.sources[axis as usize] {
            Source::Batch(batch) => side.load(gpu, &self.preparation, batch, order, places),
            Source::Windows(windows) => {
                let params = params.as_ref().expect("it was made");
                windows.load(gpu, params, pace.cells(), side, places)
            }
        }
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let cells = pairs.most_cells(chunk);
        let outputs = (self.engine.budget.tile / self.preparation.functor.state_bytes()).max(1);
        let tasks = self.engine.pace.tile_tasks(cells).min(self.engine.table_tasks(pairs, chunk));
        Ok(tiles(chunk, outputs, tasks.min(u64::from(u32::MAX / 2))))
    }
}

impl Fetch<f32> for Distances<'_> {
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, slot: usize) -> Result<bool> {
        let functor = self.preparation.functor;
        let (n, m) = pairs.longest(tile);
        let is_banded = pairs.banding.form() != Form::Full;
        let channels = self.preparation.prepared_channels();
        let sweep = choose(&self.engine.gpu, functor, channels, (n, m), is_banded, Mode::Distances);
        let within_x = pairs.pairing == Pairing::SelfSymmetric && is_within(&self.engine.x, &tile.columns);
        let cells = pairs.most_cells(tile);
        let mut params = self.engine.params_of(&sweep, &self.preparation, tile, within_x);
        self.engine.band(pairs, tile, &mut params)?;
        let mut own = std::mem::take(&mut self.engine.slots[slot]);
        own.cells = pairs.cells(tile)?;
        own.lengths = Some(if pairs.rows.is_equal_length() && pairs.columns.is_equal_length() {
            Lengths::Equal(n, m)
        } else {
            Lengths::of_places(pairs.rows, pairs.columns, tile)
        });
        let bytes = tile.outputs() as u64 * functor.state_bytes();
        let swept = own.results.reserve(&self.engine.gpu, bytes, "results").and_then(|results| {
            let tasks = tile.tasks();
            let job = Job { sweep, params, results, tasks, longest: (n, m), cells, within_x };
            self.engine.dispatch(&job, pairs.observer)
        });
        own.begun = Some(Instant::now());
        self.engine.slots[slot] = own;
        swept.map(|()| false)
    }

    fn begin_fetch(&mut self, slot: usize, results: usize) -> Result<()> {
        let Engine { gpu, slots, .. } = &mut *self.engine;
        let Slot { results: region, readback, .. } = &mut slots[slot];
        let buffer = region.buffer().expect("a tile is under way");
        readback.begin(gpu, buffer, 0, results as u64 * self.preparation.functor.state_bytes())
    }

    fn finish_fetch(&mut self, slot: usize, results: &mut [f32]) -> Result<()> {
        let (gpu, own, room) = self.fetching(slot, results.len());
        let done =
            own.readback.finish(gpu, bytemuck::cast_slice_mut(if room.is_empty() { results } else { room }));
        self.fetched(slot, done, results)
    }
}

impl Distances<'_> {
    /// As `finish_fetch`, where nothing may wait.
    async fn finish_fetch_async(&mut self, slot: usize, results: &mut [f32]) -> Result<()> {
        let (gpu, own, room) = self.fetching(slot, results.len());
        let done = own
            .readback
            .finish_async(gpu, bytemuck::cast_slice_mut(if room.is_empty() { results } else { room }))
            .await;
        self.fetched(slot, done, results)
    }

    /// A slot, and room for the states of so many results; none for states of one number, which are finished where they
    /// are.
    fn fetching(&mut self, slot: usize, results: usize) -> (&Gpu, &mut Slot, &mut [f32]) {
        let Engine { gpu, slots, room, .. } = &mut *self.engine;
        let stride = self.preparation.functor.stride();
        room.resize(if stride > 1 { results * stride } else { 0 }, 0.0);
        (gpu, &mut slots[slot], room)
    }

    /// Results from the states of a slot that were fetched, if they were.
    fn fetched(&mut self, slot: usize, done: Result<()>, results: &mut [f32]) -> Result<()> {
        let Engine { pace, slots, room, .. } = &mut *self.engine;
        let (own, functor) = (&mut slots[slot], self.preparation.functor);
        if let Some(begun) = own.begun.take() {
            pace.learn(own.cells, begun.elapsed());
        }
        done?;
        let stride = functor.stride();
        let states = (stride > 1).then_some((&room[..], stride));
        let lengths = own.lengths.as_ref().expect("a tile is under way");
        let finish = Finish { states, parts: functor.parts, lengths, out: results };
        if self.excess {
            excess::visit::<f32, One<f32>, _>(0.0, &self.preparation.spec.measure, finish);
        } else {
            dispatch::<f32, One<f32>, _>(self.preparation.spec, 0.0, finish);
        }
        Ok(())
    }
}

impl Engine {
    /// What all dispatches of a rectangle are told, but for its band.
    pub(crate) fn params_of(
        &self,
        sweep: &Sweep,
        preparation: &Preparation<'_>,
        rect: &Rect,
        within_x: bool,
    ) -> Params {
        let columns = if within_x { &self.x } else { &self.y };
        Params {
            pairing: match rect.pairing {
                Pairing::Cross => 0,
                Pairing::SelfSymmetric => 1,
                Pairing::Zipped => 2,
            },
            columns: rect.columns.len() as u32,
            x_place: (rect.rows.start - self.x.places().start) as u32,
            y_place: (rect.columns.start - columns.places().start) as u32,
            x_zero: self.x.zero(),
            y_zero: columns.zero(),
            channels: preparation.prepared_channels() as u32,
            stride: rect.stride() as u32,
            longest: self.weighed.map_or(0, |(_, longest)| longest as u32),
            numbers: sweep.functor.parameters,
            ..Params::default()
        }
    }
}

/// Whether these places are among the rows on the device.
fn is_within(x: &Side, columns: &Range<usize>) -> bool {
    x.places().start <= columns.start && columns.end <= x.places().end
}
