//! The backend that dtw-core asks for.

use std::sync::Arc;

use dtw_core::{Backend, Dtype, Error, Plan, Problem, Remedy, Result, Task};

use crate::gpu::adapter::{self, Choice};
use crate::gpu::device::Gpu;
use crate::gpu::failure::NAME;
use crate::gpu::lanes::LanesKind;
use crate::launch::speed::Speed;
use crate::plans::asynchronous::AsyncPlan;
use crate::plans::plan::{WgpuPlan, no_shaders};
use crate::plans::resident::DevicePlan;
use crate::shaders::functor::Functor;

/// Computes on one GPU through wgpu, in `f32`.
#[derive(Debug, Clone)]
pub struct WgpuBackend {
    gpu: Gpu,
    /// What the device has shown of its speed.
    speed: Arc<Speed>,
}

impl WgpuBackend {
    /// The fastest GPU that there is.
    ///
    /// # Errors
    /// As [`WgpuBackend::with_choice`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self> {
        Self::with_choice(&Choice::default())
    }

    /// The GPU that is chosen.
    ///
    /// # Errors
    /// [`Error::Backend`]: no GPU, none that is meant, or one that does not open; the text says which, and what to do.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_choice(choice: &Choice) -> Result<Self> {
        let adapter = adapter::choose(choice, wgpu::Backends::all())?;
        Ok(Self::of(Gpu::open_blocking(adapter, LanesKind::of_environment()?)?))
    }

    /// The GPU that is chosen, where nothing may wait: in a browser. Other than in [`WgpuBackend::with_choice`], the
    /// graphics API says which GPU is the fastest.
    ///
    /// # Errors
    /// As [`WgpuBackend::with_choice`].
    pub async fn open_async(choice: &Choice) -> Result<Self> {
        let adapter = adapter::choose_async(choice).await?;
        Ok(Self::of(Gpu::open(adapter, LanesKind::of_environment()?).await?))
    }

    /// A plan whose calls do not wait, but give futures.
    ///
    /// # Errors
    /// What [`Backend::plan`] returns; [`Error::Unsupported`] also for measures that sum over all paths, whose
    /// results take
    /// several sweeps.
    pub fn plan_async(&self, problem: &Problem) -> Result<AsyncPlan> {
        AsyncPlan::new(WgpuPlan::new(self.gpu.clone(), Arc::clone(&self.speed), problem)?)
    }

    /// The device of wgpu, for callers with buffers of their own. Its errors are taken from its error scopes: balance
    /// those that you push.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        self.gpu.device()
    }

    /// Its queue.
    pub fn wgpu_queue(&self) -> &wgpu::Queue {
        self.gpu.queue()
    }

    /// A plan for series and results that are in buffers of [`WgpuBackend::wgpu_device`].
    ///
    /// # Errors
    /// What [`Backend::plan`] returns; [`Error::Unsupported`] also for measures of which the host does a part:
    /// `soft_dtw`,
    /// `soft_dtw_divergence`, `log_gak`, `erp`, `twed`, `ddtw`, `wddtw`, normalised `edr`, `lcss`, and
    /// `msm` of several channels.
    pub fn plan_on_device(&self, problem: &Problem) -> Result<DevicePlan> {
        DevicePlan::new(WgpuPlan::new(self.gpu.clone(), Arc::clone(&self.speed), problem)?)
    }

    pub(crate) fn of(gpu: Gpu) -> Self {
        let is_software = gpu.adapter_info().device_type == wgpu::DeviceType::Cpu;
        Self { gpu, speed: Arc::new(Speed::new(is_software)) }
    }
}

impl Backend<f32> for WgpuBackend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        problem.admits(task)?;
        Functor::of(problem.spec()).map(drop).ok_or_else(|| no_shaders(problem.spec()))
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<f32>>> {
        Ok(Box::new(WgpuPlan::new(self.gpu.clone(), Arc::clone(&self.speed), problem)?))
    }

    /// A page of the web has no threads that could go on meanwhile.
    fn computes_elsewhere(&self) -> bool {
        self.gpu.adapter_info().device_type != wgpu::DeviceType::Cpu && !cfg!(target_family = "wasm")
    }
}

/// The error of a call in double precision, which WGSL does not have.
fn no_doubles() -> Error {
    Error::Unsupported {
        backend: NAME,
        what: "f64: WebGPU has no double precision".to_owned(),
        remedies: &[
            Remedy::Dtype(Dtype::F32),
            Remedy::Backend("cpu"),
            Remedy::Backend("cuda"),
            Remedy::Backend("hip"),
        ],
    }
}

impl Backend<f64> for WgpuBackend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        problem.admits(task)?;
        Err(no_doubles())
    }

    fn plan(&self, _: &Problem) -> Result<Box<dyn Plan<f64>>> {
        Err(no_doubles())
    }
}
