//! The kernels that CUDA devices (and devices like them) run: their C++ sources, the list of those that are
//! instantiated, and their compiled images.
//!
//! - `native/`: the sources. A sweep is written once, a recurrence once; `native/vendor/` holds what differs by vendor.
//! - `permutations.toml`: what is instantiated. [`catalog`] is what it expands to.
//! - `tuning/`: what kernels cost on which device, as [`tuning`].
//! - [`params`]: the parameters of a launch.
//! - [`images`]: what `cargo xtask kernels cuda` and `cargo xtask kernels hip` have built, if they have; each is an
//!   [`image`], embedded compressed.
//! - `host` (feature `host`): the same kernels compiled for this CPU, to run them where there is no GPU.
//!
//! This crate calls no GPU interface. dtw-native decides which kernel to launch, and the backend launches it.

pub mod catalog;
mod hip_chips;
#[cfg(feature = "host")]
pub mod host;
pub mod image;
pub mod images;
mod kind;
pub mod params;
pub mod tuning;

pub use catalog::{Kernel, Role};
pub use kind::SweepKind;
