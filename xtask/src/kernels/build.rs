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
use xshell::cmd;

use super::report::{Columns, Usage, report};
use crate::command::{root, shell};

/// Whose chips images are for, and how their names end.
#[derive(Clone, Copy)]
pub(super) struct Images {
    pub(super) vendor: Vendor,
    pub(super) extension: &'static str,
}

/// A compiler, what it is told, and how it is understood.
pub(super) struct Compiler {
    /// Its name in messages.
    pub(super) name: &'static str,
    pub(super) path: PathBuf,
    /// As it says itself.
    pub(super) version: String,
    /// Every flag that changes the code.
    pub(super) flags: Vec<String>,
    pub(super) images: Images,
    /// The chip that is reported on.
    pub(super) chip: String,
    pub(super) columns: Columns,
    /// Whether a kernel that spills and must not is an error.
    pub(super) is_judged: bool,
    /// What the kernels of this chip take, from what the compiler said.
    pub(super) usage: fn(&str, &str) -> Vec<Usage>,
    /// Whether a line that it said is about that, and not a complaint.
    pub(super) is_usage: fn(&str) -> bool,
    /// Whether the assembly is looked at before an image is made of it.
    pub(super) assembly: Option<Assembly>,
}

/// What is done with assembly.
pub(super) struct Assembly {
    /// The flags that make an image of it.
    pub(super) flags: Vec<String>,
    /// An error if a unit's must not be used.
    pub(super) judge: fn(&Unit, &str) -> Result<()>,
}

/// How to build.
pub(super) struct Plan<'a> {
    pub(super) compiler: &'a Compiler,
    /// Where images go.
    pub(super) folder: &'a Path,
    pub(super) jobs: usize,
}

/// The version that a compiler says after `mark`.
pub(super) fn version_of(compiler: &Path, mark: &str) -> Result<String> {
    let sh = shell()?;
    let said = cmd!(sh, "{compiler} --version").ignore_stderr().read()?;
    let version = version_in(&said, mark).map(str::to_owned);
    version.with_context(|| format!("{} --version printed no version: {said}", compiler.display()))
}

fn version_in<'a>(said: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = said.split_once(mark)?;
    rest.split_whitespace().next().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Builds what is not there yet and reports on all.
pub(super) fn build_and_report(plan: &Plan<'_>, units: &[&Unit]) -> Result<()> {
    std::fs::create_dir_all(plan.folder).with_context(|| format!("cannot make {}", plan.folder.display()))?;
    plan.sweep_out()?;
    let built = build(plan, units);
    // Also after a failure: the units that were compiled are of interest.
    let Compiler { chip, columns, is_judged, .. } = plan.compiler;
    built.and(report(plan.folder, chip, *columns, *is_judged))
}

