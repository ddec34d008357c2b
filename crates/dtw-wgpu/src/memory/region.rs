//! Memory of the device that grows with what is asked for.

use bytemuck::Pod;
use dtw_core::Result;

use crate::gpu::device::Gpu;

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

    /// The buffer, which begins with these values.
    pub(crate) fn upload<T: Pod>(&mut self, gpu: &Gpu, values: &[T], label: &str) -> Result<&wgpu::Buffer> {
        let buffer = self.reserve(gpu, size_of_val(values) as u64, label)?;
        gpu.upload(buffer, 0, values)?;
        Ok(buffer)
    }

    pub(crate) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.0.as_ref()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, wgpu::Buffer::size)
    }
}
