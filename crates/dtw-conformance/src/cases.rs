//! The cases a backend is judged on: chosen by hand, generated deterministically.
//!
//! - [`series`]: the values;
//! - [`distances`]: lengths, bands, batches and values, for every measure;
//! - [`soft`]: measures that sum over all paths, at any γ;
//! - [`staircases`]: explicit ranges for bands;
//! - [`long`]: searches for long queries, at all scales, in series of many kinds, in little memory;
//! - [`tasks`]: gradients, alignments, paths and searches;
//! - [`random`]: strategies for property tests.

pub mod distances;
pub mod long;
pub mod random;
pub mod series;
pub mod soft;
pub mod staircases;
pub mod tasks;

use dtw_core::Pairing;

use crate::batch::Batch;
use crate::oracle::{Band, LocalCost, Measure};

/// One question to a backend: a measure in a band on some pairs of series.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// The measure and its parameters.
    pub measure: Measure,
    /// The band.
    pub band: Band,
    /// Which pairs.
    pub pairing: Pairing,
    /// First series of the pairs.
    pub x: Batch,
    /// Second series of the pairs; ignored for [`Pairing::SelfSymmetric`].
    pub y: Batch,
}

/// The fourteen keys, in the order of the documentation.
pub const KEYS: [&str; 14] = [
    "dtw",
    "ddtw",
    "wdtw",
    "wddtw",
    "adtw",
    "erp",
    "edr",
    "lcss",
    "msm",
    "twed",
    "soft_dtw",
    "soft_dtw_divergence",
    "log_gak",
    "subsequence_dtw",
];

/// The parameters every measure is tried with; the first are its usual ones.
///
/// Thresholds and penalties are dyadic, so that both precisions see the same ones.
///
/// # Panics
/// For a key that is not one of [`KEYS`].
pub fn variants(key: &str) -> Vec<Measure> {
    let costs = [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan];
    match key {
        "dtw" => costs.map(|cost| Measure::Dtw { cost }).into(),
        "ddtw" => costs.map(|cost| Measure::Ddtw { cost }).into(),
        "subsequence_dtw" => costs.map(|cost| Measure::SubsequenceDtw { cost }).into(),
        "wdtw" => [0.05, 0.0, 1.0].map(|g| Measure::Wdtw { g }).into(),
        "wddtw" => [0.05, 0.0, 1.0].map(|g| Measure::Wddtw { g }).into(),
        "adtw" => [1.0, 0.0, 0.25].map(|penalty| Measure::Adtw { penalty }).into(),
        "erp" => [0.0, 0.5, -2.0].map(|gap| Measure::Erp { gap }).into(),
        "edr" => vec![
            Measure::Edr { epsilon: 0.5, normalized: false },
            Measure::Edr { epsilon: 0.5, normalized: true },
            Measure::Edr { epsilon: 0.0, normalized: false },
        ],
        "lcss" => vec![
            Measure::Lcss { epsilon: 1.0 },
            Measure::LcssLength { epsilon: 1.0 },
            Measure::Lcss { epsilon: 0.0 },
        ],
        "msm" => [1.0, 0.0, 0.125].map(|c| Measure::Msm { c }).into(),
        "twed" => vec![
            Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 },
            Measure::Twed { nu: 0.0, lambda: 0.0, degree: 1.0 },
            Measure::Twed { nu: 0.5, lambda: 0.25, degree: 3.0 },
        ],
        "soft_dtw" => GAMMAS.map(|gamma| Measure::SoftDtw { gamma }).into(),
        "soft_dtw_divergence" => GAMMAS.map(|gamma| Measure::SoftDtwDivergence { gamma }).into(),
        "log_gak" => [1.0, 0.25, 20.0].map(|sigma| Measure::LogGak { sigma }).into(),
        other => panic!("no measure is called {other:?}"),
    }
}

/// Smoothing from very small to very large.
const GAMMAS: [f64; 5] = [1.0, 0.1, 1e-3, 30.0, 1e3];

impl Measure {
    /// Whether results jump at a threshold; such measures get values whose differences are exact in `f32`.
    pub(crate) fn has_threshold(&self) -> bool {
        matches!(self, Measure::Edr { .. } | Measure::Lcss { .. } | Measure::LcssLength { .. })
    }

    /// Whether explicit ranges may have no end that decreases: [`Band::check_order`].
    pub(crate) fn needs_order(&self) -> bool {
        self.has_threshold() || matches!(self, Measure::Erp { .. })
    }

    /// Whether `d(x, y) = d(y, x)`.
    pub(crate) fn is_symmetric(&self) -> bool {
        !matches!(self, Measure::SubsequenceDtw { .. })
    }

    /// Fewest points a series may have.
    pub(crate) fn min_length(&self) -> usize {
        if matches!(self, Measure::Ddtw { .. } | Measure::Wddtw { .. }) { 3 } else { 1 }
    }
}
