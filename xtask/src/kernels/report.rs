//! Registers, stack and spills of every kernel: read from what ptxas prints, kept as CSV, judged for those that must
//! not spill.

use std::path::Path;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog;

/// What one kernel takes on one chip.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    chip: String,
    symbol: String,
    registers: u32,
    stack_bytes: u32,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
}

impl Usage {
    /// One line for each, as [`Usage::from_line`] reads them.
    pub(crate) fn to_lines(all: &[Self]) -> String {
        all.iter().map(|usage| usage.line() + "\n").collect()
    }

    fn line(&self) -> String {
        let Self { chip, symbol, registers, stack_bytes, spill_store_bytes, spill_load_bytes } = self;
        format!("{chip},{symbol},{registers},{stack_bytes},{spill_store_bytes},{spill_load_bytes}")
    }

    fn from_line(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [chip, symbol, numbers @ ..] = &fields[..] else { return None };
        let numbers: Option<Vec<u32>> = numbers.iter().map(|number| number.parse().ok()).collect();
        let [registers, stack_bytes, spill_store_bytes, spill_load_bytes] = numbers?[..] else { return None };
        let (chip, symbol) = ((*chip).to_owned(), (*symbol).to_owned());
        Some(Self { chip, symbol, registers, stack_bytes, spill_store_bytes, spill_load_bytes })
    }

    fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes + self.spill_load_bytes
    }
}

/// Whether a line of ptxas is about a kernel's resources, and not a complaint.
pub(crate) fn is_usage(line: &str) -> bool {
    line.starts_with("ptxas info") || line.contains("bytes stack frame")
}

/// The number before `what`.
fn number_before(line: &str, what: &str) -> Option<u32> {
    let (before, _) = line.split_once(what)?;
    before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Reads what `ptxas -v` prints.
pub(crate) fn parse(text: &str) -> Vec<Usage> {
    let mut all: Vec<Usage> = Vec::new();
    for line in text.lines() {
        if line.contains("Compiling entry function") {
            let names: Vec<&str> = line.split('\'').collect();
            if let [_, symbol, _, chip, ..] = names[..] {
                all.push(Usage { chip: chip.to_owned(), symbol: symbol.to_owned(), ..Usage::default() });
            }
        }
        let Some(last) = all.last_mut() else { continue };
        if let Some(stack) = number_before(line, "bytes stack frame") {
            last.stack_bytes = stack;
            last.spill_store_bytes = number_before(line, "bytes spill stores").unwrap_or_default();
            last.spill_load_bytes = number_before(line, "bytes spill loads").unwrap_or_default();
        }
        if let Some(registers) = line.contains("Used ").then(|| number_before(line, "registers")).flatten() {
            last.registers = registers;
        }
    }
    all
}

/// Writes report.csv from the units' usage files, prints those that must not spill; an error if one does.
pub(crate) fn report(folder: &Path, chip: &str) -> Result<()> {
    let mut all = Vec::new();
    let mut unbuilt = 0;
    for unit in catalog::source_units() {
        match std::fs::read_to_string(folder.join(format!("{}.usage", unit.name))) {
            Ok(text) => {
                all.extend(text.lines().filter_map(Usage::from_line).filter(|usage| usage.chip == chip))
            }
            Err(_) => unbuilt += 1,
        }
    }
    let mut csv = String::from("chip,kernel,registers,stack_bytes,spill_store_bytes,spill_load_bytes\n");
    csv.push_str(&Usage::to_lines(&all));
    let path = folder.join("report.csv");
    std::fs::write(&path, csv).with_context(|| format!("cannot write {}", path.display()))?;

    let must_not_spill = |usage: &Usage| catalog::find(&usage.symbol).is_some_and(|kernel| kernel.no_spills);
    println!(
        "\n{:<52} {:>9} {:>7} {:>7}",
        format!("kernels without spills on {chip}"),
        "registers",
        "stack",
        "spills"
    );
    for usage in all.iter().filter(|usage| must_not_spill(usage)) {
        println!(
            "{:<52} {:>9} {:>7} {:>7}",
            usage.symbol,
            usage.registers,
            usage.stack_bytes,
            usage.spill_bytes()
        );
    }
    let (spilling, others): (Vec<&Usage>, Vec<&Usage>) =
        all.iter().filter(|usage| usage.spill_bytes() > 0).partition(|usage| must_not_spill(usage));
    println!("{} kernels on {chip}; {} others spill; all in {}", all.len(), others.len(), path.display());
    if unbuilt > 0 {
        println!("{unbuilt} units have never been built: nothing is embedded until all are");
    }
    if !spilling.is_empty() {
        let names: Vec<&str> = spilling.iter().map(|usage| usage.symbol.as_str()).collect();
        bail!(
            "kernels that permutations.toml wants without spills spill registers on {chip}: {}",
            names.join(", ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'dtw_a' for 'sm_90a'
ptxas info    : Function properties for dtw_a
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size
ptxas info    : Compiling entry function 'dtw_b' for 'sm_80'
ptxas info    : Function properties for dtw_b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 776 bytes cmem[0]
";

    #[test]
    fn usage_is_read() {
        let all = parse(SAID);
        assert_eq!(Usage::to_lines(&all), "sm_90a,dtw_a,40,16,12,8\nsm_80,dtw_b,255,0,0,0\n");
        assert_eq!(all[0].spill_bytes(), 20);
        assert!(SAID.lines().all(is_usage));
    }

    #[test]
    fn lines_are_read_back() {
        for usage in parse(SAID) {
            assert_eq!(Usage::from_line(&usage.line()), Some(usage));
        }
        assert_eq!(Usage::from_line("sm_90a,dtw_a,40"), None);
    }
}
