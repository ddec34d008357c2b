//! A GPU opened: its context, its compiled kernels, and whether it still works.
//!
//! **A lost context.** After a fault in a kernel, a driver answers every call in that context with the same error. The
//! call that met it fails, and the context counts as lost: everything made in it only gives errors from then on. The
//! next plan (or backend) has the driver make the context anew, and works in the fresh one, which the whole process
//! shares. Drivers promise this for a context, not for every fault: where that fails too, only a new process helps, and
//! the error says so.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, TryLockError};

use dtw_core::{Error, Result};
use dtw_kernels::Kernel;
use dtw_kernels::image::Image;

use super::driver::{Context, Driver, Failure, FailureKind, Function, Module, Opened};
use super::open_devices::OpenDevice;
use super::page_locked::Waiting;
use crate::lock::lock;
use crate::machine::{BLOCK_THREADS, Properties};

/// A device that is open, shared with everything else in the process that uses it.
#[derive(Debug)]
pub(super) struct Shared<D: Driver> {
    ordinal: usize,
    opened: Opened,
    /// Images loaded, by unit; also the image itself where the driver has no copy.
    modules: Mutex<HashMap<&'static str, (Module, Option<Image>)>>,
    /// Kernels found and the blocks a multiprocessor runs of each, by symbol.
    functions: Mutex<HashMap<&'static str, (Function, u32)>>,
    /// Page-locked memory between two transfers.
    pub(super) waiting: Mutex<Waiting>,
    lost: Arc<AtomicBool>,
    /// Held for reading while a thread is in the driver, for writing while a lost context is taken away.
    users: RwLock<()>,
    driver: std::marker::PhantomData<D>,
}

/// The right to call the driver: the context is current on this thread and stays while this lives. Then the one that
/// was current before is so again, or none.
#[derive(Debug)]
#[must_use]
pub(super) struct Entered<'a, D: Driver> {
    _user: RwLockReadGuard<'a, ()>,
    _before: Before<D>,
}

/// The context that was current before another was made so; made current again when this is dropped.
#[derive(Debug)]
struct Before<D: Driver>(Option<Context>, std::marker::PhantomData<D>);

impl<D: Driver> Before<D> {
    /// `other` is going to be current.
    fn entering(other: Context) -> Self {
        let before = D::current().unwrap_or(Context(0));
        Self((before != other).then_some(before), std::marker::PhantomData)
    }
}

impl<D: Driver> Drop for Before<D> {
    fn drop(&mut self) {
        if let Some(context) = self.0 {
            // SAFETY: it was current when this thread came here, so whoever made it keeps it open meanwhile; 0 is none.
            let _ = unsafe { D::make_current(context) };
        }
    }
}

/// A call of the driver that failed, and what that means for the caller.
#[derive(Debug, thiserror::Error)]
#[error("{what} failed: {failure}{after}")]
struct CallFailed {
    what: String,
    failure: Failure,
    after: &'static str,
}

impl<D: Driver> Shared<D> {
    /// The context of device `ordinal`: the one in use, or a fresh one where there is none or it is lost.
    pub(super) fn of(ordinal: usize) -> Result<Arc<Self>> {
        let mut devices = lock(&D::open_devices().0);
        let open = devices.get(&ordinal);
        let old = open.and_then(|open| open.context.upgrade()).and_then(|any| any.downcast::<Self>().ok());
        let is_lost = open.is_some_and(|open| open.lost.load(Ordering::Acquire));
        if let Some(context) = &old
            && !is_lost
        {
            return Ok(Arc::clone(context));
        }
        // Whoever is in the driver with the lost context leaves first, and nobody enters it again.
        let alone = old.as_ref().map(|old| old.users.write());
        let context = Arc::new(Self {
            ordinal,
            opened: D::open(ordinal, is_lost)?,
            modules: Mutex::default(),
            functions: Mutex::default(),
            waiting: Mutex::default(),
            lost: Arc::default(),
            users: RwLock::default(),
            driver: std::marker::PhantomData,
        });
        drop(alone);
        let lost = Arc::clone(&context.lost);
        let shared: Arc<dyn Any + Send + Sync> = context.clone();
        devices.insert(ordinal, OpenDevice { context: Arc::downgrade(&shared), lost });
        Ok(context)
    }

