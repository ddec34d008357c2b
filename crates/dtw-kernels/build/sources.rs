//! Which kernels share a source file, the text of those files, and a number that changes with the sources.

use std::path::Path;

use crate::Result;
use crate::expand::{Kernel, Pass};
use crate::kind::SweepKind;

/// Columns that one source file unrolls, about; more and it is split, so that parallel builds end together.
const MOST_COLUMNS: u32 = 64;

/// A generated source file.
pub(crate) struct Unit<'a> {
    pub(crate) name: String,
    pub(crate) kernels: Vec<&'a Kernel>,
}

impl Unit<'_> {
    /// The header that it includes.
    pub(crate) fn header(&self) -> &'static str {
        let is_of_blocks = |kernel: &&Kernel| kernel.pass == Pass::Sweep(SweepKind::Block);
        if self.kernels.iter().any(is_of_blocks) { BLOCKS } else { "kernels.cuh" }
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("#include \"{}\"\n\n", self.header());
        for kernel in &self.kernels {
            text.push_str(&kernel.source);
            text.push('\n');
        }
        text
    }
}

/// The units of these kernels, by name.
pub(crate) fn units(kernels: &[Kernel]) -> Vec<Unit<'_>> {
    let mut all: Vec<Unit<'_>> = Vec::new();
    for kernel in kernels {
        let channels = if kernel.many { "many" } else { "one" };
        let stem = match kernel.pass {
            Pass::Sweep(kind @ (SweepKind::Block | SweepKind::Soft)) => {
                format!("{}_{}_{}_{channels}", kernel.key, kind.name(), kernel.dtype)
            }
            Pass::Sweep(_) => format!("{}_{}_{channels}", kernel.key, kernel.dtype),
            Pass::Other("Trace") => format!("trace_{}_{channels}", kernel.dtype),
            Pass::Other("Walk") => "walk".to_owned(),
            Pass::Other(_) => format!("series_{}", kernel.dtype),
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
                all.push(Unit { name, kernels: vec![kernel] });
            }
        }
    }
    all
}

/// `stem` or `stem_2`, `stem_3`, ...
fn is_piece(name: &str, stem: &str) -> bool {
    let number = name.strip_prefix(stem).map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// The header of the kernels of blocks, which no others include: editing it leaves their images as they are.
const BLOCKS: &str = "sweeps/block.cuh";

/// Headers that no device's image is made of: editing them leaves compiled images as they are.
const HOST_ONLY: &[&str] = &["vendor/host.cuh", "vendor/fibers.h"];

/// Of the headers in the folder that devices compile: their names and texts.
pub(crate) struct Headers {
    /// Of those that all units include.
    common: u64,
    /// Of [`BLOCKS`].
    blocks: u64,
}

pub(crate) fn hash_of_headers(folder: &Path) -> Result<Headers> {
    let mut files = Vec::new();
    gather(folder, &mut files)?;
    files.sort();
    let (mut common, mut blocks) = (Hash::new(), Hash::new());
    for path in files {
        let name = path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
        if HOST_ONLY.contains(&name.as_str()) {
            continue;
        }
        let hash = if name == BLOCKS { &mut blocks } else { &mut common };
        hash.add(name.as_bytes());
        hash.add(&std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?);
    }
    Ok(Headers { common: common.0, blocks: blocks.0 })
}

fn gather(folder: &Path, files: &mut Vec<std::path::PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "cuh" || e == "h") {
            files.push(path);
        }
    }
    Ok(())
}

/// Of a unit: its text and the headers that it includes.
pub(crate) fn hash_of_unit(unit: &Unit<'_>, headers: &Headers) -> u64 {
    let mut hash = Hash(headers.common);
    hash.add(unit.text().as_bytes());
    if unit.header() == BLOCKS {
        hash.add(&headers.blocks.to_le_bytes());
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
