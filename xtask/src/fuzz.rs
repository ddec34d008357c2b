//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/` with libFuzzer, on any toolchain.
//!
//! A file `fuzz/targets/NAME.rs`, with its `[[bin]]` in `fuzz/Cargo.toml`, is a target. What a target learns is kept in
//! `target/fuzz/corpus/NAME` for the next run; an input that fails is written to `fuzz/artifacts/NAME`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::command::{cargo, program, root};

/// What libFuzzer wants to be told by the compiler: which edges were taken, and what was compared with what.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Seconds of one input after which libFuzzer calls it a hang; the targets themselves judge processor time.
const HANG_SECS: u32 = 25;
/// Longest input, in bytes: choices, not the files made from them.
const MOST_BYTES: u32 = 1 << 14;

#[derive(Args)]
pub(crate) struct Options {
    /// Targets to run [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,

    /// Run this input instead of searching for others
    #[arg(long, value_name = "FILE", conflicts_with = "seconds")]
    input: Option<std::path::PathBuf>,
}

/// Builds the targets and runs them one after the other.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    let known = targets()?;
    for target in &options.targets {
        ensure!(known.contains(target), "no target {target}; there are {}", known.join(", "));
    }
    let wanted = if options.targets.is_empty() { known } else { options.targets.clone() };
    let version = program("rustc", &["-vV"]).output()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let manifest = root().join("fuzz/Cargo.toml");
    let built = root().join("target/fuzz");
    let mut build = vec!["build", "--release", "--target", host];
    let (manifest, folder) = (manifest.display().to_string(), built.display().to_string());
    build.extend(["--manifest-path", &manifest, "--target-dir", &folder]);
    wanted.iter().for_each(|target| build.extend(["--bin", target]));
    // Only for the target platform, so that build scripts stay as they are.
    cargo(&build, &[]).env("CARGO_ENCODED_RUSTFLAGS", &COVERAGE.join("\u{1f}")).run()?;

    let mut failed = Vec::new();
    for target in &wanted {
        let binary = built.join(host).join("release").join(target).display().to_string();
        let corpus = folder_of(&built.join("corpus").join(target))?;
        let artifacts = folder_of(&root().join("fuzz/artifacts").join(target))?;
        let input = options.input.as_deref().map(|file| file.display().to_string());
        let limits = [
            format!("-max_total_time={}", options.seconds),
            format!("-timeout={HANG_SECS}"),
            format!("-max_len={MOST_BYTES}"),
            "-len_control=0".to_owned(),
            format!("-artifact_prefix={artifacts}/"),
            "-print_final_stats=1".to_owned(),
            "-verbosity=1".to_owned(),
        ];
        let mut arguments: Vec<&str> = limits.iter().map(String::as_str).collect();
        arguments.push(input.as_deref().unwrap_or(&corpus));
        if program(&binary, &arguments).run().is_err() {
            failed.push(target.as_str());
        }
    }
    ensure!(failed.is_empty(), "failed: {}; the inputs are in fuzz/artifacts", failed.join(", "));
    Ok(())
}

/// The names of all targets, sorted; an error if one is not built.
fn targets() -> Result<Vec<String>> {
    let manifest =
        fs::read_to_string(root().join("fuzz/Cargo.toml")).context("cannot read fuzz/Cargo.toml")?;
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("fuzz/targets")).context("cannot read fuzz/targets")? {
        let path = entry?.path();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !manifest.contains(&format!("\nname = \"{name}\"\n")) {
            bail!("fuzz/Cargo.toml has no [[bin]] named {name}");
        }
        names.push(name);
    }
    names.sort();
    Ok(names)
}

fn folder_of(path: &Path) -> Result<String> {
    fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path.display().to_string())
}
