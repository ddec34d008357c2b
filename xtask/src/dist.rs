//! `cargo xtask dist`: one folder with everything that a GPU machine without Rust needs to judge and time the CUDA
//! backend.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::command::{root, shell, succeeds};
use crate::kernels;

/// Programs: package, name of the binary, cargo features.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("dtwave-cli", "dtwave", "cuda"),
    ("dtw-bench", "dtw-bench", "cuda"),
    ("dtw-conformance", "conformance", "cli,cpu,cuda"),
];
/// The package whose tests need the device.
const TESTED: &str = "dtw-cuda";
/// The script that runs it all.
const SCRIPT: &str = "xtask/src/dist/run.sh";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder for the files; what an earlier run left there is replaced [default: target/dist of the workspace].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn dist(options: &Options) -> Result<()> {
    let missing = kernels::not_built();
    if let [first, ..] = missing[..] {
        bail!(
            "kernels not built: run `cargo xtask kernels cuda` first ({} units are missing or older than their \
             sources: {first}, ...)",
            missing.len()
        );
    }
    let out = options.out.clone().unwrap_or_else(|| root().join("target/dist"));
    let out = std::path::absolute(&out).with_context(|| format!("no such folder: {}", out.display()))?;
    let sh = shell()?;
    for folder in ["bin", "tests", "benchmarks/definitions"] {
        sh.remove_path(out.join(folder))?;
        sh.create_dir(out.join(folder))?;
    }
    for (package, binary, features) in PROGRAMS {
        let what = ["--path", &format!("crates/{package}"), "--bin", binary, "--features", features];
        cmd!(sh, "cargo install --locked --no-track {what...} --root {out}").run()?;
    }
    tests(&sh, &out.join("tests"))?;
    for file in sh.read_dir("benchmarks/definitions")? {
        sh.copy_file(file, out.join("benchmarks/definitions"))?;
    }
    sh.copy_file(SCRIPT, out.join("run.sh"))?;
    sh.write_file(out.join("commit.txt"), commit(&sh)?)?;
    println!(
        "\n{} is ready: copy it to the GPU machine and start ./run.sh there (./run.sh help)",
        out.display()
    );
    println!("The machine needs an NVIDIA driver and the C library that this one has, or a newer one.");
    Ok(())
}

/// The commit that the programs are built from, as records name it.
fn commit(sh: &Shell) -> Result<String> {
    let hash = cmd!(sh, "git rev-parse --short=12 HEAD").read()?;
    let is_clean = cmd!(sh, "git status --porcelain --untracked-files=no").read()?.is_empty();
    Ok(format!("{hash}{}\n", if is_clean { "" } else { "-dirty" }))
}

/// Builds the test executables and copies them; a nextest archive too where cargo-nextest is installed.
fn tests(sh: &Shell, folder: &Path) -> Result<()> {
    let messages = "--message-format=json-render-diagnostics";
    let made = executables(&cmd!(sh, "cargo test --release --no-run -p {TESTED} {messages}").read()?);
    ensure!(!made.is_empty(), "cargo named no test executables");
    for (name, path) in made {
        sh.copy_file(path, folder.join(format!("{TESTED}-{name}")))?;
    }
    if succeeds(cmd!(sh, "cargo nextest --version")) {
        let archive = folder.join(format!("{TESTED}.tar.zst"));
        cmd!(sh, "cargo nextest archive --release -p {TESTED} --archive-file {archive}").run()?;
    } else {
        println!("cargo-nextest is not installed: no nextest archive, the plain test executables will do");
    }
    Ok(())
}

/// The test executables that cargo says it made, from `--message-format=json`: their names, `unit` for those of a
/// crate's own tests, and where they are.
fn executables(messages: &str) -> Vec<(String, String)> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let made = messages.filter_map(|message| {
        let target = &message["target"];
        let name = if target["kind"][0] == "test" { target["name"].as_str()? } else { "unit" };
        Some((name.to_owned(), message["executable"].as_str()?.to_owned()))
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_are_read_from_cargos_messages() {
        let messages = "\
{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"lib\"],\"name\":\"a\"},\"executable\":null}
{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"test\"],\"name\":\"suite\"},\"executable\":\"/t/suite-1\"}
{\"reason\":\"build-finished\",\"success\":true}
   Compiling a
";
        assert_eq!(executables(messages), [("suite".to_owned(), "/t/suite-1".to_owned())]);
    }
}
