//! Measures, as data: their parameters, and what is known of each kind.
//!
//! Exact definitions with equations and sources are in `docs/measures.md`.

mod parameter;
mod table;

use std::fmt;

pub use parameter::{Drawn, EdrOutput, LcssOutput, LocalCost, Parameter, Range, Value};
use parameter::{Given, Setting};

use crate::{Anchor, Result};

/// A row of the table of measures. [`Kind::all`] has one for each key.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Kind {
    /// The key, as in the documentation, on the command line and in files.
    pub key: &'static str,
    /// What it is, and its source, as the documentation of [`Measure`] says it: a line, or several of which each begins
    /// with a space.
    pub text: &'static str,
    /// The key of the measure whose recurrence it is: its own, or another's that runs on prepared series or as a part.
    pub recurrence: &'static str,
    /// Which ends are free.
    pub anchor: Anchor,
    /// What it is told, in the order of declaration.
    pub parameters: &'static [Parameter],
    /// Measures of this kind to try things on; the first has the usual parameters.
    pub examples: &'static [Measure],
    /// What is done to a series before it is swept.
    pub preparation: Preparation,
    /// Whose cost the value is.
    pub paths: Paths,
    /// How several channels are warped.
    pub channels: Channels,
    /// Whether larger values mean more alike.
    pub similarity: Similarity,
    /// Whether [`crate::Plan::gradients`] is defined.
    pub has_gradient: bool,
    /// Whether it adds up costs of which a root may be taken.
    pub is_rooted: bool,
    /// Whether cells beside a band matter: paths may run along the border row and column, or only matches are
    /// restricted. Explicit ranges then need ends that never decrease.
    pub has_open_borders: bool,
    /// Whether results jump where a distance crosses a threshold.
    pub has_threshold: bool,
    /// Whether series may have timestamps.
    pub takes_times: bool,
    /// Whether steps that commute leave several best paths, between which rounding decides.
    pub commutes: bool,
    pub(crate) measure: fn(&mut Given<'_>) -> Result<Measure, &'static str>,
}

/// What is done to a series before it is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preparation {
    /// Nothing.
    #[default]
    None = 0,
    /// The derivative of Keogh and Pazzani, which drops both end points.
    Derivative = 1,
}

impl Preparation {
    /// Points that it takes away at each end.
    pub const fn margin(self) -> usize {
        match self {
            Self::None => 0,
            Self::Derivative => 1,
        }
    }

    /// Points that it takes away.
    pub const fn dropped(self) -> usize {
        2 * self.margin()
    }
}

/// Whose cost a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Paths {
    /// That of one best path.
    Best,
    /// A sum over all paths.
    All,
}

/// How series of several channels are warped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Channels {
    /// By one path.
    Together,
    /// Each on its own; the distances are added.
    Summed,
}

/// Whether larger values mean more alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Similarity {
    /// No: they are distances.
    Never,
    /// Yes.
    Always,
    /// Where an option has this value.
    Where(&'static str),
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
            use super::{Anchor, Channels, EdrOutput, Kind, LcssOutput, LocalCost, Measure, Paths, Preparation, Similarity};
            use super::parameter::{Drawn, Parameter, Range, Setting, taken};

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
                            $field: taken::<$type>($key.parameters, stringify!($field), value)?,
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
            pub const fn all() -> &'static [Self] {
                const ALL: &[Kind] = &[$(rows::$key,)* $(rows::$other,)*];
                ALL
            }
        }

        impl Measure {
            /// What is known of it whatever its parameters.
            pub const fn kind(&self) -> &'static Kind {
                match self {
                    $( Self::$variant { .. } => { const KIND: &Kind = &rows::$key; KIND } )*
                }
            }

            /// What is known of it with this anchor, whatever its parameters.
            pub(crate) const fn anchored(&self, anchor: Anchor) -> &'static Kind {
                match (anchor, self) {
                    $( (Anchor::$anchor, Self::$of { .. }) => { const KIND: &Kind = &rows::$other; KIND } )*
                    _ => self.kind(),
                }
            }

            /// Hands the value of each parameter, in the order of declaration, to `see`.
            pub(crate) fn each_value(&self, mut see: impl FnMut(Value)) {
                let _ = &mut see;
                match *self {
                    $( Self::$variant { $($($field),*)? } => { $($( see(Setting::value($field)); )*)? } )*
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

impl Kind {
    /// DTW in all but name: what rows of the table leave out.
    pub(super) const PLAIN: Self = Self {
        key: "",
        text: "",
        recurrence: "",
        anchor: Anchor::Global,
        parameters: &[],
        examples: &[],
        preparation: Preparation::None,
        paths: Paths::Best,
        channels: Channels::Together,
        similarity: Similarity::Never,
        has_gradient: false,
        is_rooted: false,
        has_open_borders: false,
        has_threshold: false,
        takes_times: false,
        commutes: false,
        measure: |_| Err(""),
    };

    /// The kind with this key.
    pub fn of(key: &str) -> Option<&'static Self> {
        Self::all().iter().find(|kind| kind.key == key)
    }

    /// Every key.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        Self::all().iter().map(|kind| kind.key)
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Whether `d(x, y) = d(y, x)`.
    pub fn is_symmetric(&self) -> bool {
        self.anchor == Anchor::Global
    }

    /// Whether the value is the cost of one best path from end to end, for series of this many channels.
    pub fn has_path(&self, channels: usize) -> bool {
        self.anchor == Anchor::Global
            && matches!(self.paths, Paths::Best)
            && (channels == 1 || matches!(self.channels, Channels::Together))
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

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
    pub const fn soft_dtw(gamma: f64) -> Self {
        Self::SoftDtw { gamma, cost: LocalCost::SquaredEuclidean }
    }

    /// The divergence of [`Measure::soft_dtw`].
    pub const fn soft_dtw_divergence(gamma: f64) -> Self {
        Self::SoftDtwDivergence { gamma, cost: LocalCost::SquaredEuclidean }
    }

    /// The measure's key, as in the documentation, on the command line and in golden files.
    pub const fn key(&self) -> &'static str {
        self.kind().key
    }

    /// Its parameters with their values, in the order of declaration.
    pub fn parameters(&self) -> Vec<(&'static Parameter, Value)> {
        let mut values = Vec::new();
        self.each_value(|value| values.push(value));
        self.kind().parameters.iter().zip(values).collect()
    }

    /// What is done to a series before it is swept.
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

    /// Checks every parameter.
    pub(crate) fn check(&self) -> Result<()> {
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

#[cfg(test)]
mod tests;
