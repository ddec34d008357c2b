//! Plans for every device that runs dtwave's native kernels.
//!
//! A device is a [`Machine`]: memory, copies and launches. What to launch, in which order and in how much memory is
//! decided here, once for all of them. A call goes through these modules from top to bottom:
//!
//! | module | decides |
//! | --- | --- |
//! | `plan` | passes: one for most measures, one per channel or per divergence term |
//! | `soft`, `paths`, `subsequences`, `windows` | what a call becomes: second sweeps, paths, matches |
//! | `subsequence_blocks`, `window_blocks` | matches in references that come block by block |
//! | `lending` | the same with the caller's scratch, on a queue of the caller's |
//! | `resident` | calls whose series and results stay on the device |
//! | `cost_gradients` | the same of matrices of costs that stay on the device |
//! | `total` | the same for a centre and series that stay there from call to call, summed |
//! | `resident_gradients`, `packing` | gradients of such calls; packed copies of series that lie otherwise |
//! | `gradients`, `differentiate` | values and gradients of Soft-DTW; their two launches |
//! | `terms`, `together` | their results, where several sweeps make them together; what the device is told for it |
//! | `state` | what a plan keeps between calls |
//! | `search` | all pairs of a search |
//! | `engine` | the machine as the planner's device: series brought, tiles swept into slots or to their places |
//! | `trace`, `hits`, `layout` | launches for walks and for the best ends; series that the caller has on the device |
//! | `side` | uploading and preparing series |
//! | `sweep` | one launch: edges, tickets, band, weights |
//! | `choose` | which kernel: the one place that knows what is fast |
//! | `functor`, `scratch`, `bytes` | what the modules above need |
//! | `lent`, `arena` | a machine without memory of its own |
//!
//! [`gpu`] is below them: a machine made of a vendor's driver.
//!
//! Imports form no circle. The loop over chunks and tiles, orders, budgets and tables of bands belong to [`dtw_plan`].

mod arena;
mod backend;
mod bytes;
mod choose;
mod cost_gradients;
mod device_batch;
mod device_costs;
mod differentiate;
mod engine;
mod functor;
pub mod gpu;
mod gradients;
mod hits;
#[cfg(feature = "host")]
mod host;
mod layout;
mod lending;
mod lent;
mod machine;
mod packing;
mod paths;
mod plan;
mod resident;
mod resident_gradients;
mod scratch;
mod search;
mod side;
mod soft;
mod state;
mod subsequence_blocks;
mod subsequences;
mod sweep;
mod terms;
mod together;
mod total;
mod trace;
mod window_blocks;
mod windows;

pub use backend::NativeBackend;
pub use bytes::Number;
pub use cost_gradients::costs_keep_digits;
pub use device_batch::{DeviceBatch, DeviceGradients, DeviceLayout, Format, Strided};
pub use device_costs::{DeviceCostGradients, DeviceCosts};
#[cfg(feature = "host")]
pub use host::{HostBuffer, HostMachine};
pub use lent::{Lent, LentBuffer, Scratch};
pub use machine::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};
pub use resident::normalize_on_device;
pub use state::NativePlan;
