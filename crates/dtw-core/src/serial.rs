//! What to compute and how a matrix is cut, as serde writes and reads them.
//!
//! A spec is the key of its measure, the numbers and choices of its parameters, and its band. In JSON:
//!
//! ```json
//! {"measure": "soft_dtw", "parameters": {"gamma": 0.5}, "band": {"sakoe_chiba": {"radius": {"fraction": 0.1}}}}
//! ```
//!
//! Parameters and bands that are left out are those of the command: a default where there is one, and every cell. What
//! is read is checked as what a program makes is.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::measure::{Kind, Value};
use crate::{Band, Error, Pairing, Result, Spec, TilePlan};

/// A parameter's value.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Given<'a> {
    Number(f64),
    Choice(std::borrow::Cow<'a, str>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecData<'a> {
    measure: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<std::borrow::Cow<'a, str>, Given<'a>>,
    #[serde(default, skip_serializing_if = "Band::is_full")]
    band: Band,
}

impl SpecData<'_> {
    fn spec(self) -> Result<Spec> {
        let Some(kind) = Kind::of(&self.measure) else {
            let keys: Vec<_> = Kind::keys().collect();
            return Err(Error::invalid(format!(
                "unknown measure `{}`; expected one of {}",
                self.measure,
                keys.join(", ")
            )));
        };
        let mut values = BTreeMap::new();
        for (name, given) in &self.parameters {
            let Some(parameter) = kind.parameter(name) else {
                let names: Vec<_> = kind.parameters.iter().map(|parameter| parameter.name).collect();
                let those = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(Error::invalid(format!(
                    "{} has no parameter `{name}`; it has {those}",
                    kind.key
                )));
            };
            let value = match given {
                Given::Number(number) if parameter.choices.is_empty() => Value::Number(*number),
                Given::Choice(choice) if !parameter.choices.is_empty() => parameter.choice(choice)?,
                _ => {
                    return Err(Error::invalid(format!(
                        "{} needs {name} {}",
                        kind.key,
                        parameter.expected()
                    )));
                }
            };
            values.insert(parameter.name, value);
        }
        let spec = kind.spec(|parameter| values.get(parameter.name).copied())?.with_band(self.band);
        spec.check()?;
        Ok(spec)
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut parameters = BTreeMap::new();
        let mut names = self.kind().parameters.iter().map(|parameter| parameter.name);
        self.measure.each_value(|value| {
            let given = match value {
                Value::Number(number) => Given::Number(number),
                Value::Choice(choice) => Given::Choice(choice.into()),
            };
            parameters.extend(names.next().map(|name| (name.into(), given)));
        });
        SpecData { measure: self.key().into(), parameters, band: self.band.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        SpecData::deserialize(deserializer)?.spec().map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TilePlanData {
    pairing: Pairing,
    rows: usize,
    columns: usize,
    side: usize,
}

impl Serialize for TilePlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (rows, columns) = self.shape();
        TilePlanData { pairing: self.pairing(), rows, columns, side: self.side() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TilePlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let TilePlanData { pairing, rows, columns, side } = TilePlanData::deserialize(deserializer)?;
        Self::read(pairing, rows, columns, side).map_err(D::Error::custom)
    }
}
