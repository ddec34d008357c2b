//! The WebGPU backend: every measure on any GPU that wgpu reaches, through Vulkan, Metal, Direct3D 12 or a browser.
//!
//! | module | decides or holds |
//! | --- | --- |
//! | `backend` | what dtw-core asks for, and ways to a device |
//! | `plans` | plans of calls that wait, of calls that do not, and of series in buffers of the device |
//! | `calls` | what each call becomes, pass by pass |
//! | `launch` | the engine: tiles become jobs, jobs dispatches as long as the device has shown to do |
//! | `memory` | regions that grow, series as shaders read them, windows of a reference |
//! | `shaders` | which shader, its text, and the arguments of a dispatch |
//! | `gpu` | which GPUs there are; one of them opened; its lanes, compiled shaders and results on their way |
//!
//! A module uses those below it in this table, never one above.
//!
//! Shaders are in `shaders/`: `sweeps` know no measure, `measures` know no sweep; `points`, `costs` and `lanes` are
//! what both are put together with.

mod backend;
mod calls;
mod gpu;
mod launch;
mod memory;
mod plans;
mod shaders;
#[cfg(test)]
mod tests;

pub use backend::WgpuBackend;
#[cfg(not(target_arch = "wasm32"))]
pub use gpu::adapter::devices;
pub use gpu::adapter::{Choice, DeviceInfo};
pub use gpu::failure::NAME;
pub use memory::series::DeviceSeries;
pub use plans::asynchronous::AsyncPlan;
pub use plans::resident::DevicePlan;

/// The types of [`DeviceSeries`] and [`WgpuBackend::wgpu_device`].
pub use wgpu;
