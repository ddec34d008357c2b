//! A GPU with all the memory that its plan holds: series, weights, bands, edges, results on their way.

use std::ops::Range;
use std::sync::Arc;

use dtw_core::recurrence::{One, dispatch};
use dtw_core::{Pairing, Result, SeriesBatch, Spec};
use dtw_plan::{Axis, BandLayout, Budget, Order, Pairs, Rect, SLOTS, Table};
use web_time::Instant;

use crate::gpu::device::Gpu;
use crate::gpu::readback::Readback;
use crate::launch::job::Job;
use crate::launch::recurrence::{Lengths, Weights};
use crate::launch::speed::Speed;
use crate::memory::region::Region;
use crate::memory::series::{Preparation, Side};
use crate::shaders::choose::choose;
use crate::shaders::constants::{
    BAND_FULL, BAND_MILLIONTHS, BAND_POINTS, BAND_RANGES, CROSS, TRIANGLE, ZIPPED,
};
use crate::shaders::functor::Functor;
use crate::shaders::params::Params;
use crate::shaders::sweep::{Mode, Sweep};

/// Results on their way, and what is needed to finish them.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) results: Region,
    pub(crate) readback: Readback,
    pub(crate) lengths: Lengths,
    pub(crate) cells: u64,
    pub(crate) begun: Option<Instant>,
}

impl Slot {
    fn bytes(&self) -> u64 {
        self.results.bytes() + self.readback.bytes() + self.lengths.bytes()
    }
}

/// A GPU, and all the memory that its plan holds.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) gpu: Gpu,
    pub(crate) speed: Arc<Speed>,
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
    pub(crate) slots: [Slot; SLOTS],
    /// States that were fetched, and the results of a tile.
    pub(crate) states: Vec<f32>,
    pub(crate) tile: Vec<f32>,
}

impl Engine {
    pub(crate) fn new(gpu: Gpu, speed: Arc<Speed>, limit_bytes: u64) -> Self {
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
            speed,
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
            states: Vec::new(),
            tile: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        let slots: u64 = self.slots.iter().map(Slot::bytes).sum();
        let host = 4 * (self.states.capacity() + self.tile.capacity()) as u64 + self.table.bytes() as u64;
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
            (self.states, self.tile) = (Vec::new(), Vec::new());
        }
    }

    /// Uploads the weights of cells that a functor needs for series of up to `longest` points.
    pub(crate) fn weigh(&mut self, spec: &Spec, functor: &Functor, longest: usize) -> Result<()> {
        let Some(g) = functor.weights else { return Ok(()) };
        if self.weighed.is_some_and(|(own, most)| own == g && most >= longest) {
            return Ok(());
        }
        let weights = dispatch::<f32, One<f32>, _>(spec, 0.0, Weights { longest });
        self.weights.upload(&self.gpu, &weights, "weights")?;
        self.weighed = Some((g, longest));
        Ok(())
    }

    /// Uploads the series of a side at these places of an order.
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

    /// Says in the arguments what the band of a rectangle is; uploads its table if there is one.
    fn band(&mut self, pairs: &mut Pairs<'_>, rect: &Rect, params: &mut Params) -> Result<()> {
        match pairs.banding.layout() {
            BandLayout::Full => params.band = BAND_FULL,
            BandLayout::Sakoe { radius, is_fraction } => {
                params.band = if is_fraction { BAND_MILLIONTHS } else { BAND_POINTS };
                // Beyond every grid that is swept, and far from overflow in the shader.
                params.radius = if is_fraction { radius } else { radius.min(1 << 30) };
            }
            BandLayout::Table => {
                params.band = BAND_RANGES;
                let Self { gpu, table, tables, .. } = self;
                let is_new = pairs.banding.fill(table, rect, pairs.rows, pairs.columns, pairs.kind)?;
                let ranges = 2 * table.ranges.len();
                if !table.offsets.is_empty() {
                    params.band_offsets = ranges as u32;
                }
                if is_new {
                    let mut words: Vec<u32> = table.ranges.iter().flat_map(|r| [r.start, r.end]).collect();
                    words.extend(table.offsets.iter().map(|offset| *offset as u32));
                    tables.upload(gpu, &words, "band")?;
                    table.is_on_the_device();
                }
            }
        }
        Ok(())
    }

    /// Makes the buffer of arguments, if there is none.
    pub(crate) fn make_params(&mut self) -> Result<()> {
        if self.params.is_none() {
            self.params = Some(self.gpu.uniform(size_of::<Params>() as u64)?);
        }
        Ok(())
    }

    /// The shader for the pairs of a rectangle.
    pub(crate) fn sweep(
        &self,
        preparation: &Preparation<'_>,
        pairs: &Pairs<'_>,
        rect: &Rect,
        mode: Mode,
    ) -> Sweep {
        let is_banded = pairs.banding.layout() != BandLayout::Full;
        let channels = preparation.prepared_channels();
        choose(&self.gpu, preparation.functor, channels, pairs.longest(rect), is_banded, mode)
    }

    /// The pairs of a rectangle, whose series are on the device.
    pub(crate) fn job(
        &mut self,
        preparation: &Preparation<'_>,
        pairs: &mut Pairs<'_>,
        rect: &Rect,
        mode: Mode,
    ) -> Result<Job> {
        let (places, columns) = (self.x.places(), &rect.columns);
        let within_x = pairs.pairing == Pairing::SelfSymmetric
            && (places.start <= columns.start && columns.end <= places.end);
        let mut job = Job {
            sweep: self.sweep(preparation, pairs, rect, mode),
            params: self.params_of(preparation, rect, within_x),
            tasks: rect.tasks(),
            longest: pairs.longest(rect),
            cells: pairs.most_cells(rect),
            within_x,
        };
        self.band(pairs, rect, &mut job.params)?;
        Ok(job)
    }

    /// The arguments that all dispatches of a rectangle share, but for its band.
    pub(crate) fn params_of(&self, preparation: &Preparation<'_>, rect: &Rect, within_x: bool) -> Params {
        let columns = if within_x { &self.x } else { &self.y };
        let [a, b, c, d] = preparation.functor.parameters;
        Params {
            pairing: match rect.pairing {
                Pairing::Cross => CROSS,
                Pairing::SelfSymmetric => TRIANGLE,
                Pairing::Zipped => ZIPPED,
            },
            columns: rect.columns.len() as u32,
            x_place: (rect.rows.start - self.x.places().start) as u32,
            y_place: (rect.columns.start - columns.places().start) as u32,
            x_zero: self.x.zero(),
            y_zero: columns.zero(),
            channels: preparation.prepared_channels() as u32,
            stride: rect.stride() as u32,
            longest: self.weighed.map_or(0, |(_, longest)| longest as u32),
            a,
            b,
            c,
            d,
            ..Params::default()
        }
    }
}
