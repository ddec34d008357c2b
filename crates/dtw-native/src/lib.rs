//! Plans for every device that runs dtwave's native kernels.
//!
//! A device is a [`Machine`]: memory, copies and launches. What to launch, in which order and in how much memory is
//! decided here, once for all of them. A call goes through these modules from top to bottom:
//!
//! | module | holds |
//! | --- | --- |
//! | `backend` | the backend that dtw-core asks for |
//! | `resident` | calls whose series and results stay on the device |
//! | `calls` | calls whose series and results are the host's: passes, matches, paths, gradients |
//! | `state` | what a plan keeps between calls |
//! | `engine` | the machine as the planner's device: series loaded, tiles swept into slots or to their places |
//! | `series` | where series are, how they lie, and how they are prepared on the device |
//! | `launch` | one launch after the other: which kernel, how many blocks, what the kernel is told |
//! | `memory` | device memory that is kept, the caller's memory, numbers as bytes |
//! | `machine` | what a machine is |
//!
//! A module imports those below it in this table, never one above. The loop over chunks and tiles, orders, budgets and
//! tables of bands belong to [`dtw_plan`]. Distances, searches, paths and gradients are four of its devices. Series and
//! results in the caller's device memory are another source and another sink of that loop: kernels write results to
//! their places.
//!
//! There are two machines. [`gpu::Gpu`] is a GPU through its vendor's driver: streams, staging memory, transfers and
//! lost contexts are written there once, and its tests run on a driver in memory, which does copies late and panics
//! when a promise of an `unsafe` call is broken. `HostMachine` (feature `host`) runs the kernels on this processor:
//! every lane is a fiber, memory starts as NaN between guard zones, and waves run in random order. The lanes of a wave,
//! 32 or 64, advance in lockstep, and a launch in which all of them wait is an error.

mod backend;
mod calls;
mod engine;
pub mod gpu;
#[cfg(feature = "host")]
mod host;
mod launch;
mod lock;
mod machine;
mod memory;
mod resident;
mod series;
mod state;

pub use backend::NativeBackend;
pub use dtw_kernels::SweepKind;
#[cfg(feature = "host")]
pub use host::{HostBuffer, HostMachine};
pub use launch::sweep::FORCED;
pub use machine::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};
pub use memory::bytes::Number;
pub use memory::caller_memory::{CallerBuffer, CallerMemory, Scratch};
pub use resident::cost_gradients::costs_keep_digits;
pub use resident::distances::normalize_on_device;
pub use series::device_batch::{DeviceBatch, DeviceGradients, DeviceLayout, Format, Strided};
pub use series::device_costs::{DeviceCostGradients, DeviceCosts};
pub use state::NativePlan;
