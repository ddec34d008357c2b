//! `cargo xtask kernels`: compiles the kernels that crates/dtw-kernels lists into the images that it embeds.

mod build;
mod cuda;
mod hip;
mod nvcc;
mod report;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::{self, Unit};

use crate::command::{cargo, root};
use build::Tool;

#[derive(clap::Subcommand)]
pub(crate) enum Device {
    /// For NVIDIA GPUs, with nvcc.
    ///
    /// nvcc is taken from PATH, from CUDA_HOME or from /usr/local/cuda. If there is none, a pinned compiler is
    /// installed with pip into a folder of its own (300 MB; said before it is done). nvcc needs a C++ compiler beside
    /// it.
    ///
    /// Only what changed is compiled again. Images, and a table of registers and spills, go to
    /// crates/dtw-kernels/built/cuda/; whatever is built next with the cargo feature `cuda` embeds them.
    Cuda(cuda::Cuda),
    /// For AMD GPUs, with clang 19 or newer and its linker lld: neither ROCm nor a GPU is needed.
    ///
    /// clang++ is taken from PATH, under this name or as clang++-19 and up, or from CLANG.
    ///
    /// Only what changed is compiled again. Images, and tables of registers, local memory and spills, go to
    /// crates/dtw-kernels/built/hip/CHIP/; whatever is built next with the cargo feature `hip` embeds the chips of
    /// which all images are there.
    Hip(hip::Hip),
    /// For this CPU, every lane a fiber, and test them: on emulated warps of 32 lanes, then of 64.
    ///
    /// Nothing is embedded; the cargo features `host` and `host64` of dtw-kernels compile them with the C++ compiler of
    /// the machine (or the one that CXX names).
    Host,
}

/// What to compile, and how much at once.
#[derive(clap::Args)]
struct Choice {
    /// Units compiled at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Only units whose name contains this. The others must have been built before, or nothing is embedded.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only every N-th unit, as a check: images go to target/kernels, and nothing embeds them. Each of AMD's chips
    /// begins with another unit, so that N of them have every unit between them.
    #[arg(long, value_name = "N", conflicts_with = "list")]
    sample: Option<std::num::NonZeroUsize>,
    /// List the kernels and build nothing.
    #[arg(long)]
    list: bool,
    /// Write registers and spills of every kernel here too, as CSV.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn kernels(device: &Device) -> Result<()> {
    match device {
        Device::Cuda(options) => cuda::build(options),
        Device::Hip(options) => hip::build(options),
        Device::Host => ["host", "host64"]
            .iter()
            .try_for_each(|feature| cargo(&["test", "-p", "dtw-kernels", "--features", feature], &[]).run()),
    }
}

impl Choice {
    /// The units to compile; `None` if they were only to be listed.
    fn units(&self) -> Result<Option<Vec<&'static Unit>>> {
        let selected = |unit: &&Unit| self.only.as_ref().is_none_or(|text| unit.name.contains(text.as_str()));
        let units: Vec<&Unit> = catalog::source_units().iter().filter(selected).collect();
        if units.is_empty() {
            bail!(
                "no unit has {:?} in its name; `--list` shows them all",
                self.only.as_deref().unwrap_or("")
            );
        }
        if self.list {
            list(&units);
            return Ok(None);
        }
        Ok(Some(units))
    }

    /// Every N-th of the units if a sample is asked for, and all of them otherwise. `turn` says where it begins: the
    /// samples of N turns have every unit once. Of fewer than N units each sample has one.
    fn sample(&self, units: &[&'static Unit], turn: usize) -> Vec<&'static Unit> {
        let step = self.sample.map_or(1, Into::into);
        units.iter().copied().skip(turn % step.min(units.len())).step_by(step).collect()
    }

    /// Where images go: what is embedded, or, for a sample, a folder that no build looks at.
    fn folder(&self, device: &str) -> PathBuf {
        if self.sample.is_some() { root().join("target/kernels").join(device) } else { folder(device) }
    }

    fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), Into::into)
    }
}

/// Compiles for one device and reports on `chip`.
fn build_and_report<T: Tool>(
    plan: &build::Plan<'_, T>,
    units: &[&Unit],
    chip: &str,
    columns: report::Columns,
    judged: bool,
) -> Result<()> {
    std::fs::create_dir_all(plan.folder).with_context(|| format!("cannot make {}", plan.folder.display()))?;
    build::sweep_out::<T>(plan.folder)?;
    let built = build::build(plan, units);
    // Also after a failure: the units that were compiled are of interest.
    let reported = report::report(plan.folder, chip, columns, judged);
    built.and(reported)
}

/// Where the images are that are embedded.
fn folder(device: &str) -> PathBuf {
    root().join("crates/dtw-kernels/built").join(device)
}

/// Units without an image for NVIDIA GPUs, or with one of other sources: while there are any, nothing is embedded.
pub(crate) fn not_built() -> Vec<&'static str> {
    let folder = folder("cuda");
    let is_built = |unit: &&Unit| build::is_of_these_sources::<cuda::Nvcc>(&folder, unit);
    catalog::source_units().iter().filter(|unit| !is_built(unit)).map(|unit| unit.name).collect()
}

fn list(units: &[&Unit]) {
    for unit in units {
        println!("{}", unit.name);
        for kernel in catalog::kernels().iter().filter(|kernel| kernel.unit == unit.name) {
            println!("    {}{}", kernel.symbol, if kernel.no_spills { "  (no spills)" } else { "" });
        }
    }
    let kernels =
        catalog::kernels().iter().filter(|kernel| units.iter().any(|unit| unit.name == kernel.unit));
    println!("{} kernels in {} units", kernels.count(), units.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, units: &[&'static Unit], turn: usize) -> Vec<&'static str> {
        let sample = std::num::NonZeroUsize::new(n);
        let choice = Choice { jobs: None, only: None, sample, list: false, report: None };
        choice.sample(units, turn).iter().map(|unit| unit.name).collect()
    }

    #[test]
    fn samples_of_all_turns_are_every_unit_once() {
        let units: Vec<&Unit> = catalog::source_units().iter().collect();
        let mut all: Vec<&str> = units.iter().map(|unit| unit.name).collect();
        assert_eq!(sample(0, &units, 3), all, "no sample");
        assert_eq!(sample(6, &units, 2), all.iter().copied().skip(2).step_by(6).collect::<Vec<_>>());
        let mut of_turns: Vec<&str> = (0..6).flat_map(|turn| sample(6, &units, turn)).collect();
        of_turns.sort_unstable();
        all.sort_unstable();
        assert_eq!(of_turns, all);
    }

    #[test]
    fn no_sample_is_empty() {
        let units: Vec<&Unit> = catalog::source_units().iter().take(2).collect();
        assert!((0..6).all(|turn| sample(6, &units, turn).len() == 1));
    }
}
