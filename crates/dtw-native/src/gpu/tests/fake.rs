//! A driver in memory. Copies and launches wait on their streams until somebody waits for them, so that a transfer that
//! is not waited for is seen. It panics when it is used without a current context, or with anything of a context that
//! is lost or closed; those are the promises that `unsafe` calls are made under.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Mutex;

use dtw_core::{Error, Result};
use dtw_kernels::catalog;
use dtw_kernels::image::{self, Image};

use crate::gpu::{
    Context, Driver, Event, Failure, FailureKind, Function, Launch, Module, OpenDevices, Opened, Stream,
};
use crate::lock::lock;

/// Memory of each device.
pub(super) const MEMORY_BYTES: usize = 1 << 30;
/// Devices.
pub(super) const COUNT: usize = 16;
/// The device that opens once only.
pub(super) const STUBBORN: usize = 5;
/// The device for which images are damaged.
pub(super) const DAMAGED: usize = 6;
/// What every device's code is compiled for.
const ARCHITECTURE: &str = "fake_1";
/// First byte of the parameters of a launch that faults.
pub(super) const FAULT: u8 = 0xff;

/// The driver.
#[derive(Debug)]
pub(super) enum Fake {}

static OPEN_DEVICES: OpenDevices = OpenDevices::new();

enum Work {
    /// From, to, bytes.
    Copy(usize, usize, usize),
    Zero(usize, usize),
    Record(Event),
    /// Until the event was passed that often.
    WaitFor(Event, u64),
    Fault,
}

/// How often calls were made that a steady loop does without, and others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Memory of device or host, streams and events.
    pub(super) made: usize,
    pub(super) freed: usize,
    /// The host waited for a stream or an event.
    pub(super) waits: usize,
    pub(super) copies: usize,
    /// A stream was told to wait for another.
    pub(super) orders: usize,
    pub(super) launches: usize,
}

#[derive(Default)]
struct Device {
    counts: Counts,
    /// The stream that is recorded.
    recorded: Option<usize>,
    /// Streams with what is on them.
    streams: BTreeMap<usize, VecDeque<Work>>,
    /// How often events were recorded and passed.
    events: BTreeMap<usize, (u64, u64)>,
    /// Memory of the device and of the host.
    memory: BTreeMap<usize, Box<[u8]>>,
    host: BTreeMap<usize, Box<[u8]>>,
    modules: usize,
    /// The units whose images were unpacked, in order.
    unpacked: Vec<String>,
    has_damaged_images: bool,
    is_broken: bool,
}

/// What has been opened: context to device.
static CONTEXTS: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());
/// By ordinal: the context that is open, and how often it was made anew.
static OPEN: Mutex<BTreeMap<usize, (usize, usize)>> = Mutex::new(BTreeMap::new());
static NEXT: Mutex<usize> = Mutex::new(1);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn next() -> usize {
    let mut next = lock(&NEXT);
    *next += 1;
    *next * 256
}

fn fatal() -> Failure {
    Failure { text: "FAKE_FAULT: a kernel faulted".to_owned(), kind: FailureKind::Fatal }
}

/// What the open context of a device still holds; 0 if none is open.
pub(super) fn left(ordinal: usize) -> usize {
    let context = lock(&OPEN).get(&ordinal).map(|open| open.0);
    let contexts = lock(&CONTEXTS);
    let device = context.and_then(|context| contexts.get(&context));
    device.map_or(0, |d| d.streams.len() + d.events.len() + d.memory.len() + d.host.len() + d.modules)
}

/// The units whose images were unpacked in the open context of a device.
pub(super) fn unpacked(ordinal: usize) -> Vec<String> {
    let context = lock(&OPEN)[&ordinal].0;
    lock(&CONTEXTS)[&context].unpacked.clone()
}

/// What was called in the open context of a device so far.
pub(super) fn counts(ordinal: usize) -> Counts {
    let context = lock(&OPEN)[&ordinal].0;
    lock(&CONTEXTS)[&context].counts
}

