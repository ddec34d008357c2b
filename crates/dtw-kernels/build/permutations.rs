//! permutations.toml as it is written.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Deserializer};

use crate::Result;
use crate::kind::SweepKind;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Permutations {
    pub(crate) functors: BTreeMap<String, Functor>,
    #[serde(default)]
    pub(crate) groups: BTreeMap<String, Vec<String>>,
    pub(crate) sweep: Vec<Sweeps>,
    #[serde(default)]
    pub(crate) trace: Vec<Traces>,
    pub(crate) helpers: Helpers,
}

/// The C++ type of a recurrence.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Functor {
    /// `T` and `MANY` stand for the number type and whether there are several channels.
    pub(crate) r#type: String,
    /// Keys of dtw-core.
    pub(crate) measures: Vec<String>,
    #[serde(default = "all_channels")]
    pub(crate) channels: Vec<String>,
    /// The type that computes the same for series without timestamps, and is padding-safe; narrow and wide sweeps take it.
    pub(crate) untimed: Option<String>,
    /// Whether narrow, wide and diagonal sweeps do it (kPaddingSafe).
    #[serde(default)]
    pub(crate) padding_safe: bool,
}

/// Every functor × dtype × channels × shape of a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweeps {
    #[serde(deserialize_with = "kind")]
    pub(crate) kind: SweepKind,
    pub(crate) functors: Vec<String>,
    #[serde(default = "all_dtypes")]
    pub(crate) dtypes: Vec<String>,
    #[serde(default = "all_channels")]
    pub(crate) channels: Vec<String>,
    pub(crate) shapes: Vec<String>,
    /// Whether bands are honoured.
    #[serde(default)]
    pub(crate) band: bool,
    /// Kernels that must not spill registers.
    #[serde(default)]
    pub(crate) no_spills: bool,
}

/// Every functor × dtype × channels of a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traces {
    pub(crate) functors: Vec<String>,
    #[serde(default = "all_dtypes")]
    pub(crate) dtypes: Vec<String>,
    #[serde(default = "all_channels")]
    pub(crate) channels: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Helpers {
    pub(crate) typed: Vec<String>,
    pub(crate) untyped: Vec<String>,
}

fn kind<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<SweepKind, D::Error> {
    let name = String::deserialize(from)?;
    SweepKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = SweepKind::ALL.map(SweepKind::name).join(", ");
        serde::de::Error::custom(format!("there is no kind of sweep {name:?}; there are {names}"))
    })
}

fn all_dtypes() -> Vec<String> {
    ["f32", "f64"].map(String::from).to_vec()
}

fn all_channels() -> Vec<String> {
    ["one", "many"].map(String::from).to_vec()
}

pub(crate) fn read(path: &Path) -> Result<Permutations> {
    let text = std::fs::read_to_string(path)?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}
