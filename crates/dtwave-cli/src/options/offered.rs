//! Which measures and parameters a command takes: what its help and completions show.
//!
//! The options of measures are declared once, for all commands. Here each command keeps what it can use; the rest is
//! hidden, and refused with a reason where it is given.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;

use dtwave::measure::Kind;

use super::parameters::{rooted, settings};
use super::parse;

/// The measures that a command can use, and the options of measures that mean nothing to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// Whether it can use measures of this kind.
    pub(crate) takes: fn(&Kind) -> bool,
    pub(crate) without: &'static [&'static str],
}

impl Offer {
    /// Every measure, every parameter.
    pub(crate) const ALL: Offer = Offer { takes: |_| true, without: &[] };
}

/// The keys of these measures.
fn keys(takes: fn(&Kind) -> bool) -> impl Iterator<Item = &'static str> {
    Kind::all().iter().filter(move |kind| takes(kind)).map(|kind| kind.key)
}

/// Shows in `command` what `offer` allows.
pub(crate) fn offered(command: clap::Command, offer: Offer) -> clap::Command {
    let measures: Vec<&str> = keys(offer.takes).collect();
    command.mut_args(|arg| {
        let name = arg.get_id().as_str().replace('_', "-");
        if name == "measure" {
            return arg.value_parser(MeasureKey(offer.takes)).hide(measures.len() < 2);
        }
        let having = match settings().iter().find(|setting| setting.name == name) {
            Some(setting) => setting.measures(),
            None if name == "sqrt" => rooted(),
            None => return arg,
        };
        let own: Vec<&str> = having.into_iter().filter(|key| measures.contains(key)).collect();
        let is_hidden = own.is_empty() || offer.without.contains(&&*name);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = if measures.len() > 1 { format!("{}: {help}", own.join(", ")) } else { help };
        arg.help(help).hide(is_hidden)
    })
}

/// Reads a measure's key, whichever; shows those that the command offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeasureKey(pub(super) fn(&Kind) -> bool);

impl TypedValueParser for MeasureKey {
    type Value = &'static str;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let text = value.to_string_lossy();
        let error = |text: String| clap::Error::raw(ErrorKind::ValueValidation, text).with_cmd(command);
        parse::measure_key(&text).map_err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(keys(self.0).map(PossibleValue::new)))
    }
}
