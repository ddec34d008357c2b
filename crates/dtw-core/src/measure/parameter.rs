//! The parameters of measures: which values they take, which they have unless given, how tests draw them.

use crate::{Error, Result, bail_invalid};

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

/// Says which value a parameter was given, if any.
pub(super) type Given<'a> = dyn FnMut(&Parameter) -> Option<Value> + 'a;

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
    pub fn usual(&self) -> Option<Value> {
        self.choices.first().copied().map(Value::Choice).or(self.default.map(Value::Number))
    }

    /// The second of two values to choose from: as a switch, it is on or off.
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
    pub(crate) fn expected(&self) -> String {
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
    parameters: &'static [Parameter],
    name: &'static str,
    value: &mut Given<'_>,
) -> Result<S, &'static str> {
    let parameter = parameters.iter().find(|parameter| parameter.name == name).ok_or(name)?;
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
