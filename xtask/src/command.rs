//! What every command here starts others with: a shell in the workspace's folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// A shell in the folder of the workspace. It prints what it runs.
pub(crate) fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    Ok(sh)
}

/// Whether a command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(command: Cmd<'_>) -> bool {
    command.quiet().ignore_stdout().ignore_stderr().run().is_ok()
}

/// An error that says where to get a tool if it is missing.
pub(crate) fn needs(sh: &Shell, tool: &str, source: &str) -> Result<()> {
    ensure!(succeeds(cmd!(sh, "{tool} --version")), "{tool} is missing: install it ({source})");
    Ok(())
}

/// Adds a target with rustup.
pub(crate) fn add_target(sh: &Shell, target: &str) -> Result<()> {
    needs(sh, "rustup", RUSTUP)?;
    Ok(cmd!(sh, "rustup target add {target}").run()?)
}

/// `cargo` of another toolchain, which rustup installs if need be, with this component.
pub(crate) fn other_cargo<'a>(sh: &'a Shell, toolchain: &str, component: &str) -> Result<Cmd<'a>> {
    needs(sh, "rustup", RUSTUP)?;
    cmd!(sh, "rustup toolchain install {toolchain} --profile minimal --component {component}").run()?;
    Ok(cmd!(sh, "rustup run {toolchain} cargo"))
}

const RUSTUP: &str = "https://rustup.rs; it adds the targets and toolchains of other machines";

/// This machine, as Rust names it.
pub(crate) fn host(sh: &Shell) -> Result<String> {
    let version = cmd!(sh, "rustc -vV").read()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}
