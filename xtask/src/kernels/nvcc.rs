//! Finding nvcc, or installing a pinned one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::cmd;

use super::build::version_of;
use crate::command::{needs, shell};

/// What is installed where there is no CUDA toolkit: the compiler and the headers it needs, no more.
const WHEELS: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];

/// The first nvcc that says its version: CUDA_HOME's, PATH's, /usr/local/cuda's, the one in the virtual environment
/// `venv`, where it is installed if need be.
pub(super) fn find_or_install(venv: &Path) -> Result<(PathBuf, String)> {
    let ask = |nvcc: PathBuf| version_of(&nvcc, ", V").map(|version| (nvcc, version));
    if let Some(home) = std::env::var_os("CUDA_HOME") {
        // Somebody who names a folder wants that compiler and no other.
        return ask(Path::new(&home).join("bin/nvcc")).with_context(|| format!("CUDA_HOME is {home:?}"));
    }
    let known = ["nvcc", "/usr/local/cuda/bin/nvcc"].map(PathBuf::from);
    if let Some(found) = known.into_iter().find_map(|nvcc| ask(nvcc).ok()) {
        return Ok(found);
    }
    if installed(venv).is_none() {
        install(venv).context("install a CUDA toolkit (12.8 or newer) and put its nvcc on PATH")?;
    }
    ask(installed(venv).with_context(|| {
        format!("pip installed no nvcc below {}: remove that folder and try again", venv.display())
    })?)
}

/// The nvcc in a virtual environment: `lib/python3.x/site-packages/nvidia/cu13/bin/nvcc`.
fn installed(venv: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(venv.join("lib")).ok()?;
    let nvcc = |python: PathBuf| python.join("site-packages/nvidia/cu13/bin/nvcc");
    versions.flatten().map(|version| nvcc(version.path())).find(|nvcc| nvcc.is_file())
}

fn install(venv: &Path) -> Result<()> {
    println!("no nvcc on PATH, and none of CUDA_HOME and /usr/local/cuda is there.");
    println!("Installing NVIDIA's compiler (about 300 MB) with pip into {}", venv.display());
    let sh = shell()?;
    let (python, own) = if cfg!(windows) { ("python", "Scripts/python") } else { ("python3", "bin/python") };
    needs(&sh, python, "with venv; Debian: python3-venv")?;
    cmd!(sh, "{python} -m venv {venv}").run()?;
    let own = venv.join(own);
    Ok(cmd!(sh, "{own} -m pip install --quiet {WHEELS...}").run()?)
}
