//! Records: `benchmarks/record/<device>/<date>.csv`, one row per measurement, appended.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::folders;
use crate::machine::Origin;

/// Appends `rows` under `header`; date, CPU and commit come first in each. Returns the file.
pub(crate) fn append(origin: &Origin, header: &[&str], rows: &[Vec<String>]) -> Result<PathBuf> {
    let folder = folders::benchmarks().join("record").join(origin.device());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("{}.csv", origin.date));
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
pub(crate) fn last(origin: &Origin) -> Result<PathBuf> {
    last_in(&folders::benchmarks(), origin)
}

fn last_in(benchmarks: &Path, origin: &Origin) -> Result<PathBuf> {
    let folder = benchmarks.join("record").join(origin.device());
    let is_of_a_day = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() == "2026-01-31.csv".len() && name.ends_with(".csv")
    };
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_of_a_day).max().with_context(|| {
        // The script of `cargo xtask dist` measures the GPU unless told otherwise, the command the CPU.
        let (of_command, of_script) =
            if origin.gpu.is_some() { (" --backend cuda", "") } else { ("", " --backend cpu") };
        format!(
            "nothing to compare with: no record in {}; make one with `cargo xtask bench record{of_command}` (where there \
             is no Rust: `./run.sh bench record{of_script}`), or name one with --records FILE.csv",
            folder.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_record_it_is_said_how_to_make_one() {
        let origin = Origin {
            date: "2026-01-31".to_owned(),
            cpu: "Some(R) CPU".to_owned(),
            commit: "0".to_owned(),
            gpu: None,
        };
        let error = last_in(Path::new("no-such-folder"), &origin).unwrap_err().to_string();
        assert!(error.contains("some-cpu") && error.contains("`cargo xtask bench record`"), "{error}");
    }
}
