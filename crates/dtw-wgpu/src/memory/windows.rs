//! Windows of a reference that is on the device, as z-normalised series of a side.

use std::ops::Range;

use dtw_core::Result;

use crate::gpu::device::Gpu;
use crate::gpu::launch::Launch;
use crate::memory::series::Side;
use crate::shaders::params::WindowParams;

/// The points of a reference on the device, whose windows are a side's series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceWindows<'a> {
    pub(crate) points: &'a wgpu::Buffer,
    pub(crate) length: usize,
    pub(crate) channels: usize,
}

impl DeviceWindows<'_> {
    /// Normalises the windows at these places into a side, about `values` values a dispatch.
    pub(crate) fn load(
        &self,
        gpu: &Gpu,
        params: &wgpu::Buffer,
        values: u64,
        side: &mut Side,
        places: &Range<usize>,
    ) -> Result<()> {
        let (count, points) = (places.len() as u64, (self.length * self.channels) as u64);
        let most = u64::from(gpu.limits().max_compute_workgroups_per_dimension);
        let step = (values / points).clamp(1, most);
        let series = side.reserve(gpu, places, 4 * (2 * count + self.channels as u64 + count * points))?;
        let group = gpu.bind_group(&[(0, params), (1, self.points), (4, series)])?;
        let source = || WindowParams::WGSL.to_owned() + include_str!("../../shaders/windows.wgsl");
        let launch = Launch { pipeline: gpu.pipeline("windows", source)?, group };
        for first in (0..count).step_by(step as usize) {
            let own = WindowParams {
                skipped: places.start as u32,
                first: first as u32,
                count: count as u32,
                length: self.length as u32,
                channels: self.channels as u32,
            };
            let now = step.min(count - first);
            gpu.submit("normalising windows", |encoder, queue| {
                queue.write_buffer(params, 0, bytemuck::bytes_of(&own));
                launch.record(encoder, [now as u32, self.channels as u32], None);
            })?;
        }
        Ok(())
    }
}
