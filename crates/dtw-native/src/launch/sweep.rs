//! Launching a sweep: kernel, blocks, edges, band and weights for one rectangle of prepared pairs.

use std::collections::HashMap;
use std::sync::Arc;

use dtw_core::recurrence::wdtw;
use dtw_core::{Error, Launch, Observer, Result};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Kernel, SweepKind, catalog};
use dtw_plan::{BandLayout, Budget, Pairs, Rect};

use crate::launch::bands::BandTables;
use crate::launch::choose::{Choice, Demand, Hardware, able, choose, cycles, reason};
use crate::launch::functor::Functor;
use crate::launch::job::{Edges, Job, LaunchBand};
use crate::launch::tiled::Tiled;
use crate::machine::blocks_for;
use crate::machine::{BLOCK_THREADS, Machine};
use crate::memory::bytes::Number;
use crate::memory::region::Region;

/// Groups of 32 lanes in a block.
pub(crate) const BLOCK_WARPS: u64 = BLOCK_THREADS as u64 / 32;

/// Rows of an edge are a multiple of this.
pub(crate) const EDGE_ROWS: usize = 32;

/// The links of a launch that needs none: the first is read all the same.
const LEAST_LINKS: u64 = 16;

/// How the error begins that a forced kind of sweep cannot do a job.
pub const FORCED: &str = "the forced kind";

/// Bytes of what a task, or a warp that does one after the other, keeps in memory while strips are under way.
struct TaskBytes {
    edge: u64,
    links: u64,
    progress: u64,
}

impl TaskBytes {
    fn of<T: Number>(kernel: &Kernel, job: &Job, strips: u32, rows: u64) -> Self {
        let number = size_of::<T>() as u64;
        if kernel.is(SweepKind::Wide) {
            // A number and a mark; the last column alone is an edge.
            let links = if strips > 1 { rows * 2 * number } else { 0 };
            return Self { edge: if job.keeps_edges { rows * number } else { 0 }, links, progress: 0 };
        }
        let progress = u64::from(strips) * size_of::<u32>() as u64;
        Self { edge: rows * job.functor.parts as u64 * number, links: 0, progress }
    }

    fn bytes(&self) -> u64 {
        self.edge + self.links
    }
}

/// What launches need besides the series; kept between calls.
#[derive(Debug)]
pub(crate) struct Sweeper<M: Machine> {
    machine: M,
    pub(crate) multiprocessors: u32,
    pub(crate) hardware: Hardware,
    edges: Region<M>,
    links: Region<M>,
    progress: Region<M>,
    ticket: Region<M>,
    bands: BandTables<M>,
    weights: Region<M>,
    /// Steepness, longest length and number type of `weights`.
    weighed: Option<(f64, usize)>,
    resident_blocks: HashMap<&'static str, u32>,
    /// Who is told of launches, if somebody explains them.
    pub(crate) explains: Option<Arc<dyn Observer>>,
    /// The kind of sweep that computes, whatever is fastest.
    pub(crate) forced: Option<SweepKind>,
    /// Whether small searches are done as large ones.
    pub(crate) is_eager: bool,
}

