//! permutations.toml as it is written.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::Result;

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
    /// Whether the fast sweeps do it where there are one channel and no band (kAbsorbs).
    #[serde(default)]
    pub(crate) absorbs: bool,
    /// Whether it is swept by soft.cuh: one channel, one strip, one row at a time, no band.
    #[serde(default)]
    pub(crate) shares: bool,
    /// Whether it is swept by blocks.cuh: with edges, one row at a time, no band.
    #[serde(default)]
    pub(crate) continues: bool,
}

/// Every functor × dtype × channels × shape of a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweeps {
    pub(crate) functors: Vec<String>,
    #[serde(default = "all_dtypes")]
    pub(crate) dtypes: Vec<String>,
    #[serde(default = "all_channels")]
    pub(crate) channels: Vec<String>,
    pub(crate) shapes: Vec<String>,
    /// A kernel that must not spill registers.
    #[serde(default)]
    pub(crate) hot: bool,
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
