//! What GPUs there are.

use cudarc::driver::result;
use dtw_native::gpu::DeviceInfo;

use crate::library::{Absent, capability, describe, start, too_weak};

/// Every GPU the driver knows; one line with the reason when there is none.
pub fn devices() -> Vec<DeviceInfo> {
    DeviceInfo::list("NVIDIA", start(), about)
}

/// Name, compute capability and memory of a GPU; and why the kernels do not run on it, if they do not.
fn about(ordinal: usize) -> Result<(String, Option<Absent>), Absent> {
    let failed = |error| Absent::Device(describe(error));
    let device = result::device::get(ordinal as i32).map_err(failed)?;
    let name = result::device::get_name(device).map_err(failed)?;
    let (major, minor) = capability(device).map_err(failed)?;
    // SAFETY: `device` came from the driver.
    let memory = unsafe { result::device::total_mem(device) }.map_err(failed)? as f64 / (1_u64 << 30) as f64;
    let text = format!("{name}, compute capability {major}.{minor}, {memory:.0} GiB");
    let weak = too_weak(device).map_err(failed)?;
    Ok((text, weak.or_else(|| dtw_kernels::images::cuda_advice().map(Absent::Kernels))))
}
