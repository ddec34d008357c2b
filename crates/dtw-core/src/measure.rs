//! What to compute, as data: the measure, its parameters, the band and the anchor.
//!
//! Exact definitions with equations and sources are in `docs/measures.md`.

mod kind;
mod table;

pub use kind::{Channels, Drawn, Kind, Parameter, Paths, Preparation, Range, Similarity, Value};

use crate::{Band, Result, bail_invalid};
use kind::Setting;

/// Everything that fixes the value of a distance between two given series.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The recurrence and its parameters.
    pub measure: Measure,
    /// The cells that may be visited.
    pub band: Band,
    /// Whether both ends of both series must be matched.
    pub anchor: Anchor,
}

/// Cost of matching one point with another; a point is a vector of channel values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum LocalCost {
    /// Sum over channels of squared differences.
    #[default]
    SquaredEuclidean,
    /// Square root of the sum of squared differences.
    Euclidean,
    /// Sum of absolute differences.
    Manhattan,
}

/// Where a warping path may start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Anchor {
    /// From the first points of both series to the last points of both.
    #[default]
    Global,
    /// All of `x` (the query) against any stretch of `y` (the reference).
    Subsequence,
}

/// What an EDR call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum EdrOutput {
    /// The number of edits.
    #[default]
    Count,
    /// The number of edits divided by `max(n, m)`.
    Normalized,
}

/// What an LCSS call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum LcssOutput {
    /// `1 − length / min(n, m)`.
    #[default]
    Distance,
    /// The length of the longest common subsequence.
    Length,
}

