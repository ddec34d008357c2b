//! Compiling units side by side, and only those that changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::{self, Unit};
use dtw_kernels::image::pack;

use super::compiler::Compiler;
use super::report::{self, Usage};
use crate::command::root;

/// How the names of compressed images end.
const IMAGE: &str = "fatbin.xz";

/// How to build.
pub(crate) struct Plan<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) flags: &'a [String],
    /// Where images go.
    pub(crate) folder: &'a Path,
    pub(crate) jobs: usize,
}

/// Builds what is not there yet. A unit that fails does not stop the others; all failures are reported at the end.
pub(crate) fn build(plan: &Plan<'_>, units: &[&Unit]) -> Result<()> {
    let mut open: Vec<&Unit> = units.iter().copied().filter(|unit| !plan.is_built(unit)).collect();
    println!("{} of {} units to compile, {} at a time", open.len(), units.len(), plan.jobs.min(open.len()));
    // Those that take longest first, so that the last ones are short.
    open.sort_by_key(|unit| std::cmp::Reverse(weight(unit)));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.min(open.len()) {
            scope.spawn(|| {
                while let Some(unit) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    let result = plan.compile(unit);
                    let number = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let said = if result.is_ok() { "" } else { "  FAILED" };
                    let secs = began.elapsed().as_secs_f64();
                    println!("[{number}/{}] {} ({secs:.1} s){said}", open.len(), unit.name);
                    if let Err(error) = result {
                        failures.lock().expect("no thread panics").insert(unit.name, error);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    for (name, error) in &failures {
        eprintln!("\n{name}: {error:#}");
    }
    if !failures.is_empty() {
        bail!("{} of {} units failed", failures.len(), units.len());
    }
    Ok(())
}

/// Columns unrolled: what compilation time grows with.
fn weight(unit: &Unit) -> u32 {
    catalog::kernels().iter().filter(|kernel| kernel.unit == unit.name).map(|kernel| 4 + kernel.columns).sum()
}

/// Whether the unit's image is there and was made of these sources, with whatever flags.
pub(crate) fn is_of_these_sources(folder: &Path, unit: &Unit) -> bool {
    let stamp = std::fs::read_to_string(folder.join(format!("{}.stamp", unit.name))).unwrap_or_default();
    stamp.lines().next() == Some(sources_line(unit).as_str())
        && folder.join(format!("{}.{IMAGE}", unit.name)).is_file()
}

/// The first line of a stamp, which dtw-kernels compares when it embeds the image (its build/images.rs).
fn sources_line(unit: &Unit) -> String {
    format!("sources {:016x}", unit.hash)
}

/// Removes images of units that are not listed any more, and what was left when a compilation was interrupted.
pub(crate) fn sweep_out(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((unit, extension)) = name.split_once('.') else { continue };
        let ours = [IMAGE, "stamp", "usage", "cu"].contains(&extension);
        if (ours && catalog::source(unit).is_none()) || extension == "fatbin" {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

impl Plan<'_> {
    fn path(&self, unit: &Unit, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", unit.name))
    }

    /// What an image was made of. The first line is what dtw-kernels compares (its build/images.rs).
    fn stamp(&self, unit: &Unit) -> String {
        format!(
            "sources {:016x}\nnvcc {}\nflags {}\n",
            unit.hash,
            self.compiler.version,
            self.flags.join(" ")
        )
    }

    fn is_built(&self, unit: &Unit) -> bool {
        let stamp = std::fs::read_to_string(self.path(unit, "stamp"));
        stamp.is_ok_and(|stamp| stamp == self.stamp(unit))
            && self.path(unit, IMAGE).is_file()
            && self.path(unit, "usage").is_file()
    }

    fn compile(&self, unit: &Unit) -> Result<()> {
        let (stamp, source, image) =
            (self.path(unit, "stamp"), self.path(unit, "cu"), self.path(unit, "fatbin"));
        let packed = self.path(unit, IMAGE);
        // No stamp while the image is being written: what is interrupted is built again.
        if stamp.exists() {
            std::fs::remove_file(&stamp)?;
        }
        std::fs::write(&source, unit.source)?;
        let output = Command::new(&self.compiler.nvcc)
            .args(self.flags)
            .arg("-I")
            .arg(root().join("crates/dtw-kernels/native"))
            .arg("-o")
            .args([&image, &source])
            .output()
            .with_context(|| format!("cannot start {}", self.compiler.nvcc.display()))?;
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            // Without the resource usage of the kernels that went well.
            let text: Vec<&str> = said.lines().filter(|line| !report::is_usage(line)).take(60).collect();
            bail!("nvcc failed ({}):\n{}", output.status, text.join("\n"));
        }
        std::fs::write(&packed, pack(&std::fs::read(&image)?)?)?;
        std::fs::remove_file(&image)?;
        let usage = report::parse(&said);
        std::fs::write(self.path(unit, "usage"), Usage::to_lines(&usage))?;
        std::fs::write(&stamp, self.stamp(unit))?;
        Ok(())
    }
}
