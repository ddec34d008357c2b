//! How long a compute pass took, by the device's own clock.

use dtw_core::Result;
use wgpu::{Buffer, BufferUsages, CommandEncoder, ComputePassTimestampWrites, Features, QuerySet, QueryType};

use crate::gpu::device::Gpu;
use crate::gpu::readback::Readback;

/// Bytes of the two times.
const BYTES: u64 = 2 * size_of::<u64>() as u64;

/// The times of the begin and the end of one pass.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    times: QuerySet,
    resolved: Buffer,
    readback: Readback,
    nanoseconds_per_tick: f64,
}

impl Stopwatch {
    /// `None` where the device has no clock that passes can ask.
    pub(crate) fn new(gpu: &Gpu) -> Result<Option<Self>> {
        if !gpu.device().features().contains(Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let usage = BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC;
        let resolved = gpu.allocated(BYTES, "times", usage)?;
        let (times, nanoseconds_per_tick) = gpu.scoped("times", |device, queue| {
            let description =
                wgpu::QuerySetDescriptor { label: Some("times"), ty: QueryType::Timestamp, count: 2 };
            (device.create_query_set(&description), f64::from(queue.get_timestamp_period()))
        })?;
        Ok(Some(Self { times, resolved, readback: Readback::default(), nanoseconds_per_tick }))
    }

    /// For the description of the pass that is timed.
    pub(crate) fn writes(&self) -> ComputePassTimestampWrites<'_> {
        ComputePassTimestampWrites {
            query_set: &self.times,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Behind the pass, into the same encoder.
    pub(crate) fn resolve(&self, encoder: &mut CommandEncoder) {
        encoder.resolve_query_set(&self.times, 0..2, &self.resolved, 0);
    }

    /// Begins to fetch the times of a pass that was submitted. Does not wait.
    pub(crate) fn begin(&mut self, gpu: &Gpu) -> Result<()> {
        self.readback.begin(gpu, &self.resolved, 0, BYTES)
    }

    /// Waits for the times, and returns what lies between them in nanoseconds.
    pub(crate) fn finish(&mut self, gpu: &Gpu) -> Result<u64> {
        let mut ticks = [0_u64; 2];
        self.readback.finish(gpu, &mut ticks)?;
        // Clocks of a device that is reset begin anew.
        let elapsed = ticks[1].saturating_sub(ticks[0]);
        Ok((elapsed as f64 * self.nanoseconds_per_tick) as u64)
    }
}
