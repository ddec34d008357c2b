//! The WebGPU backend: every measure on any GPU that wgpu reaches, through Vulkan, Metal, Direct3D 12 or a browser.
//!
//! In the making: only the list of devices is public yet.
//!
//! | module | holds |
//! | --- | --- |
//! | `adapter` | which GPUs there are, and which one is meant |
//! | `gpu` | one GPU opened: memory, errors, whether it still works |
//! | `lanes` | how the lanes of a workgroup hand values on |
//! | `pipelines` | compiled shaders |
//! | `pipeline_cache` | compiled shaders on disk |
//! | `readback` | results on their way back |
//! | `stopwatch` | times by the device's clock |

mod adapter;
mod failure;
mod gpu;
mod lanes;
mod pipeline_cache;
mod pipelines;
mod readback;
mod stopwatch;
#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "wasm32"))]
pub use adapter::devices;
pub use adapter::{Choice, DeviceInfo};
