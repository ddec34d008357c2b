//! AMD's runtime, call by call.
//!
//! HIP has contexts in its header only: a device is its own and sole context (`hipDevicePrimaryCtxRetain` and what goes
//! with it do nothing), and every thread has a current device, the first one unless it chooses another. So a context
//! here is a device's number, counted from 1.

use std::convert::Infallible;
use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use dtw_core::{Error, Result};
use dtw_kernels::image::Image;
use dtw_kernels::params::HIP_LOCAL_BYTES;
use dtw_kernels::tuning;
use dtw_native::gpu::{
    Context, Driver, Event, Failure, FailureKind, Function, Launch, Module, OpenDevices, Opened, Stream,
};

use crate::devices::{Properties, lanes_of};
use crate::kernels::{Embedded, Kernels};
use crate::library::{self, Absent, NAME, start};
use crate::sys::{self, Calls, Code, Handle};

/// AMD's HIP runtime, with kernels from `K`.
#[derive(Debug)]
pub struct Hip<K = Embedded>(Infallible, PhantomData<K>);

/// The functions, for calls that are made when a device is open.
fn hip() -> &'static Calls {
    library::calls().expect("a device is open, so the library is loaded")
}

fn check(answer: Code) -> Result<(), Failure> {
    library::check(hip(), answer)
}

/// The handle that a function writes.
fn made(make: impl FnOnce(*mut Handle) -> Code) -> Result<Handle, Failure> {
    let mut handle = std::ptr::null_mut();
    check(make(&raw mut handle))?;
    Ok(handle)
}

