//! A GPU as a plan sees one: memory, copies and launches on a stream.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use dtw_core::{Error, Result};
use dtw_kernels::Kernel;
use dtw_kernels::tuning::Tuning;

use super::context::Shared;
use super::driver::{Driver, Event, FailureKind, Launch, Stream};
use super::staging::{CHUNK, Pinned};
use crate::lock::lock;
use crate::machine::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};

/// A GPU and a stream of it. Clones share the stream.
#[derive(Debug)]
pub struct Gpu<D: Driver> {
    stream: Stream,
    queue: Arc<Queue<D>>,
    pub(super) context: Arc<Shared<D>>,
}

impl<D: Driver> Clone for Gpu<D> {
    fn clone(&self) -> Self {
        Self { stream: self.stream, queue: Arc::clone(&self.queue), context: Arc::clone(&self.context) }
    }
}

/// What goes with a stream; all but the stream is made when it is first needed.
#[derive(Debug)]
struct Queue<D: Driver> {
    /// A stream of ours, to be destroyed.
    own: Option<Stream>,
    transfers: Mutex<Option<Transfers>>,
    upload: Mutex<[Pinned<D>; 2]>,
    small: Mutex<Ring<D>>,
    download: [Mutex<Pinned<D>>; TRANSFER_SLOTS],
    /// The event at the end of the last call that was handed over.
    last: Mutex<Option<Event>>,
    /// Last, because fields are dropped in this order and all of the above live in it.
    context: Arc<Shared<D>>,
}

/// Staging memory for small uploads, so many of which may be under way at once.
const RING: usize = 32;

/// What is small.
const SMALL: usize = 1 << 16;

#[derive(Debug)]
struct Ring<D: Driver> {
    slots: [Pinned<D>; RING],
    next: usize,
}

/// A stream for results on their way to the host.
#[derive(Debug, Clone, Copy)]
struct Transfers {
    stream: Stream,
    /// Recorded on the plan's stream when a transfer is to begin.
    ready: Event,
}

/// Device memory, freed when dropped unless it is somebody else's.
#[derive(Debug)]
pub struct GpuBuffer<D: Driver> {
    context: Arc<Shared<D>>,
    address: u64,
    bytes: usize,
    is_borrowed: bool,
}

impl<D: Driver> Buffer for GpuBuffer<D> {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<D: Driver> Drop for GpuBuffer<D> {
    fn drop(&mut self) {
        // A lost context took its memory with it; the address may be somebody else's by now.
        if self.address != 0
            && !self.is_borrowed
            && let Ok(_entered) = self.context.enter()
        {
            // SAFETY: allocated by us; the driver waits for work that uses it.
            unsafe { D::free(self.address) };
        }
    }
}

impl<D: Driver> Queue<D> {
    fn new(context: &Arc<Shared<D>>, own: Option<Stream>) -> Self {
        let pinned = || Pinned::new(context);
        Self {
            own,
            transfers: Mutex::default(),
            upload: Mutex::new([pinned(), pinned()]),
            small: Mutex::new(Ring { slots: std::array::from_fn(|_| pinned()), next: 0 }),
            download: [Mutex::new(pinned()), Mutex::new(pinned())],
            last: Mutex::default(),
            context: Arc::clone(context),
        }
    }

