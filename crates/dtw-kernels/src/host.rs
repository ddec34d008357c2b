//! The kernels compiled for this CPU: every lane a fiber, in lockstep with its warp (native/vendor/host.cuh).
//!
//! Far slower than dtw-cpu; it exists so that the device's own source can be tested where there is no device. Addresses in
//! parameters are addresses of this process.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::params::Params;

/// Lanes of an emulated warp of the hardware. Kernels divide them into groups of at most 32.
pub const LANES: u32 = if cfg!(feature = "host64") { 64 } else { 32 };

// SAFETY: no code runs here; `launch` says what the caller of such a function promises.
type Function = unsafe extern "C" fn(*const u8, u32, u32, u32);

include!(concat!(env!("OUT_DIR"), "/host.rs"));

/// Why a kernel could not be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotCompiled;

impl std::fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the host has no kernel of this name (the widest shapes are left out there)")
    }
}

impl std::error::Error for NotCompiled {}

fn function(symbol: &str) -> Option<Function> {
    static BY_SYMBOL: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
    BY_SYMBOL.get_or_init(|| KERNELS.iter().copied().collect()).get(symbol).copied()
}

/// Whether the kernel was compiled: the widest shapes are left out.
#[must_use]
pub fn has(symbol: &str) -> bool {
    function(symbol).is_some()
}

/// Runs `blocks` blocks of 128 threads of the kernel and returns when they are done.
///
/// `interleaved` warps are under way at once, and `seed` orders their turns (0: round robin); a kernel's results must
/// depend on neither.
///
/// # Errors
///
/// [`NotCompiled`].
///
/// # Safety
///
/// `P` is the structure that the kernel takes, and the addresses and sizes in it describe memory that the kernel may read
/// and write as `native/params.h` says, until this returns.
pub unsafe fn launch<P: Params>(
    symbol: &str,
    params: &P,
    blocks: u32,
    interleaved: u32,
    seed: u32,
) -> Result<(), NotCompiled> {
    let kernel = function(symbol).ok_or(NotCompiled)?;
    // SAFETY: the caller promises that the parameters are this kernel's and what they point at.
    unsafe { kernel(params.bytes().as_ptr(), blocks, interleaved, seed) };
    Ok(())
}
