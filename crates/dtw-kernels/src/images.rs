//! Compiled kernels, embedded: what `cargo xtask kernels cuda` built before this crate was compiled.

use crate::image::{Damaged, Image};

/// What became of the images of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
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
    #[must_use]
    pub fn advice(self) -> Option<&'static str> {
        match self {
            State::Built => None,
            State::Missing => {
                Some("kernels not built: run `cargo xtask kernels cuda`, then build this program again")
            }
            State::Stale => Some(
                "kernels not built: the compiled kernels are of other sources; run `cargo xtask kernels cuda`, then \
                 build this program again",
            ),
            State::NotAsked => {
                Some("kernels not built: dtw-kernels was compiled without its cargo feature `cuda`")
            }
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/images.rs"));

/// The images for NVIDIA GPUs: name of the unit and compressed fat binary; `None` unless [`cuda_state`] is
/// [`State::Built`].
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

/// Whether there are images for NVIDIA GPUs, and why not.
#[must_use]
pub fn cuda_state() -> State {
    CUDA_STATE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn images_are_all_there_or_there_is_advice() {
        assert_eq!(cuda().is_none(), cuda_state().advice().is_some());
        assert!(cuda_image("no unit").is_none());
        let Some(images) = cuda() else { return };
        let names: Vec<&str> = images.iter().map(|(name, _)| *name).collect();
        let units: Vec<&str> = catalog::source_units().iter().map(|unit| unit.name).collect();
        assert_eq!(names, units);
        for (name, packed) in images {
            let image = cuda_image(name).unwrap().unwrap();
            // What every fat binary begins with.
            assert_eq!(image.bytes()[..4], 0xba55_ed50_u32.to_le_bytes(), "{name}");
            assert!(packed.len() < image.bytes().len(), "{name}");
        }
    }

    #[test]
    fn advice_begins_with_what_is_wrong() {
        for state in [State::Missing, State::Stale, State::NotAsked] {
            assert!(state.advice().unwrap().starts_with("kernels not built: "), "{state:?}");
        }
    }
}