    /// The context is entered.
    fn transfers(&self) -> Result<Transfers> {
        let mut made = lock(&self.transfers);
        if let Some(transfers) = *made {
            return Ok(transfers);
        }
        let ready = self.context.check("making an event", D::make_event(false))?;
        let stream = self.context.check("making a stream", D::make_stream()).inspect_err(|_| {
            // SAFETY: ours, and not used yet.
            unsafe { D::destroy_event(ready) };
        })?;
        Ok(*made.insert(Transfers { stream, ready }))
    }
}

impl<D: Driver> Drop for Queue<D> {
    fn drop(&mut self) {
        let Ok(_entered) = self.context.enter() else { return };
        // SAFETY: ours, and nobody else holds the queue.
        unsafe {
            if let Some(stream) = self.own {
                let _ = D::synchronize(stream);
                D::destroy_stream(stream);
            }
            if let Some(Transfers { stream, ready }) = lock(&self.transfers).take() {
                let _ = D::synchronize(stream);
                D::destroy_stream(stream);
                D::destroy_event(ready);
            }
            if let Some(event) = lock(&self.last).take() {
                D::destroy_event(event);
            }
        }
    }
}

impl<D: Driver> Gpu<D> {
    /// GPU `ordinal` with a stream of its own.
    ///
    /// # Errors
    /// [`Error::Backend`]: why there is no such GPU, and what to do.
    pub fn new(ordinal: usize) -> Result<Self> {
        let context = Shared::of(ordinal)?;
        let entered = context.enter()?;
        let stream = context.check("making a stream", D::make_stream())?;
        drop(entered);
        Ok(Self { stream, queue: Arc::new(Queue::new(&context, Some(stream))), context })
    }

    /// This GPU on a stream of the caller's (the driver's handle; null: its default stream): everything is ordered
    /// after what is on it already, and the caller may order more after it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a stream of another context.
    ///
    /// # Safety
    /// `stream` must be a live stream, and stay so as long as the returned machine and its clones are used.
    pub unsafe fn on_stream(&self, stream: *mut c_void) -> Result<Self> {
        let context = Shared::<D>::of(self.context.ordinal())?;
        // SAFETY: the caller's promise.
        unsafe { own_stream(&context, stream) }?;
        Ok(Self { stream: Stream::of(stream), queue: Arc::new(Queue::new(&context, None)), context })
    }

    /// This GPU on a stream of the caller's for one call: makes nothing, because it shares this machine's memory for
    /// transfers. Such calls must come one after the other.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a stream of another context.
    ///
    /// # Safety
    /// As [`Gpu::on_stream`].
    pub unsafe fn for_a_call_on(&self, stream: *mut c_void) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { own_stream(&self.context, stream) }?;
        Ok(Self { stream: Stream::of(stream), ..self.clone() })
    }

    /// Checks that `address` is memory that this machine's kernels may use: of this device, and of its primary context
    /// unless it belongs to none (memory of a pool).
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the argument.
    pub fn check_address(&self, name: &str, address: u64) -> Result<()> {
        let _entered = self.context.enter()?;
        let ordinal = self.context.ordinal();
        if D::is_own_memory(ordinal, self.context.opened().context, address) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{name} is not memory of {} {ordinal}: pass an address allocated in its primary context",
            D::DEVICE
        )))
    }

    /// Copies the first `bytes` bytes from one buffer of this device to another, after what was asked for so far.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// Beyond the end of either buffer.
    pub fn copy(&self, from: &GpuBuffer<D>, to: &GpuBuffer<D>, bytes: usize) -> Result<()> {
        assert!(bytes <= from.bytes.min(to.bytes), "a copy beyond the end of a buffer");
        let _entered = self.context.enter()?;
        // SAFETY: both buffers are the device's and have that many bytes (checked above).
        let answer = unsafe { D::copy_on_device(to.address, from.address, bytes, self.stream()) };
        self.context.check("a copy on the device", answer)
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    /// Begins to copy `bytes` to an address of ours with room for them, by way of `pinned`, whose last copy it waits
    /// for. The context is entered.
    fn stage(&self, pinned: &mut Pinned<D>, to: u64, bytes: &[u8]) -> Result<()> {
        let event = pinned.reserve(bytes.len())?;
        let staged = pinned.slice(bytes.len());
        staged.copy_from_slice(bytes);
        // SAFETY: the destination has room, as callers have checked; the staged bytes stay until the event has passed.
        let answer = unsafe {
            D::copy_to_device(to, staged, self.stream()).and_then(|()| D::record(event, self.stream()))
        };
        self.context.check("a copy to the device", answer)
    }
}

