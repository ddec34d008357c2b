//! The kernels compiled for this CPU: every lane a fiber, in lockstep with its wave (native/vendor/fibers.h).
//!
//! Far slower than dtw-cpu; it exists so that the device's own source can be tested where there is no device. Addresses
//! in parameters are addresses of this process.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::catalog;

/// Lanes of an emulated wave: they execute in lockstep. Kernels divide them into groups of at most 32.
pub const LANES: u32 = if cfg!(feature = "host64") { 64 } else { 32 };

// SAFETY: no code runs here; `launch` says what the caller of such a function promises.
type Function = unsafe extern "C" fn(*const u8, u32, u32, u32) -> bool;

// SAFETY: native/vendor/fences.cpp defines them so.
unsafe extern "C" {
    fn dtw_host_fence(start: *mut u8, bytes: usize);
    fn dtw_host_unfence(start: *mut u8, bytes: usize);
}

#[cfg(test)]
// SAFETY: native/vendor/waits.cpp defines them so.
unsafe extern "C" {
    fn dtw_waits_alone_host(params: *const u8, blocks: u32, interleaved: u32, seed: u32) -> bool;
    fn dtw_waits_together_host(params: *const u8, blocks: u32, interleaved: u32, seed: u32) -> bool;
}

#[cfg(test)]
mod contract;

include!(concat!(env!("OUT_DIR"), "/host.rs"));

/// Why a kernel was not launched, or did not end.
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
    /// The launch was given up, because nothing in it could go on any more.
    Endless {
        /// The kernel.
        symbol: &'static str,
    },
}

impl std::fmt::Display for LaunchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchError::Unknown => f.write_str("no kernel of this name was compiled for the host"),
            LaunchError::Size { expected, got } => {
                write!(f, "the kernel takes parameters of {expected} bytes, but got {got} bytes")
            }
            LaunchError::Endless { symbol } => write!(
                f,
                "{symbol} never ends: every wave of {LANES} lanes that has begun waits for another one, or one of its \
                 lanes waits for another of the same wave, which stands still meanwhile"
            ),
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
/// `interleaved` waves are under way at once, and `seed` decides whose turn is next; a kernel's results must depend on
/// neither.
///
/// # Errors
///
/// [`LaunchError::Unknown`] and [`LaunchError::Size`], before anything runs. [`LaunchError::Endless`] if all waves that
/// have begun wait, and have done so for 1,000 rounds of turns: waiting lanes write nothing, so that is for ever.
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
    let known = catalog::find(symbol).ok_or(LaunchError::Unknown)?;
    let expected = known.role.params_bytes();
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
    let ended = unsafe { kernel(words.as_ptr().cast(), blocks, interleaved, seed) };
    if ended { Ok(()) } else { Err(LaunchError::Endless { symbol: known.symbol }) }
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

    /// `Waits` of native/vendor/waits.cpp.
    #[repr(C)]
    struct Waits {
        ticket: u64,
        done: u64,
        last: u64,
    }

    /// Whether a chain of 50 tickets ends, and how many of them were done.
    fn chain(kernel: Function, interleaved: u32, seed: u32) -> (bool, usize) {
        let (mut ticket, mut done) = (0_u64, [0_u32; 50]);
        let waits = Waits {
            ticket: (&raw mut ticket) as u64,
            done: done.as_mut_ptr() as u64,
            last: done.len() as u64,
        };
        // SAFETY: these are the kernel's parameters, and what they point at is not touched until the launch returns.
        let ended = unsafe { kernel((&raw const waits).cast(), 4, interleaved, seed) };
        (ended, done.iter().filter(|flag| **flag == 1).count())
    }

    #[test]
    fn lanes_that_wait_hold_their_wave() {
        for (interleaved, seed) in [(1, 0), (1, 3), (2, 0), (2, 5), (8, 7)] {
            let (ended, done) = chain(dtw_waits_alone_host, interleaved, seed);
            // A wave of two groups takes two tickets, of which the second waits for the first.
            assert_eq!(ended, LANES == 32, "{interleaved} waves, seed {seed}: {done} of 50 done");
            assert_eq!(ended, done == 50, "{interleaved} waves, seed {seed}: {done} of 50 done");
        }
        // What was given up leaves nothing behind.
        a_kernel_runs();
    }

    #[test]
    fn tickets_of_whole_waves_end() {
        for (interleaved, seed) in [(1, 0), (1, 3), (2, 0), (2, 5), (8, 7)] {
            let end = chain(dtw_waits_together_host, interleaved, seed);
            assert_eq!(end, (true, 50), "{interleaved} waves, seed {seed}");
        }
    }

    #[test]
    fn an_endless_launch_says_so() {
        let error = LaunchError::Endless { symbol: "dtw_some_kernel" }.to_string();
        let lanes = format!("wave of {LANES} lanes");
        assert!(error.starts_with("dtw_some_kernel never ends: ") && error.contains(&lanes), "{error}");
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
