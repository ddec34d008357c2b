//! `cargo xtask kernels cuda`: compiles the kernels that crates/dtw-kernels lists into the images that it embeds.

mod build;
mod compiler;
mod report;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::{self, Unit};

use crate::command::{cargo, root};
use compiler::Compiler;

/// Chips that get code of their own, as nvcc writes them.
const CHIPS: &[&str] = &["sm_90a", "sm_80", "sm_89"];
/// What newer chips translate for themselves when a program first runs there.
const PORTABLE: &str = "compute_90";

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
    Cuda(Cuda),
    /// For this CPU, every lane a fiber, and test them: on emulated warps of 32 lanes, then of 64.
    ///
    /// Nothing is embedded; the cargo features `host` and `host64` of dtw-kernels compile them with the C++ compiler of
    /// the machine (or the one that CXX names).
    Host,
}

#[derive(clap::Args)]
pub(crate) struct Cuda {
    /// Units compiled at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Only code for this chip, such as sm_90a; may be repeated [default: sm_90a, sm_80, sm_89, and PTX for newer
    /// ones].
    #[arg(long, value_name = "CHIP")]
    arch: Vec<String>,
    /// Only units whose name contains this. The others must have been built before, or nothing is embedded.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// List the kernels and build nothing.
    #[arg(long)]
    list: bool,
    /// Folder for the compiler if one must be installed [default: target/cuda-compiler of the workspace].
    #[arg(long, value_name = "DIR")]
    compiler: Option<PathBuf>,
    /// Write registers and spills of every kernel here too, as CSV.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn kernels(device: &Device) -> Result<()> {
    match device {
        Device::Cuda(options) => cuda(options),
        Device::Host => ["host", "host64"]
            .iter()
            .try_for_each(|feature| cargo(&["test", "-p", "dtw-kernels", "--features", feature], &[]).run()),
    }
}

fn cuda(options: &Cuda) -> Result<()> {
    let selected = |unit: &&Unit| options.only.as_ref().is_none_or(|text| unit.name.contains(text.as_str()));
    let units: Vec<&Unit> = catalog::source_units().iter().filter(selected).collect();
    if units.is_empty() {
        bail!("no unit has {:?} in its name; `--list` shows them all", options.only.as_deref().unwrap_or(""));
    }
    if options.list {
        list(&units);
        return Ok(());
    }
    let flags = flags(&options.arch)?;
    let venv = options.compiler.clone().unwrap_or_else(|| root().join("target/cuda-compiler"));
    let compiler = Compiler::find_or_install(&venv)?;
    println!("nvcc {} at {}", compiler.version, compiler.nvcc.display());
    let folder = folder();
    std::fs::create_dir_all(&folder)?;
    let jobs =
        options.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), Into::into);
    build::sweep_out(&folder)?;
    let built =
        build::build(&build::Plan { compiler: &compiler, flags: &flags, folder: &folder, jobs }, &units);
    // Also after a failure: the units that were compiled are of interest.
    let chip = options.arch.first().map_or(CHIPS[0], String::as_str);
    let reported = report::report(&folder, chip);
    if let Some(copy) = &options.report {
        std::fs::copy(folder.join("report.csv"), copy)
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    built.and(reported)
}

/// Where images go.
fn folder() -> PathBuf {
    root().join("crates/dtw-kernels/built/cuda")
}

/// Units without an image, or with one of other sources: while there are any, nothing is embedded.
pub(crate) fn not_built() -> Vec<&'static str> {
    let folder = folder();
    let is_built = |unit: &&Unit| build::is_of_these_sources(&folder, unit);
    catalog::source_units().iter().filter(|unit| !is_built(unit)).map(|unit| unit.name).collect()
}

/// Every flag that changes the code.
fn flags(chips: &[String]) -> Result<Vec<String>> {
    // nvcc would compress the PTX alone, and images are compressed as a whole.
    let always = ["-fatbin", "-std=c++17", "-O3", "-Xptxas", "-v", "--compress-mode=none"];
    let mut flags: Vec<String> = always.map(String::from).to_vec();
    flags.push("-Wno-deprecated-gpu-targets".to_owned());
    let code = |chip: &str| {
        let number = chip.strip_prefix("sm_").filter(|n| n.starts_with(|c: char| c.is_ascii_digit()));
        match number {
            Some(number) => Ok(format!("-gencode=arch=compute_{number},code={chip}")),
            None => bail!("--arch takes a chip such as sm_90a, not {chip:?}"),
        }
    };
    if chips.is_empty() {
        for chip in CHIPS {
            flags.push(code(chip)?);
        }
        flags.push(format!("-gencode=arch={PORTABLE},code={PORTABLE}"));
    } else {
        for chip in chips {
            flags.push(code(chip)?);
        }
    }
    Ok(flags)
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

    #[test]
    fn chips_become_flags() {
        let all = flags(&[]).unwrap();
        assert!(all.contains(&"-gencode=arch=compute_90a,code=sm_90a".to_owned()), "{all:?}");
        assert!(all.contains(&"-gencode=arch=compute_90,code=compute_90".to_owned()), "{all:?}");
        let one = flags(&["sm_80".to_owned()]).unwrap();
        assert_eq!(one.iter().filter(|flag| flag.starts_with("-gencode")).count(), 1);
        assert!(flags(&["90a".to_owned()]).unwrap_err().to_string().contains("sm_90a"));
    }
}