/// Whether a stream is the context's.
///
/// # Safety
/// It is null or lives.
unsafe fn own_stream<D: Driver>(context: &Arc<Shared<D>>, stream: *mut c_void) -> Result<()> {
    if stream.is_null() {
        return Ok(());
    }
    let _entered = context.enter()?;
    // SAFETY: the caller promises a live stream.
    let answer = unsafe { D::is_own_stream(context.opened().context, Stream::of(stream)) };
    if context.check("looking at the stream", answer)? {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the stream belongs to another context: use one of {} {}'s primary context",
        D::DEVICE,
        context.ordinal()
    )))
}

impl<D: Driver> Machine for Gpu<D> {
    type Buffer = GpuBuffer<D>;

    fn name(&self) -> &'static str {
        D::NAME
    }

    fn properties(&self) -> Properties {
        self.context.properties()
    }

    fn tuning(&self) -> &'static Tuning {
        self.context.opened().tuning
    }

    fn own_queue(&self) -> Result<Self> {
        Self::new(self.context.ordinal())
    }

    fn is_lost(&self) -> bool {
        self.context.is_lost()
    }

    fn allocate(&self, bytes: usize) -> Result<GpuBuffer<D>> {
        let _entered = self.context.enter()?;
        let buffer =
            |address| GpuBuffer { context: Arc::clone(&self.context), address, bytes, is_borrowed: false };
        if bytes == 0 {
            return Ok(buffer(0));
        }
        match D::allocate(bytes) {
            Ok(address) => Ok(buffer(address)),
            Err(failure) if failure.kind == FailureKind::OutOfMemory => Err(Error::OutOfMemory {
                what: format!("memory of {} {}", D::DEVICE, self.context.ordinal()),
                requested_bytes: bytes as u64,
                available_bytes: self.context.memory().0,
            }),
            Err(failure) => self.context.check("an allocation", Err(failure)),
        }
    }

    unsafe fn borrow(&self, address: u64, bytes: usize) -> GpuBuffer<D> {
        GpuBuffer { context: Arc::clone(&self.context), address, bytes, is_borrowed: true }
    }

    fn is_recording(&self) -> Result<bool> {
        let _entered = self.context.enter()?;
        // SAFETY: the stream lives as long as the machine.
        self.context.check("looking at the stream", unsafe { D::is_recording(self.stream()) })
    }

    fn keep_for_recordings(&self) {
        // The context has the kernels.
        std::mem::forget(Arc::clone(&self.context));
    }

    fn hand_over(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        let mut last = lock(&self.queue.last);
        let event = match *last {
            Some(event) => event,
            None => *last.insert(self.context.check("making an event", D::make_event(false))?),
        };
        // SAFETY: event and stream live.
        self.context.check("an event", unsafe { D::record(event, self.stream()) })
    }

    fn take_over(&self) -> Result<()> {
        let last = lock(&self.queue.last);
        let Some(event) = *last else { return Ok(()) };
        let _entered = self.context.enter()?;
        // Handles say nothing: one may stand for another stream in each thread, or for a later one. A graph cannot wait
        // for what is not part of it, and may be played on any stream; so the host waits.
        // SAFETY: event and stream live.
        let answer = unsafe {
            match D::is_recording(self.stream()) {
                Ok(true) => D::wait_aside(event),
                Ok(false) => D::wait_for(self.stream(), event),
                Err(failure) => Err(failure),
            }
        };
        self.context.check("waiting for another stream", answer)
    }

    fn upload(&self, to: &GpuBuffer<D>, offset: usize, bytes: &[u8]) -> Result<()> {
        assert!(offset + bytes.len() <= to.bytes, "an upload beyond the end of a buffer");
        let _entered = self.context.enter()?;
        if bytes.len() <= SMALL && !bytes.is_empty() {
            let mut ring = lock(&self.queue.small);
            let next = ring.next;
            ring.next = (next + 1) % RING;
            return self.stage(&mut ring.slots[next], to.address + offset as u64, bytes);
        }
        let mut halves = lock(&self.queue.upload);
        for (k, chunk) in bytes.chunks(CHUNK).enumerate() {
            self.stage(&mut halves[k % 2], to.address + (offset + k * CHUNK) as u64, chunk)?;
        }
        Ok(())
    }

    fn download(&self, from: &GpuBuffer<D>, offset: usize, bytes: &mut [u8]) -> Result<()> {
        assert!(offset + bytes.len() <= from.bytes, "a download beyond the end of a buffer");
        let _entered = self.context.enter()?;
        let mut halves = lock(&self.queue.upload);
        let whole = bytes.len();
        let count = whole.div_ceil(CHUNK);
        let size = |k: usize| CHUNK.min(whole - k * CHUNK);
        // One chunk is copied by the device while the one before is copied by the processor.
        for k in 0..=count {
            if k < count {
                let half = &mut halves[k % 2];
                let event = half.reserve(size(k))?;
                let staged = half.slice(size(k));
                let at = from.address + (offset + k * CHUNK) as u64;
                // SAFETY: the source has that many bytes (checked above); the staged bytes are read after the event.
                let answer = unsafe {
                    D::copy_from_device(staged, at, self.stream())
                        .and_then(|()| D::record(event, self.stream()))
                };
                self.context.check("a copy from the device", answer)?;
            }
            if k > 0 {
                let half = &mut halves[(k - 1) % 2];
                half.wait()?;
                let length = size(k - 1);
                bytes[(k - 1) * CHUNK..][..length].copy_from_slice(half.slice(length));
            }
        }
        Ok(())
    }

    fn zero(&self, buffer: &GpuBuffer<D>, offset: usize, bytes: usize) -> Result<()> {
        assert!(offset + bytes <= buffer.bytes, "zeroing beyond the end of a buffer");
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: within the buffer (checked above).
        let answer = unsafe { D::zero(buffer.address + offset as u64, bytes, self.stream()) };
        self.context.check("zeroing memory", answer)
    }

    fn launch(&self, kernel: &Kernel, params: &[u8], blocks: u32) -> Result<()> {
        let _entered = self.context.enter()?;
        let (function, _) = self.context.function(kernel)?;
        let launch = Launch { blocks, threads: BLOCK_THREADS, shared_bytes: kernel.shared_bytes };
        // SAFETY: the kernel takes one structure of these bytes, which the driver copies; the addresses in it are the
        // planner's, of buffers that it keeps.
        let answer = unsafe { D::launch(function, launch, self.stream(), params.as_ptr().cast()) };
        self.context.check(kernel.symbol, answer)
    }

    fn resident_blocks(&self, kernel: &Kernel) -> Result<u32> {
        let _entered = self.context.enter()?;
        let (_, blocks) = self.context.function(kernel)?;
        Ok(blocks * self.context.opened().multiprocessors)
    }

    fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the stream lives as long as the queue.
        self.context.check("the device", unsafe { D::synchronize(self.stream()) })
    }

    fn download_begin(&self, slot: usize, from: &GpuBuffer<D>, offset: usize, bytes: usize) -> Result<()> {
        assert!(offset + bytes <= from.bytes, "a download beyond the end of a buffer");
        let _entered = self.context.enter()?;
        let mut pinned = lock(&self.queue.download[slot]);
        let event = pinned.reserve(bytes)?;
        let staged = pinned.slice(bytes);
        let Transfers { stream: transfers, ready } = self.queue.transfers()?;
        // SAFETY: streams and events are ours; source and destination have that many bytes; the staged bytes are read
        // after the event.
        let answer = unsafe {
            D::record(ready, self.stream())
                .and_then(|()| D::wait_for(transfers, ready))
                .and_then(|()| D::copy_from_device(staged, from.address + offset as u64, transfers))
                .and_then(|()| D::record(event, transfers))
        };
        self.context.check("a copy from the device", answer)
    }

    fn download_end(
        &self,
        slot: usize,
        _: &GpuBuffer<D>,
        _: usize,
        bytes: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        // A context that is lost is not closed, with its page-locked memory, before this ends.
        let _entered = self.context.enter()?;
        let mut pinned = lock(&self.queue.download[slot]);
        pinned.wait()?;
        take(pinned.slice(bytes));
        pinned.give_back();
        Ok(())
    }
}