/// Makes the enum, its kinds, and what reads a measure's parameters, of the rows of the table.
macro_rules! define {
    (
        []
        $(
            $(#[doc = $doc:literal])*
            $key:ident $variant:ident $(as $base:ident)? $({
                $( $(#[$about:meta])* $field:ident: $type:ident { $($domain:tt)* } )*
            })? is { $($fact:ident: $is:expr),* }
            examples [$($example:expr),* $(,)?]
        )*
        ;
        $(
            $(#[doc = $what:literal])*
            anchored $other:ident $of:ident $row:ident { $anchor:ident } is { $($also:ident: $too:expr),* }
        )*
    ) => {
        /// An elastic measure with its parameters. Defaults, where the field has them, are the `DEFAULT_*` constants.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Measure {
            $(
                $(#[doc = $doc])*
                $variant $({
                    $( $(#[$about])* $field: $type, )*
                })?,
            )*
        }

        /// The rows, by key.
        #[expect(non_upper_case_globals, reason = "keys are written small")]
        mod rows {
            #[allow(clippy::enum_glob_use, reason = "examples are written without the name of the enum")]
            use super::Measure::*;
            use super::{Anchor, EdrOutput, LcssOutput, LocalCost, Measure};
            use super::kind::*;

            $(
                pub(super) const $key: Kind = Kind {
                    key: stringify!($key),
                    text: concat!($($doc),*),
                    recurrence: first!($($base)? $key),
                    parameters: &[$($(Parameter {
                        name: stringify!($field),
                        choices: <$type as Setting>::CHOICES,
                        $($domain)*,
                        ..Parameter::PLAIN
                    },)*)?],
                    examples: &[$($example),*],
                    measure: |value| {
                        let _ = &value;
                        Ok(Measure::$variant { $($(
                            $field: taken::<$type>(&$key, stringify!($field), value)?,
                        )*)? })
                    },
                    $($fact: $is,)*
                    ..Kind::PLAIN
                };
            )*
            $(
                pub(super) const $other: Kind = Kind {
                    key: stringify!($other),
                    text: concat!($($what),*),
                    anchor: Anchor::$anchor,
                    $($also: $too,)*
                    ..$row
                };
            )*
        }

        impl Kind {
            /// Every kind, in the order of the documentation.
            #[must_use]
            pub const fn all() -> &'static [Self] {
                const ALL: &[Kind] = &[$(rows::$key,)* $(rows::$other,)*];
                ALL
            }
        }

        impl Measure {
            /// What is known of it whatever its parameters.
            #[must_use]
            pub const fn kind(&self) -> &'static Kind {
                match self {
                    $( Self::$variant { .. } => { const KIND: &Kind = &rows::$key; KIND } )*
                }
            }

            /// Hands the value of each parameter, in the order of declaration, to `see`.
            fn each_value(&self, mut see: impl FnMut(Value)) {
                let _ = &mut see;
                match *self {
                    $( Self::$variant { $($($field),*)? } => { $($( see(Setting::value($field)); )*)? } )*
                }
            }
        }

        impl Spec {
            /// What is known of it whatever its parameters and band.
            #[must_use]
            pub const fn kind(&self) -> &'static Kind {
                match (self.anchor, self.measure) {
                    $( (Anchor::$anchor, Measure::$of { .. }) => { const KIND: &Kind = &rows::$other; KIND } )*
                    (_, measure) => measure.kind(),
                }
            }
        }
    };
}

/// The first name, as text.
macro_rules! first {
    ($name:ident $($more:ident)?) => {
        stringify!($name)
    };
}

crate::measures! { define [] }

impl Measure {
    /// Weight steepness of WDTW and WDDTW.
    pub const DEFAULT_G: f64 = 0.05;
    /// Penalty of ADTW.
    pub const DEFAULT_PENALTY: f64 = 1.0;
    /// Gap value of ERP.
    pub const DEFAULT_GAP: f64 = 0.0;
    /// Threshold of LCSS. EDR has no default: it depends on the data.
    pub const DEFAULT_EPSILON: f64 = 1.0;
    /// Split and merge cost of MSM.
    pub const DEFAULT_C: f64 = 1.0;
    /// Stiffness of TWED.
    pub const DEFAULT_NU: f64 = 0.001;
    /// Deletion penalty of TWED.
    pub const DEFAULT_LAMBDA: f64 = 1.0;
    /// Norm degree of TWED.
    pub const DEFAULT_DEGREE: f64 = 2.0;
    /// Smoothing of Soft-DTW and its divergence.
    pub const DEFAULT_GAMMA: f64 = 1.0;

    /// DTW with squared Euclidean cost.
    pub const DTW: Self = Self::Dtw { cost: LocalCost::SquaredEuclidean };

    /// Soft-DTW with squared Euclidean cost.
    #[must_use]
    pub const fn soft_dtw(gamma: f64) -> Self {
        Self::SoftDtw { gamma, cost: LocalCost::SquaredEuclidean }
    }

    /// The divergence of [`Measure::soft_dtw`].
    #[must_use]
    pub const fn soft_dtw_divergence(gamma: f64) -> Self {
        Self::SoftDtwDivergence { gamma, cost: LocalCost::SquaredEuclidean }
    }

    /// The measure's key, as in the documentation, on the command line and in golden files.
    pub const fn key(&self) -> &'static str {
        self.kind().key
    }

    /// Its parameters with their values, in the order of declaration.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static Parameter, Value)> {
        let mut values = Vec::new();
        self.each_value(|value| values.push(value));
        self.kind().parameters.iter().zip(values).collect()
    }

    /// What is done to a series before it is swept.
    #[must_use]
    pub const fn preparation(&self) -> Preparation {
        self.kind().preparation
    }

    /// Fewest points a series may have.
    pub const fn min_length(&self) -> usize {
        self.preparation().dropped() + 1
    }

    /// Whether the value is the cost of one best path, so that a warping path exists, for series of this many channels.
    pub const fn has_path(&self, channels: usize) -> bool {
        matches!(self.kind().paths, Paths::Best) && (!self.sums_channels() || channels == 1)
    }

    /// Whether the distance of series of several channels is the sum of the channels' distances, each warped on its
    /// own.
    pub const fn sums_channels(&self) -> bool {
        matches!(self.kind().channels, Channels::Summed)
    }

    /// Whether the value is differentiable and [`crate::Plan::gradients`] is defined.
    pub const fn has_gradient(&self) -> bool {
        self.kind().has_gradient
    }

    /// Whether series may have timestamps.
    #[must_use]
    pub const fn takes_times(&self) -> bool {
        self.kind().takes_times
    }

    /// Whether larger values mean more alike.
    pub fn is_similarity(&self) -> bool {
        match self.kind().similarity {
            Similarity::Never => false,
            Similarity::Always => true,
            Similarity::Where(choice) => {
                let mut is = false;
                self.each_value(|value| is |= value == Value::Choice(choice));
                is
            }
        }
    }

    /// Points left of a series of `length` points after preprocessing: what the sweep and the band see.
    pub const fn swept_length(&self, length: usize) -> usize {
        length.saturating_sub(self.preparation().dropped())
    }

    fn check(&self) -> Result<()> {
        let mut parameters = self.kind().parameters.iter();
        let mut checked = Ok(());
        self.each_value(|value| {
            if let (Ok(()), Some(parameter)) = (&checked, parameters.next()) {
                checked = parameter.check(self.key(), value);
            }
        });
        checked
    }
}

impl Spec {
    /// The measure over the full grid, both ends anchored.
    pub const fn new(measure: Measure) -> Self {
        Self { measure, band: Band::Full, anchor: Anchor::Global }
    }
    /// DTW of squared Euclidean cost, full grid.
    pub const fn dtw() -> Self {
        Self::new(Measure::DTW)
    }
    /// Subsequence DTW: all of the query against any stretch of the reference.
    pub const fn subsequence_dtw(cost: LocalCost) -> Self {
        Self { measure: Measure::Dtw { cost }, band: Band::Full, anchor: Anchor::Subsequence }
    }
    /// Soft-DTW of squared Euclidean cost, full grid.
    pub const fn soft_dtw(gamma: f64) -> Self {
        Self::new(Measure::soft_dtw(gamma))
    }
    /// This spec with this band.
    #[must_use]
    pub fn with_band(mut self, band: Band) -> Self {
        self.band = band;
        self
    }

    /// The key of what is computed: the measure's, or `subsequence_dtw`.
    pub const fn key(&self) -> &'static str {
        self.kind().key
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the parameter, its range and its value.
    pub fn check(&self) -> Result<()> {
        self.measure.check()?;
        self.band.check()?;
        if self.anchor == Anchor::Subsequence && !matches!(self.measure, Measure::Dtw { .. }) {
            bail_invalid!("a subsequence search is defined for dtw only, got {}", self.measure.key());
        }
        if let (Band::Ranges(ranges), true) = (&self.band, self.measure.kind().has_open_borders) {
            for (i, pair) in ranges.windows(2).enumerate() {
                if pair[1].start < pair[0].start || pair[1].end < pair[0].end {
                    bail_invalid!(
                        "{} needs explicit ranges of which neither end ever decreases: row {i} is {:?}, row {} is {:?}",
                        self.measure.key(),
                        pair[0],
                        i + 1,
                        pair[1]
                    );
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
