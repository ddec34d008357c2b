//! Finding nvcc, or installing a pinned one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What is installed where there is no CUDA toolkit: the compiler and the headers it needs, no more.
const WHEELS: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];

/// An nvcc that answers.
#[derive(Debug)]
pub(crate) struct Compiler {
    pub(crate) nvcc: PathBuf,
    /// As it says itself.
    pub(crate) version: String,
}

impl Compiler {
    /// The first of: CUDA_HOME's, PATH's, /usr/local/cuda's, the one installed in the virtual environment `venv`.
    pub(crate) fn find_or_install(venv: &Path) -> Result<Self> {
        if let Some(home) = std::env::var_os("CUDA_HOME") {
            let nvcc = Path::new(&home).join("bin/nvcc");
            // Somebody who names a folder wants that compiler and no other.
            return Self::ask(&nvcc).with_context(|| format!("CUDA_HOME is {}", Path::new(&home).display()));
        }
        let known = [PathBuf::from("nvcc"), PathBuf::from("/usr/local/cuda/bin/nvcc")];
        if let Some(found) = known.iter().find_map(|nvcc| Self::ask(nvcc).ok()) {
            return Ok(found);
        }
        match installed(venv) {
            Some(nvcc) => Self::ask(&nvcc),
            None => install(venv),
        }
    }

    /// The compiler at this path, if it runs and has a C++ compiler beside it.
    fn ask(nvcc: &Path) -> Result<Self> {
        let output = Command::new(nvcc)
            .arg("--version")
            .output()
            .with_context(|| format!("cannot start {}", nvcc.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // "Cuda compilation tools, release 13.0, V13.0.88"
        let version = text.split_whitespace().rev().find(|word| {
            word.strip_prefix('V').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        match version {
            Some(version) if output.status.success() => {
                Ok(Self { nvcc: nvcc.to_owned(), version: version[1..].to_owned() })
            }
            _ => bail!("{} --version printed no version: {}", nvcc.display(), text.trim()),
        }
    }
}

/// The nvcc in a virtual environment: `lib/python3.x/site-packages/nvidia/cu13/bin/nvcc`.
fn installed(venv: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(venv.join("lib")).ok()?;
    versions
        .flatten()
        .map(|v| v.path().join("site-packages/nvidia/cu13/bin/nvcc"))
        .find(|nvcc| nvcc.is_file())
}

fn install(venv: &Path) -> Result<Compiler> {
    println!("no nvcc on PATH, and none of CUDA_HOME and /usr/local/cuda is there.");
    println!("Installing NVIDIA's compiler (about 300 MB) with pip into {}:", venv.display());
    for wheel in WHEELS {
        println!("    {wheel}");
    }
    let toolkit = "or install a CUDA toolkit (12.8 or newer) and put its nvcc on PATH";
    let python = if cfg!(windows) { "python" } else { "python3" };
    let made = Command::new(python).args(["-m", "venv"]).arg(venv).status();
    if !made.is_ok_and(|status| status.success()) {
        bail!(
            "`{python} -m venv {}` failed: install Python with venv (Debian: python3-venv), {toolkit}",
            venv.display()
        );
    }
    let status = Command::new(venv.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet"])
        .args(WHEELS)
        .status()
        .context("cannot start pip")?;
    if !status.success() {
        bail!("pip could not install the compiler ({status}): see above; {toolkit}");
    }
    let nvcc = installed(venv).with_context(|| {
        format!("pip installed no nvcc below {}: remove that folder and try again, {toolkit}", venv.display())
    })?;
    Compiler::ask(&nvcc)
}
