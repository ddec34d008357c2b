//! The WebGPU backend: every measure on any GPU that wgpu reaches, through Vulkan, Metal, Direct3D 12 or a browser.

mod adapter;
mod asynchronous;
mod backend;
mod choose;
mod dispatch;
mod engine;
mod failure;
mod functor;
mod gpu;
mod gradients;
mod lanes;
mod pace;
mod params;
mod paths;
mod pipeline_cache;
mod pipelines;
mod plan;
mod readback;
mod recurrence;
mod resident;
mod search;
mod shader;
mod side;
#[cfg(not(target_arch = "wasm32"))]
mod stopwatch;
#[cfg(test)]
mod tests;
mod windows;

#[cfg(not(target_arch = "wasm32"))]
pub use adapter::devices;
pub use adapter::{Choice, DeviceInfo};
pub use asynchronous::AsyncPlan;
pub use backend::WgpuBackend;
pub use resident::{DevicePlan, DeviceSeries};

pub use wgpu;

/// The backend's name.
pub const NAME: &str = "wgpu";
