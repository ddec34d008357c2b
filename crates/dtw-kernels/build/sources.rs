//! Which kernels share a source file, the text of those files, and a number that changes with the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Result;
use crate::expand::{Kernel, Role};
use crate::kind::SweepKind;

/// Columns that one source file unrolls, about; more and it is split, so that parallel builds end together.
const MOST_COLUMNS: u32 = 64;

/// A generated source file.
pub(crate) struct Unit<'a> {
    pub(crate) name: String,
    pub(crate) kernels: Vec<&'a Kernel>,
    /// The headers that it includes, in order.
    pub(crate) includes: Vec<String>,
}

impl Unit<'_> {
    /// Its text.
    pub(crate) fn text(&self) -> String {
        let mut text: String = self.includes.iter().map(|name| format!("#include \"{name}\"\n")).collect();
        text.push('\n');
        for kernel in &self.kernels {
            text.push_str(&kernel.source);
            text.push('\n');
        }
        text
    }
}

/// The units of these kernels, by name.
pub(crate) fn units<'a>(kernels: &'a [Kernel], headers: &Headers) -> Result<Vec<Unit<'a>>> {
    let mut all: Vec<Unit<'_>> = Vec::new();
    for kernel in kernels {
        let channels = if kernel.many { "many" } else { "one" };
        let stem = match kernel.role {
            Role::Sweep(
                kind @ (SweepKind::Block
                | SweepKind::Soft
                | SweepKind::SoftDiagonal
                | SweepKind::Few
                | SweepKind::Priced),
            ) => {
                format!("{}_{}_{}_{channels}", kernel.key, kind.name(), kernel.dtype)
            }
            Role::Sweep(_) => format!("{}_{}_{channels}", kernel.key, kernel.dtype),
            Role::Other("Trace") => format!("trace_{}_{channels}", kernel.dtype),
            Role::Other("SoftForward" | "SoftBackward") => {
                format!("{}_tiles_{}_{channels}", kernel.key, kernel.dtype)
            }
            Role::Other("Walk") => "walk".to_owned(),
            Role::Other("Propose" | "Confirm") => "propose".to_owned(),
            Role::Other("Combine") => format!("combine_{}", kernel.dtype),
            Role::Other("Total") => format!("total_{}", kernel.dtype),
            Role::Other(_) => format!("series_{}", kernel.dtype),
        };
        let pieces = all.iter().filter(|unit| is_piece(&unit.name, &stem)).count();
        let last = all.iter_mut().rev().find(|unit| is_piece(&unit.name, &stem));
        match last {
            Some(unit)
                if unit.kernels.iter().map(|k| k.columns).sum::<u32>() + kernel.columns <= MOST_COLUMNS =>
            {
                unit.kernels.push(kernel);
            }
            _ => {
                let name = if pieces == 0 { stem } else { format!("{stem}_{}", pieces + 1) };
                all.push(Unit { name, kernels: vec![kernel], includes: Vec::new() });
            }
        }
    }
    for unit in &mut all {
        unit.includes = includes(&unit.kernels, headers)?;
    }
    Ok(all)
}

/// The headers of the recurrences that these kernels name, then that of their macros.
fn includes(kernels: &[&Kernel], headers: &Headers) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    for kernel in kernels {
        let Some((_, recurrence)) = kernel.source.split_once("(dtw::") else { continue };
        let recurrence = recurrence.split('<').next().unwrap_or_default();
        let header = headers.defining(recurrence).ok_or_else(|| {
            format!(
                "no header in native/recurrence defines struct {recurrence}, which permutations.toml names"
            )
        })?;
        names.insert(header.to_owned());
    }
    let is_of_blocks = |kernel: &&Kernel| kernel.role == Role::Sweep(SweepKind::Block);
    let is_priced = |kernel: &&Kernel| kernel.role == Role::Sweep(SweepKind::Priced);
    let is_soft = |kernel: &&Kernel| kernel.role == Role::Sweep(SweepKind::Soft);
    let is_soft_diagonal = |kernel: &&Kernel| kernel.role == Role::Sweep(SweepKind::SoftDiagonal);
    let has_few = |kernel: &&Kernel| kernel.role == Role::Sweep(SweepKind::Few);
    let is_of_tiles = |kernel: &&Kernel| kernel.shared_bytes > 0;
    let combines = |kernel: &&Kernel| kernel.role == Role::Other("Combine");
    let sums = |kernel: &&Kernel| kernel.role == Role::Other("Total");
    let proposes = |kernel: &&Kernel| kernel.role == Role::Other("Propose");
    let macros = match kernels {
        kernels if kernels.iter().any(proposes) => PROPOSE,
        kernels if kernels.iter().any(is_of_blocks) => BLOCKS,
        kernels if kernels.iter().any(is_priced) => PRICED,
        kernels if kernels.iter().any(is_soft) => SOFT,
        kernels if kernels.iter().any(is_soft_diagonal) => SOFT_DIAGONAL,
        kernels if kernels.iter().any(has_few) => FEW,
        kernels if kernels.iter().any(is_of_tiles) => TILES,
        kernels if kernels.iter().any(combines) => COMBINE,
        kernels if kernels.iter().any(sums) => TOTAL,
        _ => "kernels.cuh",
    };
    Ok(names.into_iter().chain([macros.to_owned()]).collect())
}

