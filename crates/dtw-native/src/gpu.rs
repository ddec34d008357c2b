//! A GPU driven through its vendor's driver: queues, staging memory, transfers and lost contexts, once for all vendors.
//!
//! A vendor's crate implements [`Driver`], the calls of its library one by one. [`Gpu`] makes a
//! [`Machine`](crate::Machine) of them.
//!
//! | module | holds |
//! | --- | --- |
//! | `open_devices` | which devices a process has opened |
//! | `driver` | the calls, handles and errors of a driver |
//! | `context` | one device opened, its kernels, and whether it still works |
//! | `page_locked` | page-locked memory that waits for its next transfer |
//! | `staging` | page-locked memory that transfers go through |
//! | `machine` | memory, copies and launches on a stream |
//! | `timer` | time between two points of a stream |

mod context;
mod driver;
mod machine;
mod open_devices;
mod page_locked;
mod staging;
#[cfg(test)]
mod tests;
mod timer;

pub use driver::{
    Context, DeviceInfo, Driver, Event, Failure, FailureKind, Function, Launch, Module, Opened, Stream,
};
pub use machine::{Gpu, GpuBuffer};
pub use open_devices::OpenDevices;
pub use timer::Timer;
