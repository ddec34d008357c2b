//! The kernels compiled for this CPU: every lane a fiber, in lockstep with its warp (native/vendor/host.cuh).
//!
//! Far slower than dtw-cpu; it exists so that the device's own source can be tested where there is no device. Addresses
//! in parameters are addresses of this process.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::catalog;

/// Lanes of an emulated warp of the hardware. Kernels divide them into groups of at most 32.
pub const LANES: u32 = if cfg!(feature = "host64") { 64 } else { 32 };

// SAFETY: no code runs here; `launch` says what the caller of such a function promises.
type Function = unsafe extern "C" fn(*const u8, u32, u32, u32);

// SAFETY: native/vendor/fences.cpp defines them so.
unsafe extern "C" {
    fn dtw_host_fence(start: *mut u8, bytes: usize);
    fn dtw_host_unfence(start: *mut u8, bytes: usize);
}

include!(concat!(env!("OUT_DIR"), "/host.rs"));

/// Why a kernel was not launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchError {
    /// There is no kernel of this name.
    Unknown,
    /// The parameters have another size than the structure that the kernel takes.
    Size {
        /// Of the structure.
        expected: usize,
        /// What was given.
        got: usize,
    },
}

impl std::fmt::Display for LaunchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchError::Unknown => f.write_str("no kernel of this name was compiled for the host"),
            LaunchError::Size { expected, got } => {
                write!(f, "the kernel takes parameters of {expected} bytes, but got {got} bytes")
            }
        }
    }
}

impl std::error::Error for LaunchError {}

fn function(symbol: &str) -> Option<Function> {
    static BY_SYMBOL: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
    BY_SYMBOL.get_or_init(|| KERNELS.iter().copied().collect()).get(symbol).copied()
}

/// Runs `blocks` blocks of 128 threads of the kernel and returns when they are done.
///
/// `interleaved` warps are under way at once, and `seed` decides whose turn is next; a kernel's results must depend on
/// neither.
///
/// # Errors
///
/// [`LaunchError`], before anything runs.
///
/// # Safety
///
/// `params` are the bytes of the structure that the kernel takes, and the addresses and sizes in it describe memory
/// that the kernel may read and write as `native/params.h` says, until this returns.
pub unsafe fn launch(
    symbol: &str,
    params: &[u8],
    blocks: u32,
    interleaved: u32,
    seed: u32,
) -> Result<(), LaunchError> {
    let kernel = function(symbol).ok_or(LaunchError::Unknown)?;
    let expected = catalog::find(symbol).ok_or(LaunchError::Unknown)?.pass.params_bytes();
    if params.len() != expected {
        return Err(LaunchError::Size { expected, got: params.len() });
    }
    // In words, because the structures are aligned to words and bytes need not be.
    let words: Vec<u64> = params
        .chunks(8)
        .map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        })
        .collect();
    // SAFETY: as many aligned bytes as the kernel reads; that they are its parameters and what they point at is the
    // caller's promise.
    unsafe { kernel(words.as_ptr().cast(), blocks, interleaved, seed) };
    Ok(())
}

/// Lets nobody touch these bytes until [`unfence`], where a sanitizer watches; elsewhere nothing happens.
///
/// # Safety
///
/// They are within one allocation of the caller's, who does not touch them either.
pub unsafe fn fence(start: *mut u8, bytes: usize) {
    if !cfg!(miri) {
        // SAFETY: native/vendor/fences.cpp; it notes that these bytes of the caller's are not to be touched.
        unsafe { dtw_host_fence(start, bytes) };
    }
}

/// Lets them be touched again.
///
/// # Safety
///
/// As [`fence`], but for touching.
pub unsafe fn unfence(start: *mut u8, bytes: usize) {
    if !cfg!(miri) {
        // SAFETY: native/vendor/fences.cpp; as above.
        unsafe { dtw_host_unfence(start, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Normalize, Params};

    #[test]
    fn all_kernels_are_compiled() {
        let absent: Vec<&str> =
            catalog::kernels().iter().map(|kernel| kernel.symbol).filter(|s| function(s).is_none()).collect();
        assert!(absent.is_empty(), "{absent:?}");
    }

    #[test]
    fn wrong_parameters_are_refused() {
        // SAFETY: nothing is launched.
        let launch = |symbol, bytes: &[u8]| unsafe { launch(symbol, bytes, 1, 1, 0) };
        assert_eq!(launch("dtw_none", &[]), Err(LaunchError::Unknown));
        assert_eq!(launch("dtw_normalize_f32", &[0; 8]), Err(LaunchError::Size { expected: 32, got: 8 }));
    }

    #[test]
    fn a_kernel_runs() {
        let (mut series, count, length) = (vec![1.0_f64, 2.0, 3.0, 5.0, 5.0, 5.0], 2, 3);
        let address = series.as_mut_ptr() as u64;
        let params = Normalize { r#in: address, out: address, count, length };
        // SAFETY: `series` holds count * length numbers and is not touched until the launch returns.
        unsafe { launch("dtw_normalize_f64", params.bytes(), 1, 1, 1) }.unwrap();
        let unit = 1.5_f64.sqrt();
        let expected = [-unit, 0.0, unit, 0.0, 0.0, 0.0];
        assert!(series.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{series:?}");
    }
}
