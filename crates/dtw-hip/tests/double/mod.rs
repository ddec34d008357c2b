//! The stand-in for AMD's runtime (double.c): compiled by the tests, found by the loader in a process of its own for
//! each test.
#![expect(unreachable_pub, reason = "test binaries have no public interface")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use dtw_hip::{Hip, Kernels};
use dtw_kernels::image::{Damaged, Image, pack};
use dtw_native::gpu::{Gpu, OpenDevices};
use libloading::Library;

/// A version of HIP that there is a stand-in for.
#[derive(Debug, Clone, Copy)]
pub enum Version {
    Five,
    Six,
}

/// Where a child finds the stand-in; only children have this variable.
const CHILD: &str = "DTW_HIP_TESTS_CHILD";

/// Kernels that are only names: `architecture/unit`, and zeros behind it.
#[derive(Debug)]
pub enum Named {}

static OPEN_DEVICES: OpenDevices = OpenDevices::new();

impl Kernels for Named {
    fn open_devices() -> &'static OpenDevices {
        &OPEN_DEVICES
    }
    fn chips() -> Vec<&'static str> {
        vec!["gfx90a", "gfx1100"]
    }
    fn advice() -> Option<&'static str> {
        None
    }
    fn image(chip: &str, unit: &str) -> Option<Result<Image, Damaged>> {
        let mut bytes = format!("{chip}/{unit}").into_bytes();
        bytes.resize(4096, 0);
        Some(Image::unpack(&pack(&bytes).expect("a writer in memory")))
    }
}

/// A GPU of the stand-in's.
pub type Machine = Gpu<Hip<Named>>;

/// The stand-in, loaded.
pub struct Double(Library);

/// Runs `body` in a process in which the stand-in is AMD's runtime. `test` is the name of the test that calls this.
pub fn with(version: Version, test: &str, body: impl FnOnce(&Double)) {
    if let Some(path) = std::env::var_os(CHILD) {
        // SAFETY: ours; nothing happens when it is loaded.
        let double = Double(unsafe { Library::new(path) }.expect("the stand-in can be loaded"));
        body(&double);
        assert_eq!(double.misuse(), "");
        return;
    }
    let library = built(version);
    let folder = library.parent().expect("a file has a folder");
    let run = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", test, "--test-threads=1"])
        .env(CHILD, library)
        .env("LD_LIBRARY_PATH", folder)
        .output()
        .expect("this program runs");
    let told = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && told.contains("1 passed"), "{test}: {}\n{told}\n{errors}", run.status);
}

/// The path of the stand-in, by the newest name that is looked for.
fn built(version: Version) -> &'static Path {
    static BUILT: [OnceLock<PathBuf>; 2] = [OnceLock::new(), OnceLock::new()];
    BUILT[version as usize].get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("double-{version:?}"));
        std::fs::create_dir_all(&folder).expect("a folder for tests can be made");
        let library = folder.join("libamdhip64.so.7");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/double/double.c");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut compile = Command::new(&compiler);
        compile.args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden"]);
        if let Version::Five = version {
            compile.arg("-DOLD");
        }
        let done = compile.arg(&source).arg("-o").arg(&library).arg("-pthread").output();
        let done = done.unwrap_or_else(|error| panic!("{compiler}: {error}: a C compiler is needed"));
        assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
        library
    })
}

/// What the runtime says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Says<'a> {
    pub init: c_int,
    pub devices: c_int,
    pub version: c_int,
    pub lanes: c_int,
    pub architecture: &'a str,
}

impl Default for Says<'_> {
    fn default() -> Self {
        Self { init: 0, devices: 2, version: 60_443_483, lanes: 64, architecture: "gfx90a:sramecc+:xnack-" }
    }
}

/// Makes methods that call functions of the stand-in.
macro_rules! controls {
    ($($(#[$doc:meta])* fn $method:ident = $symbol:ident($($name:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl Double {$(
            $(#[$doc])*
            pub fn $method(&self, $($name: $type),*) -> $answer {
                // SAFETY: only a type.
                type Function = unsafe extern "C" fn($($type),*) -> $answer;
                let symbol = concat!(stringify!($symbol), "\0");
                // SAFETY: this is its type in double.c.
                unsafe { self.0.get::<Function>(symbol.as_bytes()).expect(symbol)($($name),*) }
            }
        )*}
    };
}

controls! {
    /// Lets a call fail, counted from 1, with a code; 0: none.
    fn fails = double_fails(call: c_int, code: c_int) -> ();
    fn fails_in = double_fails_in(start: *const c_char, code: c_int) -> ();
    /// Forgets the calls so far, and which one is to fail.
    fn forget = double_forget() -> ();
    /// How many calls were made.
    fn calls = double_calls() -> c_int;
    /// What has been made and not been taken away.
    fn left = double_left() -> c_int;
    /// Makes a device the current one of this thread.
    fn enter = hipSetDevice(device: c_int) -> c_int;
    /// Takes everything of the current device away.
    fn reset = hipDeviceReset() -> c_int;
    fn make_stream = hipStreamCreateWithFlags(to: *mut *mut c_void, flags: c_uint) -> c_int;
    fn line_at = double_line(call: c_int) -> *const c_char;
    fn first_misuse = double_misuse() -> *const c_char;
    fn say = double_says(
        init: c_int, devices: c_int, version: c_int, lanes: c_int, chip: *const c_char
    ) -> ();
}

impl Double {
    pub fn says(&self, what: Says<'_>) {
        let chip = CString::new(what.architecture).expect("no zeros");
        self.say(what.init, what.devices, what.version, what.lanes, chip.as_ptr());
    }

    /// Lets the next call that begins so fail, with a code.
    pub fn fails_next(&self, start: &'static CStr, code: c_int) {
        self.fails_in(start.as_ptr(), code);
    }

    /// A stream of a device, which stays.
    pub fn stream_of(&self, device: c_int) -> *mut c_void {
        let mut stream = std::ptr::null_mut();
        assert_eq!((self.enter(device), self.make_stream(&raw mut stream, 0), self.enter(0)), (0, 0, 0));
        stream
    }

    /// A call, counted from 1: the function and its arguments.
    pub fn line(&self, call: c_int) -> String {
        // SAFETY: the stand-in's texts end with a zero and stay.
        unsafe { CStr::from_ptr(self.line_at(call - 1)) }.to_string_lossy().into_owned()
    }

    /// All calls but those about the current device.
    pub fn lines(&self) -> Vec<String> {
        let all = (1..=self.calls()).map(|call| self.line(call));
        all.filter(|line| {
            !line.starts_with("hipGetDevice ") && line != "hipGetDevice" && !line.starts_with("hipSetDevice ")
        })
        .collect()
    }

    /// What was used wrongly first; empty if nothing was.
    pub fn misuse(&self) -> String {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(self.first_misuse()) }.to_string_lossy().into_owned()
    }
}
