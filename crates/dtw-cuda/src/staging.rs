//! Page-locked memory that transfers go through: the device copies from and to it while the processor does other things.

use std::sync::Arc;

use cudarc::driver::{result, sys};
use dtw_core::Result;

use crate::context::Context;

/// Bytes of one half of the staging memory.
pub(crate) const CHUNK: usize = 8 << 20;

/// Page-locked memory and the event after its last transfer.
#[derive(Debug)]
pub(crate) struct Pinned {
    address: *mut u8,
    bytes: usize,
    pub(crate) event: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: plain memory and a handle, used by one thread at a time (behind a lock).
unsafe impl Send for Pinned {}

impl Pinned {
    /// No memory yet.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self> {
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let event = context.check("making an event", event)?;
        Ok(Self { address: std::ptr::null_mut(), bytes: 0, event, context: Arc::clone(context) })
    }

    /// Room for `bytes` bytes; waits for the last transfer.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.wait()?;
        if self.bytes < bytes {
            self.free();
            let wanted = bytes.next_multiple_of(1 << 16);
            // SAFETY: a plain allocation, freed in `free`.
            let address =
                self.context.check("page-locked memory", unsafe { result::malloc_host(wanted, 0) })?;
            (self.address, self.bytes) = (address.cast(), wanted);
        }
        Ok(())
    }

    /// Waits for the last transfer.
    pub(crate) fn wait(&self) -> Result<()> {
        // SAFETY: the event is ours; one never recorded counts as done.
        self.context.check("a transfer", unsafe { result::event::synchronize(self.event) })
    }

    /// The first `bytes` bytes. No transfer may be under way.
    pub(crate) fn slice(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.bytes);
        // SAFETY: allocated with at least that many bytes, which need no initialisation to be bytes of a transfer: the
        // driver hands out zeroed pages.
        unsafe { std::slice::from_raw_parts_mut(self.address, bytes) }
    }

    fn free(&mut self) {
        if !self.address.is_null() {
            // SAFETY: allocated by malloc_host, and no transfer is under way.
            let _ = unsafe { result::free_host(self.address.cast()) };
            (self.address, self.bytes) = (std::ptr::null_mut(), 0);
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A lost context took event and memory with it.
        let context = Arc::clone(&self.context);
        let Ok(_entered) = context.enter() else { return };
        // SAFETY: the event is ours; waiting first, since a transfer may be under way.
        unsafe {
            let _ = result::event::synchronize(self.event);
            let _ = result::event::destroy(self.event);
        }
        self.free();
    }
}
