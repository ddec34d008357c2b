//! HIP's runtime as far as it is used: functions, numbers and layouts of `hip/hip_runtime_api.h`. Where nothing else is
//! said they are the same in the headers of HIP 5.2 and of all later ones to HIP 7.
#![expect(non_snake_case, reason = "functions are named as in the library")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;

/// `hipError_t`.
pub(crate) type Code = c_int;
/// `hipStream_t`, `hipEvent_t`, `hipModule_t`, `hipFunction_t`: never looked behind.
pub(crate) type Handle = *mut c_void;
/// `hipDeviceptr_t`.
pub(crate) type Address = *mut c_void;

/// `hipError_t`, as far as it is told apart.
pub(crate) mod code {
    use super::Code;

    pub(crate) const SUCCESS: Code = 0;
    pub(crate) const OUT_OF_MEMORY: Code = 2;
    pub(crate) const DEINITIALIZED: Code = 4;
    pub(crate) const ECC_NOT_CORRECTABLE: Code = 214;
    pub(crate) const ILLEGAL_ADDRESS: Code = 700;
    pub(crate) const LAUNCH_TIME_OUT: Code = 702;
    pub(crate) const CONTEXT_IS_DESTROYED: Code = 709;
    pub(crate) const ASSERT: Code = 710;
    pub(crate) const LAUNCH_FAILURE: Code = 719;
}

/// `hipDeviceAttributeMultiprocessorCount`; counted in the header of HIP 5.2, whose enumeration has no other numbers.
pub(crate) const MULTIPROCESSOR_COUNT: c_int = 63;
/// `hipDeviceAttributeWarpSize`.
pub(crate) const WARP_SIZE: c_int = 87;
/// `HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL`.
pub(crate) const POINTER_DEVICE_ORDINAL: c_int = 9;
/// `hipStreamNonBlocking`.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `hipEventDefault` and `hipEventDisableTiming`.
pub(crate) const EVENT_DEFAULT: c_uint = 0;
pub(crate) const EVENT_DISABLE_TIMING: c_uint = 2;
/// `hipStreamCaptureStatusNone`.
pub(crate) const CAPTURE_STATUS_NONE: c_int = 0;
/// `hipStreamCaptureModeRelaxed`.
pub(crate) const CAPTURE_MODE_RELAXED: c_int = 2;

/// Room for `hipDeviceProp_t` of any version: it has 792 bytes in HIP 5.2, 1472 in HIP 6 and 7.
pub(crate) const PROPERTIES_BYTES: usize = 8192;
/// Bytes of `gcnArchName`, a text that ends with a zero.
pub(crate) const ARCHITECTURE_BYTES: usize = 256;
/// Where `gcnArchName` begins in what `hipGetDevicePropertiesR0600` writes (HIP 6 and 7): behind 780 bytes up to and
/// with `unifiedFunctionPointers`, 63 integers `reserved` and 32 integers `hipReserved`.
pub(crate) const ARCHITECTURE_R0600: usize = 1160;
/// Where it begins in what `hipGetDeviceProperties` writes (HIP 5; later only for programs that were compiled with it):
/// `name[256]`, 2 sizes, 12 integers, 1 size, 7 integers, the bits of `arch`, 4 integers, 1 size, 3 integers.
pub(crate) const ARCHITECTURE_R0000: usize = 396;

/// Makes the table of functions.
macro_rules! calls {
    ($(fn $name:ident($($argument:ty),*) $(-> $answer:ty)?;)* optional: $(fn $maybe:ident($($of:ty),*);)*) => {
        /// The functions of a loaded library. Those that not every version has are options.
        #[derive(Debug)]
        pub(crate) struct Calls {
            // SAFETY: only types; the function of the header has this one, and who calls it says why it may be.
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> calls!(@answer $($answer)?),)*
            // SAFETY: as above.
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($of),*) -> Code>,)*
            /// Last, because the functions are in it.
            _library: Library,
        }

        impl Calls {
            /// Finds every function.
            ///
            /// # Errors
            /// The name of the first one that is not there.
            pub(crate) fn of(library: Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: find(&library, concat!(stringify!($name), "\0")).ok_or(stringify!($name))?,)*
                    $($maybe: find(&library, concat!(stringify!($maybe), "\0")),)*
                    _library: library,
                })
            }
        }
    };
    (@answer) => { Code };
    (@answer $answer:ty) => { $answer };
}

/// The function of a name that ends with a zero.
fn find<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: `F` is the type that the header gives the function; the table keeps the library.
    unsafe { library.get::<F>(name.as_bytes()) }.ok().map(|symbol| *symbol)
}

calls! {
    fn hipInit(c_uint);
    fn hipRuntimeGetVersion(*mut c_int);
    fn hipGetErrorName(Code) -> *const c_char;
    fn hipGetErrorString(Code) -> *const c_char;
    fn hipGetDeviceCount(*mut c_int);
    fn hipGetDevice(*mut c_int);
    fn hipSetDevice(c_int);
    fn hipDeviceReset();
    fn hipDeviceGetName(*mut c_char, c_int, c_int);
    fn hipDeviceGetAttribute(*mut c_int, c_int, c_int);
    fn hipDeviceTotalMem(*mut usize, c_int);
    fn hipMemGetInfo(*mut usize, *mut usize);
    fn hipPointerGetAttribute(*mut c_void, c_int, Address);
    fn hipModuleLoadData(*mut Handle, *const c_void);
    fn hipModuleUnload(Handle);
    fn hipModuleGetFunction(*mut Handle, Handle, *const c_char);
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize);
    // Function; blocks and threads in x, y, z; shared bytes; stream; parameters, and another way to give them.
    fn hipModuleLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    fn hipStreamCreateWithFlags(*mut Handle, c_uint);
    fn hipStreamDestroy(Handle);
    fn hipStreamSynchronize(Handle);
    fn hipStreamWaitEvent(Handle, Handle, c_uint);
    fn hipStreamIsCapturing(Handle, *mut c_int);
    fn hipThreadExchangeStreamCaptureMode(*mut c_int);
    fn hipEventCreateWithFlags(*mut Handle, c_uint);
    fn hipEventDestroy(Handle);
    fn hipEventRecord(Handle, Handle);
    fn hipEventSynchronize(Handle);
    fn hipEventElapsedTime(*mut f32, Handle, Handle);
    fn hipMalloc(*mut Address, usize);
    fn hipFree(Address);
    fn hipHostMalloc(*mut *mut c_void, usize, c_uint);
    fn hipHostFree(*mut c_void);
    fn hipMemcpyHtoDAsync(Address, *const c_void, usize, Handle);
    fn hipMemcpyDtoHAsync(*mut c_void, Address, usize, Handle);
    fn hipMemcpyDtoDAsync(Address, Address, usize, Handle);
    fn hipMemsetD8Async(Address, u8, usize, Handle);
optional:
    // One of the two is there.
    fn hipGetDevicePropertiesR0600(*mut c_void, c_int);
    fn hipGetDeviceProperties(*mut c_void, c_int);
    // HIP 5.2 has it not.
    fn hipStreamGetDevice(Handle, *mut c_int);
}
