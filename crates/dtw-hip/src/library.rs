//! The runtime's library: whether it is there, and what its errors mean.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use dtw_core::{Error, Obstacle, Remedy, Result};
use dtw_native::gpu::{Failure, FailureKind};
use libloading::Library;

use crate::sys::{Calls, Code, code};

/// The backend's name.
pub const NAME: &str = "hip";

/// What the library is called, the newest first. Without a version it is there where programs are compiled.
const NAMES: &[&str] = if cfg!(windows) {
    &["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"]
} else {
    &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"]
};

/// The oldest version whose layouts and numbers are known, as the runtime counts: major · 10⁷ + minor · 10⁵ + patch.
const NEEDED: i32 = 50_000_000;

/// Why there is no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Absent {
    #[error(
        "no HIP device: the library libamdhip64 (amdhip64.dll on Windows) is not where this machine looks for libraries"
    )]
    Library,
    #[error("no HIP device: {name} is here, but cannot be loaded ({reason})")]
    Broken { name: &'static str, reason: String },
    #[error("no HIP device: {name} has no function {function}")]
    Incomplete { name: &'static str, function: &'static str },
    #[error(
        "no HIP device: the HIP runtime is too old, version {}.{}, and the kernels need {}.0",
        found / 10_000_000, found % 10_000_000 / 100_000, NEEDED / 10_000_000
    )]
    TooOld { found: i32 },
    #[error("no HIP device: the HIP runtime is here, but it finds no GPU ({0})")]
    Device(String),
    #[error("no HIP device {ordinal}: there are {count}, numbered from 0")]
    Number { ordinal: usize, count: usize },
    #[error(
        "no HIP device {ordinal}: the HIP runtime does not say what to compile for it (it says {found:?})"
    )]
    Unnamed { ordinal: usize, found: String },
    #[error(
        "no kernels for the HIP device {name}: its architecture is {chip}, and this program has kernels for {}",
        .shipped.join(", ")
    )]
    Chip { name: String, chip: String, shipped: Vec<&'static str> },
    #[error(
        "no kernels for the HIP device {name}: its waves have {found} lanes, and the kernels for {chip} are compiled for \
         {expected}"
    )]
    Lanes { name: String, chip: String, found: i32, expected: u32 },
    #[error("the HIP device was lost and could not be opened again ({0})")]
    NotRenewed(String),
    #[error("{0}")]
    Kernels(&'static str),
}

impl Absent {
    /// What helps.
    const fn remedies(&self) -> &'static [Remedy] {
        const CPU: Remedy = Remedy::Backend("cpu");
        match self {
            Self::Library => &[Remedy::Do("install AMD's driver with ROCm's HIP runtime"), CPU],
            Self::Broken { .. } => &[Remedy::Do("install ROCm again"), CPU],
            Self::Incomplete { .. } => &[Remedy::Do("install the HIP runtime of ROCm 5 or newer"), CPU],
            Self::TooOld { .. } => &[Remedy::Do("install a newer ROCm"), CPU],
            Self::Device(_) => &[
                Remedy::Do(
                    "look at `rocminfo`, which shows what it sees to users of the groups render and video",
                ),
                CPU,
            ],
            Self::Chip { .. } | Self::Lanes { .. } | Self::Unnamed { .. } | Self::Kernels(_) => Remedy::CPU,
            Self::NotRenewed(_) => &[Remedy::Do("start the program again")],
            Self::Number { .. } => &[],
        }
    }
}

impl From<Absent> for Obstacle {
    fn from(absent: Absent) -> Self {
        Self { what: absent.to_string(), remedies: absent.remedies() }
    }
}

impl From<Absent> for Error {
    fn from(absent: Absent) -> Self {
        let remedies = absent.remedies();
        Error::Backend { backend: NAME, reason: Box::new(absent), remedies }
    }
}

/// The functions of the library, which is loaded once and stays.
pub(crate) fn calls() -> Result<&'static Calls, Absent> {
    static CALLS: OnceLock<Result<Calls, Absent>> = OnceLock::new();
    CALLS.get_or_init(|| open(NAMES)).as_ref().map_err(Clone::clone)
}

