//! `cargo xtask sanitize`: what the compiler cannot vouch for, watched while it runs.
//!
//! AddressSanitizer and UndefinedBehaviorSanitizer watch the kernels' C++ on the processor, ThreadSanitizer the threads
//! of the CPU backend, Miri the Rust that has `unsafe`. Each has a folder of its own in `target/sanitize`, so that
//! ordinary builds stay as they are. CONTRIBUTING.md says what they cannot see.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::command::{host, other_cargo, root, shell};

/// What Miri and ThreadSanitizer are part of; a date, so that nothing changes by itself.
const NIGHTLY: &str = "nightly-2026-05-20";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Watcher {
    /// AddressSanitizer and UndefinedBehaviorSanitizer: the kernels' C++ on the processor, by g++.
    Address,
    /// ThreadSanitizer: the CPU backend on several threads.
    Threads,
    /// Miri: the bytes and the host memory of dtw-native, and dtw-core.
    Miri,
}

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Who watches.
    #[arg(required = true, value_enum)]
    watchers: Vec<Watcher>,
    /// All tests of dtw-native and dtw-cpu, and those of the command with threads, rather than the quick ones (an hour
    /// or more).
    #[arg(long)]
    all: bool,
}

/// Runs the tests under each.
pub(crate) fn sanitize(options: &Options) -> Result<()> {
    let sh = shell()?;
    let host = host(&sh)?;
    ensure!(host.ends_with("linux-gnu"), "sanitizers run on Linux with the GNU C library, not on {host}");
    for watcher in &options.watchers {
        match watcher {
            Watcher::Address => address(&sh, &host, options.all)?,
            Watcher::Threads => threads(&sh, &host, options.all)?,
            Watcher::Miri => miri(&sh)?,
        }
    }
    Ok(())
}

fn address(sh: &Shell, host: &str, all: bool) -> Result<()> {
    // Kernels count on from the addresses of tables that a launch does not have, without reading there: no
    // pointer-overflow. With frames, or the place of a finding is anyone's guess.
    const CXX: &str = "-fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all \
                       -fno-omit-frame-pointer -g1";
    // rustc links without the compiler's own libraries. The sanitizer's must be the first, before the C library.
    let library = cmd!(sh, "g++ -print-file-name=libasan.so").read()?;
    ensure!(
        library.contains('/'),
        "g++ has no libasan.so: install it (Debian: libgcc-12-dev, which g++ brings)"
    );
    let target = host.replace('-', "_");
    sh.set_var(format!("CXX_{target}"), "g++");
    sh.set_var(format!("CXXFLAGS_{target}"), CXX);
    // For the target alone: what runs while it is built is not watched.
    sh.set_var("RUSTFLAGS", "-C link-arg=-lasan -C link-arg=-lubsan");
    let runner = format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase());
    sh.set_var(runner, format!("env LD_PRELOAD={library}"));
    sh.set_var("UBSAN_OPTIONS", "print_stacktrace=1");
    // Every sweep kind, tiles, gradients and the plans' memory: what the other tests add are numbers.
    let quick = "memory:: soft:: soft_values:: many_channels near_copies conformance_f32::golden ::matches";
    let quick = format!("--test all -- {quick}");
    let runs: &[&str] = if all { &[""] } else { &["--lib", &quick] };
    for run in runs {
        let run = run.split_whitespace();
        cmd!(sh, "cargo test -p dtw-native --features host --target {host} --target-dir target/sanitize/address {run...}").run()?;
    }
    Ok(())
}

fn threads(sh: &Shell, host: &str, all: bool) -> Result<()> {
    sh.set_var("RUSTFLAGS", "-Zsanitizer=thread");
    sh.set_var("TSAN_OPTIONS", "halt_on_error=1");
    // Two dozen cases see all lanes.
    sh.set_var("PROPTEST_CASES", "24");
    let runs: &[&str] = if all {
        &["-p dtw-cpu", "-p dtwave-cli --test search --test resume --test interrupted"]
    } else {
        // One that takes a minute stays for `--all`.
        &["-p dtw-cpu --test all -- consistency:: search:: --skip hits_do_not_depend"]
    };
    for run in runs {
        let folder = ["--target-dir", "target/sanitize/threads"];
        other_cargo(sh, NIGHTLY, "rust-src")?
            .args(["test", "-Zbuild-std", "--target", host])
            .args(folder)
            .args(run.split(' '))
            .run()?;
    }
    Ok(())
}

fn miri(sh: &Shell) -> Result<()> {
    // In full: Miri looks for crates there from other folders.
    let folder = root().join("target/sanitize/miri");
    for package in ["-p dtw-core", "-p dtw-native --features host -- bytes host"] {
        other_cargo(sh, NIGHTLY, "miri")?
            .args(["miri", "test", "--lib", "--target-dir"])
            .arg(&folder)
            .args(package.split(' '))
            .run()?;
    }
    Ok(())
}
