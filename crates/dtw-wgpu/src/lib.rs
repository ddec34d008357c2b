//! The WebGPU backend: every measure on any GPU that wgpu reaches, through Vulkan, Metal, Direct3D 12 or a browser.
//!
//! | module | decides or holds |
//! | --- | --- |
//! | `backend` | what dtw-core asks for, and ways to a device |
//! | `plan` | what a call becomes, pass by pass |
//! | `search`, `windows`, `paths`, `gradients` | calls other than distances |
//! | `asynchronous` | calls that do not wait, for browsers |
//! | `resident` | series and results in buffers of the device |
//! | `engine` | the device as the planner sees it: series brought, tiles swept, results fetched |
//! | `side` | series as shaders read them |
//! | `dispatch`, `pace` | how much is dispatched at once, from what the device has shown of its speed |
//! | `choose` | which shader: the one place that knows what is fast |
//! | `shader`, `functor`, `params` | shaders as text; from a measure to its pieces; what a dispatch is told |
//! | `recurrence` | what dtw-core's recurrences compute on the host: weights, results from states |
//! | `adapter`, `gpu`, `lanes` | which GPUs there are; one of them opened; how its lanes hand values on |
//! | `pipelines`, `pipeline_cache` | compiled shaders, and those on disk |
//! | `readback`, `stopwatch`, `failure` | results on their way back; times of a pass; errors |
//! | `variables` | variables of the environment |
//!
//! Shaders are in `shaders/`: `sweeps` know no measure, `measures` know no sweep; `points`, `costs` and `lanes` are
//! what both are put together with.

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
mod stopwatch;
#[cfg(test)]
mod tests;
mod variables;
mod windows;

#[cfg(not(target_arch = "wasm32"))]
pub use adapter::devices;
pub use adapter::{Choice, DeviceInfo};
pub use asynchronous::AsyncPlan;
pub use backend::WgpuBackend;
pub use resident::{DevicePlan, DeviceSeries};

/// The types of [`DeviceSeries`] and [`WgpuBackend::wgpu_device`].
pub use wgpu;

/// The backend's name.
pub const NAME: &str = "wgpu";
