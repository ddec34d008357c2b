//! From tasks to dispatches: as many at once as the device does in a short time, and pieces of pairs that take longer.

use std::ops::Range;

use dtw_core::{Error, Observer, Result};

use crate::gpu::failure::NAME;
use crate::gpu::launch::Launch;
use crate::launch::engine::Engine;
use crate::launch::job::{Job, LEAST_ROWS};
use crate::launch::queue::Queue;
use crate::shaders::params::Params;
use crate::shaders::sweep::Sweep;

/// Workgroups of a dispatch; each takes one task after the other.
const MOST_WORKGROUPS: u64 = 16_384;

impl Engine {
    /// Dispatches the tasks of a job.
    pub(crate) fn dispatch(
        &mut self,
        job: &Job,
        results: &wgpu::Buffer,
        observer: &dyn Observer,
    ) -> Result<()> {
        if observer.explains() {
            let Sweep { functor, group, width, one_strip, .. } = job.sweep;
            let shape = format!("{group} lanes of {width} columns, one strip: {one_strip}");
            let why = "the shape of the series and of the device's subgroups";
            let (kernel, pairs) = (functor.wgsl.key, job.tasks);
            observer.launched(&dtw_core::Launch { kernel, shape: &shape, why, pairs });
        }
        let loops = self.gpu.loop_limit();
        let is_whole = job.sweep.one_strip
            || (loops.is_none()
                && self.speed.tasks(job.cells) > 1
                && job.params.row_base == 0
                && job.params.saves == 0);
        if is_whole {
            self.dispatch_whole(job, results, observer)
        } else {
            self.dispatch_pieces(job, results, observer)
        }
    }

    /// Whole pairs; each workgroup takes one after the other.
    fn dispatch_whole(&mut self, job: &Job, results: &wgpu::Buffer, observer: &dyn Observer) -> Result<()> {
        let pairs = u64::from(job.sweep.pairs());
        let most = MOST_WORKGROUPS.min(u64::from(self.gpu.limits().max_compute_workgroups_per_dimension));
        let mut workgroups = job.tasks.div_ceil(pairs).min(most);
        let mut params = job.params;
        (params.row_end, params.strip_end) = (u32::MAX, u32::MAX);
        let mut edge_bytes = 0;
        if !job.sweep.one_strip {
            let states = job.longest.0 as u64 + 1;
            let own = states * job.sweep.functor.state_bytes();
            if own > self.budget.edges {
                return Err(self.budget.exceeded("the edge of a strip", own, self.budget.edges));
            }
            params.edge_stride = states as u32;
            workgroups = workgroups.min(self.budget.edges / own);
            edge_bytes = workgroups * own;
        }
        let step = self.speed.tasks(job.cells).min(job.whole_tasks(most, self.gpu.loop_limit()));
        let launch = self.launch_of(job, results, edge_bytes)?;
        let mut queue = Queue::new(self, observer);
        let step = step.min(job.tasks).max(1);
        for first in (0..job.tasks).step_by(step as usize) {
            let end = job.tasks.min(first + step);
            (params.first, params.end) = (first as u32, end as u32);
            let count = (end - first).div_ceil(pairs).min(workgroups);
            queue.put(&launch, &params, count, (end - first) * job.cells)?;
        }
        Ok(())
    }

    /// Refuses points of so many channels that a driver would leave the loops of a single row.
    fn check_turns(&self, job: &Job) -> Result<()> {
        let turns = job.sweep.turns_of_rows(1, job.params.channels);
        if self.gpu.loop_limit().is_none_or(|limit| turns <= limit) {
            return Ok(());
        }
        let (channels, name) = (job.params.channels, &self.gpu.adapter_info().name);
        Err(Error::left_to_cpu(
            NAME,
            format!("points of {channels} channels on {name}, whose driver leaves long loops"),
        ))
    }

    /// Pieces of pairs: each workgroup has one of them.
    fn dispatch_pieces(&mut self, job: &Job, results: &wgpu::Buffer, observer: &dyn Observer) -> Result<()> {
        self.check_turns(job)?;
        let bytes = self.budget.edges;
        let piece = job
            .piece(self.speed.cells(), self.gpu.loop_limit(), bytes)
            .ok_or_else(|| self.budget.exceeded("the edges of a pair", job.edge_bytes(1, 1), bytes))?;
        let mut params = job.params_with_edges(piece.tasks, piece.rows);
        let launch = self.launch_of(job, results, job.edge_bytes(piece.tasks, piece.rows))?;
        let mut queue = Queue::new(self, observer);
        for first in (0..job.tasks).step_by(piece.tasks as usize) {
            (params.first, params.end) = (first as u32, job.tasks.min(first + piece.tasks) as u32);
            queue.put_block(&launch, job, params, piece, 0..job.longest.0 as u64, false)?;
        }
        Ok(())
    }

    /// Rows of a pair of `m` columns that a dispatch of one strip of each task may have, at most `n`.
    pub(crate) fn block_rows(&self, sweep: &Sweep, channels: u32, (n, m): (usize, usize)) -> u64 {
        let columns = (m as u64).min(u64::from(sweep.strip_columns()));
        let rows = (self.speed.cells() / columns.max(1)).max(LEAST_ROWS);
        let most = self.gpu.loop_limit().map_or(u64::MAX, |loops| sweep.rows_in_turns(loops, 1, channels));
        rows.min(most).min(n as u64)
    }

    /// A block of rows of all tasks, strip by strip: each task has a workgroup. The row above the block, `longest.1`
    /// states of each task, is at the beginning of the edges, and the block's last row is there afterwards.
    pub(crate) fn dispatch_block(
        &mut self,
        job: &Job,
        results: &wgpu::Buffer,
        rows: Range<u64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        self.check_turns(job)?;
        let count = rows.end - rows.start;
        let params = Params { end: job.tasks as u32, ..job.params_with_edges(job.tasks, count) };
        let launch = self.launch_of(job, results, job.edge_bytes(job.tasks, count))?;
        Queue::new(self, observer).put_rows(&launch, job, params, rows, 1, false)
    }

    /// The shader of a job, with so many bytes for edges.
    fn launch_of(&mut self, job: &Job, results: &wgpu::Buffer, edge_bytes: u64) -> Result<Launch> {
        let edges = self.edges.reserve(&self.gpu, edge_bytes.max(16), "edges")?.clone();
        self.launch(&job.sweep, results, &edges, job.within_x)
    }

    /// A shader for the series that are loaded.
    pub(crate) fn launch(
        &mut self,
        sweep: &Sweep,
        results: &wgpu::Buffer,
        edges: &wgpu::Buffer,
        within_x: bool,
    ) -> Result<Launch> {
        self.make_params()?;
        let Engine { gpu, x, y, params, tables, weights, .. } = self;
        let columns = if within_x { &*x } else { &*y };
        let params = params.as_ref().expect("it was made");
        let tables = tables.reserve(gpu, 16, "band")?;
        let weights = weights.reserve(gpu, 16, "weights")?;
        let (x, y) = (x.buffer().expect("rows are loaded"), columns.buffer().expect("columns are loaded"));
        let bound = [(0, params), (1, x), (2, y), (3, tables), (4, results), (5, edges), (6, weights)];
        let group = gpu.bind_group(&bound)?;
        Ok(Launch { pipeline: gpu.pipeline(&sweep.key(), || sweep.source())?, group })
    }
}
