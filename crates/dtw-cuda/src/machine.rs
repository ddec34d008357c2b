//! A GPU as dtw-native sees one: memory, copies and launches on a stream.

use std::sync::{Arc, Mutex};

use cudarc::driver::{result, sys};
use dtw_core::{Error, Result};
use dtw_kernels::Kernel;
use dtw_native::{BLOCK_THREADS, Buffer, Machine, Properties, TRANSFER_SLOTS};

use crate::NAME;
use crate::context::{Context, lock};
use crate::staging::{CHUNK, Pinned};

/// A GPU and a stream of it. Clones share the stream.
#[derive(Debug, Clone)]
pub struct CudaMachine {
    ordinal: usize,
    queue: Arc<Queue>,
    context: Arc<Context>,
}

/// Streams and staging memory.
#[derive(Debug)]
struct Queue {
    stream: sys::CUstream,
    /// Whether `stream` is ours to destroy.
    owned: bool,
    transfers: sys::CUstream,
    /// Recorded on `stream` when a transfer is to begin.
    ready: sys::CUevent,
    upload: Mutex<[Pinned; 2]>,
    download: [Mutex<Pinned>; TRANSFER_SLOTS],
    /// Last, because fields are dropped in this order and all of the above live in it.
    context: Arc<Context>,
}

// SAFETY: handles of the driver, usable from any thread once the context is current there.
unsafe impl Send for Queue {}
// SAFETY: as above; staging memory is behind locks.
unsafe impl Sync for Queue {}

/// Device memory, freed when dropped.
#[derive(Debug)]
pub struct CudaBuffer {
    context: Arc<Context>,
    address: u64,
    bytes: usize,
}

