//! `cargo xtask sanitize`: what the compiler cannot vouch for, watched while it runs.
//!
//! AddressSanitizer and UndefinedBehaviorSanitizer watch the kernels' C++ on the processor, ThreadSanitizer the threads
//! of the CPU backend, Miri the Rust that has `unsafe`. Each has a folder of its own in `target/sanitize`, so that
//! ordinary builds stay as they are. CONTRIBUTING.md says what they cannot see.

use anyhow::{Context, Result, ensure};

use crate::command::{Step, cargo, program, root};

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
    let version = program("rustc", &["-vV"]).output()?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    ensure!(host.ends_with("linux-gnu"), "sanitizers run on Linux with the GNU C library, not on {host}");
    for watcher in &options.watchers {
        match watcher {
            Watcher::Address => address(host, options.all)?,
            Watcher::Threads => threads(host, options.all)?,
            Watcher::Miri => miri()?,
        }
    }
    Ok(())
}

fn address(host: &str, all: bool) -> Result<()> {
    // Kernels count on from the addresses of tables that a launch does not have, without reading there: no
    // pointer-overflow. With frames, or the place of a finding is anyone's guess.
    const CXX: &str = "-fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all \
                       -fno-omit-frame-pointer -g1";
    // rustc links without the compiler's own libraries. The sanitizer's must be the first, before the C library.
    let library = program("g++", &["-print-file-name=libasan.so"]).output()?;
    let library = library.trim();
    ensure!(
        library.contains('/'),
        "g++ has no libasan.so: install it (Debian: libgcc-12-dev, which g++ brings)"
    );
    let target = host.replace('-', "_");
    let watched = |tests: &[&str]| -> Result<()> {
        cargo(&["test", "-p", "dtw-native", "--features", "host", "--target", host], &[])
            .arguments(&["--target-dir", "target/sanitize/address"])
            .arguments(tests)
            .env(&format!("CXX_{target}"), "g++")
            .env(&format!("CXXFLAGS_{target}"), CXX)
            // For the target alone: what runs while it is built is not watched.
            .env("RUSTFLAGS", "-C link-arg=-lasan -C link-arg=-lubsan")
            .env(
                &format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase()),
                &format!("env LD_PRELOAD={library}"),
            )
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .run()
    };
    if all {
        return watched(&[]);
    }
    // Every sweep kind, tiles, gradients and the plans' memory: what the other tests add are numbers.
    watched(&["--lib"])?;
    let files = ["memory::", "soft::", "soft_values::", "many_channels", "near_copies"];
    watched(&[&["--test", "all", "--"], &files[..], &["conformance_f32::golden", "::matches"]].concat())
}

fn threads(host: &str, all: bool) -> Result<()> {
    let watched = |tests: &[&str]| -> Result<()> {
        nightly("rust-src", &["test", "-Zbuild-std", "--target", host])?
            .arguments(&["--target-dir", "target/sanitize/threads"])
            .arguments(tests)
            .env("RUSTFLAGS", "-Zsanitizer=thread")
            .env("TSAN_OPTIONS", "halt_on_error=1")
            // Two dozen cases see all lanes.
            .env("PROPTEST_CASES", "24")
            .run()
    };
    if all {
        watched(&["-p", "dtw-cpu"])?;
        return watched(&[
            "-p",
            "dtwave-cli",
            "--test",
            "search",
            "--test",
            "resume",
            "--test",
            "interrupted",
        ]);
    }
    // One that takes a minute stays for `--all`.
    let quick = ["--test", "all", "--", "consistency::", "search::", "--skip", "hits_do_not_depend"];
    watched(&[&["-p", "dtw-cpu"], &quick[..]].concat())
}

fn miri() -> Result<()> {
    // In full: Miri looks for crates there from other folders.
    let folder = root().join("target/sanitize/miri").display().to_string();
    let watched = |package: &[&str]| -> Result<()> {
        nightly("miri", &["miri", "test", "--lib", "--target-dir", &folder])?.arguments(package).run()
    };
    watched(&["-p", "dtw-core"])?;
    watched(&["-p", "dtw-native", "--features", "host", "--", "bytes", "host"])
}

/// `cargo` of the dated toolchain, installed with this component if need be.
fn nightly(component: &str, arguments: &[&str]) -> Result<Step> {
    let install = ["toolchain", "install", NIGHTLY, "--profile", "minimal", "--component", component];
    program("rustup", &install).run()?;
    Ok(program("rustup", &["run", NIGHTLY, "cargo"]).arguments(arguments))
}