impl<M: Machine> Sweeper<M> {
    pub(crate) fn new(machine: M) -> Self {
        let hardware = Hardware::of(&machine);
        Self {
            machine,
            multiprocessors: hardware.multiprocessors,
            hardware,
            edges: Region::default(),
            links: Region::default(),
            progress: Region::default(),
            ticket: Region::default(),
            bands: BandTables::default(),
            weights: Region::lasting(),
            weighed: None,
            resident_blocks: HashMap::new(),
            explains: None,
            forced: None,
            is_eager: false,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        [&self.edges, &self.links, &self.progress, &self.ticket, &self.weights]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.bands.bytes()
    }

    /// Begins a call: calls that are alike then keep their tables in the same places.
    pub(crate) fn begin(&mut self) {
        self.bands.begin();
    }

    /// Gives back the memory of last columns and links where they take more than so many bytes.
    pub(crate) fn shrink(&mut self, most: u64) {
        if (self.edges.bytes() + self.links.bytes()) as u64 > most {
            (self.edges, self.links) = Default::default();
        }
    }

    /// The band of a rectangle of a call's pairs.
    pub(crate) fn band(&mut self, pairs: &mut Pairs<'_>, rect: &Rect) -> Result<LaunchBand> {
        let orders = (pairs.rows, pairs.columns);
        self.bands.band(&self.machine, pairs.banding, rect, orders, pairs.kind)
    }

    pub(crate) fn edges(&self) -> &Region<M> {
        &self.edges
    }

    /// Makes sure that cells can be weighed for series of up to `longest` points.
    pub(crate) fn weigh<T: Number>(&mut self, functor: &Functor, longest: usize) -> Result<()> {
        let Some(g) = functor.weights else { return Ok(()) };
        if self.weighed.is_some_and(|(steepness, most)| steepness == g && most >= longest) {
            return Ok(());
        }
        // h = 2|i - j| - max(n, m), so that an offset beyond the middle of the longer series has h > 0.
        let weight = |h: i64| T::from_f64(wdtw::weight(g, h as f64 / 2.0));
        let table: Vec<T> = (-(longest as i64)..=longest as i64).map(weight).collect();
        self.weighed = None;
        self.weights.hold(&self.machine, &table)?;
        self.weighed = Some((g, longest));
        Ok(())
    }

    fn resident_blocks(&mut self, kernel: &'static Kernel) -> Result<u64> {
        if let Some(blocks) = self.resident_blocks.get(kernel.symbol) {
            return Ok(u64::from(*blocks));
        }
        let blocks = self.machine.resident_blocks(kernel)?.max(1);
        self.resident_blocks.insert(kernel.symbol, blocks);
        Ok(u64::from(blocks))
    }

    /// Tells of a launch those who explain.
    fn tell(&self, choice: &Choice, demand: &Demand) {
        let Some(observer) = &self.explains else { return };
        let Choice { kernel, spread } = choice;
        let shape = format!(
            "{} lanes of {} columns, {}",
            kernel.lanes,
            kernel.columns,
            if *spread { "strips on different warps" } else { "pairs on different warps" }
        );
        let mut why = reason(demand, &self.hardware, choice);
        if let Some(kind) = self.forced {
            why = format!("the kind {} is forced; {why}", kind.name());
        }
        observer.launched(&Launch { kernel: kernel.symbol, shape: &shape, why: &why, pairs: demand.tasks });
    }

    /// The kernel that a job would get.
    pub(crate) fn choice<T: Number>(&self, job: &Job, layout: BandLayout, budget: &Budget) -> Result<Choice> {
        self.choice_of::<T>(&self.demand::<T>(job, layout)?, job, budget)
    }

    fn choice_of<T: Number>(&self, demand: &Demand, job: &Job, budget: &Budget) -> Result<Choice> {
        let fits = |kernel: &Kernel| {
            let strips = job.y.length.div_ceil(kernel.width().max(1));
            let rows = u64::from(job.x.length).next_multiple_of(EDGE_ROWS as u64);
            let each = TaskBytes::of::<T>(kernel, job, strips, rows);
            !kernel.has_strips() || each.bytes() + each.progress <= budget.edges
        };
        choose(demand, &self.hardware, fits).ok_or_else(|| {
            let what = format!("{} of {}: no kernel was built for it", demand.key, demand.dtype);
            Error::left_to_cpu(self.machine.name(), what)
        })
    }

    /// What a launch is to do, by the forced kind if there is one. What a kind gives up is left to others.
    fn demand<T: Number>(&self, job: &Job, layout: BandLayout) -> Result<Demand> {
        let (n, m) = (job.x.length as usize, job.y.length as usize);
        let demand = Demand {
            key: job.functor.key,
            only: job.only,
            untimed: job.x.times == 0 && job.y.times == 0,
            dtype: T::DTYPE.name(),
            channels: job.channels,
            band: layout != BandLayout::Full,
            offsets: layout.offsets(n, m).filter(|_| job.x.lengths == 0 && job.y.lengths == 0),
            n,
            m,
            row_cells: (job.cells / u64::from(job.x.length.max(1))) as usize,
            tasks: job.tasks,
            tells: job.stretches > 1,
            keeps_edges: job.keeps_edges,
        };
        let Some(forced) = self.forced else { return Ok(demand) };
        let able = able(&demand);
        if !able.contains(&forced) {
            let Demand { key, dtype, channels, band, .. } = demand;
            let with_band = if band { ", with a band" } else { "" };
            let wanted = format!("{key} of {dtype}, {channels} channels{with_band}");
            return Err(self.refuses(forced, &wanted, &able));
        }
        Ok(Demand { only: demand.only.or((!forced.may_give_up()).then_some(forced)), ..demand })
    }

    /// That the forced kind of sweep cannot do a job, which others can.
    fn refuses(&self, forced: SweepKind, job: &str, able: &[SweepKind]) -> Error {
        let able: Vec<&str> = able.iter().map(|kind| kind.name()).collect();
        let able = if able.is_empty() { "no kind of sweep".to_owned() } else { able.join(", ") };
        let what = format!("{FORCED} {} for {job}: expected one that can: {able}", forced.name());
        Error::Unsupported { backend: self.machine.name(), what, remedies: &[] }
    }

    /// Bytes that a task whose last column is wanted takes at most: its edge, its links where there are kernels that
    /// have some and the budget has room for them, and its strips' progress.
    pub(crate) fn kept_bytes<T: Number>(functor: &Functor, n: usize, m: usize, budget: &Budget) -> u64 {
        let bytes = |numbers: usize| {
            // No strip is narrower than a warp.
            (n.next_multiple_of(EDGE_ROWS) * numbers * size_of::<T>() + m.div_ceil(32) * size_of::<u32>())
                as u64
        };
        let least = bytes(functor.parts);
        let linked =
            catalog::sweeps(functor.key, T::DTYPE.name(), false).any(|kernel| kernel.is(SweepKind::Wide));
        // A number that is kept, a number and a mark that are passed on.
        let most = bytes(3);
        if linked && most <= budget.edges { most } else { least }
    }

    /// Estimated cycles of a job that keeps its last columns, without a band, and the bytes that these take with what
    /// its strips need; `None` if no kernel can do it.
    pub(crate) fn estimate<T: Number>(&self, job: &Job) -> Option<(f64, u64)> {
        let demand = self.demand::<T>(job, BandLayout::Full).ok()?;
        let choice = choose(&demand, &self.hardware, |_| true)?;
        let rows = u64::from(job.x.length).next_multiple_of(EDGE_ROWS as u64);
        let strips = job.y.length.div_ceil(choice.kernel.width());
        let each = TaskBytes::of::<T>(choice.kernel, job, strips, rows);
        Some((cycles(&choice, &demand, &self.hardware), job.tasks * (each.bytes() + each.progress)))
    }

    /// Launches a job; returns where its edges are, for a job that keeps them.
    pub(crate) fn launch<T: Number>(
        &mut self,
        job: &Job,
        band: LaunchBand,
        budget: &Budget,
    ) -> Result<Option<Edges>> {
        let missing = !job.functor.in_tiles && self.launch_what_may_give_up::<T>(job, band)?;
        // A sweep in tiles is of no kind.
        let is_forced = self.forced.is_some() && !job.functor.in_tiles;
        if let Some(tiled) = if is_forced { None } else { Tiled::of::<T>(job, budget)? } {
            let (resident, mut p) = (self.resident_blocks(tiled.kernel())?, self.params_beside(job, band)?);
            p.measure.only_missing |= u32::from(missing);
            tiled.launch(&self.machine, job, p, resident, [&mut self.edges, &mut self.progress], budget)?;
            return Ok(None);
        }
        let demand = self.demand::<T>(job, band.layout)?;
        let choice = self.choice_of::<T>(&demand, job, budget)?;
        let Choice { kernel, spread } = choice;
        let mut p = self.params(job, band);
        p.measure.only_missing |= u32::from(missing);
        self.tell(&choice, &demand);
        if !kernel.has_strips() {
            self.launch_one_strip(kernel, &p)?;
            return Ok(None);
        }
        p.strips.most_strips = job.y.length.div_ceil(kernel.width());
        p.strips.edge_stride = (job.x.length as usize).next_multiple_of(EDGE_ROWS) as u64;
        let each = TaskBytes::of::<T>(kernel, job, p.strips.most_strips, p.strips.edge_stride);
        if spread || job.keeps_edges || budget.edges < BLOCK_WARPS * each.bytes() {
            return self.launch_spread(kernel, job, &each, &mut p, budget);
        }
        self.launch_in_warps(kernel, job, &each, &mut p, budget)?;
        Ok(None)
    }

    /// Launches sweeps of the kinds that give up some pairs, if there are such for a job; whether there were.
    fn launch_what_may_give_up<T: Number>(&mut self, job: &Job, band: LaunchBand) -> Result<bool> {
        if job.out == 0 || job.only_missing {
            return Ok(false);
        }
        let (forced, mut launched) = (self.forced, false);
        let is_first = |kind: &SweepKind| kind.may_give_up() && forced.is_none_or(|only| only == *kind);
        for kind in SweepKind::ALL.into_iter().filter(is_first) {
            let demand = Demand { only: Some(kind), ..self.demand::<T>(job, band.layout)? };
            if let Some(first) = choose(&demand, &self.hardware, |_| true) {
                self.tell(&first, &demand);
                let mut p = self.params(job, band);
                p.measure.only_missing |= u32::from(launched);
                self.launch_one_strip(first.kernel, &p)?;
                launched = true;
            }
        }
        Ok(launched)
    }

    /// Pairs of one strip: a group of lanes for each. Of the pairs that a kind gave up there are few, so warps that
    /// look for them take more than one round.
    fn launch_one_strip(&mut self, kernel: &'static Kernel, p: &params::Sweep) -> Result<()> {
        let groups = u64::from(32 / kernel.lanes.min(32));
        let mut blocks = blocks_for(p.pairs.tasks.div_ceil(groups));
        if p.measure.only_missing != 0 {
            let resident = u32::try_from(self.resident_blocks(kernel)?).unwrap_or(u32::MAX);
            blocks = blocks.min(resident.max(blocks / kernel.lanes));
        }
        self.machine.launch(kernel, p.bytes(), blocks)
    }

    /// Strips of a pair one after the other in the same warp: as many slots as warps.
    fn launch_in_warps(
        &mut self,
        kernel: &'static Kernel,
        job: &Job,
        each: &TaskBytes,
        p: &mut params::Sweep,
        budget: &Budget,
    ) -> Result<()> {
        let resident = self.resident_blocks(kernel)?;
        let blocks = resident.min(budget.edges / (BLOCK_WARPS * each.bytes()).max(1));
        let blocks = blocks.min(job.tasks.div_ceil(BLOCK_WARPS)).max(1);
        let slots = blocks * BLOCK_WARPS;
        p.strips.edge_part_stride = slots * p.strips.edge_stride;
        self.edges.reserve(&self.machine, (slots * each.edge) as usize)?;
        self.links.reserve(&self.machine, (slots * each.links).max(LEAST_LINKS) as usize)?;
        (p.strips.edges, p.strips.links) = (self.edges.address(), self.links.address());
        p.strips.ticket = self.ticket.zeros(&self.machine, size_of::<u64>())?;
        self.machine.launch(kernel, p.bytes(), blocks as u32)
    }

    /// A warp for each strip: a slot for each task, of as many tasks at once as the budget has room for.
    fn launch_spread(
        &mut self,
        kernel: &'static Kernel,
        job: &Job,
        each: &TaskBytes,
        p: &mut params::Sweep,
        budget: &Budget,
    ) -> Result<Option<Edges>> {
        let resident = self.resident_blocks(kernel)?;
        p.banding.spread = 1;
        let task_bytes = each.bytes() + each.progress;
        if task_bytes > budget.edges {
            return Err(budget.exceeded("the edge between two strips", task_bytes, budget.edges));
        }
        let most = (budget.edges / task_bytes.max(1)).min(job.tasks).max(1);
        if job.keeps_edges && most < job.tasks {
            return Err(budget.exceeded(
                "the last columns of a search",
                job.tasks * task_bytes,
                budget.edges,
            ));
        }
        p.strips.edge_part_stride = most * p.strips.edge_stride;
        self.edges.reserve(&self.machine, (most * each.edge) as usize)?;
        p.strips.edges = self.edges.address();
        let has_links = kernel.is(SweepKind::Wide);
        let (offsets, mut first) = (p.banding.range_offsets, 0);
        while first < job.tasks {
            let tasks = most.min(job.tasks - first);
            (p.pairs.first_task, p.pairs.tasks) = (job.first_task + first, tasks);
            p.banding.range_offsets = if offsets == 0 { 0 } else { offsets + first * 8 };
            if has_links {
                // The ticket behind the links: one thing less to zero before a short launch.
                let bytes = (tasks * each.links).max(LEAST_LINKS);
                p.strips.links = self.links.zeros(&self.machine, bytes as usize + size_of::<u64>())?;
                p.strips.ticket = p.strips.links + bytes;
            } else {
                p.strips.progress = self.progress.zeros(&self.machine, (tasks * each.progress) as usize)?;
                p.strips.ticket = self.ticket.zeros(&self.machine, size_of::<u64>())?;
            }
            // A wave of several warps takes the same strip of as many tasks; where there are fewer, some are idle.
            let warps_per_wave = u64::from(self.hardware.lanes / 32).max(1);
            let strips = tasks.next_multiple_of(warps_per_wave) * u64::from(p.strips.most_strips);
            let waits = has_links && p.strips.most_strips > 1;
            let most = if waits {
                u64::from(self.hardware.tuning.spread_blocks * self.multiprocessors)
            } else {
                resident
            };
            let blocks = resident.min(most).min(strips.div_ceil(BLOCK_WARPS));
            self.machine.launch(kernel, p.bytes(), blocks as u32)?;
            first += tasks;
        }
        let edges = Edges {
            address: p.strips.edges,
            stride: p.strips.edge_stride,
            part_stride: p.strips.edge_part_stride,
        };
        Ok(job.keeps_edges.then_some(edges))
    }

    /// What a kernel beside the kinds of sweeps is told of a job: where a kind is forced, an error.
    pub(crate) fn params_beside(&self, job: &Job, band: LaunchBand) -> Result<params::Sweep> {
        match self.forced {
            Some(forced) => Err(self.refuses(forced, "gradients, paths and values in tiles", &[])),
            None => Ok(self.params(job, band)),
        }
    }

    /// What a sweep of a job is told.
    fn params(&self, job: &Job, band: LaunchBand) -> params::Sweep {
        let mut p = job.params(band);
        p.measure.weights = self.weights.address();
        p.measure.weight_center = self.weighed.map_or(0, |(_, longest)| longest as i64);
        p
    }
}
