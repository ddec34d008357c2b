//! Page-locked memory that transfers go through: the device copies from and to it while the processor does other
//! things.

use std::sync::Arc;

use dtw_core::Result;

use super::context::Shared;
use super::driver::{Driver, Event};
use super::page_locked::PageLocked;
use crate::lock::lock;

/// Bytes of one half of the staging memory.
pub(super) const CHUNK: usize = 8 << 20;

/// Page-locked memory and the event after its last transfer. Both are made when they are first needed; memory that
/// waits elsewhere is taken first.
#[derive(Debug)]
pub(super) struct Pinned<D: Driver> {
    memory: Option<PageLocked>,
    event: Option<Event>,
    context: Arc<Shared<D>>,
}

impl<D: Driver> Pinned<D> {
    /// Nothing yet.
    pub(super) fn new(context: &Arc<Shared<D>>) -> Self {
        Self { memory: None, event: None, context: Arc::clone(context) }
    }

    /// Room for `bytes` bytes, and the event to be recorded after their transfer; waits for the last transfer. The
    /// context is entered.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<Event> {
        self.wait()?;
        let event = match self.event {
            Some(event) => event,
            None => *self.event.insert(self.context.check("making an event", D::make_event(false))?),
        };
        if self.room() < bytes {
            self.give_back();
            let waiting = lock(&self.context.waiting).take(bytes);
            self.memory = Some(match waiting {
                Some(memory) => memory,
                None => {
                    let bytes = bytes.next_multiple_of(1 << 16);
                    let start = self.context.check("page-locked memory", D::allocate_host(bytes))?;
                    PageLocked { start, bytes }
                }
            });
        }
        Ok(event)
    }

    /// Bytes that there is room for.
    fn room(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.bytes)
    }

    /// Waits for the last transfer.
    pub(super) fn wait(&self) -> Result<()> {
        let Some(event) = self.event else { return Ok(()) };
        // SAFETY: the event is ours; one never recorded counts as done.
        self.context.check("a transfer", unsafe { D::wait(event) })
    }

    /// The first `bytes` bytes. No transfer may be under way.
    pub(super) fn slice(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.room());
        let Some(memory) = &self.memory else { return &mut [] };
        // SAFETY: allocated with at least that many bytes, which are zero at first.
        unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr(), bytes) }
    }

    /// Lets the memory wait for whoever needs some next. No transfer may be under way. The context is entered.
    pub(super) fn give_back(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        let freed = lock(&self.context.waiting).keep(memory);
        for memory in freed {
            // SAFETY: the driver gave it in this context, and what waits is not copied to or from.
            unsafe { D::free_host(memory.start) };
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
        self.give_back();
    }
}
