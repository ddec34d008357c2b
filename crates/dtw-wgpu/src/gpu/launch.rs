//! A shader with its buffers.

use wgpu::{BindGroup, CommandEncoder, ComputePassDescriptor, ComputePipeline};

use crate::gpu::stopwatch::Stopwatch;

/// A shader with its buffers.
pub(crate) struct Launch {
    pub(crate) pipeline: ComputePipeline,
    pub(crate) group: BindGroup,
}

impl Launch {
    /// Records so many workgroups along two axes, timed if there is a watch.
    pub(crate) fn record(&self, encoder: &mut CommandEncoder, [x, y]: [u32; 2], watch: Option<&Stopwatch>) {
        let timestamp_writes = watch.map(Stopwatch::writes);
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor { label: None, timestamp_writes });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(x, y, 1);
        drop(pass);
        if let Some(watch) = watch {
            watch.resolve(encoder);
        }
    }
}
