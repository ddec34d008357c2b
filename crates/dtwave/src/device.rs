//! Devices: what there is, and which one a session uses.

use std::sync::Arc;

use dtw_core::{Backend, BackendKind, Error, Obstacle, Result, Scalar};

use crate::names;
use crate::team::{OfTeam, Player, Team};

/// A device that computes distances. Cheap to clone; clones share threads and contexts.
#[derive(Debug, Clone)]
pub struct Device(Kind);

/// The GPUs of a backend, each with its number if it can be used.
#[cfg(any(feature = "cuda", feature = "hip", feature = "wgpu"))]
macro_rules! of_gpus {
    ($backend:literal, $wrapper:ident) => {
        $wrapper::devices().into_iter().map(|gpu| DeviceInfo {
            backend: $backend,
            description: match gpu.unavailable {
                Some(_) => gpu.description,
                None => format!("{}: {}", gpu.ordinal, gpu.description),
            },
            unavailable: gpu.unavailable,
        })
    };
}

/// Makes what knows the type of each backend: `"feature" Kind(type), its devices;`.
macro_rules! backends {
    ($($feature:tt $kind:ident($backend:path), $devices:expr;)*) => {
        #[derive(Debug, Clone)]
        enum Kind {
            $(#[cfg(feature = $feature)] $kind($backend),)*
            Several(Team, Arc<[(String, Device)]>),
            #[expect(dead_code, reason = "a build without backends makes no device, and needs a variant")]
            None(std::convert::Infallible),
        }

        impl Device {
            /// This device, as others know it that work with it.
            fn player(&self, name: String) -> Player {
                match &self.0 {
                    $(
                        #[cfg(feature = $feature)]
                        Kind::$kind(backend) => Player {
                            name,
                            of_f32: Arc::new(backend.clone()),
                            of_f64: Arc::new(backend.clone()),
                        },
                    )*
                    Kind::Several(team, _) => team.player(name),
                    Kind::None(never) => match *never {},
                }
            }
        }

        /// Every device, and every backend that has none, with the reason.
        pub fn devices() -> Vec<DeviceInfo> {
            let mut list = Vec::new();
            $(
                #[cfg(feature = $feature)]
                list.extend($devices);
                #[cfg(not(feature = $feature))]
                list.extend(BackendKind::of($feature).map(of_another_build));
            )*
            list
        }

        backends! { float f32 [$($feature $kind)*] }
        backends! { float f64 [$($feature $kind)*] }
    };
    (float $number:ty [$($feature:tt $kind:ident)*]) => {
        impl Float for $number {
            fn backend_of(device: &Device) -> &dyn Backend<Self> {
                match &device.0 {
                    $(#[cfg(feature = $feature)] Kind::$kind(backend) => backend,)*
                    Kind::Several(team, _) => <$number as OfTeam<$number>>::of(team),
                    Kind::None(never) => match *never {},
                }
            }
        }
    };
}
backends! {
    "cpu" Cpu(dtw_cpu::CpuBackend), [of_cpu()];
    "cuda" Cuda(dtw_cuda::CudaBackend), of_gpus!("cuda", dtw_cuda);
    "hip" Hip(dtw_hip::HipBackend), of_gpus!("hip", dtw_hip);
    "wgpu" Wgpu(dtw_wgpu::WgpuBackend), of_gpus!("wgpu", dtw_wgpu);
}

/// One line of a device list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Name of the backend, from the table of [`BackendKind`].
    pub backend: &'static str,
    /// What the device is.
    pub description: String,
    /// Why it cannot be used, and what to do about it; `None` for a usable device.
    pub unavailable: Option<Obstacle>,
}

/// A backend that this build lacks.
#[cfg(not(all(feature = "cpu", feature = "cuda", feature = "hip", feature = "wgpu")))]
fn of_another_build(kind: &BackendKind) -> DeviceInfo {
    let unavailable = Obstacle { what: "not in this build".to_owned(), remedies: kind.feature() };
    DeviceInfo { backend: kind.name, description: kind.devices.to_owned(), unavailable: Some(unavailable) }
}

/// What a processor is: its cores and its instruction sets, the widest first.
#[cfg(feature = "cpu")]
fn of_cpu() -> DeviceInfo {
    let isas: Vec<_> = dtw_cpu::Isa::available().iter().map(dtw_cpu::Isa::name).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    let description = match isas.as_slice() {
        [widest] => format!("{cores}, {widest}"),
        [widest, others @ ..] => format!("{cores}, {widest} (also {})", others.join(", ")),
        [] => cores,
    };
    DeviceInfo { backend: "cpu", description, unavailable: None }
}

/// The device, where this build has its backend.
macro_rules! open {
    ($feature:tt, $kind:ident, $argument:ident => $backend:expr) => {{
        #[cfg(feature = $feature)]
        {
            Ok(Self(Kind::$kind($backend?)))
        }
        #[cfg(not(feature = $feature))]
        {
            let _ = $argument;
            Err(BackendKind::of($feature).expect("the table has every feature").absent())
        }
    }};
}

impl Device {
    /// The device that can do everything: this machine's cores. A GPU is used where it is named.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the build has no backend at all.
    pub fn auto() -> Result<Self> {
        Self::cpu()
    }

    /// All cores of this machine.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the build lacks the `cpu` feature.
    pub fn cpu() -> Result<Self> {
        Self::cpu_with_threads(0)
    }

    /// This many threads of this machine; 0 for one per core. All devices of as many threads share them,
    /// in a process; work of one task, as the distance of two series, is done by the caller's thread.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the build lacks the `cpu` feature, [`Error::Backend`] when the operating system does
    /// not start as many threads, [`Error::Invalid`] for more than 1,024, or than there are cores if these are more.
    pub fn cpu_with_threads(threads: usize) -> Result<Self> {
        open!("cpu", Cpu, threads => dtw_cpu::CpuBackend::shared(threads))
    }

    /// The first NVIDIA GPU, in the driver's order; the variable `CUDA_VISIBLE_DEVICES` says which ones the driver
    /// shows.
    ///
    /// # Errors
    /// [`Error::Backend`] when there is no driver, no GPU, or the kernels are not built; [`Error::Unsupported`] when
    /// the build lacks the `cuda` feature. The text says which, and what to do.
    pub fn cuda() -> Result<Self> {
        Self::cuda_with_device(0)
    }

    /// The NVIDIA GPU of this number, in the driver's order.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn cuda_with_device(ordinal: usize) -> Result<Self> {
        open!("cuda", Cuda, ordinal => dtw_cuda::CudaBackend::with_device(ordinal))
    }

    /// The first AMD GPU, in the order of AMD's runtime; the variable `HIP_VISIBLE_DEVICES` says which ones it shows.
    ///
    /// # Errors
    /// [`Error::Backend`] when there is no HIP runtime, no GPU, none of its architecture's kernels, or none at all;
    /// [`Error::Unsupported`] when the build lacks the `hip` feature. The text says which, and what to do.
    pub fn hip() -> Result<Self> {
        Self::hip_with_device(0)
    }

    /// The AMD GPU of this number, in the order of AMD's runtime.
    ///
    /// # Errors
    /// As [`Device::hip`].
    pub fn hip_with_device(ordinal: usize) -> Result<Self> {
        open!("hip", Hip, ordinal => dtw_hip::HipBackend::with_device(ordinal))
    }

    /// The fastest GPU by kind that Vulkan, Metal or Direct3D 12 reaches: one with memory of its own, if there is one.
    /// It computes in `f32`.
    ///
    /// # Errors
    /// [`Error::Backend`] when there is no such GPU or it does not open; [`Error::Unsupported`] when the build lacks
    /// the `wgpu` feature. The text says which, and what to do.
    pub fn wgpu() -> Result<Self> {
        Self::wgpu_with_device(0)
    }

    /// The GPU of this number in the list that [`devices`] gives for `wgpu`.
    ///
    /// # Errors
    /// As [`Device::wgpu`]; [`Error::Invalid`] for a number that none has.
    pub fn wgpu_with_device(ordinal: usize) -> Result<Self> {
        Self::wgpu_named(&ordinal.to_string())
    }

    /// The first GPU in that list whose name has this part, in any case (`"radeon"`), or that has this number.
    ///
    /// # Errors
    /// As [`Device::wgpu_with_device`].
    pub fn wgpu_named(name: &str) -> Result<Self> {
        open!("wgpu", Wgpu, name => dtw_wgpu::WgpuBackend::with_choice(&name.into()))
    }

    /// Several devices as one, which divide every call among them: each takes as much as it is fast. What cannot be
    /// divided (one pair, one query in one reference, a reference in blocks) is computed by the first. Each may use the
    /// memory limit of a session. Devices of one model give the same bits every time; of several, the last digits
    /// of a result depend on the device that had its turn. A device that fails is left out, and the observer of the
    /// session hears of it ([`dtw_core::Observer::lost`]).
    ///
    /// # Errors
    /// [`Error::Invalid`] for none; [`Error::Unsupported`] where a process has no threads (WebAssembly).
    pub fn several(devices: impl IntoIterator<Item = Self>) -> Result<Self> {
        let named = |(place, device): (usize, Self)| (format!("{} (device {place})", device.name()), device);
        Self::several_named(devices.into_iter().enumerate().map(named).collect())
    }

    fn several_named(mut devices: Vec<(String, Self)>) -> Result<Self> {
        if devices.len() == 1 {
            return Ok(devices.remove(0).1);
        }
        if cfg!(target_family = "wasm") {
            let what = "several devices need threads, which WebAssembly lacks";
            return Err(Error::Unsupported { backend: "cpu", what: what.to_owned(), remedies: &[] });
        }
        let players = devices.iter().map(|(name, device)| device.player(name.clone())).collect();
        Ok(Self(Kind::Several(Team::new(players)?, devices.into())))
    }

    /// All NVIDIA GPUs that can be used, as [one device](Self::several).
    ///
    /// # Errors
    /// As [`Device::cuda`], where there is none.
    pub fn all_cuda() -> Result<Self> {
        Self::named("cuda:all", 0)
    }

    /// The devices that work together in this one, with their names; itself, if it is no group.
    pub fn members(&self) -> Vec<(String, Self)> {
        match &self.0 {
            Kind::Several(_, devices) => devices.to_vec(),
            _ => vec![(self.name().to_owned(), self.clone())],
        }
    }

    /// The device of a name: `cpu`, `cuda`, `hip` or `wgpu` (the first GPU), `cuda:1` (the second), `wgpu:radeon` (by a
    /// part of its name), or `auto`, which is the CPU. Several names, separated by commas, are [one
    /// device](Self::several): `cuda:0,cuda:1`, in short `cuda:0,1`, or `cuda,cpu`; `cuda:all` is all of them.
    /// `threads` is for the CPU; 0 is one per core.
    ///
    /// # Errors
    /// [`Error::Unsupported`] or [`Error::Backend`] with the reason when there is no such device; [`Error::Invalid`]
    /// for another name.
    pub fn named(name: &str, threads: usize) -> Result<Self> {
        let names = names::separated(name, usable)?;
        let mut devices: Vec<(String, Self)> = Vec::new();
        for name in &names {
            let has_cpu = devices.iter().any(|(earlier, _)| earlier.starts_with("cpu"));
            let device = match &**name {
                // Threads of its own: those of a process are shared by all devices of as many.
                "cpu" if has_cpu => Self::cpu_apart(threads)?,
                name => Self::one_named(name, threads)?,
            };
            devices.push((name.clone(), device));
        }
        Self::several_named(devices)
    }

    /// As [`Device::cpu_with_threads`], with threads that no other device has.
    fn cpu_apart(threads: usize) -> Result<Self> {
        open!("cpu", Cpu, threads => dtw_cpu::CpuBackend::try_with_threads(threads))
    }

    fn one_named(name: &str, threads: usize) -> Result<Self> {
        let (backend, which) = match name.split_once(':') {
            Some((backend, which)) => (backend, Some(which.trim())),
            None => (name, None),
        };
        let like = || Error::invalid(format!("expected a device like \"{backend}:0\", got {name:?}"));
        let number = || which.map_or(Ok(0), |which| which.parse().map_err(|_| like()));
        match (backend, which) {
            ("auto" | "cpu", None) => Self::cpu_with_threads(threads),
            ("cuda", _) => Self::cuda_with_device(number()?),
            ("hip", _) => Self::hip_with_device(number()?),
            ("wgpu", None) => Self::wgpu(),
            ("wgpu", Some("")) => Err(like()),
            ("wgpu", Some(which)) => Self::wgpu_named(which),
            _ => Err(Error::invalid(format!(
                "unknown backend {name:?}: expected auto, {}",
                BackendKind::expected()
            ))),
        }
    }

    /// The name of the device's backend.
    pub fn name(&self) -> &'static str {
        self.backend::<f64>().name()
    }

    /// The backend, for callers that plan their own problems.
    pub fn backend<T: Float>(&self) -> &dyn Backend<T> {
        T::backend_of(self)
    }
}

/// A number type that series can hold and every device of this build computes with: `f32` or `f64`.
pub trait Float: Scalar {
    /// The backend of a device for these numbers.
    #[doc(hidden)]
    fn backend_of(device: &Device) -> &dyn Backend<Self>;
}

/// For a GPU that is chosen otherwise: [`dtw_wgpu::WgpuBackend::with_choice`].
#[cfg(feature = "wgpu")]
impl From<dtw_wgpu::WgpuBackend> for Device {
    fn from(backend: dtw_wgpu::WgpuBackend) -> Self {
        Self(Kind::Wgpu(backend))
    }
}

/// The numbers of the devices of a backend that can be used.
fn usable(backend: &BackendKind) -> Vec<usize> {
    let all: Vec<_> = devices().into_iter().filter(|device| device.backend == backend.name).collect();
    (0..all.len()).filter(|number| all[*number].unavailable.is_none()).collect()
}