/// Records a stream of a device from now on, or none.
pub(super) fn record(ordinal: usize, stream: Option<Stream>) {
    let context = lock(&OPEN)[&ordinal].0;
    lock(&CONTEXTS).get_mut(&context).unwrap().recorded = stream.map(|stream| stream.0);
}

/// The context that is current on this thread.
pub(super) fn context() -> usize {
    CURRENT.get()
}

/// Makes the open context of a device current on this thread.
pub(super) fn enter(ordinal: usize) {
    CURRENT.set(lock(&OPEN)[&ordinal].0);
}

/// How often the context of a device was made anew.
pub(super) fn renewed(ordinal: usize) -> usize {
    lock(&OPEN)[&ordinal].1
}

/// The current context's device, which works.
fn current<T>(work: impl FnOnce(&mut Device) -> T) -> T {
    let context = CURRENT.get();
    let mut contexts = lock(&CONTEXTS);
    let device = contexts.get_mut(&context).expect("the current context is open");
    assert!(!device.is_broken, "a call in a context that is known to be lost");
    work(device)
}

/// Counts a call that a driver refuses while a stream is recorded.
fn unrecorded<T>(work: impl FnOnce(&mut Device) -> T) -> T {
    current(|device| {
        assert_eq!(device.recorded, None, "a call that is not allowed while a stream is recorded");
        work(device)
    })
}

impl Device {
    /// Puts work on a stream; the default stream is made when first used.
    fn put(&mut self, stream: Stream, work: Work) {
        if stream.0 == 0 {
            self.streams.entry(0).or_default();
        }
        self.streams.get_mut(&stream.0).expect("a stream of this context").push_back(work);
    }

    /// Does the next work of some stream that need not wait, of those made last first; false if there is none.
    fn step(&mut self) -> Result<bool, Failure> {
        for queue in self.streams.values_mut().rev() {
            if let Some(Work::WaitFor(event, times)) = queue.front()
                && self.events.get(&event.0).is_some_and(|event| event.1 < *times)
            {
                continue;
            }
            match queue.pop_front() {
                None => continue,
                Some(Work::Copy(from, to, bytes)) => {
                    // SAFETY: memory of `memory`, `host` or the caller's, which stays until its copy is done; different
                    // arrays.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            std::ptr::with_exposed_provenance::<u8>(from),
                            std::ptr::with_exposed_provenance_mut::<u8>(to),
                            bytes,
                        );
                    }
                }
                Some(Work::Zero(at, bytes)) => {
                    // SAFETY: as above.
                    unsafe {
                        std::ptr::write_bytes(std::ptr::with_exposed_provenance_mut::<u8>(at), 0, bytes)
                    };
                }
                Some(Work::Record(event)) => {
                    // It may have been taken away before it was passed.
                    if let Some(event) = self.events.get_mut(&event.0) {
                        event.1 += 1;
                    }
                }
                Some(Work::WaitFor(..)) => {}
                Some(Work::Fault) => {
                    self.is_broken = true;
                    return Err(fatal());
                }
            }
            return Ok(true);
        }
        Ok(false)
    }
}

impl Driver for Fake {
    const NAME: &'static str = "fake";
    const DEVICE: &'static str = "fake device";
    const READS_IMAGES_LATER: bool = false;

