//! A GPU opened: its context, its compiled kernels, and whether it still works.
//!
//! **A lost context.** After a fault in a kernel, CUDA answers every call in that context with the same error. The call
//! that met it fails, and the context counts as lost: everything made in it only gives errors from then on. The next plan
//! (or backend) resets the GPU's primary context and works in a fresh one, which the whole process shares. CUDA promises
//! this for a context, not for every fault: where the reset fails too, only a new process helps, and the error says so.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, TryLockError, Weak};

use cudarc::driver::{DriverError, result, sys};
use dtw_core::{Error, Result};
use dtw_kernels::{Kernel, images};
use dtw_native::{BLOCK_THREADS, Properties};

use crate::NAME;
use crate::driver::{Absent, describe, is_fatal, start, too_weak};

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
    lost: Arc<AtomicBool>,
    /// Held for reading while a thread is in the driver, for writing while a lost context is taken away.
    users: RwLock<()>,
}

/// The right to call the driver: the context is current on this thread and stays while this lives.
#[derive(Debug)]
#[must_use]
pub(crate) struct Entered<'a> {
    _user: RwLockReadGuard<'a, ()>,
}

/// What the process knows of a GPU it has opened.
#[derive(Debug, Default)]
struct Known {
    context: Weak<Context>,
    lost: Arc<AtomicBool>,
}

/// By ordinal. One context for the whole process, so that all that use it learn when it is lost.
static KNOWN: Mutex<BTreeMap<usize, Known>> = Mutex::new(BTreeMap::new());

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
    /// The context of GPU `ordinal`: the one in use, or a fresh one where there is none or it is lost.
    pub(crate) fn shared(ordinal: usize) -> Result<Arc<Self>> {
        let mut all = lock(&KNOWN);
        let known = all.entry(ordinal).or_default();
        let old = known.context.upgrade();
        let is_lost = known.lost.load(Ordering::Acquire);
        if let Some(context) = &old
            && !is_lost
        {
            return Ok(Arc::clone(context));
        }
        // Whoever is in the driver with the lost context leaves first, and nobody enters it again.
        let alone = old.as_ref().map(|old| old.users.write());
        let context = Arc::new(Self::open(ordinal, is_lost)?);
        drop(alone);
        *known = Known { context: Arc::downgrade(&context), lost: Arc::clone(&context.lost) };
        Ok(context)
    }

    /// Opens GPU `ordinal`. With `reset` the primary context is made anew first, because it was lost.
    fn open(ordinal: usize, reset: bool) -> Result<Self> {
        let count = start()?;
        if ordinal >= count {
            return Err(Absent::Number { ordinal, count }.into());
        }
        if let Some(advice) = images::cuda_state().advice() {
            return Err(Absent::Kernels(advice).into());
        }
        let failed = |error| {
            let text = describe(error);
            Error::from(if reset { Absent::NotRenewed(text) } else { Absent::Device(text) })
        };
        let device = result::device::get(ordinal as i32).map_err(failed)?;
        if let Some(weak) = too_weak(device).map_err(failed)? {
            return Err(weak.into());
        }
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
            lost: Arc::default(),
            users: RwLock::default(),
        })
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    /// When the context is lost: the driver must not be asked for anything that was made in it.
    pub(crate) fn enter(&self) -> Result<Entered<'_>> {
        // Never waits: the lock is only taken for writing once the context is lost.
        let user = match self.users.try_read() {
            Ok(user) => Some(user),
            Err(TryLockError::Poisoned(user)) => Some(user.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let Some(user) = user.filter(|_| !self.is_lost()) else {
            let text =
                "the device's context was lost in an earlier call: make a new plan, which opens a fresh one";
            return Err(Error::Backend { backend: NAME, reason: text.into() });
        };
        // SAFETY: the context is retained as long as `self` lives.
        self.check("the device", unsafe { result::ctx::set_current(self.context) })?;
        Ok(Entered { _user: user })
    }

    /// The driver's answer as an error of ours; remembers when nothing works any more.
    pub(crate) fn check<T>(&self, what: &str, answer: Result<T, DriverError>) -> Result<T> {
        answer.map_err(|error| {
            let mut text = format!("{what} failed: {}", describe(error));
            if is_fatal(error) {
                self.lost.store(true, Ordering::Release);
                text += "; the device's context is lost: make a new plan, which opens a fresh one";
            }
            Error::Backend { backend: NAME, reason: text.into() }
        })
    }

    /// Whether a call failed in a way that ends the context.
    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Bytes free and in all.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let Ok(_entered) = self.enter() else { return (0, 0) };
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
        // What was made in a lost context went with it.
        let Ok(_entered) = self.enter() else { return };
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