/// `stem` or `stem_2`, `stem_3`, ...
fn is_piece(name: &str, stem: &str) -> bool {
    let number = name.strip_prefix(stem).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// The header of the kernels of blocks, which no others include.
const BLOCKS: &str = "sweeps/block.cuh";

/// The header of the kernels of searches in half precision, which no others include.
const PROPOSE: &str = "sweeps/propose.cuh";

/// The header of the kernels of priced strips, which no others include.
const PRICED: &str = "sweeps/priced.cuh";

/// The header of the kernels of soft sweeps, which no others include.
const SOFT: &str = "sweeps/soft.cuh";

/// The header of the kernels of soft sweeps in a band, which no others include.
const SOFT_DIAGONAL: &str = "sweeps/soft_diagonal.cuh";

/// The header of the kernels of a few channels, which no others include.
const FEW: &str = "sweeps/few.cuh";

/// The header of the kernels that sweep in tiles.
pub(crate) const TILES: &str = "tiles/soft.cuh";

/// The header of the kernels that put results together, which no others include.
const COMBINE: &str = "passes/combine.cuh";

/// The header of the kernels that sum rows, which no others include.
const TOTAL: &str = "passes/total.cuh";

/// Headers of one vendor alone, or of the processor: editing them leaves the images of others as they are.
const OF_ONE: &[(&str, &[&str])] = &[
    (
        "host",
        &[
            "vendor/host.cuh",
            "vendor/host_block.cuh",
            "vendor/host_doubles.cuh",
            "vendor/host_half.cuh",
            "vendor/host_kernel.h",
            "vendor/amdgcn.h",
            "vendor/fibers.h",
        ],
    ),
    (
        "cuda",
        &["vendor/cuda.cuh", "vendor/cuda_block.cuh", "vendor/cuda_doubles.cuh", "vendor/cuda_half.cuh"],
    ),
    (
        "hip",
        &[
            "vendor/hip.cuh",
            "vendor/hip_block.cuh",
            "vendor/hip_doubles.cuh",
            "vendor/hip_half.cuh",
            "vendor/hip_math.cuh",
            "vendor/functions.cuh",
        ],
    ),
];

/// The headers in native/: their paths from there, and their texts.
pub(crate) struct Headers(BTreeMap<String, String>);

impl Headers {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut headers = BTreeMap::new();
        gather(folder, folder, &mut headers)?;
        Ok(Self(headers))
    }

    /// The recurrence header that defines this type.
    fn defining(&self, name: &str) -> Option<&str> {
        let starts = |line: &str| {
            let rest = line.strip_prefix("struct ").and_then(|rest| rest.strip_prefix(name));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let mut recurrences = self.0.iter().filter(|(path, _)| path.starts_with("recurrence/"));
        recurrences.find(|(_, text)| text.lines().any(starts)).map(|(path, _)| path.as_str())
    }

    /// These headers and all that they include, each once.
    fn reached<'a>(&'a self, from: &'a [String]) -> BTreeMap<&'a str, &'a str> {
        let mut reached = BTreeMap::new();
        let mut open: Vec<String> = from.to_vec();
        while let Some(name) = open.pop() {
            // What is not there is a vendor's that is still to come.
            let Some((name, text)) = self.0.get_key_value(&name) else { continue };
            if reached.insert(name.as_str(), text.as_str()).is_none() {
                let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
                let included = text.lines().filter_map(|line| line.trim().strip_prefix("#include \""));
                let included = included.filter_map(|rest| rest.split_once('"'));
                open.extend(included.map(|(path, _)| self.resolved(folder, path)));
            }
        }
        reached
    }

    /// The path from native/ of a header that one in `folder` includes: from there, or else from native/.
    fn resolved(&self, folder: &str, path: &str) -> String {
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let beside = parts.join("/");
        if self.0.contains_key(&beside) { beside } else { path.to_owned() }
    }
}

fn gather(root: &Path, folder: &Path, headers: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(root, &path, headers)?;
        } else if path.extension().is_some_and(|e| e == "cuh" || e == "h") {
            let name = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            let text = std::fs::read_to_string(&path);
            headers.insert(name, text.map_err(|error| format!("cannot read {}: {error}", path.display()))?);
        }
    }
    Ok(())
}

/// Of a unit as a vendor's compiler sees it ("cuda", "hip"): its text and all headers that it reaches, so that a new
/// recurrence leaves other units' images as they are.
pub(crate) fn hash_of_unit(unit: &Unit<'_>, headers: &Headers, vendor: &str) -> u64 {
    let mut hash = Hash::new();
    hash.add(unit.text().as_bytes());
    let is_of_another =
        |name: &str| OF_ONE.iter().any(|(owner, names)| *owner != vendor && names.contains(&name));
    for (name, text) in headers.reached(&unit.includes) {
        if !is_of_another(name) {
            hash.add(name.as_bytes());
            hash.add(text.as_bytes());
        }
    }
    hash.0
}

/// FNV-1a: it has to notice edits, not enemies, and must not change with the compiler's version.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        // The length first, so that neighbours cannot trade bytes.
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
