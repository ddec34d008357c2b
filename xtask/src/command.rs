//! Starting other commands: printed first, failed loudly.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// A command about to be run in the workspace's folder.
pub(crate) struct Step {
    command: Command,
    text: String,
    quiet: bool,
}

/// `cargo` with these arguments and further `options` of the user's.
pub(crate) fn cargo(arguments: &[&str], options: &[String]) -> Step {
    let all = arguments.iter().copied().chain(options.iter().map(String::as_str));
    step(std::env::var("CARGO").as_deref().unwrap_or("cargo"), "cargo", all)
}

/// Another program with these arguments.
pub(crate) fn program(name: &str, arguments: &[&str]) -> Step {
    step(name, name, arguments.iter().copied())
}

/// `program` with these arguments; `name` is what it is called when printed.
fn step<'a>(program: &str, name: &str, arguments: impl Iterator<Item = &'a str>) -> Step {
    let mut command = Command::new(program);
    let mut text = name.to_owned();
    command.current_dir(root());
    for argument in arguments {
        command.arg(argument);
        text.push(' ');
        text.push_str(argument);
    }
    Step { command, text, quiet: false }
}

impl Step {
    /// With these arguments more.
    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        for argument in arguments {
            self.command.arg(argument);
            self.text.push(' ');
            self.text.push_str(argument);
        }
        self
    }

    /// With this environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.text = format!("{name}={value:?} {}", self.text);
        self
    }

    /// In the folder where the user stands, so that relative paths in options mean what they say; not printed.
    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        if let Ok(here) = std::env::current_dir() {
            self.command.current_dir(here);
        }
        self
    }

    /// Printed before its output is read.
    pub(crate) fn said(self) -> Self {
        println!("$ {}", self.text);
        self
    }

    /// Runs it; an error if it fails.
    pub(crate) fn run(mut self) -> Result<()> {
        if !self.quiet {
            println!("$ {}", self.text);
        }
        let status = self.command.status().with_context(|| format!("cannot start `{}`", self.text))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.text);
        }
        Ok(())
    }

    /// Whether it can be started and succeeds; its output is dropped.
    pub(crate) fn succeeds(mut self) -> bool {
        let status = self.command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Runs it and returns what it printed.
    pub(crate) fn output(mut self) -> Result<String> {
        let output = self
            .command
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot start `{}`", self.text))?;
        if !output.status.success() {
            bail!("`{}` failed ({})", self.text, output.status);
        }
        String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no UTF-8", self.text))
    }
}

/// `git` with these arguments.
pub(crate) fn git(arguments: &[&str]) -> Step {
    step("git", "git", arguments.iter().copied())
}

/// `rustup`, which adds targets and toolchains.
pub(crate) fn rustup(arguments: &[&str]) -> Result<()> {
    if !program("rustup", &["--version"]).succeeds() {
        bail!(
            "this needs rustup (https://rustup.rs), which adds the targets and toolchains of other machines"
        );
    }
    program("rustup", arguments).run()
}

/// An error that names the package if a tool is missing.
pub(crate) fn needs(tool: &str, package: &str) -> Result<()> {
    if !program(tool, &["--version"]).succeeds() {
        bail!("{tool} is missing: install it (Debian: {package})");
    }
    Ok(())
}
