//! Plans for every device that runs dtwave's native kernels.
//!
//! A device is a [`Machine`]: memory, copies and launches. What to launch, in which order and in how much memory is decided
//! here, once for all of them. A call goes through these modules from top to bottom:
//!
//! | module | decides |
//! | --- | --- |
//! | `plan` | passes: one for most measures, one per channel or per divergence term |
//! | `engine` | chunks of series that are on the device together, tiles of results, transfers |
//! | `search`, `subsequences`, `windows` | the same for matches |
//! | `subsequence_blocks`, `window_blocks` | the same in references that come block by block |
//! | `paths` | the same for warping paths |
//! | `resident` | calls whose series and results stay on the device |
//! | `side` | uploading and preparing series |
//! | `sweep` | one launch: edges, tickets, band, weights |
//! | `choose` | which kernel: the one place that knows what is fast |
//! | `functor`, `scratch`, `bytes` | what those need |
//!
//! Orders, tiles, budgets and tables of bands are [`dtw_plan`]'s.

mod backend;
mod bytes;
mod choose;
mod engine;
mod functor;
#[cfg(feature = "host")]
mod host;
mod machine;
mod paths;
mod plan;
mod resident;
mod scratch;
mod search;
mod side;
mod soft;
mod subsequence_blocks;
mod subsequences;
mod sweep;
mod window_blocks;
mod windows;

pub use backend::NativeBackend;
pub use bytes::Number;
#[cfg(feature = "host")]
pub use host::{HostBuffer, HostMachine};
pub use machine::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};
pub use plan::NativePlan;
pub use resident::{DeviceBatch, DeviceLayout, normalize_on_device};
