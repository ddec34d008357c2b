//! What a vendor's driver can do, call by call.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use dtw_core::{Obstacle, Result};
use dtw_kernels::image::Image;
use dtw_kernels::tuning::Tuning;

use super::open_devices::OpenDevices;

/// Handles of the driver's, as numbers: they are never looked behind.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub usize);

        impl $name {
            /// The handle that the driver gave.
            pub fn of<T>(handle: *mut T) -> Self {
                Self(handle.expose_provenance())
            }
            /// The handle as the driver wants it.
            pub fn get<T>(self) -> *mut T {
                std::ptr::with_exposed_provenance_mut(self.0)
            }
        }
    )*};
}

handles! {
    /// Everything that a process has on a device.
    Context
    /// A queue of copies and launches, done in order.
    Stream
    /// A point of a stream.
    Event
    /// An image of kernels, loaded.
    Module
    /// A kernel.
    Function
}

/// What went wrong in a call of the driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// The driver's name and text for it.
    pub text: String,
    /// What it means for later calls.
    pub kind: FailureKind,
}

/// What a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The device has no memory for this; all else works.
    OutOfMemory,
    /// Nothing works any more in this context.
    Fatal,
    /// This call failed.
    Other,
}

/// A device that was opened.
#[derive(Debug)]
pub struct Opened {
    /// What everything is made in.
    pub context: Context,
    /// The device's name, as people know it.
    pub name: String,
    /// What its code is compiled for, as compilers name it: `sm_90`, `gfx942` …
    pub architecture: String,
    /// Units that run blocks.
    pub multiprocessors: u32,
    /// Lanes of a warp: 32 or 64.
    pub lanes: u32,
    /// What kernels cost on it.
    pub tuning: &'static Tuning,
}

/// A GPU as a list shows it, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number in the driver's order.
    pub ordinal: usize,
    /// Name, architecture, memory.
    pub description: String,
    /// Why it cannot be used, and what to do about it; `None` for a usable GPU.
    pub unavailable: Option<Obstacle>,
}

impl DeviceInfo {
    /// Every GPU of a vendor, of which `about` says what it is, and why it cannot be used; one line with the reason
    /// where there is none.
    pub fn list<A: Into<Obstacle>>(
        vendor: &str,
        count: Result<usize, A>,
        about: impl Fn(usize) -> Result<(String, Option<A>), A>,
    ) -> Vec<Self> {
        let info = |ordinal, description, reason: Option<A>| Self {
            ordinal,
            description,
            unavailable: reason.map(Into::into),
        };
        let one = |ordinal| match about(ordinal) {
            Ok((description, refused)) => info(ordinal, description, refused),
            Err(absent) => info(ordinal, format!("an {vendor} GPU"), Some(absent)),
        };
        match count {
            Ok(count) => (0..count).map(one).collect(),
            Err(absent) => vec![info(0, format!("{vendor} GPUs"), Some(absent))],
        }
    }
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block beside what the kernel declares itself.
    pub shared_bytes: u32,
}