/// The first library that is there and can be loaded; what is wrong with the first that cannot, if none can.
fn open(names: &[&'static str]) -> Result<Calls, Absent> {
    let mut broken = None;
    for name in names {
        // SAFETY: what the library does when it is loaded is AMD's; it asks for nothing to be done before.
        match unsafe { Library::new(*name) } {
            Ok(library) => {
                return Calls::of(library).map_err(|function| Absent::Incomplete { name, function });
            }
            Err(libloading::Error::DlOpen { source }) => {
                let reason = source.to_string();
                // The text names what is not there: this library, or one that this one needs.
                if !(reason.contains(name) && reason.contains("No such file")) {
                    broken.get_or_insert(Absent::Broken { name, reason });
                }
            }
            Err(_) => {}
        }
    }
    Err(broken.unwrap_or(Absent::Library))
}

/// Starts the runtime, which it does once; the number of devices.
pub(crate) fn start() -> Result<(&'static Calls, usize), Absent> {
    let hip = calls()?;
    let failed = |failure: Failure| Absent::Device(failure.text);
    let (mut version, mut count) = (0, 0);
    // SAFETY: the functions are the library's; each pointer is to a live integer.
    unsafe {
        check(hip, (hip.hipInit)(0)).map_err(failed)?;
        check(hip, (hip.hipRuntimeGetVersion)(&raw mut version)).map_err(failed)?;
        if version < NEEDED {
            return Err(Absent::TooOld { found: version });
        }
        check(hip, (hip.hipGetDeviceCount)(&raw mut count)).map_err(failed)?;
    }
    if count <= 0 {
        return Err(Absent::Device("0 devices".to_owned()));
    }
    Ok((hip, count as usize))
}

/// The version of the HIP runtime: major, minor and patch.
///
/// # Errors
/// Why there is none.
pub fn version() -> Result<String> {
    let hip = calls()?;
    let mut found = 0;
    // SAFETY: writes one integer.
    let answer = unsafe { (hip.hipRuntimeGetVersion)(&raw mut found) };
    check(hip, answer).map_err(|failure| Absent::Device(failure.text))?;
    Ok(format!("{}.{}.{}", found / 10_000_000, found % 10_000_000 / 100_000, found % 100_000))
}

/// An answer of the runtime as dtw-native wants it.
pub(crate) fn check(hip: &Calls, answer: Code) -> Result<(), Failure> {
    let kind = match answer {
        code::SUCCESS => return Ok(()),
        code::OUT_OF_MEMORY => FailureKind::OutOfMemory,
        code::DEINITIALIZED
        | code::ECC_NOT_CORRECTABLE
        | code::ILLEGAL_ADDRESS
        | code::LAUNCH_TIME_OUT
        | code::CONTEXT_IS_DESTROYED
        | code::ASSERT
        | code::LAUNCH_FAILURE => FailureKind::Fatal,
        _ => FailureKind::Other,
    };
    // SAFETY: both take any number.
    let (name, text) = unsafe { ((hip.hipGetErrorName)(answer), (hip.hipGetErrorString)(answer)) };
    let (name, text) = (words(name), words(text));
    // Some versions know the name only.
    let text = if text.is_empty() || text == name { name } else { format!("{name}: {text}") };
    Err(Failure { text: format!("{text} ({answer})"), kind })
}

/// A text of the library's, which stays; empty for null.
fn words(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null (checked above); the library's texts end with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn names_are_tried_in_order_and_absence_is_a_value() {
        let absent = ["libdtw-none.so.2", "libdtw-none.so.1"];
        assert_eq!(open(&absent).unwrap_err(), Absent::Library);
        // The C library is everywhere, and has no function of HIP's.
        let other = ["libdtw-none.so.2", "libc.so.6", "libdtw-none.so.1"];
        assert_eq!(open(&other).unwrap_err(), Absent::Incomplete { name: "libc.so.6", function: "hipInit" });
    }

    #[test]
    fn a_library_that_cannot_be_loaded_is_told() {
        let mut file = tempfile::Builder::new().prefix("libdtw").suffix(".so").tempfile().unwrap();
        file.write_all(b"no library, but long enough to be looked at: it would begin with a magic number")
            .unwrap();
        let name: &'static str = file.path().to_str().unwrap().to_owned().leak();
        let error = open(&["libdtw-none.so.2", name]).unwrap_err();
        assert!(matches!(error, Absent::Broken { name: found, .. } if found == name), "{error}");
        assert!(
            error.to_string().contains("cannot be loaded (") && error.to_string().contains("ELF"),
            "{error}"
        );
        // Another version may be whole.
        let next = open(&[name, "libc.so.6"]).unwrap_err();
        assert!(matches!(next, Absent::Incomplete { name: "libc.so.6", .. }), "{next}");
    }

    #[test]
    fn what_is_told_says_what_to_do() {
        let device = Absent::Device("hipErrorNoDevice (100)".to_owned());
        for absent in [Absent::Library, device, Absent::TooOld { found: 40_321_331 }] {
            let text = Error::from(absent).to_string();
            assert!(
                text.starts_with("hip: no HIP device: ") && text.contains("use `Device::cpu()`"),
                "{text}"
            );
        }
        assert!(Absent::TooOld { found: 40_321_331 }.to_string().contains("version 4.3"));
    }
}
