//! What is known of a measure before it has values for its parameters: its key, which parameters it takes, and how it
//! behaves.

use std::fmt;

use super::{Anchor, EdrOutput, LcssOutput, LocalCost, Measure, Spec};
use crate::{Band, Error, Result, bail_invalid};

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
    pub(super) measure: fn(&mut Given<'_>) -> Result<Measure, &'static str>,
}

/// Says which value a parameter was given, if any.
pub(super) type Given<'a> = dyn FnMut(&Parameter) -> Option<Value> + 'a;

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
    #[must_use]
    pub const fn margin(self) -> usize {
        match self {
            Self::None => 0,
            Self::Derivative => 1,
        }
    }

    /// Points that it takes away.
    #[must_use]
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

/// A parameter of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name: that of the field, and of the option on the command line.
    pub name: &'static str,
    /// As formulas write it.
    pub symbol: &'static str,
    /// What it is, in a few words.
    pub text: &'static str,
    /// Which numbers it may be.
    pub range: Range,
    /// The number that it is unless given.
    pub default: Option<f64>,
    /// The values to choose from where it is no number; the first is the default.
    pub choices: &'static [&'static str],
    /// How tests draw numbers for it.
    pub drawn: Drawn,
}

/// Numbers that a parameter may be; always finite ones.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Range {
    /// Any.
    Finite,
    /// This and above.
    AtLeast(f64),
    /// Above this.
    Above(f64),
}

/// How tests draw a parameter at random.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Drawn {
    /// Multiples of 1/8, from so many to so many: exact in every precision, so that all see the same one.
    Eighths(i32, i32),
    /// Whole numbers, from and to.
    Whole(i32, i32),
    /// Numbers in this interval.
    Evenly(f64, f64),
    /// Powers of ten with exponents in this interval.
    PowersOfTen(f64, f64),
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A number.
    Number(f64),
    /// One of [`Parameter::choices`].
    Choice(&'static str),
}

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
    #[must_use]
    pub fn of(key: &str) -> Option<&'static Self> {
        Self::all().iter().find(|kind| kind.key == key)
    }

    /// Every key.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        Self::all().iter().map(|kind| kind.key)
    }

    /// The measure with these values, on the full grid. Where `value` has none the default stands in.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a parameter without a value and a default, a value that is no choice of its parameter,
    /// and as [`Spec::check`].
    pub fn spec(&self, mut value: impl FnMut(&Parameter) -> Option<Value>) -> Result<Spec> {
        let measure = (self.measure)(&mut value).map_err(|name| {
            let parameter = self.parameter(name);
            let expected = parameter.map_or_else(String::new, |p| format!(" {}", p.expected()));
            Error::invalid(format!("{} needs {name}{expected}, which has no default", self.key))
        })?;
        let spec = Spec { measure, band: Band::Full, anchor: self.anchor };
        spec.check()?;
        Ok(spec)
    }

    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The usual spec of this kind and others, to try things on.
    pub fn specs(&self) -> impl Iterator<Item = Spec> {
        let anchor = self.anchor;
        self.examples.iter().map(move |&measure| Spec { measure, band: Band::Full, anchor })
    }

    /// Whether `d(x, y) = d(y, x)`.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.anchor == Anchor::Global
    }

    /// Whether the value is the cost of one best path from end to end, for series of this many channels.
    #[must_use]
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

impl Parameter {
    /// A number, any, required: what rows of the table leave out.
    pub(super) const PLAIN: Self = Self {
        name: "",
        symbol: "",
        text: "",
        range: Range::Finite,
        default: None,
        choices: &[],
        drawn: Drawn::Evenly(0.0, 1.0),
    };

    /// What it is unless given; `None` if it has to be.
    #[must_use]
    pub fn usual(&self) -> Option<Value> {
        self.choices.first().copied().map(Value::Choice).or(self.default.map(Value::Number))
    }

    /// The second of two values to choose from: as a switch, it is on or off.
    #[must_use]
    pub fn switch(&self) -> Option<&'static str> {
        match self.choices {
            [_, on] => Some(on),
            _ => None,
        }
    }

    /// The choice of this name.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the names that there are.
    pub fn choice(&self, name: &str) -> Result<Value> {
        match self.choices.iter().find(|choice| **choice == name) {
            Some(choice) => Ok(Value::Choice(choice)),
            None => Err(Error::invalid(format!(
                "unknown {} `{name}`; expected one of {}",
                self.name,
                self.choices.join(", ")
            ))),
        }
    }

    /// What values are expected.
    fn expected(&self) -> String {
        match self.range {
            _ if !self.choices.is_empty() => format!("to be one of {}", self.choices.join(", ")),
            Range::Finite => String::from("to be a finite number"),
            Range::AtLeast(least) => format!(">= {least}"),
            Range::Above(least) => format!("> {least}"),
        }
    }

    pub(super) fn check(&self, key: &str, value: Value) -> Result<()> {
        let Value::Number(number) = value else { return Ok(()) };
        let name = self.name;
        let (is_within, bound) = match self.range {
            Range::Finite if number.is_finite() => return Ok(()),
            Range::Finite => bail_invalid!("{key} needs a finite {name}, got {number}"),
            Range::AtLeast(least) => (number >= least, format_args!(">= {least}").to_string()),
            Range::Above(least) => (number > least, format_args!("> {least}").to_string()),
        };
        if number.is_finite() && is_within {
            return Ok(());
        }
        bail_invalid!("{key} needs {name} {bound}, got {number}")
    }
}

/// The value of this parameter of a measure under construction; its name where there is none of its type.
pub(super) fn taken<S: Setting>(
    kind: &Kind,
    name: &'static str,
    value: &mut Given<'_>,
) -> Result<S, &'static str> {
    let parameter = kind.parameter(name).ok_or(name)?;
    value(parameter).or(parameter.usual()).and_then(S::of).ok_or(name)
}

/// The type of a parameter.
pub(super) trait Setting: Copy {
    /// Names of its values; none for numbers.
    const CHOICES: &'static [&'static str] = &[];
    fn value(self) -> Value;
    fn of(value: Value) -> Option<Self>;
}

impl Setting for f64 {
    fn value(self) -> Value {
        Value::Number(self)
    }
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(number),
            Value::Choice(_) => None,
        }
    }
}

/// Names the values of an option; the default is the first.
macro_rules! choices {
    ($($type:ident { $($name:literal => $variant:ident),* })*) => {
        $(
            impl Setting for $type {
                const CHOICES: &'static [&'static str] = &[$($name),*];
                fn value(self) -> Value {
                    Value::Choice(match self { $(Self::$variant => $name),* })
                }
                fn of(value: Value) -> Option<Self> {
                    match value {
                        $(Value::Choice($name) => Some(Self::$variant),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}

choices! {
    LocalCost { "squared_euclidean" => SquaredEuclidean, "euclidean" => Euclidean, "manhattan" => Manhattan }
    EdrOutput { "count" => Count, "normalized" => Normalized }
    LcssOutput { "distance" => Distance, "length" => Length }
}
