//! Records: `benchmarks/record/<device>/<date>[-<kind>].csv`, one row per measurement, appended.

use std::fs::OpenOptions;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::machine::Origin;

/// Appends `rows` under `header`; date, CPU and commit come first in each. Returns the file.
///
/// # Errors
/// When the file cannot be written, or exists with other columns.
pub(crate) fn append(origin: &Origin, kind: &str, header: &[&str], rows: &[Vec<String>]) -> Result<PathBuf> {
    let folder = crate::benchmarks().join("record").join(origin.device());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("{}{kind}.csv", origin.date));
    let header: Vec<&str> = ["date", "cpu", "commit"].iter().chain(header).copied().collect();
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(first) = old.lines().next() {
        anyhow::ensure!(
            first == header.join(","),
            "{} has other columns ({first}): move it away first",
            path.display()
        );
    }
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = csv::Writer::from_writer(file);
    if old.is_empty() {
        writer.write_record(&header)?;
    }
    // Commas would need quotes, which make the file harder to read by eye and by simple tools.
    let cpu = origin.cpu.replace(',', " ");
    for row in rows {
        let origin = [&origin.date, &cpu, &origin.commit];
        writer.write_record(origin.into_iter().chain(row))?;
    }
    writer.flush().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// The last record of this device: the greatest date.
///
/// # Errors
/// When there is none.
pub(crate) fn last(origin: &Origin) -> Result<PathBuf> {
    let folder = crate::benchmarks().join("record").join(origin.device());
    let is_of_a_day = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == "2026-01-31.csv".len() && name.ends_with(".csv")
    };
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_of_a_day).max().with_context(|| {
        format!("no record in {}: make one with `cargo xtask bench record`", folder.display())
    })
}
