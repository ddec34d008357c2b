//! Dispatches on their way to the device, and what they show of its speed.

use std::ops::Range;

use dtw_core::{Observer, Result};
use dtw_plan::stop_if_cancelled;
use web_time::{Duration, Instant};

use crate::gpu::launch::Launch;
use crate::gpu::stopwatch::Stopwatch;
use crate::launch::engine::Engine;
use crate::launch::job::{Job, LEAST_ROWS, Piece, whole_steps};
use crate::shaders::params::Params;

/// Dispatches on their way: two of them, so that a call can be stopped soon and the device does not wait.
pub(crate) struct Queue<'a> {
    engine: &'a Engine,
    observer: &'a dyn Observer,
    before: Option<Before>,
    waited: Option<Instant>,
    /// Times every other dispatch by the device's clock, where it has one.
    watch: Option<Stopwatch>,
}

/// A dispatch that was submitted.
struct Before {
    index: wgpu::SubmissionIndex,
    cells: u64,
    is_timed: bool,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(engine: &'a Engine, observer: &'a dyn Observer) -> Self {
        Self { engine, observer, before: None, waited: None, watch: None }
    }

    /// Submits a block of rows of the tasks that `params` names, from its last piece to its first if asked: as many
    /// rows at a time as the device has shown by now that it does in time.
    pub(crate) fn put_block(
        &mut self,
        launch: &Launch,
        job: &Job,
        params: Params,
        piece: Piece,
        block: Range<u64>,
        in_reverse: bool,
    ) -> Result<()> {
        let cells = u64::from(params.end - params.first) * job.columns(piece.strips);
        let mut left = block;
        while !left.is_empty() {
            let rows = (self.engine.speed.cells() / cells).clamp(LEAST_ROWS.min(piece.rows), piece.rows);
            let rows = whole_steps(rows).min(left.end - left.start);
            let part = if in_reverse {
                left.end -= rows;
                left.end..left.end + rows
            } else {
                left.start += rows;
                left.start - rows..left.start
            };
            self.put_rows(launch, job, params, part, piece.strips, in_reverse)?;
        }
        Ok(())
    }

    /// Submits some rows of the tasks that `params` names, so many strips at a time, from the last to the first if
    /// asked.
    pub(crate) fn put_rows(
        &mut self,
        launch: &Launch,
        job: &Job,
        mut params: Params,
        rows: Range<u64>,
        strips: u64,
        in_reverse: bool,
    ) -> Result<()> {
        (params.row_first, params.row_end) = (rows.start as u32, rows.end as u32);
        let tasks = u64::from(params.end - params.first);
        let cells = tasks * (rows.end - rows.start) * job.columns(strips);
        let pieces = job.strips().div_ceil(strips);
        for k in 0..pieces {
            let strip = strips * if in_reverse { pieces - 1 - k } else { k };
            (params.strip_first, params.strip_end) = (strip as u32, (strip + strips) as u32);
            self.put(launch, &params, tasks, cells)?;
        }
        Ok(())
    }

    /// Submits one more; waits until there is but one other.
    pub(crate) fn put(&mut self, launch: &Launch, params: &Params, count: u64, cells: u64) -> Result<()> {
        stop_if_cancelled(self.observer)?;
        let gpu = &self.engine.gpu;
        let uniform = self.engine.params.as_ref().expect("it was made");
        // The first of several tells that there are several.
        if self.before.is_some() && self.watch.is_none() && cfg!(not(target_arch = "wasm32")) {
            self.watch = Stopwatch::new(gpu)?;
        }
        let watch =
            self.watch.as_mut().filter(|_| self.before.as_ref().is_some_and(|before| !before.is_timed));
        let is_timed = watch.is_some();
        let index = gpu.submit("a sweep", |encoder, queue| {
            queue.write_buffer(uniform, 0, bytemuck::bytes_of(params));
            launch.record(encoder, [count as u32, 1], watch.as_deref());
        })?;
        if let Some(watch) = watch {
            watch.begin(gpu)?;
        }
        let before = self.before.replace(Before { index, cells, is_timed });
        match before {
            Some(before) => self.wait(before),
            None => Ok(()),
        }
    }

    /// Waits for a dispatch, and learns from the time it took. A browser waits for nothing but the results of a tile.
    fn wait(&mut self, before: Before) -> Result<()> {
        if cfg!(target_arch = "wasm32") {
            return Ok(());
        }
        let Before { index, cells, is_timed } = before;
        self.engine.gpu.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: None })?;
        let now = Instant::now();
        let waited = self.waited.replace(now).map(|waited| now - waited);
        let took = match self.watch.as_mut().filter(|_| is_timed) {
            Some(watch) => Some(Duration::from_nanos(watch.finish(&self.engine.gpu)?)),
            None => waited,
        };
        if let Some(took) = took {
            self.engine.speed.learn(cells, took);
        }
        Ok(())
    }
}