    pub(super) fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub(super) fn opened(&self) -> &Opened {
        &self.opened
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Makes the context current on this thread.
    ///
    /// # Errors
    /// When the context is lost: the driver must not be asked for anything that was made in it.
    pub(super) fn enter(&self) -> Result<Entered<'_, D>> {
        // Never waits: the lock is only taken for writing once the context is lost.
        let user = match self.users.try_read() {
            Ok(user) => Some(user),
            Err(TryLockError::Poisoned(user)) => Some(user.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let Some(user) = user.filter(|_| !self.is_lost()) else {
            let text =
                "the device's context was lost in an earlier call: make a new plan, which opens a fresh one";
            return Err(Error::failed(D::NAME, text));
        };
        let before = Before::entering(self.opened.context);
        // SAFETY: the context is open as long as `self` lives.
        self.check("the device", unsafe { D::make_current(self.opened.context) })?;
        Ok(Entered { _user: user, _before: before })
    }

    /// The driver's answer as an error of ours; remembers when nothing works any more.
    pub(super) fn check<T>(&self, what: &str, answer: Result<T, Failure>) -> Result<T> {
        answer.map_err(|failure| {
            let is_fatal = failure.kind == FailureKind::Fatal;
            if is_fatal {
                self.lost.store(true, Ordering::Release);
            }
            let after = if is_fatal {
                "; the device's context is lost: make a new plan, which opens a fresh one"
            } else {
                ""
            };
            let failed = CallFailed { what: what.to_owned(), failure, after };
            Error::failed(D::NAME, failed)
        })
    }

    /// Bytes free and in all.
    pub(super) fn memory(&self) -> (u64, u64) {
        let Ok(_entered) = self.enter() else { return (0, 0) };
        D::memory().unwrap_or((0, 0))
    }

    pub(super) fn properties(&self) -> Properties {
        let (free_bytes, total_bytes) = self.memory();
        let Opened { name, multiprocessors, lanes, .. } = &self.opened;
        Properties {
            description: name.clone(),
            multiprocessors: *multiprocessors,
            lanes: *lanes,
            total_bytes,
            free_bytes,
        }
    }

    /// The kernel, its image loaded if need be, and how many of its blocks a multiprocessor runs at once, at least 1.
    pub(super) fn function(&self, kernel: &Kernel) -> Result<(Function, u32)> {
        let mut functions = lock(&self.functions);
        if let Some(found) = functions.get(kernel.symbol) {
            return Ok(*found);
        }
        let module = self.module(kernel.unit)?;
        let symbol = CString::new(kernel.symbol).expect("symbols have no zero bytes");
        // SAFETY: the module is loaded in the current context.
        let function = self.check(kernel.symbol, unsafe { D::function(module, &symbol) })?;
        if kernel.shared_bytes > 0 {
            // SAFETY: a kernel of the current context.
            let shared = unsafe { D::share(function, kernel.shared_bytes) };
            self.check("setting aside shared memory", shared)?;
        }
        // SAFETY: a kernel of the current context.
        let blocks = unsafe { D::blocks_per_multiprocessor(function, BLOCK_THREADS, kernel.shared_bytes) };
        let found = (function, self.check("the occupancy query", blocks)?.max(1));
        functions.insert(kernel.symbol, found);
        Ok(found)
    }

    fn module(&self, unit: &'static str) -> Result<Module> {
        let mut modules = lock(&self.modules);
        if let Some((module, _)) = modules.get(unit) {
            return Ok(*module);
        }
        let image = D::image(&self.opened, unit)?;
        // SAFETY: the image is whole, as it was built.
        let module = self.check("loading kernels", unsafe { D::load(&image) })?;
        modules.insert(unit, (module, D::READS_IMAGES_LATER.then_some(image)));
        Ok(module)
    }
}

impl<D: Driver> Drop for Shared<D> {
    fn drop(&mut self) {
        // What was made in a lost context went with it.
        let Ok(_entered) = self.enter() else { return };
        for memory in lock(&self.waiting).take_all() {
            // SAFETY: ours, and what waits is not copied to or from.
            unsafe { D::free_host(memory.start) };
        }
        for (module, _) in lock(&self.modules).values() {
            // SAFETY: loaded by us, used by no one any more: every machine holds the context.
            unsafe { D::unload(*module) };
        }
        // SAFETY: opened by us once.
        unsafe { D::close(self.ordinal, self.opened.context) };
    }
}
