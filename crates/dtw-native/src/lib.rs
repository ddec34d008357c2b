//! Plans for every device that runs dtwave's native kernels.
//!
//! A device is a [`Machine`]: memory, copies and launches. What to launch, in which order and in how much memory is decided
//! here, once for all of them.

mod machine;

pub use machine::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};
