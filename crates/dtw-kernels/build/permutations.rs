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
    /// Sweeps in tiles, forward and backward.
    #[serde(default)]
    pub(crate) tiles: Vec<Tiles>,
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
    /// The type that computes the same for series without timestamps, and is padding-safe; narrow and wide sweeps take
    /// it.
    pub(crate) untimed: Option<String>,
    /// Whether narrow, wide and diagonal sweeps do it (kPaddingSafe).
    #[serde(default)]
    pub(crate) padding_safe: bool,
    /// Whether these do it, though it has borders (kBorders).
    #[serde(default)]
    pub(crate) bordered: bool,
    /// The value of the measures' option that it is for.
    pub(crate) choice: Option<String>,
    /// Numbers that make a state.
    #[serde(default = "one")]
    pub(crate) parts: usize,
    /// What a point costs to delete.
    #[serde(default)]
    pub(crate) gaps: Gaps,
    /// Whether cells have weights, which come in a table.
    #[serde(default)]
    pub(crate) weights: bool,
    /// The functor of what the costs add to a sum over all paths.
    pub(crate) excess: Option<String>,
    /// The functor of a search that does not ask where matches start.
    pub(crate) costs: Option<String>,
    /// The functor of the Euclidean and the Manhattan cost.
    pub(crate) norm: Option<String>,
}

impl Functor {
    /// The functors that stand in for it.
    fn substitutes(&self) -> impl Iterator<Item = &String> {
        [&self.excess, &self.costs, &self.norm].into_iter().flatten()
    }
}

/// What a point costs to delete; the names are those of `Gaps` in src/catalog.rs.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gaps {
    #[default]
    None,
    Erp,
    Twed,
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
    /// Numbers of channels that have kernels of their own, for kinds of a few channels.
    #[serde(default)]
    pub(crate) counts: Vec<u32>,
    pub(crate) shapes: Vec<String>,
    /// Whether bands are honoured.
    #[serde(default)]
    pub(crate) band: bool,
    /// Of diagonal sweeps: shapes hold more than half as many offsets as they have places, those of four lanes any
    /// number from three on. Others lack one or two a lane at most.
    #[serde(default)]
    pub(crate) coarse: bool,
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

/// Every functor × dtype × channels of a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tiles {
    pub(crate) functors: Vec<String>,
    #[serde(default = "all_channels")]
    pub(crate) channels: Vec<String>,
    pub(crate) costs: TileCosts,
}

/// What cells cost that are swept in tiles: native/tiles/costs.cuh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TileCosts {
    Squared,
    Norm,
    Kernel,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Helpers {
    pub(crate) typed: Vec<String>,
    /// For floats alone.
    pub(crate) floats: Vec<String>,
    pub(crate) untyped: Vec<String>,
}

fn kind<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<SweepKind, D::Error> {
    kind_of(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

/// The kind of this name.
pub(crate) fn kind_of(name: &str) -> Result<SweepKind> {
    Ok(name.parse::<SweepKind>()?)
}

impl Permutations {
    /// The functors that measures are computed by: those that stand in for no other.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = (&String, &Functor)> {
        self.functors.iter().filter(|(key, _)| {
            !self.functors.values().any(|other| other.substitutes().any(|named| named == *key))
        })
    }

    /// Whether functors name functors, and no two compute the same.
    fn check(&self) -> Result<()> {
        for (key, functor) in &self.functors {
            if let Some(unknown) = functor.substitutes().find(|named| !self.functors.contains_key(*named)) {
                return Err(format!("permutations.toml: {key} names {unknown}, which is no functor").into());
            }
        }
        let chosen: Vec<_> = self.chosen().collect();
        for (at, (key, functor)) in chosen.iter().enumerate() {
            let same = |(_, other): &&(&String, &Functor)| {
                let both = functor.measures.iter().any(|measure| other.measures.contains(measure));
                both && (other.choice == functor.choice || other.choice.is_none() || functor.choice.is_none())
            };
            if let Some((other, _)) = chosen[at + 1..].iter().find(same) {
                return Err(format!("permutations.toml: {key} and {other} compute the same measure").into());
            }
        }
        Ok(())
    }
}

fn one() -> usize {
    1
}

pub(crate) fn all_dtypes() -> Vec<String> {
    ["f32", "f64"].map(String::from).to_vec()
}

pub(crate) fn all_channels() -> Vec<String> {
    ["one", "many"].map(String::from).to_vec()
}

pub(crate) fn read(path: &Path) -> Result<Permutations> {
    let text = std::fs::read_to_string(path)?;
    let permutations: Permutations =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    permutations.check()?;
    Ok(permutations)
}
