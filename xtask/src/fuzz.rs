//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/` with libFuzzer, on any toolchain.
//!
//! A file `fuzz/targets/NAME.rs`, with its `[[bin]]` in `fuzz/Cargo.toml`, is a target. What a target learns is kept in
//! `target/fuzz/corpus/NAME` for the next run; an input that fails is written to `fuzz/artifacts/NAME`, and shown at
//! the end. `--runs` is for checks that must not fail by chance: they only fail when the code has changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

    /// Inputs for each target instead, the same ones every time for the same code: from no corpus, with a fixed seed
    #[arg(long, conflicts_with = "seconds", value_name = "N")]
    runs: Option<u32>,

    /// Run this input instead of searching for others
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "runs"])]
    input: Option<PathBuf>,
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

    let mut failed = String::new();
    for target in &wanted {
        let binary = built.join(host).join("release").join(target).display().to_string();
        let artifacts = root().join("fuzz/artifacts").join(target);
        let known = inputs(&artifacts)?;
        let mut arguments = vec![
            format!("-timeout={HANG_SECS}"),
            format!("-max_len={MOST_BYTES}"),
            "-len_control=0".to_owned(),
            format!("-artifact_prefix={}/", artifacts.display()),
            "-print_final_stats=1".to_owned(),
            // What is learnt is shown in a line now and then.
            "-verbosity=0".to_owned(),
            "-print_funcs=0".to_owned(),
        ];
        match options.runs {
            Some(runs) => arguments.extend([format!("-runs={runs}"), "-seed=1".to_owned()]),
            None => arguments.push(format!("-max_total_time={}", options.seconds)),
        }
        match (&options.input, options.runs) {
            (Some(file), _) => arguments.push(file.display().to_string()),
            (None, Some(_)) => {}
            (None, None) => arguments.push(folder_of(&built.join("corpus").join(target))?),
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if program(&binary, &arguments).run().is_err() {
            let _ = write!(failed, "\n{target}");
            // In words too, because files of a machine in a farm are gone when somebody looks.
            for (input, _) in inputs(&artifacts)?.difference(&known) {
                let bytes = fs::read(input).with_context(|| format!("cannot read {}", input.display()))?;
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let _ = write!(failed, "\n  {}\n  in hexadecimal (xxd -r -p): {hex}", input.display());
            }
        }
    }
    ensure!(failed.is_empty(), "failed (run an input again with --input FILE):{failed}");
    Ok(())
}

/// What is in a folder, which is made if it is not there, and when it was written: an input that fails again is written
/// again, under the same name.
fn inputs(folder: &Path) -> Result<BTreeSet<(PathBuf, SystemTime)>> {
    folder_of(folder)?;
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let written = |entry: io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.metadata()?.modified()?))
    };
    Ok(entries.map(written).collect::<io::Result<_>>()?)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_input_that_fails_again_is_shown_again() {
        let folder = std::env::temp_dir().join(format!("dtwave-xtask-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str| fs::File::create(folder.join(name)).unwrap();
        let (_, file) = (write("other"), write("crash"));
        let known = inputs(&folder).unwrap();
        assert_eq!(known.len(), 2);
        file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
        let again = inputs(&folder).unwrap();
        let shown: Vec<_> = again.difference(&known).map(|(path, _)| path.file_name().unwrap()).collect();
        assert_eq!(shown, ["crash"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