    fn open_devices() -> &'static OpenDevices {
        &OPEN_DEVICES
    }

    fn open(ordinal: usize, renew: bool) -> Result<Opened> {
        let failed = |reason: &str| Err(Error::failed("fake", reason));
        if ordinal >= COUNT {
            return failed("no such device");
        }
        if renew && ordinal == STUBBORN {
            return failed("start the program again");
        }
        let context = next();
        let mut open = lock(&OPEN);
        let renewals = open.get(&ordinal).map_or(0, |open| open.1) + usize::from(renew);
        open.insert(ordinal, (context, renewals));
        let device = Device { has_damaged_images: ordinal == DAMAGED, ..Device::default() };
        lock(&CONTEXTS).insert(context, device);
        if Self::current().is_none() {
            CURRENT.set(context);
        }
        Ok(Opened {
            context: Context(context),
            name: "a fake".to_owned(),
            architecture: ARCHITECTURE.to_owned(),
            multiprocessors: 3,
            lanes: 64,
            tuning: &dtw_kernels::tuning::SM90,
        })
    }

    unsafe fn close(_: usize, context: Context) {
        let device = lock(&CONTEXTS).remove(&context.0).expect("an open context");
        assert!(device.streams.keys().all(|stream| *stream == 0) && device.events.is_empty());
        assert!(device.memory.is_empty() && device.host.is_empty() && device.modules == 0);
    }

    fn current() -> Option<Context> {
        Some(CURRENT.get()).filter(|context| lock(&CONTEXTS).contains_key(context)).map(Context)
    }

    unsafe fn make_current(context: Context) -> Result<(), Failure> {
        assert!(context.0 == 0 || lock(&CONTEXTS).contains_key(&context.0), "the context is open");
        CURRENT.set(context.0);
        Ok(())
    }

    fn memory() -> Result<(u64, u64), Failure> {
        let taken = current(|device| device.memory.values().map(|memory| memory.len()).sum::<usize>());
        Ok(((MEMORY_BYTES - taken) as u64, MEMORY_BYTES as u64))
    }

    unsafe fn is_own_stream(context: Context, stream: Stream) -> Result<bool, Failure> {
        Ok(lock(&CONTEXTS)[&context.0].streams.contains_key(&stream.0))
    }

    fn is_own_memory(_: usize, context: Context, address: u64) -> bool {
        lock(&CONTEXTS)[&context.0].memory.contains_key(&(address as usize))
    }

    fn image(opened: &Opened, unit: &str) -> Result<Image> {
        assert_eq!(opened.architecture, ARCHITECTURE);
        let mut packed = image::pack(unit.as_bytes()).expect("a writer in memory");
        unrecorded(|device| {
            device.unpacked.push(unit.to_owned());
            if device.has_damaged_images {
                packed.truncate(packed.len() / 2);
            }
        });
        Image::unpack(&packed).map_err(|error| Error::failed("fake", error))
    }

    unsafe fn load(image: &Image) -> Result<Module, Failure> {
        assert!(catalog::source_units().iter().any(|unit| unit.name.as_bytes() == image.bytes()));
        current(|device| device.modules += 1);
        Ok(Module(1))
    }

    unsafe fn unload(_: Module) {
        current(|device| device.modules -= 1);
    }

    unsafe fn function(_: Module, symbol: &CStr) -> Result<Function, Failure> {
        assert!(symbol.to_bytes().starts_with(b"dtw_"));
        Ok(Function(1))
    }

    unsafe fn share(_: Function, _: u32) -> Result<(), Failure> {
        Ok(())
    }

    unsafe fn blocks_per_multiprocessor(_: Function, _: u32, _: u32) -> Result<u32, Failure> {
        Ok(0)
    }

    unsafe fn launch(_: Function, _: Launch, stream: Stream, params: *const c_void) -> Result<(), Failure> {
        // SAFETY: the caller's parameters have at least one byte.
        let first = unsafe { params.cast::<u8>().read() };
        current(|device| {
            device.counts.launches += 1;
            if first == FAULT {
                device.put(stream, Work::Fault);
            }
        });
        Ok(())
    }

    fn make_stream() -> Result<Stream, Failure> {
        let stream = next();
        unrecorded(|device| {
            device.counts.made += 1;
            device.streams.insert(stream, VecDeque::new())
        });
        Ok(Stream(stream))
    }

    unsafe fn synchronize(stream: Stream) -> Result<(), Failure> {
        unrecorded(|device| {
            device.counts.waits += 1;
            while device.streams.get(&stream.0).is_some_and(|queue| !queue.is_empty()) {
                assert!(device.step()?, "streams that wait for each other");
            }
            Ok(())
        })
    }

    unsafe fn wait_for(stream: Stream, event: Event) -> Result<(), Failure> {
        current(|device| {
            assert_ne!(device.recorded, Some(stream.0), "a graph waits for what is not part of it");
            device.counts.orders += 1;
            let times = device.events[&event.0].0;
            device.put(stream, Work::WaitFor(event, times));
        });
        Ok(())
    }

    unsafe fn is_recording(stream: Stream) -> Result<bool, Failure> {
        Ok(current(|device| device.recorded == Some(stream.0)))
    }

    unsafe fn destroy_stream(stream: Stream) {
        current(|device| device.streams.remove(&stream.0)).expect("a stream of this context");
    }

    fn make_event(_: bool) -> Result<Event, Failure> {
        let event = next();
        unrecorded(|device| {
            device.counts.made += 1;
            device.events.insert(event, (0, 0))
        });
        Ok(Event(event))
    }

    unsafe fn record(event: Event, stream: Stream) -> Result<(), Failure> {
        unrecorded(|device| {
            device.events.get_mut(&event.0).expect("an event of this context").0 += 1;
            device.put(stream, Work::Record(event));
        });
        Ok(())
    }

    unsafe fn wait(event: Event) -> Result<(), Failure> {
        unrecorded(|device| device.counts.waits += 1);
        // SAFETY: as the caller promises.
        unsafe { Self::wait_aside(event) }
    }

    unsafe fn wait_aside(event: Event) -> Result<(), Failure> {
        current(|device| {
            while device.events[&event.0].1 < device.events[&event.0].0 {
                assert!(device.step()?, "streams that wait for each other");
            }
            Ok(())
        })
    }

    unsafe fn seconds(from: Event, to: Event) -> Result<f64, Failure> {
        current(|device| assert!([from, to].iter().all(|event| device.events[&event.0].1 > 0)));
        Ok(1.0)
    }

    unsafe fn destroy_event(event: Event) {
        current(|device| device.events.remove(&event.0)).expect("an event of this context");
    }

    fn allocate(bytes: usize) -> Result<u64, Failure> {
        let (free, _) = Self::memory()?;
        if bytes as u64 > free {
            return Err(Failure { text: "FAKE_FULL".to_owned(), kind: FailureKind::OutOfMemory });
        }
        let memory = vec![0xaa; bytes].into_boxed_slice();
        let address = memory.as_ptr().expose_provenance();
        unrecorded(|device| {
            device.counts.made += 1;
            device.memory.insert(address, memory)
        });
        Ok(address as u64)
    }

    unsafe fn free(address: u64) {
        unrecorded(|device| {
            device.counts.freed += 1;
            // After what uses it.
            while device.step().expect("work that is done") {}
            device.memory.remove(&(address as usize)).expect("memory of this context");
        });
    }

    fn allocate_host(bytes: usize) -> Result<NonNull<u8>, Failure> {
        let mut memory = vec![0; bytes].into_boxed_slice();
        let start = NonNull::new(memory.as_mut_ptr()).expect("memory has an address");
        unrecorded(|device| {
            device.counts.made += 1;
            device.host.insert(start.as_ptr().expose_provenance(), memory)
        });
        Ok(start)
    }

    unsafe fn free_host(memory: NonNull<u8>) {
        current(|device| device.host.remove(&memory.as_ptr().addr())).expect("memory of this context");
    }

    unsafe fn copy_to_device(to: u64, from: &[u8], stream: Stream) -> Result<(), Failure> {
        let from_address = from.as_ptr().expose_provenance();
        unrecorded(|device| {
            device.counts.copies += 1;
            device.put(stream, Work::Copy(from_address, to as usize, from.len()));
        });
        Ok(())
    }

    unsafe fn copy_from_device(to: &mut [u8], from: u64, stream: Stream) -> Result<(), Failure> {
        let to_address = to.as_mut_ptr().expose_provenance();
        current(|device| device.put(stream, Work::Copy(from as usize, to_address, to.len())));
        Ok(())
    }

    unsafe fn copy_on_device(to: u64, from: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        current(|device| device.put(stream, Work::Copy(from as usize, to as usize, bytes)));
        Ok(())
    }

    unsafe fn zero(address: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        current(|device| device.put(stream, Work::Zero(address as usize, bytes)));
        Ok(())
    }
}
