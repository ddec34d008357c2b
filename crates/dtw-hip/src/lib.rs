//! The HIP backend: every measure on AMD GPUs.
//!
//! [`dtw_native`] decides what to launch. This crate gives it the calls of AMD's HIP runtime ([`Hip`]), whose library
//! is loaded when it is first asked for. Nothing of ROCm is needed to build; a missing library is an error value.
//!
//! ```no_run
//! use dtw_core::{Backend, Pairing, Problem, SeriesBatch, Spec};
//!
//! let backend = dtw_hip::HipBackend::new()?;
//! let values = [0.0_f32, 1.0, 2.0, 2.0, 1.0, 0.0];
//! let batch = SeriesBatch::equal(&values, 2, 3, 1)?;
//! let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &batch, &batch)?;
//! let mut out = [0.0; 4];
//! Backend::<f32>::plan(&backend, &problem)?.distances(batch, batch, &mut out)?;
//! # Ok::<(), dtw_core::Error>(())
//! ```
//!
//! Series that are already on the GPU stay there: [`NativePlan::distances_on_device`] takes their addresses, and
//! [`HipMachine::on_stream`] a stream of the caller's.
//!
//! This crate loads AMD's runtime itself, by its versioned names, and has its own table of the forty functions that it
//! calls. Among the crates that there are, hip-sys wants ROCm's headers to build; cubecl-hip-sys loads at run time, but
//! ends the process where a library or function is missing, wants the run-time compiler too, looks for names without
//! version only, and is of one version of HIP at a time, none of them HIP 5. Machines of the CI have no AMD GPU. So the
//! tests compile a stand-in for the runtime (`tests/double`), which records every call, knows what lives, and lets any
//! call fail.
//!
//! | module | holds |
//! | --- | --- |
//! | `sys` | the functions, numbers and layouts of `hip/hip_runtime_api.h` that are used |
//! | `library` | the library: whether it is there, and what its errors mean |
//! | `devices` | what GPUs there are, and their architectures |
//! | `kernels` | where compiled kernels come from |
//! | `driver` | the runtime, call by call |

mod devices;
mod driver;
mod kernels;
mod library;
mod sys;

pub use devices::devices;
pub use driver::Hip;
pub use kernels::{Embedded, Kernels};
pub use library::{NAME, version};

use dtw_native::gpu;
pub use dtw_native::gpu::DeviceInfo;
pub use dtw_native::{
    Buffer, CallerMemory, DeviceBatch, DeviceCostGradients, DeviceCosts, DeviceGradients, DeviceLayout,
    Format, Machine, NativePlan, Number, Scratch, Strided, costs_keep_digits, normalize_on_device,
};

/// A GPU and a stream of it. Clones share the stream.
pub type HipMachine = gpu::Gpu<Hip>;
/// Memory of a GPU.
pub type HipBuffer = gpu::GpuBuffer<Hip>;
/// Time between two points of a stream.
pub type Timer = gpu::Timer<Hip>;

dtw_native::gpu_backend!(
    /// Computes on one AMD GPU.
    HipBackend,
    HipMachine,
    NAME
);
