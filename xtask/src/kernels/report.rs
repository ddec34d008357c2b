//! What every kernel takes: registers, stack, spills. Kept as CSV, judged for kernels that must not spill.

use std::path::Path;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog;

/// What one kernel takes on one chip, in the columns of a compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) chip: String,
    pub(crate) symbol: String,
    pub(crate) numbers: Vec<u32>,
}

/// What a compiler says of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) names: &'static [&'static str],
    /// Those that are not 0 if registers spill.
    pub(crate) spills: &'static [&'static str],
}

impl Usage {
    /// One line for each, as [`Usage::from_line`] reads them.
    pub(crate) fn to_lines(all: &[Self]) -> String {
        all.iter().map(|usage| usage.line() + "\n").collect()
    }

    fn line(&self) -> String {
        let numbers: String = self.numbers.iter().map(|number| format!(",{number}")).collect();
        format!("{},{}{numbers}", self.chip, self.symbol)
    }

    fn from_line(line: &str, columns: Columns) -> Option<Self> {
        let mut fields = line.split(',');
        let (chip, symbol) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        let numbers: Vec<u32> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        (numbers.len() == columns.names.len()).then_some(Self { chip, symbol, numbers })
    }

    fn spills(&self, columns: Columns) -> bool {
        let named = columns.names.iter().zip(&self.numbers);
        named.into_iter().any(|(name, number)| columns.spills.contains(name) && *number > 0)
    }
}

/// The number before `what`.
pub(crate) fn number_before(line: &str, what: &str) -> Option<u32> {
    let (before, _) = line.split_once(what)?;
    before.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Writes report.csv from the units' usage files and prints the kernels that must not spill; an error if one does and
/// `judged` says that this counts.
pub(crate) fn report(folder: &Path, chip: &str, columns: Columns, judged: bool) -> Result<()> {
    let mut all = Vec::new();
    let mut unbuilt = 0;
    for unit in catalog::source_units() {
        match std::fs::read_to_string(folder.join(format!("{}.usage", unit.name))) {
            Ok(text) => {
                let usages = text.lines().filter_map(|line| Usage::from_line(line, columns));
                all.extend(usages.filter(|usage| usage.chip == chip));
            }
            Err(_) => unbuilt += 1,
        }
    }
    let csv = format!("chip,kernel,{}\n{}", columns.names.join(","), Usage::to_lines(&all));
    let path = folder.join("report.csv");
    std::fs::write(&path, csv).with_context(|| format!("cannot write {}", path.display()))?;

    let must_not_spill = |usage: &Usage| catalog::find(&usage.symbol).is_some_and(|kernel| kernel.no_spills);
    if judged {
        println!("\nkernels without spills on {chip}: {}", columns.names.join(","));
        for usage in all.iter().filter(|usage| must_not_spill(usage)) {
            println!("{}", usage.line());
        }
    }
    let (spilling, others): (Vec<&Usage>, Vec<&Usage>) =
        all.iter().filter(|usage| usage.spills(columns)).partition(|usage| judged && must_not_spill(usage));
    println!("{} kernels on {chip}; {} others spill; all in {}", all.len(), others.len(), path.display());
    if unbuilt > 0 {
        println!("{unbuilt} units are not built there: images of a device are embedded once all of them are");
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

    const COLUMNS: Columns = Columns { names: &["registers", "spilled"], spills: &["spilled"] };

    #[test]
    fn lines_are_read_back() {
        let usage = Usage { chip: "gfx942".to_owned(), symbol: "dtw_a".to_owned(), numbers: vec![40, 0] };
        assert_eq!(Usage::to_lines(std::slice::from_ref(&usage)), "gfx942,dtw_a,40,0\n");
        assert_eq!(Usage::from_line("gfx942,dtw_a,40,0", COLUMNS), Some(usage.clone()));
        assert!(!usage.spills(COLUMNS));
        assert!(Usage { numbers: vec![40, 3], ..usage }.spills(COLUMNS));
        assert_eq!(Usage::from_line("gfx942,dtw_a,40", COLUMNS), None);
        assert_eq!(Usage::from_line("gfx942,dtw_a,40,x", COLUMNS), None);
    }

    #[test]
    fn numbers_are_found() {
        assert_eq!(number_before("    16 bytes stack frame, 12 bytes spill stores", "bytes spill"), Some(12));
        assert_eq!(number_before("none", "bytes"), None);
    }
}
