//! Which measures and parameters a command takes: what its help and completions show.
//!
//! The options of measures are declared once, for all commands. Here each command keeps what it can use; the rest is
//! hidden, and refused with a reason where it is given.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;

use super::{MEASURES, ROOTED, parse};

/// The options that belong to some measures only, with these measures.
pub(crate) const PARAMETERS: [(&str, &[&str]); 14] = [
    ("cost", &["dtw", "ddtw", "subsequence_dtw"]),
    ("gamma", &["soft_dtw", "soft_dtw_divergence"]),
    ("g", &["wdtw", "wddtw"]),
    ("penalty", &["adtw"]),
    ("gap", &["erp"]),
    ("epsilon", &["edr", "lcss"]),
    ("edr-normalized", &["edr"]),
    ("lcss-length", &["lcss"]),
    ("c", &["msm"]),
    ("nu", &["twed"]),
    ("lambda", &["twed"]),
    ("degree", &["twed"]),
    ("sigma", &["log_gak"]),
    ("sqrt", ROOTED),
];

/// The measures that a command can use, and the options of measures that mean nothing to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    pub(crate) measures: &'static [&'static str],
    pub(crate) without: &'static [&'static str],
}

impl Offer {
    /// Every measure, every parameter.
    pub(crate) const ALL: Offer = Offer { measures: &MEASURES, without: &[] };
}

/// Shows in `command` what `offer` allows.
pub(crate) fn offered(command: clap::Command, offer: Offer) -> clap::Command {
    command.mut_args(|arg| {
        let name = arg.get_id().as_str().replace('_', "-");
        if name == "measure" {
            return arg.value_parser(MeasureKey(offer.measures)).hide(offer.measures.len() < 2);
        }
        let Some((_, measures)) = PARAMETERS.into_iter().find(|(option, _)| *option == name) else {
            return arg;
        };
        let own: Vec<&str> = measures.iter().copied().filter(|m| offer.measures.contains(m)).collect();
        let is_hidden = own.is_empty() || offer.without.contains(&&*name);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = if offer.measures.len() > 1 { format!("{}: {help}", own.join(", ")) } else { help };
        arg.help(help).hide(is_hidden)
    })
}

/// Reads a measure's key, whichever; shows those that the command offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeasureKey(pub(super) &'static [&'static str]);

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
        Some(Box::new(self.0.iter().map(|key| PossibleValue::new(*key))))
    }
}
