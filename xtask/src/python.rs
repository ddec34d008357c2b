//! `cargo xtask python`, `wheel` and `stubs`: the Python package, in a virtual environment of its own.

pub(crate) mod measures;

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::command::{needs, root, shell, succeeds};
use crate::kernels;
use crate::tidy::project::Project;

/// What the package's tests and its build need, and what checks its types.
const TOOLS: &[&str] = &["maturin>=1.9,<2", "numpy", "matplotlib", "pytest", "mypy"];

/// Options of `cargo xtask python`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compile with optimisation, as users do.
    #[arg(long)]
    release: bool,
    /// Options of pytest: `-k NAME`, `-x`, a file.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

/// The environment's Python; makes the environment where there is none.
pub(crate) fn environment(sh: &Shell) -> Result<PathBuf> {
    let folder = root().join("target/python");
    let own = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !succeeds(cmd!(sh, "{own} -c 'import maturin, matplotlib, mypy, numpy, pytest'")) {
        needs(sh, "python3", "3.10 or newer; Debian: python3-venv")?;
        cmd!(sh, "python3 -m venv {folder}").run()?;
        cmd!(sh, "{own} -m pip install --quiet --disable-pip-version-check {TOOLS...}").run()?;
    }
    sh.set_var("VIRTUAL_ENV", folder);
    Ok(own)
}

/// Builds the package in place, into the environment.
pub(crate) fn develop(sh: &Shell, is_release: bool) -> Result<()> {
    let python = environment(sh)?;
    let release = is_release.then_some("--release");
    Ok(cmd!(sh, "{python} -m maturin develop --quiet {release...}").run()?)
}

/// Builds the package in place, tests it and checks its types.
pub(crate) fn python(options: &Options) -> Result<()> {
    let (sh, more) = (shell()?, &options.options);
    develop(&sh, options.release)?;
    let python = environment(&sh)?;
    cmd!(sh, "{python} -m pytest {more...}").run()?;
    Ok(cmd!(sh, "{python} -m mypy").run()?)
}

/// Builds the wheel for people who have no Rust; with the CUDA kernels where they are compiled.
pub(crate) fn wheel() -> Result<()> {
    let missing = kernels::not_built();
    if !missing.is_empty() {
        println!(
            "the CUDA kernels are not built ({} units are missing or older than their sources): the wheel computes on \
             the CPU alone; `cargo xtask kernels cuda` builds them",
            missing.len()
        );
    }
    let sh = shell()?;
    let python = environment(&sh)?;
    Ok(cmd!(sh, "{python} -m maturin build --release --out target/wheels").run()?)
}

/// Writes what the Python package and its documentation say of every measure.
pub(crate) fn stubs() -> Result<()> {
    for (path, text) in measures::files(&Project::read()?) {
        shell()?.write_file(path, text)?;
        println!("wrote {path}");
    }
    Ok(())
}
