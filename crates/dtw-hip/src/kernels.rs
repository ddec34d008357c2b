//! Where compiled kernels come from.

use dtw_kernels::image::{Damaged, Image};
use dtw_kernels::images;
use dtw_native::gpu::OpenDevices;

/// Compiled kernels by architecture. There is one implementation, [`Embedded`]; the tests have another, because they
/// need no compiled kernels.
pub trait Kernels: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// The devices that this process has opened with these kernels.
    fn open_devices() -> &'static OpenDevices;

    /// The architectures that there are kernels for: `gfx90a` …
    fn chips() -> Vec<&'static str>;

    /// What to do where there are none; `None` where there are some.
    fn advice() -> Option<&'static str>;

    /// The image of a unit for an architecture, unpacked; `None` if there is none.
    ///
    /// # Errors
    /// [`Damaged`] for one that is not as it was built.
    fn image(chip: &str, unit: &str) -> Option<Result<Image, Damaged>>;
}

/// The kernels that `cargo xtask kernels hip` compiled before this program was.
#[derive(Debug)]
pub enum Embedded {}

static OPEN_DEVICES: OpenDevices = OpenDevices::new();

impl Kernels for Embedded {
    fn open_devices() -> &'static OpenDevices {
        &OPEN_DEVICES
    }

    fn chips() -> Vec<&'static str> {
        images::hip_chips().collect()
    }

    fn advice() -> Option<&'static str> {
        images::hip_advice()
    }

    fn image(chip: &str, unit: &str) -> Option<Result<Image, Damaged>> {
        images::hip_image(chip, unit)
    }
}
