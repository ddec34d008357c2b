//! Time between two points of a device's queue, by its own clock, and what a buffer of it holds.

use std::sync::mpsc;

use anyhow::{Context, Result};
use dtw_wgpu::WgpuBackend;
use dtw_wgpu::wgpu::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoderDescriptor, ComputePassDescriptor,
    ComputePassTimestampWrites, Features, MapMode, PollType, QuerySet, QuerySetDescriptor, QueryType,
};

const TICK: u64 = size_of::<u64>() as u64;

/// The times of two empty passes: one before the work, one behind it.
pub(super) struct Clock<'a> {
    backend: &'a WgpuBackend,
    times: QuerySet,
    resolved: Buffer,
}

impl<'a> Clock<'a> {
    pub(super) fn is_there(backend: &WgpuBackend) -> bool {
        backend.wgpu_device().features().contains(Features::TIMESTAMP_QUERY)
    }

    /// `None` where the device has no clock that passes can ask.
    pub(super) fn new(backend: &'a WgpuBackend) -> Option<Self> {
        let device = backend.wgpu_device();
        Self::is_there(backend).then(|| Self {
            backend,
            times: device.create_query_set(&QuerySetDescriptor {
                label: None,
                ty: QueryType::Timestamp,
                count: 2,
            }),
            resolved: device.create_buffer(&BufferDescriptor {
                label: None,
                size: 2 * TICK,
                usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        })
    }

    /// Behind everything that was submitted.
    pub(super) fn start(&self) {
        self.mark(0);
    }

    /// Seconds from [`Clock::start`] to the end of what was submitted since.
    pub(super) fn stop(&self) -> Result<f64> {
        self.mark(1);
        let bytes = downloaded(self.backend, &self.resolved, 2 * TICK as usize)?;
        let (began, ended) = bytes.split_at(TICK as usize);
        let tick = |bytes: &[u8]| -> Result<u64> { Ok(u64::from_ne_bytes(bytes.try_into()?)) };
        let ticks = tick(ended)?.checked_sub(tick(began)?).context("the device's clock ran backwards")?;
        Ok(ticks as f64 * f64::from(self.backend.wgpu_queue().get_timestamp_period()) * 1e-9)
    }

    /// Submits an empty pass that leaves the time.
    fn mark(&self, number: u32) {
        let (device, queue) = (self.backend.wgpu_device(), self.backend.wgpu_queue());
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        drop(encoder.begin_compute_pass(&ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(ComputePassTimestampWrites {
                query_set: &self.times,
                beginning_of_pass_write_index: Some(number),
                end_of_pass_write_index: None,
            }),
        }));
        if number == 1 {
            encoder.resolve_query_set(&self.times, 0..2, &self.resolved, 0);
        }
        queue.submit([encoder.finish()]);
    }
}

/// The first bytes of a buffer, behind everything that was submitted.
pub(super) fn downloaded(backend: &WgpuBackend, from: &Buffer, bytes: usize) -> Result<Vec<u8>> {
    let (device, queue) = (backend.wgpu_device(), backend.wgpu_queue());
    let size = bytes as u64;
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let to = device.create_buffer(&BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(from, 0, &to, 0, size);
    queue.submit([encoder.finish()]);
    let (sender, receiver) = mpsc::channel();
    to.map_async(MapMode::Read, 0..size, move |answer| drop(sender.send(answer)));
    device.poll(PollType::wait_indefinitely())?;
    receiver.recv().context("the device does not answer")??;
    Ok(to.get_mapped_range(0..size)?.to_vec())
}
