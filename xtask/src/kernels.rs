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

/// Where images go.
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