/// Builds what is not there yet. A unit that fails does not stop the others; all failures are reported at the end.
fn build(plan: &Plan<'_>, units: &[&Unit]) -> Result<()> {
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
pub(super) fn is_of_these_sources(images: Images, folder: &Path, unit: &Unit) -> bool {
    let stamp = std::fs::read_to_string(folder.join(format!("{}.stamp", unit.name))).unwrap_or_default();
    stamp.lines().next() == Some(sources_line(images, unit).as_str())
        && folder.join(format!("{}.{}.xz", unit.name, images.extension)).is_file()
}

/// The first line of a stamp, which dtw-kernels compares when it embeds the image (its build/images.rs).
fn sources_line(images: Images, unit: &Unit) -> String {
    format!("sources {:016x}", unit.hash(images.vendor))
}

impl Plan<'_> {
    /// Removes images of units that are not listed any more, and what was left when a compilation was interrupted.
    fn sweep_out(&self) -> Result<()> {
        let image = self.compiler.images.extension;
        let packed = format!("{image}.xz");
        for entry in std::fs::read_dir(self.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some((unit, extension)) = name.split_once('.') else { continue };
            let is_ours = [packed.as_str(), "stamp", "usage", "cu", "s"].contains(&extension);
            if (is_ours && catalog::source(unit).is_none()) || extension == image {
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn path(&self, unit: &Unit, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", unit.name))
    }

    fn packed(&self, unit: &Unit) -> PathBuf {
        self.path(unit, &format!("{}.xz", self.compiler.images.extension))
    }

    /// What an image was made of. The first line is what dtw-kernels compares (its build/images.rs).
    fn stamp(&self, unit: &Unit) -> String {
        let Compiler { name, version, flags, images, .. } = self.compiler;
        format!("{}\n{name} {version}\nflags {}\n", sources_line(*images, unit), flags.join(" "))
    }

    fn is_built(&self, unit: &Unit) -> bool {
        let stamp = std::fs::read_to_string(self.path(unit, "stamp"));
        stamp.is_ok_and(|stamp| stamp == self.stamp(unit))
            && self.packed(unit).is_file()
            && self.path(unit, "usage").is_file()
    }

    fn compile(&self, unit: &Unit) -> Result<()> {
        let (stamp, image) = (self.path(unit, "stamp"), self.path(unit, self.compiler.images.extension));
        // No stamp while the image is being written: what is interrupted is built again.
        if stamp.exists() {
            std::fs::remove_file(&stamp)?;
        }
        let usage = self.compiler.compile(unit, &self.path(unit, "cu"), &image)?;
        std::fs::write(self.packed(unit), pack(&std::fs::read(&image)?)?)?;
        std::fs::remove_file(&image)?;
        std::fs::write(self.path(unit, "usage"), Usage::to_lines(&usage))?;
        std::fs::write(&stamp, self.stamp(unit))?;
        Ok(())
    }

    /// Compiles units once more, under another name; an error if an image has other bytes than the one in the folder.
    pub(crate) fn compare(&self, units: &[&Unit]) -> Result<()> {
        let (source, image) = (self.folder.join("again.cu"), self.folder.join("again.image"));
        for unit in units {
            self.compiler.compile(unit, &source, &image)?;
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

impl Compiler {
    /// Compiles one unit.
    fn compile(&self, unit: &Unit, source: &Path, image: &Path) -> Result<Vec<Usage>> {
        std::fs::write(source, unit.source)?;
        let mut command = self.command(source);
        let said = if let Some(assembly) = &self.assembly {
            let text = image.with_extension("s");
            let said = self.run(command.arg("-S").arg("-o").arg(&text))?;
            (assembly.judge)(unit, &std::fs::read_to_string(&text)?)?;
            self.run(Command::new(&self.path).args(&assembly.flags).arg(&text).arg("-o").arg(image))?;
            std::fs::remove_file(&text)?;
            said
        } else {
            self.run(command.arg("-o").arg(image))?
        };
        Ok((self.usage)(&said, &self.chip))
    }

    /// What the compiler says.
    fn run(&self, command: &mut Command) -> Result<String> {
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            // Without the resource usage of the kernels that went well.
            let text: Vec<&str> = said.lines().filter(|line| !(self.is_usage)(line)).take(60).collect();
            bail!("{} failed ({}):\n{}", self.name, output.status, text.join("\n"));
        }
        Ok(said.into_owned())
    }

    /// The command that compiles a source, without its output.
    pub(super) fn command(&self, source: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.flags).arg("-I").arg(root().join("crates/dtw-kernels/native")).arg(source);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        let clang = "Debian clang version 19.1.7 (3+b1)\nTarget: x";
        assert_eq!(version_in(clang, "clang version "), Some("19.1.7"));
        let nvcc = "nvcc: NVIDIA (R) Cuda\nCuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13";
        assert_eq!(version_in(nvcc, ", V"), Some("13.0.88"));
        assert_eq!(version_in("Apple LLVM", "clang version "), None);
    }
}
