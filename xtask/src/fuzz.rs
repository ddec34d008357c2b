//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/` with libFuzzer, on any toolchain.
//!
//! A file `fuzz/targets/NAME.rs`, with its `[[bin]]` in `fuzz/Cargo.toml`, is a target. What a target learns is kept in
//! `target/fuzz/corpus/NAME` for the next run; an input that fails is written to `fuzz/artifacts/NAME`, and shown at
//! the end. `--runs` is for checks that must not fail by chance: they only fail when the code has changed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, bail, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::command::{host, root, shell};

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
    let sh = shell()?;
    let known = targets(&sh)?;
    if let Some(target) = options.targets.iter().find(|target| !known.contains(target)) {
        bail!("no target {target}; there are {}", known.join(", "));
    }
    let wanted = if options.targets.is_empty() { &known } else { &options.targets };
    let host = host(&sh)?;
    let built = root().join("target/fuzz");
    let targets = wanted.iter().flat_map(|target| ["--bin", target]);
    let workspace = ["--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
    // Only for the target platform, so that build scripts stay as they are.
    cmd!(sh, "cargo build --release --target {host} {workspace...} {targets...}")
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"))
        .run()?;

    let mut failed = String::new();
    for target in wanted {
        let binary = built.join(&host).join("release").join(target);
        let artifacts = sh.create_dir(format!("fuzz/artifacts/{target}"))?;
        let began = SystemTime::now();
        let mut command = sh
            .cmd(binary)
            .args([format!("-timeout={HANG_SECS}"), format!("-max_len={MOST_BYTES}")])
            // What is learnt is shown in a line now and then.
            .args(["-len_control=0", "-print_final_stats=1", "-verbosity=0", "-print_funcs=0"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()));
        command = match options.runs {
            Some(runs) => command.args([format!("-runs={runs}"), "-seed=1".to_owned()]),
            None => command.arg(format!("-max_total_time={}", options.seconds)),
        };
        command = match &options.input {
            Some(file) => command.arg(file),
            None if options.runs.is_some() => command,
            None => command.arg(sh.create_dir(built.join("corpus").join(target))?),
        };
        if command.run().is_err() {
            let _ = write!(failed, "\n{target}");
            // In words too, because files of a machine in a farm are gone when somebody looks.
            for input in written_since(&artifacts, began)? {
                let bytes = sh.read_binary_file(&input)?;
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let _ = write!(failed, "\n  {}\n  in hexadecimal (xxd -r -p): {hex}", input.display());
            }
        }
    }
    ensure!(failed.is_empty(), "failed (run an input again with --input FILE):{failed}");
    Ok(())
}

/// The files of a folder that were written since. An input that fails again is written again, under the same name.
fn written_since(folder: &Path, since: SystemTime) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.metadata()?.modified()? >= since {
            written.push(entry.path());
        }
    }
    Ok(written)
}

/// The names of all targets, sorted; an error if one is not built.
fn targets(sh: &Shell) -> Result<Vec<String>> {
    let manifest = sh.read_file("fuzz/Cargo.toml")?;
    let mut names = Vec::new();
    for path in sh.read_dir("fuzz/targets")? {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let is_built = manifest.contains(&format!("\nname = \"{name}\"\n"));
        ensure!(is_built, "fuzz/Cargo.toml has no [[bin]] named {name}");
        names.push(name);
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_input_that_fails_again_is_shown_again() {
        let folder = std::env::temp_dir().join(format!("dtwave-xtask-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let now = SystemTime::now();
        for (name, modified) in [("other", now - Duration::from_secs(5)), ("crash", now)] {
            File::create(folder.join(name)).unwrap().set_modified(modified).unwrap();
        }
        assert_eq!(written_since(&folder, now - Duration::from_secs(1)).unwrap(), [folder.join("crash")]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
