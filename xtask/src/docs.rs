//! `cargo xtask docs`: the documentation site, in target/docs.

use anyhow::{Context, Result};

use crate::command::{cargo, root};
use crate::python;

/// What the pages run and show beside the package: Sphinx, and the libraries that they compare with.
const REQUIREMENTS: [&str; 4] = ["-r", "docs/site/requirements.txt", "-r", "python/tests/requirements.txt"];

/// Builds the site. Its examples run, with the package and the command as they are now; warnings are errors.
pub(crate) fn docs() -> Result<()> {
    cargo(&["build", "-p", "dtwave-cli"], &[]).run()?;
    python::build(false)?;
    python::environment()?
        .arguments(&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .arguments(&REQUIREMENTS)
        .run()?;
    let folder = root().join("target/docs");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot delete {}", folder.display()))?;
    }
    // The pages run `dtwave`.
    let own = [root().join("target/debug")];
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&others)))?;
    python::environment()?
        .env("PATH", path.to_str().context("PATH is no UTF-8")?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arguments(&["-m", "sphinx", "--quiet", "-W", "--keep-going", "-E", "-b", "html"])
        .arguments(&["-d", "target/docs-cache", "-c", "docs/site", "docs", "target/docs"])
        .run()?;
    println!("open target/docs/index.html");
    Ok(())
}
