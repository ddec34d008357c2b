//! The CUDA backend: every measure on NVIDIA GPUs.
//!
//! [`dtw_native`] decides what to launch. This crate gives it the calls of NVIDIA's driver ([`Cuda`]), whose library is
//! loaded when it is first asked for. Nothing of CUDA is needed to build; a missing driver is an error value.
//!
//! ```no_run
//! use dtw_core::{Backend, Pairing, Problem, SeriesBatch, Spec};
//!
//! let backend = dtw_cuda::CudaBackend::new()?;
//! let values = [0.0_f32, 1.0, 2.0, 2.0, 1.0, 0.0];
//! let batch = SeriesBatch::equal(&values, 2, 3, 1)?;
//! let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &batch, &batch)?;
//! let mut out = [0.0; 4];
//! Backend::<f32>::plan(&backend, &problem)?.distances(batch, batch, &mut out)?;
//! # Ok::<(), dtw_core::Error>(())
//! ```
//!
//! Series that are already on the GPU stay there: [`NativePlan::distances_on_device`] takes their addresses. It works
//! on a stream of the caller's if the caller gives one ([`CudaMachine::on_stream`]). [`CudaMachine::check_address`]
//! checks an address beforehand. [`NativePlan::distances_in`] also takes scratch memory of the caller's, and a stream
//! for each call ([`CudaMachine::for_a_call_on`]).

mod devices;
mod driver;
mod library;

pub use devices::devices;
pub use driver::Cuda;
pub use library::NAME;

use dtw_native::gpu;
pub use dtw_native::gpu::DeviceInfo;
pub use dtw_native::{
    Buffer, CallerMemory, DeviceBatch, DeviceCostGradients, DeviceCosts, DeviceGradients, DeviceLayout,
    Format, Machine, NativePlan, Number, Scratch, Strided, costs_keep_digits, normalize_on_device,
};

/// A GPU and a stream of it. Clones share the stream.
pub type CudaMachine = gpu::Gpu<Cuda>;
/// Memory of a GPU.
pub type CudaBuffer = gpu::GpuBuffer<Cuda>;
/// Time between two points of a stream.
pub type Timer = gpu::Timer<Cuda>;

dtw_native::gpu_backend!(
    /// Computes on one NVIDIA GPU.
    CudaBackend,
    CudaMachine,
    NAME
);
