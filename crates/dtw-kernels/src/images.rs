//! Compiled kernels, embedded: what `cargo xtask kernels` built before this crate was compiled.

use crate::catalog::Vendor;
pub use crate::hip_chips::HIP_CHIPS;
use crate::image::{Damaged, Image};

/// What became of the images of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the build writes those that hold")]
enum State {
    /// They are here.
    Built,
    /// They had not been built when this crate was compiled, or not all of them.
    Missing,
    /// They had been built, but from other sources than this crate's.
    Stale,
    /// The cargo feature that embeds them was off.
    NotAsked,
}

impl State {
    /// What to do, for an error message; `None` when all is well.
    fn advice(self, vendor: Vendor) -> Option<&'static str> {
        // Texts are whole here, so that they can be looked for.
        let texts = match vendor {
            Vendor::Cuda => [
                "kernels not built: run `cargo xtask kernels cuda`, then build this program again",
                "kernels not built: the compiled kernels are of other sources; run `cargo xtask kernels cuda`, then \
                 build this program again",
                "kernels not built: dtw-kernels was compiled without its cargo feature `cuda`",
            ],
            Vendor::Hip => [
                "kernels not built: run `cargo xtask kernels hip`, then build this program again",
                "kernels not built: the compiled kernels are of other sources; run `cargo xtask kernels hip`, then \
                 build this program again",
                "kernels not built: dtw-kernels was compiled without its cargo feature `hip`",
            ],
        };
        match self {
            State::Built => None,
            State::Missing => Some(texts[0]),
            State::Stale => Some(texts[1]),
            State::NotAsked => Some(texts[2]),
        }
    }
}

/// The name of a unit, and its image, compressed.
type Packed = (&'static str, &'static [u8]);

include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The images for NVIDIA GPUs: name of the unit and compressed fat binary; `None` if there is [`cuda_advice`].
#[must_use]
pub fn cuda() -> Option<&'static [(&'static str, &'static [u8])]> {
    matches!(CUDA_STATE, State::Built).then_some(CUDA)
}

/// The image of a unit for NVIDIA GPUs, unpacked now; `None` if there is none.
///
/// # Errors
///
/// [`Damaged`] if the program's file has been changed since it was built.
pub fn cuda_image(unit: &str) -> Option<Result<Image, Damaged>> {
    let (_, packed) = cuda()?.iter().find(|(name, _)| *name == unit)?;
    Some(Image::unpack(packed))
}

/// Why there are no images for NVIDIA GPUs, and what to do; `None` if there are.
#[must_use]
pub fn cuda_advice() -> Option<&'static str> {
    CUDA_STATE.advice(Vendor::Cuda)
}

/// The chips of AMD's that there are images for: those of [`HIP_CHIPS`] that were built.
pub fn hip_chips() -> impl Iterator<Item = &'static str> {
    HIP.iter().map(|(chip, _)| *chip)
}

/// The image of a unit for one of [`hip_chips`], unpacked now; `None` if there is none.
///
/// # Errors
///
/// [`Damaged`] if the program's file has been changed since it was built.
pub fn hip_image(chip: &str, unit: &str) -> Option<Result<Image, Damaged>> {
    let (_, images) = HIP.iter().find(|(name, _)| *name == chip)?;
    let (_, packed) = images.iter().find(|(name, _)| *name == unit)?;
    Some(Image::unpack(packed))
}

/// Why there are no images for AMD's GPUs, and what to do; `None` if there are some.
#[must_use]
pub fn hip_advice() -> Option<&'static str> {
    HIP_STATE.advice(Vendor::Hip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    /// The names of all units.
    fn units() -> Vec<&'static str> {
        catalog::source_units().iter().map(|unit| unit.name).collect()
    }

    #[test]
    fn images_are_all_there_or_there_is_advice() {
        assert_eq!(cuda().is_none(), cuda_advice().is_some());
        assert!(cuda_image("no unit").is_none());
        let Some(images) = cuda() else { return };
        let names: Vec<&str> = images.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, units());
        for (name, packed) in images {
            let image = cuda_image(name).unwrap().unwrap();
            // What every fat binary begins with.
            assert_eq!(image.bytes()[..4], 0xba55_ed50_u32.to_le_bytes(), "{name}");
            assert!(packed.len() < image.bytes().len(), "{name}");
        }
    }

    #[test]
    fn a_chip_has_images_of_all_units() {
        assert_eq!(hip_chips().count() == 0, hip_advice().is_some());
        assert!(hip_image("gfx000", units()[0]).is_none());
        for chip in hip_chips() {
            assert!(HIP_CHIPS.contains(&chip), "{chip}");
            assert!(hip_image(chip, "no unit").is_none(), "{chip}");
            for unit in units() {
                let image = hip_image(chip, unit).unwrap().unwrap();
                // What every object begins with, and where it says the machine: AMD's GPUs are 224.
                assert_eq!(image.bytes()[..4], *b"\x7fELF", "{chip} {unit}");
                assert_eq!(image.bytes()[18..20], 224_u16.to_le_bytes(), "{chip} {unit}");
            }
        }
    }

    #[test]
    fn advice_begins_with_what_is_wrong() {
        for state in [State::Missing, State::Stale, State::NotAsked] {
            for (vendor, name) in [(Vendor::Cuda, "cuda`"), (Vendor::Hip, "hip`")] {
                let advice = state.advice(vendor).unwrap();
                assert!(advice.starts_with("kernels not built: ") && advice.contains(name), "{advice}");
            }
        }
    }
}
