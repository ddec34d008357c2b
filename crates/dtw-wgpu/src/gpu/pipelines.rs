//! Shaders, compiled when they are first used and kept.
//!
//! All of them have the same bindings, so that a bind group fits any of them:
//!
//! | binding | holds |
//! | --- | --- |
//! | 0 | arguments (uniform) |
//! | 1, 2, 3 | what is read |
//! | 4, 5 | what is read and written |
//! | 6 | what is read |

use std::collections::HashMap;
use std::sync::Mutex;

use dtw_core::Result;
use wgpu::{
    AdapterInfo, BindGroup, BindGroupLayout, Buffer, BufferBindingType, ComputePipeline, Device,
    PipelineLayout, ShaderRuntimeChecks,
};

use crate::gpu::lock::lock;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::pipeline_cache::DiskCache;
use crate::gpu::variables;

/// Bindings of every shader.
pub(crate) const BINDINGS: usize = 7;

/// The shaders of a device.
#[derive(Debug)]
pub(crate) struct Pipelines {
    bindings: BindGroupLayout,
    layout: PipelineLayout,
    made: Mutex<HashMap<String, ComputePipeline>>,
    /// A browser keeps compiled shaders itself.
    #[cfg(not(target_arch = "wasm32"))]
    cache: Option<DiskCache>,
    checks: ShaderRuntimeChecks,
}

impl Pipelines {
    /// None yet. The variable `DTWAVE_WGPU_CHECKS=1` makes shaders check every index and bound every loop.
    pub(crate) fn new(device: &Device, info: &AdapterInfo) -> Result<Self> {
        let entries: [_; BINDINGS] = std::array::from_fn(|binding| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => BufferBindingType::Uniform,
                    4 | 5 => BufferBindingType::Storage { read_only: false },
                    _ => BufferBindingType::Storage { read_only: true },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
        let label = Some("dtwave");
        let bindings =
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let checks = if variables::CHECKS.get()? == Some("1") {
            ShaderRuntimeChecks::checked()
        } else {
            ShaderRuntimeChecks::unchecked()
        };
        let is_kept = variables::CACHE.get()? != Some("off");
        #[cfg(target_arch = "wasm32")]
        let _ = (info, is_kept);
        Ok(Self {
            bindings,
            layout,
            made: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            cache: if is_kept { DiskCache::open(device, info) } else { None },
            checks,
        })
    }

    /// The shader of this key, if it was compiled.
    pub(crate) fn made_before(&self, key: &str) -> Option<ComputePipeline> {
        lock(&self.made).get(key).cloned()
    }

    /// Compiles a shader; whether it is one is known to the scope.
    pub(crate) fn compiled(&self, device: &Device, key: &str, source: String) -> ComputePipeline {
        let source = wgpu::ShaderSource::Wgsl(source.into());
        let description = wgpu::ShaderModuleDescriptor { label: Some(key), source };
        // SAFETY: the shaders are ours. They index within what they are given, their loops end, and no divisor of
        // theirs is zero; the suite runs them with checks too.
        let module = unsafe { device.create_shader_module_trusted(description, self.checks) };
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(key),
            layout: Some(&self.layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            #[cfg(not(target_arch = "wasm32"))]
            cache: self.cache.as_ref().map(DiskCache::handle),
            #[cfg(target_arch = "wasm32")]
            cache: None,
        })
    }

    /// Keeps a shader that was compiled without an error.
    pub(crate) fn keep(&self, key: &str, pipeline: &ComputePipeline) {
        lock(&self.made).insert(key.to_owned(), pipeline.clone());
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(cache) = &self.cache {
            cache.grown();
        }
    }

    /// Buffers by binding.
    pub(crate) fn bind_group(&self, device: &Device, buffers: [&Buffer; BINDINGS]) -> BindGroup {
        let entries: [_; BINDINGS] = std::array::from_fn(|binding| wgpu::BindGroupEntry {
            binding: binding as u32,
            resource: buffers[binding].as_entire_binding(),
        });
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.bindings,
            entries: &entries,
        })
    }
}
