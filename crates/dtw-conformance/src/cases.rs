//! The cases a backend is judged on: chosen by hand, generated deterministically.
//!
//! - [`series`]: the values;
//! - [`distances`]: lengths, bands, batches and values, for every measure;
//! - [`extremes`]: values and parameters at the edges of the number type;
//! - [`soft`]: measures that sum over all paths, at any γ;
//! - [`staircases`]: explicit ranges for bands;
//! - [`long`]: searches for long queries, at all scales, in series of many kinds, in little memory;
//! - [`tasks`]: gradients, alignments, paths and searches;
//! - [`random`]: strategies for property tests.

pub mod distances;
pub mod extremes;
pub mod gradient_digits;
pub mod halves;
pub mod long;
pub mod random;
pub mod series;
pub mod soft;
pub mod staircases;
pub mod tasks;

use dtw_core::measure::Kind;
use dtw_core::{Band, Pairing, Spec};

use crate::batch::Batch;

/// Channels round the edges of what kernels keep in registers, in shared memory and in products of matrices.
pub const MANY_CHANNELS: [usize; 8] = [8, 11, 12, 16, 17, 33, 64, 100];

/// One question to a backend: a measure in a band on some pairs of series.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// What to compute.
    pub spec: Spec,
    /// Which pairs.
    pub pairing: Pairing,
    /// First series of the pairs.
    pub x: Batch,
    /// Second series of the pairs; ignored for [`Pairing::SelfSymmetric`].
    pub y: Batch,
}

impl Case {
    /// Zipped pairs in a band.
    pub fn zipped(name: String, spec: &Spec, band: &Band, [x, y]: [Batch; 2]) -> Self {
        Case { name, spec: spec.clone().with_band(band.clone()), pairing: Pairing::Zipped, x, y }
    }
}

/// The specs that a key is tried with; the first has its usual parameters. Thresholds and penalties are dyadic, so that
/// both precisions see the same ones.
///
/// # Panics
/// For a key that is not in the table of measures.
pub fn variants(key: &str) -> Vec<Spec> {
    kind(key).specs().collect()
}

/// What is known of a key.
///
/// # Panics
/// As [`variants`].
pub(crate) fn kind(key: &str) -> &'static Kind {
    Kind::of(key).unwrap_or_else(|| panic!("no measure is called {key:?}"))
}

/// The kinds of measures that have a path, at least for one channel.
pub(crate) fn with_path() -> impl Iterator<Item = &'static Kind> {
    Kind::all().iter().filter(|kind| kind.has_path(1))
}
