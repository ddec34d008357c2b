//! Page-locked memory that transfers go through: the device copies from and to it while the processor does other
//! things.

use std::ptr::NonNull;
use std::sync::Arc;

use dtw_core::Result;

use super::context::Shared;
use super::driver::{Driver, Event};

/// Bytes of one half of the staging memory.
pub(super) const CHUNK: usize = 8 << 20;

/// Page-locked memory and the event after its last transfer. Both are made when they are first needed.
#[derive(Debug)]
pub(super) struct Pinned<D: Driver> {
    memory: Option<NonNull<u8>>,
    bytes: usize,
    event: Option<Event>,
    context: Arc<Shared<D>>,
}

// SAFETY: plain memory and a handle, used by one thread at a time (behind a lock).
unsafe impl<D: Driver> Send for Pinned<D> {}

impl<D: Driver> Pinned<D> {
    /// Nothing yet.
    pub(super) fn new(context: &Arc<Shared<D>>) -> Self {
        Self { memory: None, bytes: 0, event: None, context: Arc::clone(context) }
    }

    /// Room for `bytes` bytes, and the event to be recorded after their transfer; waits for the last transfer. The
    /// context is entered.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<Event> {
        self.wait()?;
        let event = match self.event {
            Some(event) => event,
            None => *self.event.insert(self.context.check("making an event", D::make_event(false))?),
        };
        if self.bytes < bytes {
            self.free();
            let wanted = bytes.next_multiple_of(1 << 16);
            self.memory = Some(self.context.check("page-locked memory", D::allocate_host(wanted))?);
            self.bytes = wanted;
        }
        Ok(event)
    }

    /// Waits for the last transfer.
    pub(super) fn wait(&self) -> Result<()> {
        let Some(event) = self.event else { return Ok(()) };
        // SAFETY: the event is ours; one never recorded counts as done.
        self.context.check("a transfer", unsafe { D::wait(event) })
    }

    /// The first `bytes` bytes. No transfer may be under way.
    pub(super) fn slice(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.bytes);
        let Some(memory) = self.memory else { return &mut [] };
        // SAFETY: allocated with at least that many bytes, which are zero at first.
        unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), bytes) }
    }

    fn free(&mut self) {
        if let Some(memory) = self.memory.take() {
            // SAFETY: allocated by `reserve`, and no transfer is under way.
            unsafe { D::free_host(memory) };
            self.bytes = 0;
        }
    }
}

impl<D: Driver> Drop for Pinned<D> {
    fn drop(&mut self) {
        // A lost context took event and memory with it.
        let context = Arc::clone(&self.context);
        let Some(event) = self.event else { return };
        let Ok(_entered) = context.enter() else { return };
        // SAFETY: the event is ours; waiting first, since a transfer may be under way.
        unsafe {
            let _ = D::wait(event);
            D::destroy_event(event);
        }
        self.free();
    }
}
