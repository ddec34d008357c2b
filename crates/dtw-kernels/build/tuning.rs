//! The files of tuning/ as Rust, for src/tuning.rs to include.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use crate::Result;
use crate::kind::SweepKind;
use crate::permutations::{Permutations, kind_of};

/// A file as it is written; src/tuning.rs says what the numbers mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tuning {
    device: Chip,
    build: Build,
    costs: Vec<Costs>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chip {
    schedulers: f64,
    registers: f64,
    most_registers: f64,
    most_blocks: f64,
    spread_blocks: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    unbounded_columns: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    kinds: Option<Vec<String>>,
    masked: Option<bool>,
    functors: Option<Vec<String>>,
    dtype: Option<String>,
    untimed: Option<bool>,
    below: Option<u32>,
    one_strip: Option<bool>,
    least_channels: Option<u32>,
    cell: f64,
    #[serde(default)]
    channel: f64,
    cell_latency: f64,
    row: f64,
    row_latency: f64,
    registers: [f64; 3],
    strip_lag: f64,
}

impl Tuning {
    /// Blocks that a multiprocessor must have room for, as kernels of this many columns a lane are compiled: 1 lets the
    /// compiler use all registers of a thread, 0 says nothing, which makes it use even more of them.
    pub(crate) fn least_blocks(&self, columns: u32) -> u32 {
        u32::from(!self.build.unbounded_columns.contains(&columns))
    }
}

/// Every file, by its name without ending.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<String, Tuning>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let text = std::fs::read_to_string(&path)?;
        let tuning = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        all.insert(name, tuning);
    }
    Ok(all)
}

/// A static for each file.
pub(crate) fn table(all: &BTreeMap<String, Tuning>, permutations: &Permutations) -> Result<String> {
    let mut text = String::new();
    for (name, tuning) in all {
        let Chip { schedulers, registers, most_registers, most_blocks, spread_blocks } = &tuning.device;
        let _ = writeln!(
            text,
            "/// Of tuning/{name}.toml.\npub static {}: Tuning = Tuning {{ name: {name:?}, schedulers: {schedulers:?}, \
             registers: {registers:?}, most_registers: {most_registers:?}, most_blocks: {most_blocks:?}, \
             spread_blocks: {spread_blocks}, rules: &[",
            name.to_uppercase()
        );
        for (number, costs) in tuning.costs.iter().enumerate() {
            let rule = rule(costs, permutations)
                .map_err(|error| format!("tuning/{name}.toml: row {} of costs: {error}", number + 1))?;
            let _ = writeln!(text, "{rule},");
        }
        text.push_str("] };\n");
        let last = tuning.costs.last().ok_or_else(|| format!("tuning/{name}.toml has no costs"))?;
        if !last.is_for_all() {
            return Err(format!(
                "tuning/{name}.toml: the last row of costs has conditions; it is for all kernels"
            )
            .into());
        }
    }
    Ok(text)
}

impl Costs {
    fn is_for_all(&self) -> bool {
        self.kinds.is_none()
            && self.masked.is_none()
            && self.functors.is_none()
            && self.dtype.is_none()
            && self.untimed.is_none()
            && self.below.is_none()
            && self.one_strip.is_none()
            && self.least_channels.is_none()
    }
}

fn rule(costs: &Costs, permutations: &Permutations) -> Result<String> {
    let kinds: Option<Vec<SweepKind>> = costs
        .kinds
        .as_ref()
        .map(|names| names.iter().map(|name| kind_of(name)).collect::<Result<_>>())
        .transpose()?;
    let kinds = kinds
        .map(|kinds| kinds.iter().map(|kind| format!("SweepKind::{kind:?}")).collect::<Vec<_>>().join(", "));
    if let Some(key) = costs.functors.iter().flatten().find(|key| !permutations.functors.contains_key(*key)) {
        return Err(format!("permutations.toml has no functor {key:?}").into());
    }
    if let Some(dtype) = costs.dtype.as_ref().filter(|dtype| !["f32", "f64"].contains(&dtype.as_str())) {
        return Err(format!("dtype is \"f32\" or \"f64\", not {dtype:?}").into());
    }
    let all = |list: Option<String>| list.map_or("None".to_owned(), |list| format!("Some(&[{list}])"));
    Ok(format!(
        "Rule {{ kinds: {}, masked: {:?}, functors: {}, dtype: {:?}, untimed: {:?}, below: {:?}, one_strip: {:?}, \
         least_channels: {:?}, costs: Costs {{ cell: {:?}, channel: {:?}, cell_latency: {:?}, row: {:?}, row_latency: {:?}, registers: {:?}, strip_lag: {:?} }} }}",
        all(kinds),
        costs.masked,
        all(costs.functors.as_ref().map(|keys| format!("{keys:?}").trim_matches(['[', ']']).to_owned())),
        costs.dtype,
        costs.untimed,
        costs.below,
        costs.one_strip,
        costs.least_channels,
        costs.cell,
        costs.channel,
        costs.cell_latency,
        costs.row,
        costs.row_latency,
        costs.registers,
        costs.strip_lag,
    ))
}