/// The calls of a vendor's driver. A type without values stands for the driver; what it makes is known by handles.
///
/// # Safety
/// All calls that are `unsafe` promise this, unless they say more: the context in which the handles were made is
/// current on this thread ([`Driver::make_current`]), they are live, addresses are of that device, and memory that a
/// copy reads or writes stays as it is until the stream is past the copy.
///
/// # Errors
/// What the driver says, as a [`Failure`].
pub trait Driver: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// The backend's name: `"cuda"` …
    const NAME: &'static str;
    /// What its devices are called in messages: `"CUDA device"` …
    const DEVICE: &'static str;
    /// Whether the driver makes no copy of an image that it loads. Then the image stays until it is unloaded.
    const READS_IMAGES_LATER: bool;

    /// The devices that this process has opened.
    fn open_devices() -> &'static OpenDevices;

    /// Opens device `ordinal`. With `renew` the context is made anew first, because it was lost. Another context that
    /// is current on this thread stays so.
    ///
    /// # Errors
    /// Why there is no such device, and what to do.
    fn open(ordinal: usize, renew: bool) -> Result<Opened>;

    /// Gives a context back.
    ///
    /// # Safety
    /// It came from [`Driver::open`], and nothing of it is used from now on.
    unsafe fn close(ordinal: usize, context: Context);

    /// The context that is current on this thread, if one is that is open; `None` also if the driver cannot say. A
    /// device is open.
    fn current() -> Option<Context>;

    /// Makes the context current on this thread; one that is 0 stands for none.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// The context is open, or 0.
    unsafe fn make_current(context: Context) -> Result<(), Failure>;

    /// Bytes free and in all, of the current context's device.
    ///
    /// # Errors
    /// See [`Driver`].
    fn memory() -> Result<(u64, u64), Failure>;

    /// Whether a stream that somebody else made belongs to this context.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn is_own_stream(context: Context, stream: Stream) -> Result<bool, Failure>;

    /// Whether kernels of this context may use memory at `address`, which may be any number.
    fn is_own_memory(ordinal: usize, context: Context, address: u64) -> bool;

    /// The image of a unit of kernels for the device that was opened, unpacked: asked for once in each context, by the
    /// first call that needs it.
    ///
    /// # Errors
    /// That this build has none, or a damaged one, and what to do.
    fn image(opened: &Opened, unit: &str) -> Result<Image>;

    /// Loads an image; [`Driver::READS_IMAGES_LATER`] says for how long it stays.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`]; the image is whole.
    unsafe fn load(image: &Image) -> Result<Module, Failure>;

    /// Unloads an image.
    ///
    /// # Safety
    /// See [`Driver`]; none of its kernels is used from now on.
    unsafe fn unload(module: Module);

    /// A kernel of an image.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn function(module: Module, symbol: &CStr) -> Result<Function, Failure>;

    /// Lets blocks of a kernel share so many bytes beside what it declares itself.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn share(function: Function, bytes: u32) -> Result<(), Failure>;

    /// Blocks of so many threads, which share so many bytes beside what the kernel declares itself, that a
    /// multiprocessor runs at once; may be 0.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn blocks_per_multiprocessor(
        function: Function,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32, Failure>;

    /// Launches a kernel that takes one structure.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`]; the kernel takes a structure of these bytes, which are copied, and may use the addresses in it.
    unsafe fn launch(
        function: Function,
        launch: Launch,
        stream: Stream,
        params: *const c_void,
    ) -> Result<(), Failure>;

    /// Makes a stream that waits for no other.
    ///
    /// # Errors
    /// See [`Driver`].
    fn make_stream() -> Result<Stream, Failure>;

    /// Waits until all that was put on the stream is done.
    ///
    /// # Errors
    /// See [`Driver`], of anything that was put there.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn synchronize(stream: Stream) -> Result<(), Failure>;

    /// Lets what is put on the stream from now on wait for an event of another.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn wait_for(stream: Stream, event: Event) -> Result<(), Failure>;

    /// Whether what is put on the stream is recorded into a graph instead of being done.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn is_recording(stream: Stream) -> Result<bool, Failure>;

    /// Takes a stream away.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn destroy_stream(stream: Stream);

    /// Makes an event, with the time at which it is passed or without.
    ///
    /// # Errors
    /// See [`Driver`].
    fn make_event(timed: bool) -> Result<Event, Failure>;

    /// Puts an event on a stream.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn record(event: Event, stream: Stream) -> Result<(), Failure>;

    /// Waits until an event is passed; one that was never put on a stream counts as passed.
    ///
    /// # Errors
    /// See [`Driver`], of anything before the event.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn wait(event: Event) -> Result<(), Failure>;

    /// Waits as [`Driver::wait`] does, for an event that is not part of a graph, also while one is recorded.
    ///
    /// # Errors
    /// See [`Driver`], of anything before the event.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn wait_aside(event: Event) -> Result<(), Failure>;

    /// Seconds between two events that were passed.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`]; both were made with the time.
    unsafe fn seconds(from: Event, to: Event) -> Result<f64, Failure>;

    /// Takes an event away.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn destroy_event(event: Event);

    /// Memory on the device, at least one byte; its address.
    ///
    /// # Errors
    /// See [`Driver`].
    fn allocate(bytes: usize) -> Result<u64, Failure>;

    /// Frees memory on the device, after what uses it.
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn free(address: u64);

    /// Page-locked memory of the host's, set to zero.
    ///
    /// # Errors
    /// See [`Driver`].
    fn allocate_host(bytes: usize) -> Result<NonNull<u8>, Failure>;

    /// Frees page-locked memory.
    ///
    /// # Safety
    /// See [`Driver`]; no copy of it is under way.
    unsafe fn free_host(memory: NonNull<u8>);

    /// Begins to copy to the device.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn copy_to_device(to: u64, from: &[u8], stream: Stream) -> Result<(), Failure>;

    /// Begins to copy from the device.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn copy_from_device(to: &mut [u8], from: u64, stream: Stream) -> Result<(), Failure>;

    /// Begins to copy on the device.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn copy_on_device(to: u64, from: u64, bytes: usize, stream: Stream) -> Result<(), Failure>;

    /// Begins to set bytes to zero.
    ///
    /// # Errors
    /// See [`Driver`].
    ///
    /// # Safety
    /// See [`Driver`].
    unsafe fn zero(address: u64, bytes: usize, stream: Stream) -> Result<(), Failure>;
}
