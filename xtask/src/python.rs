//! `cargo xtask python`, `wheel` and `stubs`: the Python package, in a virtual environment of its own.

pub(crate) mod measures;

use anyhow::{Context, Result, bail};

use crate::command::{Step, program, root};
use crate::kernels;

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

/// The environment's Python, without arguments; makes the environment where there is none.
pub(crate) fn environment() -> Result<Step> {
    let folder = root().join("target/python");
    let shown = folder.to_str().context("the folder's name is no UTF-8")?;
    let own = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let own = own.to_str().context("the folder's name is no UTF-8")?.to_owned();
    if !program(&own, &["-c", "import maturin, matplotlib, mypy, numpy, pytest"]).succeeds() {
        if !program("python3", &["--version"]).succeeds() {
            bail!("this needs Python 3.10 or newer with venv: python3 is not there");
        }
        program("python3", &["-m", "venv", shown]).run()?;
        program(&own, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .arguments(TOOLS)
            .run()?;
    }
    Ok(program(&own, &[]).env("VIRTUAL_ENV", shown))
}

/// Builds the package in place, into the environment.
pub(crate) fn build(release: bool) -> Result<()> {
    let step = environment()?.arguments(&["-m", "maturin", "develop", "--quiet"]);
    if release { step.arguments(&["--release"]) } else { step }.run()
}

/// Builds the package in place, tests it and checks its types.
pub(crate) fn python(options: &Options) -> Result<()> {
    build(options.release)?;
    let more: Vec<&str> = options.options.iter().map(String::as_str).collect();
    environment()?.arguments(&["-m", "pytest"]).arguments(&more).run()?;
    environment()?.arguments(&["-m", "mypy"]).run()
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
    environment()?.arguments(&["-m", "maturin", "build", "--release", "--out", "target/wheels"]).run()
}

/// Writes what the Python package and its documentation say of every measure.
pub(crate) fn stubs() -> Result<()> {
    for (path, text) in measures::files() {
        std::fs::write(root().join(path), text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}
