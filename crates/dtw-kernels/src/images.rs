//! Compiled kernels, embedded: what `cargo xtask kernels cuda` built before this crate was compiled.

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

/// The images for NVIDIA GPUs: name of the unit and fat binary; `None` unless [`cuda_state`] is [`State::Built`].
#[must_use]
pub fn cuda() -> Option<&'static [(&'static str, &'static [u8])]> {
    matches!(CUDA_STATE, State::Built).then_some(CUDA)
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
        let Some(images) = cuda() else { return };
        let names: Vec<&str> = images.iter().map(|(name, _)| *name).collect();
        let units: Vec<&str> = catalog::source_units().iter().map(|unit| unit.name).collect();
        assert_eq!(names, units);
        for (name, image) in images {
            assert!(!image.is_empty() && image.as_ptr().addr().is_multiple_of(16), "{name}");
        }
    }

    #[test]
    fn advice_begins_with_what_is_wrong() {
        for state in [State::Missing, State::Stale, State::NotAsked] {
            assert!(state.advice().unwrap().starts_with("kernels not built: "), "{state:?}");
        }
    }
}
