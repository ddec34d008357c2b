//! Parameters that belong to some measures only, as options: made of the table of measures, where a parameter is said
//! once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use dtwave::measure::{Kind, Parameter, Range, Value};

use crate::words::unsigned_zero;

/// The option of a parameter, or of several measures' parameter of one name.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its long name. A switch is its measure's own: `edr-normalized`.
    pub(crate) name: &'static str,
    parameter: &'static Parameter,
    kinds: Vec<&'static Kind>,
}

/// Every such option, in the order of the table.
pub(crate) fn settings() -> &'static [Setting] {
    static SETTINGS: OnceLock<Vec<Setting>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let mut settings: Vec<Setting> = Vec::new();
        for kind in Kind::all() {
            for parameter in kind.parameters {
                let name = option(kind, parameter);
                match settings.iter_mut().find(|setting| setting.name == name) {
                    Some(setting) => setting.kinds.push(kind),
                    None => settings.push(Setting { name: name.leak(), parameter, kinds: vec![kind] }),
                }
            }
        }
        settings
    })
}

/// The long name of a parameter's option.
fn option(kind: &Kind, parameter: &Parameter) -> String {
    match parameter.switch() {
        Some(on) => format!("{}-{on}", kind.key),
        None => parameter.name.to_owned(),
    }
}

pub(crate) fn setting(kind: &Kind, parameter: &Parameter) -> &'static Setting {
    let name = option(kind, parameter);
    settings().iter().find(|setting| setting.name == name).expect("every parameter has an option")
}

/// Measures that accumulate a cost of which a root can be taken.
pub(super) fn rooted() -> Vec<&'static str> {
    Kind::all().iter().filter(|kind| kind.is_rooted).map(|kind| kind.key).collect()
}

/// A choice as options and results write it.
pub(crate) fn written(choice: &str) -> String {
    choice.replace('_', "-")
}

impl Setting {
    pub(crate) fn measures(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.key).collect()
    }

    /// What it is, which values it takes, and what it is unless given.
    fn help(&self) -> String {
        let of = |kind: &&'static Kind| kind.parameter(self.parameter.name).and_then(Parameter::usual);
        let mut help = self.parameter.text.to_owned();
        match self.parameter.range {
            Range::AtLeast(least) => help += &format!(", ≥ {least}"),
            Range::Above(least) => help += &format!(", > {least}"),
            _ => {}
        }
        if self.parameter.switch().is_some() {
            return help;
        }
        let needing: Vec<&str> =
            self.kinds.iter().filter(|kind| of(kind).is_none()).map(|kind| kind.key).collect();
        if needing.len() == self.kinds.len() {
            return help + " (required)";
        }
        if !needing.is_empty() {
            help += &format!(" (required by {})", needing.join(", "));
        }
        let mut defaults: Vec<(String, Vec<&str>)> = Vec::new();
        for kind in &self.kinds {
            let text = match of(kind) {
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Choice(choice)) => written(choice),
                _ => continue,
            };
            match defaults.iter_mut().find(|(known, _)| *known == text) {
                Some((_, keys)) => keys.push(kind.key),
                None => defaults.push((text, vec![kind.key])),
            }
        }
        for (text, keys) in defaults {
            help += &match keys.len() == self.kinds.len() {
                true => format!(" [default: {text}]"),
                false => format!(" [default of {}: {text}]", keys.join(", ")),
            };
        }
        help
    }

    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).help(self.help());
        if self.parameter.switch().is_some() {
            return argument.action(ArgAction::SetTrue);
        }
        let argument = argument.value_name(self.parameter.symbol);
        if self.parameter.choices.is_empty() {
            return argument.value_parser(value_parser!(f64)).allow_hyphen_values(true);
        }
        argument
            .value_parser(self.parameter.choices.iter().map(|choice| possible(choice)).collect::<Vec<_>>())
    }

    fn read(&self, matches: &ArgMatches) -> Option<Value> {
        if let Some(on) = self.parameter.switch() {
            return matches.get_flag(self.name).then_some(Value::Choice(on));
        }
        if self.parameter.choices.is_empty() {
            return matches.get_one::<f64>(self.name).map(|number| Value::Number(unsigned_zero(*number)));
        }
        let name = matches.get_one::<String>(self.name)?;
        let is_it = |choice: &&&str| possible(choice).matches(name, true);
        self.parameter.choices.iter().find(is_it).map(|choice| Value::Choice(choice))
    }
}

fn possible(choice: &str) -> PossibleValue {
    let value = PossibleValue::new(written(choice).leak() as &'static str);
    match choice {
        "squared_euclidean" => value.alias("sqeuclidean").help("Sum of squared differences"),
        "euclidean" => value.help("Root of the sum of squared differences"),
        "manhattan" => value.help("Sum of absolute differences"),
        _ => value,
    }
}

/// The parameters that were given, by the names of their options.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParameterArgs {
    given: BTreeMap<&'static str, Value>,
    /// Whether a root is taken of the accumulated cost.
    pub(crate) sqrt: bool,
}

impl ParameterArgs {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    pub(crate) fn value(&self, kind: &Kind, parameter: &Parameter) -> Option<Value> {
        self.given.get(setting(kind, parameter).name).copied()
    }
}

impl clap::Args for ParameterArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let root = Arg::new("sqrt").long("sqrt").help("Take the square root of the accumulated cost");
        let root = root.action(ArgAction::SetTrue);
        let arguments = settings().iter().map(Setting::argument).chain([root]);
        command.args(arguments.map(|argument| argument.help_heading("Parameters of measures")))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ParameterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = settings().iter().filter_map(|setting| Some((setting.name, setting.read(matches)?)));
        Ok(Self { given: given.collect(), sqrt: matches.get_flag("sqrt") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
