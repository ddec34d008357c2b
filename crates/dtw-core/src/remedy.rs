//! What helps against an error: data, which each face of dtwave (Rust, the command, Python) puts into its own words.

use crate::Dtype;

/// Something that a caller can do about an error. [`crate::Error::remedies`] lists what helps, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Something outside of dtwave, as an imperative: `"install NVIDIA's driver"`.
    Do(&'static str),
    /// Another backend, by its name.
    Backend(&'static str),
    /// Values of another number type.
    Dtype(Dtype),
    /// A higher memory limit.
    MoreMemory,
    /// A build of dtwave with this cargo feature.
    Feature(&'static str),
    /// The series given twice, as x and as y, instead of once.
    BothSides,
    /// The expected alignment of Soft-DTW in place of a path.
    ExpectedAlignment,
}

impl Remedy {
    /// The CPU can.
    pub const CPU: &'static [Self] = &[Self::Backend("cpu")];

    /// The remedy in the words of the Rust library.
    pub fn in_rust(self) -> String {
        match self {
            Self::Do(what) => what.to_owned(),
            Self::Backend(name) => format!("use `Device::{name}()`"),
            Self::Dtype(dtype) => format!("use {dtype} values"),
            Self::MoreMemory => "allow more with `memory_limit` or `with_memory_limit`".to_owned(),
            Self::Feature(name) => format!("enable the cargo feature `{name}`"),
            Self::BothSides => "compute it with `Pairing::Cross`".to_owned(),
            Self::ExpectedAlignment => "use `expected_alignment` with soft_dtw".to_owned(),
        }
    }
}

/// Why something cannot be used, and what helps. Its text is in the words of the Rust library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// What is in the way.
    pub what: String,
    /// What helps.
    pub remedies: &'static [Remedy],
}

impl Obstacle {
    /// The text with the remedies in a face's own words.
    pub fn told(&self, words: impl Fn(Remedy) -> String) -> String {
        told(self.what.clone(), self.remedies, words)
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.told(Remedy::in_rust))
    }
}

/// `what`, then the remedies: `what; this, or that`. A remedy for which a face has no words is left out.
pub(crate) fn told(what: String, remedies: &[Remedy], words: impl Fn(Remedy) -> String) -> String {
    let said: Vec<_> =
        remedies.iter().map(|remedy| words(*remedy)).filter(|words| !words.is_empty()).collect();
    if said.is_empty() { what } else { format!("{what}; {}", said.join(", or ")) }
}
