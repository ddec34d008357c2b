//! `cargo xtask kernels`: compiles the kernels that crates/dtw-kernels lists into the images that it embeds.

mod build;
mod choice;
mod cuda;
mod hip;
mod loops;
mod nvcc;
mod report;

use anyhow::Result;
use dtw_kernels::catalog::{self, Unit};
use xshell::cmd;

use self::choice::folder;
use crate::command::shell;

#[derive(clap::Subcommand)]
pub(crate) enum Target {
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

/// Runs the command.
pub(crate) fn kernels(device: &Target) -> Result<()> {
    match device {
        Target::Cuda(options) => cuda::build(options),
        Target::Hip(options) => hip::build(options),
        Target::Host => {
            let sh = shell()?;
            cmd!(sh, "cargo test -p dtw-kernels --features host").run()?;
            Ok(cmd!(sh, "cargo test -p dtw-kernels --features host64").run()?)
        }
    }
}

/// Units without an image for NVIDIA GPUs, or with one of other sources: while there are any, nothing is embedded.
pub(crate) fn not_built() -> Vec<&'static str> {
    let folder = folder("cuda");
    let is_built = |unit: &&Unit| build::is_of_these_sources(cuda::IMAGES, &folder, unit);
    catalog::source_units().iter().filter(|unit| !is_built(unit)).map(|unit| unit.name).collect()
}
