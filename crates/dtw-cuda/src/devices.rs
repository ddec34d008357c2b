//! What GPUs there are.

use cudarc::driver::{result, sys};

use crate::driver::{Absent, describe, start};

/// A GPU, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number in the driver's order.
    pub ordinal: usize,
    /// Name, compute capability, memory.
    pub description: String,
    /// Why it cannot be used, and what to do about it; `None` for a usable GPU.
    pub unavailable: Option<String>,
}

/// Every GPU the driver knows; one line with the reason when there is none.
pub fn devices() -> Vec<DeviceInfo> {
    match start() {
        Err(absent) => vec![DeviceInfo {
            ordinal: 0,
            description: "NVIDIA GPUs".to_owned(),
            unavailable: Some(absent.to_string()),
        }],
        Ok(count) => (0..count)
            .map(|ordinal| {
                let description = about(ordinal).unwrap_or_else(|absent| absent.to_string());
                let unavailable = dtw_kernels::images::cuda_state().advice().map(str::to_owned);
                DeviceInfo { ordinal, description, unavailable }
            })
            .collect(),
    }
}

/// Name, compute capability and memory of a GPU.
fn about(ordinal: usize) -> Result<String, Absent> {
    let failed = |error| Absent::Device(describe(error));
    let device = result::device::get(ordinal as i32).map_err(failed)?;
    let name = result::device::get_name(device).map_err(failed)?;
    // SAFETY: `device` came from the driver.
    let (major, minor, memory) = unsafe {
        use sys::CUdevice_attribute as A;
        (
            result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
                .map_err(failed)?,
            result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
                .map_err(failed)?,
            result::device::total_mem(device).map_err(failed)?,
        )
    };
    Ok(format!("{name}, compute capability {major}.{minor}, {:.0} GiB", memory as f64 / (1_u64 << 30) as f64))
}
