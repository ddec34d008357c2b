//! The driver's library: whether it is there, and what its errors mean.

use cudarc::driver::{DriverError, result, sys};
use dtw_core::{Error, Obstacle, Remedy};
use dtw_native::gpu::{Failure, FailureKind};

/// The backend's name.
pub const NAME: &str = "cuda";

/// The oldest CUDA version of a driver that runs the compiled kernels.
pub(crate) const NEEDED: i32 = 13_000;

/// The least compute capability that the compiled kernels run on.
const LEAST_CAPABILITY: (i32, i32) = (8, 0);

/// Why there is no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Absent {
    #[error("no CUDA driver: the library libcuda (nvcuda.dll on Windows) is not on this machine")]
    Driver,
    #[error(
        "the CUDA driver is too old: it knows CUDA {}.{}, the kernels need {}.{}",
        found / 1000, found % 1000 / 10, NEEDED / 1000, NEEDED % 1000 / 10
    )]
    TooOld { found: i32 },
    #[error("no CUDA device: the driver is here, but it finds no GPU ({0})")]
    Device(String),
    #[error("no CUDA device {ordinal}: there are {count}, numbered from 0")]
    Number { ordinal: usize, count: usize },
    #[error(
        "the CUDA device is too old: {name} has compute capability {}.{}, the kernels need {}.{}",
        found.0, found.1, LEAST_CAPABILITY.0, LEAST_CAPABILITY.1
    )]
    TooWeak { name: String, found: (i32, i32) },
    #[error("the CUDA device was lost and could not be opened again ({0})")]
    NotRenewed(String),
    #[error("{0}")]
    Kernels(&'static str),
}

impl Absent {
    /// What helps.
    const fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::Driver => &[Remedy::Do("install NVIDIA's driver"), Remedy::Backend("cpu")],
            Self::TooOld { .. } => &[Remedy::Do("install a newer NVIDIA driver"), Remedy::Backend("cpu")],
            Self::Device(_) | Self::TooWeak { .. } | Self::Kernels(_) => Remedy::CPU,
            Self::NotRenewed(_) => &[Remedy::Do("start the program again")],
            Self::Number { .. } => &[],
        }
    }
}

impl From<Absent> for Obstacle {
    fn from(absent: Absent) -> Self {
        Self { what: absent.to_string(), remedies: absent.remedies() }
    }
}

impl From<Absent> for Error {
    fn from(absent: Absent) -> Self {
        let remedies = absent.remedies();
        Error::Backend { backend: NAME, reason: Box::new(absent), remedies }
    }
}

/// Loads the driver, once; the number of devices.
pub(crate) fn start() -> Result<usize, Absent> {
    // SAFETY: only tries to open the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(Absent::Driver);
    }
    let mut found = 0;
    // SAFETY: the library is there; the pointer is to a live integer.
    let _ = unsafe { sys::cuDriverGetVersion(&raw mut found) };
    if found != 0 && found < NEEDED {
        return Err(Absent::TooOld { found });
    }
    result::init().map_err(|error| Absent::Device(describe(error)))?;
    let count = result::device::get_count().map_err(|error| Absent::Device(describe(error)))?;
    if count <= 0 {
        return Err(Absent::Device("0 devices".to_owned()));
    }
    Ok(count as usize)
}

/// A GPU's compute capability.
pub(crate) fn capability(device: sys::CUdevice) -> Result<(i32, i32), DriverError> {
    use sys::CUdevice_attribute as A;
    // SAFETY: `device` came from the driver.
    let attribute = |which| unsafe { result::device::get_attribute(device, which) };
    Ok((
        attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ))
}

/// Why the compiled kernels do not run on this GPU, if they do not.
pub(crate) fn too_weak(device: sys::CUdevice) -> Result<Option<Absent>, DriverError> {
    let found = capability(device)?;
    if found >= LEAST_CAPABILITY {
        return Ok(None);
    }
    Ok(Some(Absent::TooWeak { name: result::device::get_name(device)?, found }))
}

/// The driver's name and text for an error.
pub(crate) fn describe(error: DriverError) -> String {
    let name =
        error.error_name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string_lossy().into_owned());
    let text =
        error.error_string().map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    format!("{name}: {text}")
}

/// An error as dtw-native wants it.
pub(crate) fn failure(error: DriverError) -> Failure {
    use sys::CUresult as E;
    let kind = match error.0 {
        E::CUDA_ERROR_OUT_OF_MEMORY => FailureKind::OutOfMemory,
        E::CUDA_ERROR_ILLEGAL_ADDRESS
        | E::CUDA_ERROR_LAUNCH_FAILED
        | E::CUDA_ERROR_LAUNCH_TIMEOUT
        | E::CUDA_ERROR_MISALIGNED_ADDRESS
        | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | E::CUDA_ERROR_INVALID_PC
        | E::CUDA_ERROR_HARDWARE_STACK_ERROR
        | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | E::CUDA_ERROR_ECC_UNCORRECTABLE
        | E::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | E::CUDA_ERROR_CONTAINED
        | E::CUDA_ERROR_ASSERT
        | E::CUDA_ERROR_DEVICE_UNAVAILABLE
        | E::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | E::CUDA_ERROR_DEINITIALIZED => FailureKind::Fatal,
        _ => FailureKind::Other,
    };
    Failure { text: describe(error), kind }
}