/// An address on the device as the runtime wants it.
fn on_device(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// What is asked for a block of a kernel that is said to share so many bytes.
fn local(shared_bytes: u32) -> u32 {
    if shared_bytes > HIP_LOCAL_BYTES { 0 } else { shared_bytes }
}

fn device_of(context: Context) -> c_int {
    context.0 as c_int - 1
}

impl<K: Kernels> Driver for Hip<K> {
    const NAME: &'static str = NAME;
    const DEVICE: &'static str = "HIP device";
    const READS_IMAGES_LATER: bool = true;

    fn open_devices() -> &'static OpenDevices {
        K::open_devices()
    }

    fn open(ordinal: usize, renew: bool) -> Result<Opened> {
        let (hip, count) = start()?;
        if ordinal >= count {
            return Err(Absent::Number { ordinal, count }.into());
        }
        if let Some(advice) = K::advice() {
            return Err(Absent::Kernels(advice).into());
        }
        let properties = Properties::of(hip, ordinal)?;
        if let Some(refused) = properties.refused::<K>() {
            return Err(refused.into());
        }
        let context = Context(ordinal + 1);
        if renew {
            let before = Self::current();
            // SAFETY: contexts are numbers of devices that there are; nothing of ours is used meanwhile.
            let reset = unsafe {
                Self::make_current(context).and_then(|()| check((hip.hipDeviceReset)())).and_then(|()| {
                    // The runtime answers for the device, or it is still lost.
                    Self::memory().map(drop)
                })
            };
            if let Some(before) = before {
                // SAFETY: it was current before.
                let _ = unsafe { Self::make_current(before) };
            }
            reset.map_err(|failure| Absent::NotRenewed(failure.text))?;
        }
        let Properties { name, chip, multiprocessors, .. } = properties;
        Ok(Opened {
            context,
            name,
            lanes: lanes_of(&chip),
            tuning: tuning::of_hip(&chip),
            architecture: chip,
            multiprocessors,
        })
    }

    unsafe fn close(_: usize, _: Context) {
        // Devices are open as long as the process lives.
    }

    fn current() -> Option<Context> {
        let mut device = 0;
        // SAFETY: writes one integer.
        let answer = unsafe { (hip().hipGetDevice)(&raw mut device) };
        (answer == sys::code::SUCCESS && device >= 0).then_some(Context(device as usize + 1))
    }

    unsafe fn make_current(context: Context) -> Result<(), Failure> {
        // Every thread has a device: there is nothing to go back to where the runtime could not say which.
        if context.0 == 0 || Self::current() == Some(context) {
            return Ok(());
        }
        // SAFETY: takes any number.
        check(unsafe { (hip().hipSetDevice)(device_of(context)) })
    }

    fn memory() -> Result<(u64, u64), Failure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two integers.
        check(unsafe { (hip().hipMemGetInfo)(&raw mut free, &raw mut total) })?;
        Ok((free as u64, total as u64))
    }

    unsafe fn is_own_stream(context: Context, stream: Stream) -> Result<bool, Failure> {
        let Some(ask) = hip().hipStreamGetDevice else {
            let text = "this HIP runtime does not say which device a stream is of: install a newer ROCm, or leave the \
                        stream out"
                .to_owned();
            return Err(Failure { text, kind: FailureKind::Other });
        };
        let mut device = -1;
        // SAFETY: the caller promises a live stream; writes one integer.
        check(unsafe { ask(stream.get(), &raw mut device) })?;
        Ok(device == device_of(context))
    }

    fn is_own_memory(ordinal: usize, _: Context, address: u64) -> bool {
        let mut device: c_int = -1;
        // SAFETY: asks about an address, which may be any; writes one integer.
        let answer = unsafe {
            let answer = (&raw mut device).cast();
            (hip().hipPointerGetAttribute)(answer, sys::POINTER_DEVICE_ORDINAL, on_device(address))
        };
        answer == sys::code::SUCCESS && device == ordinal as c_int
    }

    fn image(opened: &Opened, unit: &str) -> Result<Image> {
        let image = K::image(&opened.architecture, unit)
            .ok_or(Absent::Kernels("kernels not built: run `cargo xtask kernels hip`, then build again"))?;
        image.map_err(|damaged| Error::failed(NAME, damaged))
    }

    unsafe fn load(image: &Image) -> Result<Module, Failure> {
        // SAFETY: the caller's image is a whole ELF file, which stays as long as the module.
        made(|module| unsafe { (hip().hipModuleLoadData)(module, image.bytes().as_ptr().cast()) })
            .map(Module::of)
    }

    unsafe fn unload(module: Module) {
        // SAFETY: as the caller promises.
        let _ = unsafe { (hip().hipModuleUnload)(module.get()) };
    }

    unsafe fn function(module: Module, symbol: &CStr) -> Result<Function, Failure> {
        // SAFETY: as the caller promises.
        made(|function| unsafe { (hip().hipModuleGetFunction)(function, module.get(), symbol.as_ptr()) })
            .map(Function::of)
    }

    unsafe fn share(_: Function, _: u32) -> Result<(), Failure> {
        // A block may have all memory of its compute unit without asking; a launch says how much it takes.
        Ok(())
    }

    unsafe fn blocks_per_multiprocessor(
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failure> {
        let mut blocks = 0;
        // SAFETY: as the caller promises; writes one integer.
        let answer = unsafe {
            (hip().hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                function.get(),
                threads as c_int,
                local(shared_bytes) as usize,
            )
        };
        check(answer).map(|()| blocks.max(0) as u32)
    }

    unsafe fn launch(
        function: Function,
        launch: Launch,
        stream: Stream,
        params: *const c_void,
    ) -> Result<(), Failure> {
        let Launch { blocks, threads, shared_bytes } = launch;
        let mut arguments = [params.cast_mut()];
        let nothing = std::ptr::null_mut();
        // SAFETY: as the caller promises; the runtime copies what the argument points to.
        check(unsafe {
            (hip().hipModuleLaunchKernel)(
                function.get(),
                blocks,
                1,
                1,
                threads,
                1,
                1,
                local(shared_bytes),
                stream.get(),
                arguments.as_mut_ptr(),
                nothing,
            )
        })
    }

    fn make_stream() -> Result<Stream, Failure> {
        // SAFETY: makes a stream of the current device.
        made(|stream| unsafe { (hip().hipStreamCreateWithFlags)(stream, sys::STREAM_NON_BLOCKING) })
            .map(Stream::of)
    }

    unsafe fn synchronize(stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipStreamSynchronize)(stream.get()) })
    }

    unsafe fn wait_for(stream: Stream, event: Event) -> Result<(), Failure> {
        // SAFETY: as the caller promises; no other flags are known.
        check(unsafe { (hip().hipStreamWaitEvent)(stream.get(), event.get(), 0) })
    }

    unsafe fn is_recording(stream: Stream) -> Result<bool, Failure> {
        let mut status = sys::CAPTURE_STATUS_NONE;
        // SAFETY: as the caller promises; writes one number.
        check(unsafe { (hip().hipStreamIsCapturing)(stream.get(), &raw mut status) })?;
        Ok(status != sys::CAPTURE_STATUS_NONE)
    }

    unsafe fn destroy_stream(stream: Stream) {
        // SAFETY: as the caller promises.
        let _ = unsafe { (hip().hipStreamDestroy)(stream.get()) };
    }

    fn make_event(timed: bool) -> Result<Event, Failure> {
        let flags = if timed { sys::EVENT_DEFAULT } else { sys::EVENT_DISABLE_TIMING };
        // SAFETY: makes an event of the current device.
        made(|event| unsafe { (hip().hipEventCreateWithFlags)(event, flags) }).map(Event::of)
    }

    unsafe fn record(event: Event, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipEventRecord)(event.get(), stream.get()) })
    }

    unsafe fn wait(event: Event) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipEventSynchronize)(event.get()) })
    }

    unsafe fn wait_aside(event: Event) -> Result<(), Failure> {
        // A thread that records lets nobody wait, unless it says that it knows what it does.
        let mut mode = sys::CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one number.
        check(unsafe { (hip().hipThreadExchangeStreamCaptureMode)(&raw mut mode) })?;
        // SAFETY: as the caller promises.
        let waited = unsafe { Self::wait(event) };
        // SAFETY: puts the mode back.
        let restored = check(unsafe { (hip().hipThreadExchangeStreamCaptureMode)(&raw mut mode) });
        waited.and(restored)
    }

    unsafe fn seconds(from: Event, to: Event) -> Result<f64, Failure> {
        let mut milliseconds = 0.0;
        // SAFETY: as the caller promises; writes one number.
        check(unsafe { (hip().hipEventElapsedTime)(&raw mut milliseconds, from.get(), to.get()) })?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    unsafe fn destroy_event(event: Event) {
        // SAFETY: as the caller promises.
        let _ = unsafe { (hip().hipEventDestroy)(event.get()) };
    }

    fn allocate(bytes: usize) -> Result<u64, Failure> {
        // SAFETY: a plain allocation.
        let memory = made(|memory| unsafe { (hip().hipMalloc)(memory, bytes) })?;
        Ok(memory.expose_provenance() as u64)
    }

    unsafe fn free(address: u64) {
        // SAFETY: as the caller promises.
        let _ = unsafe { (hip().hipFree)(on_device(address)) };
    }

    fn allocate_host(bytes: usize) -> Result<NonNull<u8>, Failure> {
        // SAFETY: a plain allocation.
        let memory = made(|memory| unsafe { (hip().hipHostMalloc)(memory, bytes, 0) })?;
        let memory = NonNull::new(memory.cast::<u8>()).expect("page-locked memory has an address");
        // SAFETY: as many bytes as were asked for. The runtime does not promise zeros.
        unsafe { memory.write_bytes(0, bytes) };
        Ok(memory)
    }

    unsafe fn free_host(memory: NonNull<u8>) {
        // SAFETY: as the caller promises.
        let _ = unsafe { (hip().hipHostFree)(memory.as_ptr().cast()) };
    }

    unsafe fn copy_to_device(to: u64, from: &[u8], stream: Stream) -> Result<(), Failure> {
        let source = from.as_ptr().cast();
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipMemcpyHtoDAsync)(on_device(to), source, from.len(), stream.get()) })
    }

    unsafe fn copy_from_device(to: &mut [u8], from: u64, stream: Stream) -> Result<(), Failure> {
        let bytes = to.len();
        // SAFETY: as the caller promises.
        check(unsafe {
            (hip().hipMemcpyDtoHAsync)(to.as_mut_ptr().cast(), on_device(from), bytes, stream.get())
        })
    }

    unsafe fn copy_on_device(to: u64, from: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipMemcpyDtoDAsync)(on_device(to), on_device(from), bytes, stream.get()) })
    }

    unsafe fn zero(address: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { (hip().hipMemsetD8Async)(on_device(address), 0, bytes, stream.get()) })
    }
}