impl Buffer for CudaBuffer {
    fn address(&self) -> u64 {
        self.address
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        // A lost context took its memory with it; the address may be somebody else's by now.
        if self.address != 0
            && let Ok(_entered) = self.context.enter()
        {
            // SAFETY: allocated by us; the driver waits for work that uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

impl Queue {
    fn new(context: &Arc<Context>, stream: Option<sys::CUstream>) -> Result<Self> {
        let _entered = context.enter()?;
        let make = || {
            let made = result::stream::create(result::stream::StreamKind::NonBlocking);
            context.check("making a stream", made)
        };
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        Ok(Self {
            context: Arc::clone(context),
            owned: stream.is_none(),
            stream: match stream {
                Some(stream) => stream,
                None => make()?,
            },
            transfers: make()?,
            ready: context.check("making an event", event)?,
            upload: Mutex::new([Pinned::new(context)?, Pinned::new(context)?]),
            download: [Mutex::new(Pinned::new(context)?), Mutex::new(Pinned::new(context)?)],
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let Ok(_entered) = self.context.enter() else { return };
        // SAFETY: ours, and nobody else holds the queue.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            let _ = result::stream::synchronize(self.transfers);
            if self.owned {
                let _ = result::stream::destroy(self.stream);
            }
            let _ = result::stream::destroy(self.transfers);
            let _ = result::event::destroy(self.ready);
        }
    }
}

impl CudaMachine {
    /// GPU `ordinal` with a stream of its own.
    pub(crate) fn new(ordinal: usize) -> Result<Self> {
        let context = Context::shared(ordinal)?;
        let queue = Arc::new(Queue::new(&context, None)?);
        Ok(Self { ordinal, context, queue })
    }

    /// The same GPU on a stream of the caller's (a `CUstream` or `cudaStream_t`): everything is ordered after what is on
    /// it already, and the caller may order more after it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a stream of another context.
    ///
    /// # Safety
    /// `stream` must be a live stream, and stay so as long as the returned machine and its clones are used.
    pub unsafe fn on_stream(&self, stream: *mut std::ffi::c_void) -> Result<Self> {
        let context = Context::shared(self.ordinal)?;
        let entered = context.enter()?;
        let stream: sys::CUstream = stream.cast();
        if !stream.is_null() {
            let mut owner = std::ptr::null_mut();
            // SAFETY: the caller promises a live stream.
            let answer = unsafe { sys::cuStreamGetCtx(stream, &raw mut owner).result() };
            context.check("looking at the stream", answer)?;
            let own = result::ctx::get_current().ok().flatten();
            if own != Some(owner) {
                return Err(Error::invalid(
                    "the stream belongs to another CUDA context: use a stream of this device's primary context",
                ));
            }
        }
        drop(entered);
        let queue = Arc::new(Queue::new(&context, Some(stream))?);
        Ok(Self { ordinal: self.ordinal, context, queue })
    }

    /// Checks that `address` is memory that this machine's kernels may use: of this device, and of its primary context
    /// unless it belongs to none (memory of a pool).
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the argument.
    pub fn check_address(&self, name: &str, address: u64) -> Result<()> {
        use sys::CUpointer_attribute as A;
        let _entered = self.context.enter()?;
        let (mut device, mut owner): (i32, sys::CUcontext) = (-1, std::ptr::null_mut());
        // SAFETY: asks about an address; writes one integer.
        let of_device = unsafe {
            sys::cuPointerGetAttribute(
                (&raw mut device).cast(),
                A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                address,
            )
            .result()
        };
        // SAFETY: asks about an address; writes one pointer.
        let of_context = unsafe {
            sys::cuPointerGetAttribute((&raw mut owner).cast(), A::CU_POINTER_ATTRIBUTE_CONTEXT, address)
                .result()
        };
        let is_foreign = of_context.is_ok()
            && !owner.is_null()
            && result::ctx::get_current().ok().flatten() != Some(owner);
        if of_device.is_err() || device != self.ordinal as i32 || is_foreign {
            return Err(Error::invalid(format!(
                "{name} is not memory of CUDA device {}: pass an address allocated in its primary context",
                self.ordinal
            )));
        }
        Ok(())
    }

    /// A stopwatch on this machine's stream.
    ///
    /// # Errors
    /// When the device fails.
    pub fn timer(&self) -> Result<Timer> {
        Timer::new(self)
    }

    /// Copies the first `bytes` bytes from one buffer of this device to another, after what was asked for so far.
    ///
    /// # Errors
    /// When the device fails.
    ///
    /// # Panics
    /// Beyond the end of either buffer.
    pub fn copy(&self, from: &CudaBuffer, to: &CudaBuffer, bytes: usize) -> Result<()> {
        assert!(bytes <= from.bytes.min(to.bytes), "a copy beyond the end of a buffer");
        let _entered = self.context.enter()?;
        // SAFETY: both buffers are the device's and have that many bytes (checked above).
        let answer = unsafe { result::memcpy_dtod_async(to.address, from.address, bytes, self.stream()) };
        self.check("a copy on the device", answer)
    }

    fn stream(&self) -> sys::CUstream {
        self.queue.stream
    }

    fn check<T>(&self, what: &str, answer: Result<T, cudarc::driver::DriverError>) -> Result<T> {
        self.context.check(what, answer)
    }
}

/// Time between two points of a stream, by the device's clock.
#[derive(Debug)]
pub struct Timer {
    machine: CudaMachine,
    events: [sys::CUevent; 2],
}

impl Timer {
    fn new(machine: &CudaMachine) -> Result<Self> {
        let _entered = machine.context.enter()?;
        let make =
            || machine.check("making an event", result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Self { machine: machine.clone(), events: [make()?, make()?] })
    }

    /// Starts after what was asked for so far.
    ///
    /// # Errors
    /// When the device fails.
    pub fn start(&self) -> Result<()> {
        let _entered = self.machine.context.enter()?;
        // SAFETY: event and stream are ours.
        self.machine
            .check("an event", unsafe { result::event::record(self.events[0], self.machine.stream()) })
    }

    /// Stops after what was asked for so far, waits, and returns seconds.
    ///
    /// # Errors
    /// When the device fails.
    pub fn stop(&self) -> Result<f64> {
        let _entered = self.machine.context.enter()?;
        // SAFETY: events and stream are ours; both events are recorded.
        let milliseconds = unsafe {
            result::event::record(self.events[1], self.machine.stream())
                .and_then(|()| result::event::synchronize(self.events[1]))
                .and_then(|()| result::event::elapsed(self.events[0], self.events[1]))
        };
        Ok(f64::from(self.machine.check("an event", milliseconds)?) / 1e3)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Ok(_entered) = self.machine.context.enter() else { return };
        for event in self.events {
            // SAFETY: ours.
            let _ = unsafe { result::event::destroy(event) };
        }
    }
}

impl Machine for CudaMachine {
    type Buffer = CudaBuffer;

    fn name(&self) -> &'static str {
        NAME
    }

    fn properties(&self) -> Properties {
        self.context.properties()
    }

    fn own_queue(&self) -> Result<Self> {
        let context = Context::shared(self.ordinal)?;
        let queue = Arc::new(Queue::new(&context, None)?);
        Ok(Self { ordinal: self.ordinal, context, queue })
    }

    fn allocate(&self, bytes: usize) -> Result<CudaBuffer> {
        let _entered = self.context.enter()?;
        if bytes == 0 {
            return Ok(CudaBuffer { context: Arc::clone(&self.context), address: 0, bytes });
        }
        // SAFETY: a plain allocation, freed by the buffer.
        match unsafe { result::malloc_sync(bytes) } {
            Ok(address) => Ok(CudaBuffer { context: Arc::clone(&self.context), address, bytes }),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Err(Error::OutOfMemory {
                what: format!("memory of CUDA device {}", self.ordinal),
                requested_bytes: bytes as u64,
                available_bytes: self.context.memory().0,
            }),
            Err(error) => self.check("an allocation", Err(error)),
        }
    }

    fn upload(&self, to: &CudaBuffer, offset: usize, bytes: &[u8]) -> Result<()> {
        assert!(offset + bytes.len() <= to.bytes, "an upload beyond the end of a buffer");
        let _entered = self.context.enter()?;
        let mut halves = lock(&self.queue.upload);
        for (k, chunk) in bytes.chunks(CHUNK).enumerate() {
            let half = &mut halves[k % 2];
            half.reserve(chunk.len())?;
            let staged = half.slice(chunk.len());
            staged.copy_from_slice(chunk);
            let at = to.address + (offset + k * CHUNK) as u64;
            // SAFETY: the destination has room (checked above); the staged bytes stay until the event has passed.
            let answer = unsafe {
                result::memcpy_htod_async(at, staged, self.stream())
                    .and_then(|()| result::event::record(half.event, self.stream()))
            };
            self.check("a copy to the device", answer)?;
        }
        Ok(())
    }

    fn download(&self, from: &CudaBuffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        assert!(offset + bytes.len() <= from.bytes, "a download beyond the end of a buffer");
        let _entered = self.context.enter()?;
        let mut halves = lock(&self.queue.upload);
        let count = bytes.len().div_ceil(CHUNK);
        let size = |k: usize, whole: usize| CHUNK.min(whole - k * CHUNK);
        let whole = bytes.len();
        // One chunk is copied by the device while the one before is copied by the processor.
        for k in 0..=count {
            if k < count {
                let half = &mut halves[k % 2];
                half.reserve(size(k, whole))?;
                let staged = half.slice(size(k, whole));
                let at = from.address + (offset + k * CHUNK) as u64;
                // SAFETY: the source has that many bytes (checked above); the staged bytes are read after the event.
                let answer = unsafe {
                    result::memcpy_dtoh_async(staged, at, self.stream())
                        .and_then(|()| result::event::record(half.event, self.stream()))
                };
                self.check("a copy from the device", answer)?;
            }
            if k > 0 {
                let half = &mut halves[(k - 1) % 2];
                half.wait()?;
                let length = size(k - 1, whole);
                bytes[(k - 1) * CHUNK..][..length].copy_from_slice(half.slice(length));
            }
        }
        Ok(())
    }

    fn zero(&self, buffer: &CudaBuffer, offset: usize, bytes: usize) -> Result<()> {
        assert!(offset + bytes <= buffer.bytes, "zeroing beyond the end of a buffer");
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: within the buffer (checked above).
        let answer =
            unsafe { result::memset_d8_async(buffer.address + offset as u64, 0, bytes, self.stream()) };
        self.check("zeroing memory", answer)
    }

    fn launch(&self, kernel: &Kernel, params: &[u8], blocks: u32) -> Result<()> {
        let _entered = self.context.enter()?;
        let function = self.context.function(kernel)?;
        let mut arguments = [params.as_ptr().cast_mut().cast::<std::ffi::c_void>()];
        // SAFETY: the kernel takes one structure of these bytes, which the driver copies; the addresses in it are the
        // planner's, of buffers that it keeps.
        let answer = unsafe {
            result::launch_kernel(
                function.handle,
                (blocks, 1, 1),
                (BLOCK_THREADS, 1, 1),
                0,
                self.stream(),
                &mut arguments,
            )
        };
        self.check(kernel.symbol, answer)
    }

    fn resident_blocks(&self, kernel: &Kernel) -> Result<u32> {
        let _entered = self.context.enter()?;
        Ok(self.context.function(kernel)?.blocks_per_multiprocessor * self.context.multiprocessors)
    }

    fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the stream lives as long as the queue.
        self.check("the device", unsafe { result::stream::synchronize(self.stream()) })
    }

    fn download_begin(&self, slot: usize, from: &CudaBuffer, offset: usize, bytes: usize) -> Result<()> {
        assert!(offset + bytes <= from.bytes, "a download beyond the end of a buffer");
        let _entered = self.context.enter()?;
        let mut pinned = lock(&self.queue.download[slot]);
        pinned.reserve(bytes)?;
        let event = pinned.event;
        let staged = pinned.slice(bytes);
        // SAFETY: streams and events are ours; source and destination have that many bytes; the staged bytes are read
        // after the event.
        let answer = unsafe {
            result::event::record(self.queue.ready, self.stream())
                .and_then(|()| {
                    let wait = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
                    result::stream::wait_event(self.queue.transfers, self.queue.ready, wait)
                })
                .and_then(|()| {
                    result::memcpy_dtoh_async(staged, from.address + offset as u64, self.queue.transfers)
                })
                .and_then(|()| result::event::record(event, self.queue.transfers))
        };
        self.check("a copy from the device", answer)
    }

    fn download_end(&self, slot: usize, _: &CudaBuffer, _: usize, bytes: &mut [u8]) -> Result<()> {
        let _entered = self.context.enter()?;
        let mut pinned = lock(&self.queue.download[slot]);
        pinned.wait()?;
        bytes.copy_from_slice(pinned.slice(bytes.len()));
        Ok(())
    }
}
