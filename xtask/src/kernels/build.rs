//! Compiling units side by side, and only those that changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::{self, Unit, Vendor};
use dtw_kernels::image::pack;

use super::report::Usage;
use crate::command::root;

/// A compiler, and what it is told.
pub(crate) trait Tool: Sync {
    /// Whose chips.
    const VENDOR: Vendor;
    /// How the names of images end.
    const IMAGE: &'static str;
    /// Its name in messages.
    const NAME: &'static str;

    /// Its version, as it says itself.
    fn version(&self) -> &str;
    /// Every flag that changes the code.
    fn flags(&self) -> &[String];
    /// The command that takes these flags.
    fn command(&self) -> Command;
    /// What the kernels take, from what the compiler said.
    fn usage(&self, said: &str) -> Vec<Usage>;
    /// Whether a line that the compiler said is about that, and not a complaint.
    fn is_usage(line: &str) -> bool;
}

/// How to build.
pub(crate) struct Plan<'a, T> {
    pub(crate) tool: &'a T,
    /// Where images go.
    pub(crate) folder: &'a Path,
    pub(crate) jobs: usize,
}

/// Builds what is not there yet. A unit that fails does not stop the others; all failures are reported at the end.
pub(crate) fn build<T: Tool>(plan: &Plan<'_, T>, units: &[&Unit]) -> Result<()> {
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
pub(crate) fn is_of_these_sources<T: Tool>(folder: &Path, unit: &Unit) -> bool {
    let stamp = std::fs::read_to_string(folder.join(format!("{}.stamp", unit.name))).unwrap_or_default();
    stamp.lines().next() == Some(sources_line::<T>(unit).as_str())
        && folder.join(format!("{}.{}.xz", unit.name, T::IMAGE)).is_file()
}

/// The first line of a stamp, which dtw-kernels compares when it embeds the image (its build/images.rs).
fn sources_line<T: Tool>(unit: &Unit) -> String {
    format!("sources {:016x}", unit.hash(T::VENDOR))
}

/// Removes images of units that are not listed any more, and what was left when a compilation was interrupted.
pub(crate) fn sweep_out<T: Tool>(folder: &Path) -> Result<()> {
    let packed = format!("{}.xz", T::IMAGE);
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some((unit, extension)) = name.split_once('.') else { continue };
        let ours = [packed.as_str(), "stamp", "usage", "cu"].contains(&extension);
        if (ours && catalog::source(unit).is_none()) || extension == T::IMAGE {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

impl<T: Tool> Plan<'_, T> {
    fn path(&self, unit: &Unit, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", unit.name))
    }

    fn packed(&self, unit: &Unit) -> PathBuf {
        self.path(unit, &format!("{}.xz", T::IMAGE))
    }

    /// What an image was made of. The first line is what dtw-kernels compares (its build/images.rs).
    fn stamp(&self, unit: &Unit) -> String {
        format!(
            "{}\n{} {}\nflags {}\n",
            sources_line::<T>(unit),
            T::NAME,
            self.tool.version(),
            self.tool.flags().join(" ")
        )
    }

    fn is_built(&self, unit: &Unit) -> bool {
        let stamp = std::fs::read_to_string(self.path(unit, "stamp"));
        stamp.is_ok_and(|stamp| stamp == self.stamp(unit))
            && self.packed(unit).is_file()
            && self.path(unit, "usage").is_file()
    }

    fn compile(&self, unit: &Unit) -> Result<()> {
        let (stamp, image) = (self.path(unit, "stamp"), self.path(unit, T::IMAGE));
        // No stamp while the image is being written: what is interrupted is built again.
        if stamp.exists() {
            std::fs::remove_file(&stamp)?;
        }
        let usage = compile(self.tool, unit, &self.path(unit, "cu"), &image)?;
        std::fs::write(self.packed(unit), pack(&std::fs::read(&image)?)?)?;
        std::fs::remove_file(&image)?;
        std::fs::write(self.path(unit, "usage"), Usage::to_lines(&usage))?;
        std::fs::write(&stamp, self.stamp(unit))?;
        Ok(())
    }

    /// Compiles units once more, under another name; an error if an image has other bytes than the one in the folder.
    pub(crate) fn compare(&self, units: &[&Unit]) -> Result<()> {
        let (source, image) = (self.folder.join("again.cu"), self.folder.join(format!("again.{}", T::IMAGE)));
        for unit in units {
            compile(self.tool, unit, &source, &image)?;
            let again = pack(&std::fs::read(&image)?)?;
            std::fs::remove_file(&image)?;
            if again != std::fs::read(self.packed(unit))? {
                bail!("{} compiled twice with the same flags gives different bytes", unit.name);
            }
        }
        std::fs::remove_file(&source)?;
        println!("{} units compiled again: the same bytes", units.len());
        Ok(())
    }
}

/// Compiles one unit.
fn compile<T: Tool>(tool: &T, unit: &Unit, source: &Path, image: &Path) -> Result<Vec<Usage>> {
    std::fs::write(source, unit.source)?;
    let mut command = tool.command();
    let output = command
        .args(tool.flags())
        .arg("-I")
        .arg(root().join("crates/dtw-kernels/native"))
        .arg("-o")
        .args([image, source])
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        // Without the resource usage of the kernels that went well.
        let text: Vec<&str> = said.lines().filter(|line| !T::is_usage(line)).take(60).collect();
        bail!("{} failed ({}):\n{}", T::NAME, output.status, text.join("\n"));
    }
    Ok(tool.usage(&said))
}
