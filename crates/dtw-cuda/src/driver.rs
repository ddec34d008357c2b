//! NVIDIA's driver, call by call.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use cudarc::driver::{DriverError, result, sys};
use dtw_core::{Error, Result};
use dtw_kernels::image::Image;
use dtw_kernels::images;
use dtw_kernels::tuning::SM90;
use dtw_native::gpu::{
    Context, Driver, Event, Failure, Function, Launch, Module, OpenDevices, Opened, Stream,
};

use crate::library::{Absent, NAME, capability, describe, failure, start, too_weak};

/// NVIDIA's driver. Contexts are the primary ones of the devices, shared with all that uses CUDA in the process.
#[derive(Debug)]
pub enum Cuda {}

static OPEN_DEVICES: OpenDevices = OpenDevices::new();

fn check<T>(answer: Result<T, DriverError>) -> Result<T, Failure> {
    answer.map_err(failure)
}

impl Driver for Cuda {
    const NAME: &'static str = NAME;
    const DEVICE: &'static str = "CUDA device";
    const READS_IMAGES_LATER: bool = false;

    fn open_devices() -> &'static OpenDevices {
        &OPEN_DEVICES
    }

    fn open(ordinal: usize, renew: bool) -> Result<Opened> {
        let count = start()?;
        if ordinal >= count {
            return Err(Absent::Number { ordinal, count }.into());
        }
        if let Some(advice) = images::cuda_advice() {
            return Err(Absent::Kernels(advice).into());
        }
        let failed = |error| {
            let text = describe(error);
            Error::from(if renew { Absent::NotRenewed(text) } else { Absent::Device(text) })
        };
        let device = result::device::get(ordinal as i32).map_err(failed)?;
        if let Some(weak) = too_weak(device).map_err(failed)? {
            return Err(weak.into());
        }
        let (major, minor) = capability(device).map_err(failed)?;
        // SAFETY: `device` came from the driver.
        let (context, multiprocessors) = unsafe {
            if renew {
                sys::cuDevicePrimaryCtxReset_v2(device).result().map_err(failed)?;
            }
            let context = result::primary_ctx::retain(device).map_err(failed)?;
            use sys::CUdevice_attribute as A;
            let attribute =
                result::device::get_attribute(device, A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
            (context, attribute.map_err(failed)?)
        };
        Ok(Opened {
            context: Context::of(context),
            name: result::device::get_name(device).map_err(failed)?,
            architecture: format!("sm_{major}{minor}"),
            multiprocessors: multiprocessors as u32,
            lanes: 32,
            // The only chip that was measured, whichever this is.
            tuning: &SM90,
        })
    }

    unsafe fn close(ordinal: usize, _: Context) {
        if let Ok(device) = result::device::get(ordinal as i32) {
            // SAFETY: the caller retained it once.
            let _ = unsafe { result::primary_ctx::release(device) };
        }
    }

    fn current() -> Option<Context> {
        result::ctx::get_current().ok().flatten().map(Context::of)
    }

    unsafe fn make_current(context: Context) -> Result<(), Failure> {
        // SAFETY: the caller's context is open.
        check(unsafe { result::ctx::set_current(context.get()) })
    }

    fn memory() -> Result<(u64, u64), Failure> {
        check(result::mem_get_info().map(|(free, total)| (free as u64, total as u64)))
    }

    unsafe fn is_own_stream(context: Context, stream: Stream) -> Result<bool, Failure> {
        let mut owner = std::ptr::null_mut();
        // SAFETY: the caller promises a live stream; writes one pointer.
        check(unsafe { sys::cuStreamGetCtx(stream.get(), &raw mut owner).result() })?;
        Ok(Context::of(owner) == context)
    }

    fn is_own_memory(ordinal: usize, context: Context, address: u64) -> bool {
        use sys::CUpointer_attribute as A;
        let (mut device, mut owner): (i32, sys::CUcontext) = (-1, std::ptr::null_mut());
        let ask = |attribute, answer: *mut c_void| {
            // SAFETY: asks about an address, which may be any; writes one integer or one pointer, for which there is
            // room.
            unsafe { sys::cuPointerGetAttribute(answer, attribute, address) }.result()
        };
        let of_device = ask(A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut device).cast());
        let of_context = ask(A::CU_POINTER_ATTRIBUTE_CONTEXT, (&raw mut owner).cast());
        let is_foreign = of_context.is_ok() && !owner.is_null() && Context::of(owner) != context;
        of_device.is_ok() && device == ordinal as i32 && !is_foreign
    }

    fn image(_: &Opened, unit: &str) -> Result<Image> {
        let image = images::cuda_image(unit)
            .ok_or(Absent::Kernels("kernels not built: run `cargo xtask kernels cuda`, then build again"))?;
        image.map_err(|damaged| Error::failed(NAME, damaged))
    }

    unsafe fn load(image: &Image) -> Result<Module, Failure> {
        // SAFETY: the caller's image is a whole fat binary; the driver copies it.
        check(unsafe { result::module::load_data(image.bytes().as_ptr().cast()) }).map(Module::of)
    }

    unsafe fn unload(module: Module) {
        // SAFETY: as the caller promises.
        let _ = unsafe { result::module::unload(module.get()) };
    }

    unsafe fn function(module: Module, symbol: &CStr) -> Result<Function, Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::module::get_function(module.get(), symbol.to_owned()) }).map(Function::of)
    }

    unsafe fn share(function: Function, bytes: u32) -> Result<(), Failure> {
        let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: as the caller promises.
        check(unsafe { sys::cuFuncSetAttribute(function.get(), most, bytes as i32).result() })
    }

    unsafe fn blocks_per_multiprocessor(
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failure> {
        let mut blocks = 0;
        // SAFETY: as the caller promises; writes one integer.
        let answer = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function.get(),
                threads as i32,
                shared_bytes as usize,
            )
            .result()
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
        let (grid, block) = ((blocks, 1, 1), (threads, 1, 1));
        // SAFETY: as the caller promises; the driver copies what the argument points to.
        check(unsafe {
            result::launch_kernel(function.get(), grid, block, shared_bytes, stream.get(), &mut arguments)
        })
    }

    fn make_stream() -> Result<Stream, Failure> {
        check(result::stream::create(result::stream::StreamKind::NonBlocking)).map(Stream::of)
    }

    unsafe fn synchronize(stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::stream::synchronize(stream.get()) })
    }

    unsafe fn wait_for(stream: Stream, event: Event) -> Result<(), Failure> {
        let wait = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as the caller promises.
        check(unsafe { result::stream::wait_event(stream.get(), event.get(), wait) })
    }

    unsafe fn is_recording(stream: Stream) -> Result<bool, Failure> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: as the caller promises; writes one number.
        check(unsafe { sys::cuStreamIsCapturing(stream.get(), &raw mut status).result() })?;
        Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    unsafe fn destroy_stream(stream: Stream) {
        // SAFETY: as the caller promises.
        let _ = unsafe { result::stream::destroy(stream.get()) };
    }

    fn make_event(timed: bool) -> Result<Event, Failure> {
        use sys::CUevent_flags as F;
        let flags = if timed { F::CU_EVENT_DEFAULT } else { F::CU_EVENT_DISABLE_TIMING };
        check(result::event::create(flags)).map(Event::of)
    }

    unsafe fn record(event: Event, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::event::record(event.get(), stream.get()) })
    }

    unsafe fn wait(event: Event) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::event::synchronize(event.get()) })
    }

    unsafe fn wait_aside(event: Event) -> Result<(), Failure> {
        // A thread that records lets nobody wait, unless it says that it knows what it does.
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one number.
        check(unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode).result() })?;
        // SAFETY: as the caller promises.
        let waited = unsafe { Self::wait(event) };
        // SAFETY: puts the mode back.
        let restored = check(unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode).result() });
        waited.and(restored)
    }

    unsafe fn seconds(from: Event, to: Event) -> Result<f64, Failure> {
        // SAFETY: as the caller promises.
        let milliseconds = check(unsafe { result::event::elapsed(from.get(), to.get()) })?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    unsafe fn destroy_event(event: Event) {
        // SAFETY: as the caller promises.
        let _ = unsafe { result::event::destroy(event.get()) };
    }

    fn allocate(bytes: usize) -> Result<u64, Failure> {
        // SAFETY: a plain allocation.
        check(unsafe { result::malloc_sync(bytes) })
    }

    unsafe fn free(address: u64) {
        // SAFETY: as the caller promises.
        let _ = unsafe { result::free_sync(address) };
    }

    fn allocate_host(bytes: usize) -> Result<NonNull<u8>, Failure> {
        // SAFETY: a plain allocation. The driver hands out zeroed pages.
        let memory = check(unsafe { result::malloc_host(bytes, 0) })?;
        Ok(NonNull::new(memory.cast()).expect("page-locked memory has an address"))
    }

    unsafe fn free_host(memory: NonNull<u8>) {
        // SAFETY: as the caller promises.
        let _ = unsafe { result::free_host(memory.as_ptr().cast()) };
    }

    unsafe fn copy_to_device(to: u64, from: &[u8], stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::memcpy_htod_async(to, from, stream.get()) })
    }

    unsafe fn copy_from_device(to: &mut [u8], from: u64, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::memcpy_dtoh_async(to, from, stream.get()) })
    }

    unsafe fn copy_on_device(to: u64, from: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::memcpy_dtod_async(to, from, bytes, stream.get()) })
    }

    unsafe fn zero(address: u64, bytes: usize, stream: Stream) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        check(unsafe { result::memset_d8_async(address, 0, bytes, stream.get()) })
    }
}
