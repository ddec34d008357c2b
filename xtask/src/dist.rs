//! `cargo xtask dist`: one folder with everything that a GPU machine without Rust needs to judge and time the CUDA
//! backend.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{cargo, git, root};
use crate::kernels;

/// Programs: package, name of the binary, cargo features.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("dtwave-cli", "dtwave", "cuda"),
    ("dtw-bench", "dtw-bench", "cuda"),
    ("dtw-conformance", "conformance", "cli,cpu,cuda"),
];
/// Packages whose tests need the device.
const TESTED: &[&str] = &["dtw-cuda"];
/// The script that runs it all.
const SCRIPT: &str = include_str!("dist/run.sh");

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder for the files; what an earlier run left there is replaced [default: target/dist of the workspace].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave out what cannot be built instead of stopping there; says what is left out.
    #[arg(long)]
    keep_going: bool,
}

/// An executable that cargo made.
#[derive(Debug, PartialEq, Eq)]
struct Executable {
    /// Name of the target: the binary's, the library's, the test file's.
    name: String,
    kind: String,
    path: PathBuf,
}

/// Runs the command.
pub(crate) fn dist(options: &Options) -> Result<()> {
    let missing = kernels::not_built();
    if !missing.is_empty() {
        bail!(
            "kernels not built: run `cargo xtask kernels cuda` first ({} units are missing or older than their sources: {})",
            missing.len(),
            missing.iter().take(3).copied().collect::<Vec<_>>().join(", ")
                + if missing.len() > 3 { ", ..." } else { "" }
        );
    }
    let out = options.out.clone().unwrap_or_else(|| root().join("target/dist"));
    let out = std::path::absolute(&out).with_context(|| format!("no such folder: {}", out.display()))?;
    for folder in ["bin", "tests", "benchmarks"] {
        let folder = out.join(folder);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut left_out = Vec::new();
    let mut attempt = |what: &str, result: Result<()>| match result {
        Err(error) if options.keep_going => {
            left_out.push(format!("{what}: {error:#}"));
            Ok(())
        }
        other => other.with_context(|| format!("cannot make {what} for {}", out.display())),
    };
    for (package, binary, features) in PROGRAMS {
        attempt(binary, program(package, binary, features, &out.join("bin")))?;
    }
    for package in TESTED {
        attempt(&format!("the tests of {package}"), tests(package, &out.join("tests")))?;
    }
    copy_folder(&root().join("benchmarks/definitions"), &out.join("benchmarks/definitions"))?;
    write_script(&out)?;
    std::fs::write(out.join("commit.txt"), commit()?)?;
    for what in &left_out {
        println!("left out: {what}");
    }
    println!(
        "\n{} is ready: copy it to the GPU machine and start ./run.sh there (./run.sh help)",
        out.display()
    );
    println!("The machine needs an NVIDIA driver and the C library that this one has, or a newer one.");
    Ok(())
}

/// The commit that the programs are built from, as records name it.
fn commit() -> Result<String> {
    let hash = git(&["rev-parse", "--short=12", "HEAD"]).output()?;
    let is_clean = git(&["status", "--porcelain", "--untracked-files=no"]).output()?.trim().is_empty();
    Ok(format!("{}{}\n", hash.trim(), if is_clean { "" } else { "-dirty" }))
}

/// Builds a program and copies it.
fn program(package: &str, binary: &str, features: &str, folder: &Path) -> Result<()> {
    let arguments = [
        "build",
        "--release",
        "-p",
        package,
        "--bin",
        binary,
        "--features",
        features,
        "--message-format=json-render-diagnostics",
    ];
    let made = executables(&cargo(&arguments, &[]).said().output()?);
    let made = made.iter().find(|executable| executable.name == binary);
    copy(&made.with_context(|| format!("cargo named no executable {binary}"))?.path, &folder.join(binary))
}

/// Builds the test executables of a package and copies them; a nextest archive too where cargo-nextest is installed.
fn tests(package: &str, folder: &Path) -> Result<()> {
    let arguments =
        ["test", "--release", "--no-run", "-p", package, "--message-format=json-render-diagnostics"];
    let made = executables(&cargo(&arguments, &[]).said().output()?);
    if made.is_empty() {
        bail!("cargo named no test executables");
    }
    for executable in &made {
        let name = match executable.kind.as_str() {
            "test" => format!("{package}-{}", executable.name),
            _ => format!("{package}-unit"),
        };
        copy(&executable.path, &folder.join(name))?;
    }
    if cargo(&["nextest", "--version"], &[]).succeeds() {
        let archive = folder.join(format!("{package}.tar.zst"));
        let archive = archive.to_str().context("the folder's name is no UTF-8")?;
        cargo(&["nextest", "archive", "--release", "-p", package, "--archive-file", archive], &[]).run()?;
    } else {
        println!("cargo-nextest is not installed: no nextest archive, the plain test executables will do");
    }
    Ok(())
}

/// What cargo says it made, from `--message-format=json`.
fn executables(messages: &str) -> Vec<Executable> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    artifacts
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter_map(|message| {
            let target = &message["target"];
            Some(Executable {
                name: target["name"].as_str()?.to_owned(),
                kind: target["kind"][0].as_str()?.to_owned(),
                path: message["executable"].as_str()?.into(),
            })
        })
        .collect()
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn write_script(out: &Path) -> Result<()> {
    let path = out.join("run.sh");
    std::fs::write(&path, SCRIPT)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
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
        let suite = Executable { name: "suite".into(), kind: "test".into(), path: "/t/suite-1".into() };
        assert_eq!(executables(messages), [suite]);
    }
}
