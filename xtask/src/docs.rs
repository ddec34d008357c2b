//! `cargo xtask docs`: the documentation site, in target/docs.

use anyhow::Result;
use xshell::cmd;

use crate::command::{root, shell};
use crate::python;

/// Builds the site. Its examples run, with the package and the command as they are now; warnings are errors.
pub(crate) fn docs() -> Result<()> {
    let sh = shell()?;
    cmd!(sh, "cargo build -p dtwave-cli").run()?;
    let python = python::environment(&sh)?;
    python::develop(&sh, false)?;
    // What the pages run and show beside the package: Sphinx, and the libraries that they compare with.
    let what = ["-r", "docs/site/requirements.txt", "-r", "python/tests/requirements.txt"];
    cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check {what...}").run()?;
    sh.remove_path("target/docs")?;
    // The pages run `dtwave`.
    let others = sh.var_os("PATH").unwrap_or_default();
    let own = [root().join("target/debug")];
    sh.set_var("PATH", std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others)))?);
    sh.set_var("PYTHONDONTWRITEBYTECODE", "1");
    let site = ["-d", "target/docs-cache", "-c", "docs/site", "docs", "target/docs"];
    cmd!(sh, "{python} -m sphinx --quiet -W --keep-going -E -b html {site...}").run()?;
    println!("open target/docs/index.html");
    Ok(())
}
