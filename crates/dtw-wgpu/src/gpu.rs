//! A GPU: which there are, one of them opened, how its lanes hand values on, its compiled shaders, results on their
//! way.

pub(crate) mod adapter;
pub(crate) mod device;
pub(crate) mod failure;
pub(crate) mod lanes;
pub(crate) mod launch;
mod lock;
mod open;
#[cfg(not(target_arch = "wasm32"))]
mod pipeline_cache;
pub(crate) mod pipelines;
pub(crate) mod readback;
pub(crate) mod stopwatch;
mod variables;
