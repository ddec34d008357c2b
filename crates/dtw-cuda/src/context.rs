//! A GPU opened: its context, its compiled kernels, and whether it still works.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::driver::{DriverError, result, sys};
use dtw_core::{Error, Result};
use dtw_kernels::{Kernel, images};
use dtw_native::{BLOCK_THREADS, Properties};

use crate::NAME;
use crate::driver::{Absent, describe, is_fatal, start};

/// The primary context of one GPU, shared with everything else in the process that uses CUDA.
#[derive(Debug)]
pub(crate) struct Context {
    device: sys::CUdevice,
    context: sys::CUcontext,
    name: String,
    pub(crate) multiprocessors: u32,
    /// Images loaded, by unit.
    modules: Mutex<HashMap<&'static str, sys::CUmodule>>,
    /// Kernels found and the blocks a multiprocessor runs of each, by symbol.
    functions: Mutex<HashMap<&'static str, Function>>,
    lost: AtomicBool,
}

/// A kernel in this context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(crate) handle: sys::CUfunction,
    pub(crate) blocks_per_multiprocessor: u32,
}

// SAFETY: handles of the driver may be used from any thread once the context is made current there.
unsafe impl Send for Context {}
// SAFETY: as above; the maps are behind locks.
unsafe impl Sync for Context {}
// SAFETY: a handle; see Context.
unsafe impl Send for Function {}

impl Context {
    /// Opens GPU `ordinal`. With `reset` the primary context is made anew first, because it was lost.
    pub(crate) fn open(ordinal: usize, reset: bool) -> Result<Self> {
        let count = start()?;
        if ordinal >= count {
            return Err(Absent::Number { ordinal, count }.into());
        }
        if let Some(advice) = images::cuda_state().advice() {
            return Err(Absent::Kernels(advice).into());
        }
        let failed = |error| Error::from(Absent::Device(describe(error)));
        let device = result::device::get(ordinal as i32).map_err(failed)?;
        // SAFETY: `device` came from the driver; the context is current before anything uses it.
        let (context, multiprocessors) = unsafe {
            if reset {
                sys::cuDevicePrimaryCtxReset_v2(device).result().map_err(failed)?;
            }
            let context = result::primary_ctx::retain(device).map_err(failed)?;
            result::ctx::set_current(context).map_err(failed)?;
            use sys::CUdevice_attribute as A;
            let attribute =
                result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
            (context, attribute.map_err(failed)?)
        };
        Ok(Self {
            device,
            context,
            name: result::device::get_name(device).map_err(failed)?,
            multiprocessors: multiprocessors as u32,
            modules: Mutex::default(),
            functions: Mutex::default(),
            lost: AtomicBool::new(false),
        })
    }

    /// Makes the context current on this thread.
    pub(crate) fn enter(&self) -> Result<()> {
        // SAFETY: the context is retained as long as `self` lives.
        self.check("the device", unsafe { result::ctx::set_current(self.context) })
    }

    /// The driver's answer as an error of ours; remembers when nothing works any more.
    pub(crate) fn check<T>(&self, what: &str, answer: Result<T, DriverError>) -> Result<T> {
        answer.map_err(|error| {
            let mut text = format!("{what} failed: {}", describe(error));
            if is_fatal(error) {
                self.lost.store(true, Ordering::Release);
                text += "; the device's context is lost: make a new plan, which opens a fresh one";
            }
            Error::Backend { backend: NAME, source: text.into() }
        })
    }

    /// Whether a call failed in a way that ends the context.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Bytes free and in all.
    pub(crate) fn memory(&self) -> (u64, u64) {
        if self.enter().is_err() {
            return (0, 0);
        }
        result::mem_get_info().map_or((0, 0), |(free, total)| (free as u64, total as u64))
    }

    pub(crate) fn properties(&self) -> Properties {
        let (free_bytes, total_bytes) = self.memory();
        Properties {
            description: self.name.clone(),
            multiprocessors: self.multiprocessors,
            lanes: 32,
            total_bytes,
            free_bytes,
        }
    }

    /// The kernel, its image loaded if need be.
    pub(crate) fn function(&self, kernel: &Kernel) -> Result<Function> {
        let mut functions = lock(&self.functions);
        if let Some(known) = functions.get(kernel.symbol) {
            return Ok(*known);
        }
        let module = self.module(kernel.unit)?;
        let symbol = CString::new(kernel.symbol).expect("symbols have no zero bytes");
        // SAFETY: the module is loaded in the current context.
        let handle = self.check(kernel.symbol, unsafe { result::module::get_function(module, symbol) })?;
        let mut blocks = 0;
        // SAFETY: `handle` is a kernel of the current context.
        let answer = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, handle, BLOCK_THREADS as i32, 0)
                .result()
        };
        self.check("the occupancy query", answer)?;
        let function = Function { handle, blocks_per_multiprocessor: blocks.max(1) as u32 };
        functions.insert(kernel.symbol, function);
        Ok(function)
    }

    fn module(&self, unit: &'static str) -> Result<sys::CUmodule> {
        let mut modules = lock(&self.modules);
        if let Some(module) = modules.get(unit) {
            return Ok(*module);
        }
        let image = images::cuda().and_then(|all| all.iter().find(|(name, _)| *name == unit));
        let Some((_, image)) = image else {
            return Err(Absent::Kernels(
                "kernels not built: run `cargo xtask kernels cuda`, then build again",
            )
            .into());
        };
        // SAFETY: the image is a whole fat binary; the driver copies it.
        let module =
            self.check("loading kernels", unsafe { result::module::load_data(image.as_ptr().cast()) })?;
        modules.insert(unit, module);
        Ok(module)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_lost() || self.enter().is_err() {
            return;
        }
        for module in lock(&self.modules).values() {
            // SAFETY: loaded by us, used by no one any more: every machine holds the context.
            let _ = unsafe { result::module::unload(*module) };
        }
        // SAFETY: retained by us once.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// A lock that a panic elsewhere does not close: what is behind ours is valid at all times.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
