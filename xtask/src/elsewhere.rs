//! `cargo xtask elsewhere`: other machines than this one, and the oldest Rust that is promised.
//!
//! What can only be compiled here is compiled; ARM's NEON sweeps also run, under QEMU, and WebAssembly under Node.js.
//! Targets and toolchains are added with rustup; linkers, the emulator and Node.js are the system's packages (Debian's
//! names are in the errors).

use anyhow::Result;

use crate::command::{Step, cargo, needs, program, root, rustup};

/// A machine, or a compiler, that this one is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Place {
    /// The whole workspace with the `rust-version` of Cargo.toml.
    Oldest,
    /// The command for Windows.
    Windows,
    /// The library crates for Apple's ARM.
    Apple,
    /// WebAssembly with its SIMD under Node.js: a session, golden numbers, other chosen and some random cases. The page
    /// of examples/web compiles.
    Wasm,
    /// WebAssembly without SIMD.
    WasmScalar,
    /// NEON under QEMU: golden numbers, the same bits however computed, and some random cases.
    Neon,
}

/// What runs where there is no operating system: the library.
const LIBRARY: &[&str] = &["check", "-p", "dtwave"];

/// Random sections for an emulator: a price of each kind, two states, paths, gradients and matches.
const NEON_SECTIONS: &[&str] = &[
    "golden",
    "random_twed",
    "random_lcss",
    "random_soft_dtw",
    "random_gradients",
    "random_paths",
    "random_matches",
];

pub(crate) fn elsewhere(places: &[Place]) -> Result<()> {
    for place in places {
        match place {
            Place::Oldest => oldest()?,
            Place::Windows => {
                const TARGET: &str = "x86_64-pc-windows-gnu";
                needs("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")?;
                rustup(&["target", "add", TARGET])?;
                cargo(&["check", "-p", "dtwave-cli", "--target", TARGET], &[]).run()?;
            }
            Place::Apple => {
                const TARGET: &str = "aarch64-apple-darwin";
                rustup(&["target", "add", TARGET])?;
                cargo(LIBRARY, &[]).arguments(&["--target", TARGET]).run()?;
            }
            Place::Wasm => wasm("-C target-feature=+simd128")?,
            Place::WasmScalar => wasm("")?,
            Place::Neon => neon()?,
        }
    }
    Ok(())
}

fn oldest() -> Result<()> {
    const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");
    rustup(&["toolchain", "install", VERSION, "--profile", "minimal"])?;
    program("rustup", &["run", VERSION, "cargo", "check", "--workspace", "--all-features"])
        // Nobody runs the kernels, and g++ is the same.
        .env("DTWAVE_HOST_KERNELS", "skip")
        .run()
}

fn wasm(features: &str) -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    needs("node", "nodejs")?;
    rustup(&["target", "add", TARGET])?;
    let node = format!("node {}", root().join("xtask/src/elsewhere/run.mjs").display());
    // As users compile it.
    cargo(LIBRARY, &[]).arguments(&["--target", TARGET]).env("RUSTFLAGS", features).run()?;
    // The page of examples/web is a workspace of its own.
    cargo(&["check", "--locked", "-p", "dtwave-web", "--target", TARGET], &[])
        .arguments(&["--manifest-path", "examples/web/Cargo.toml", "--target-dir", "target/web/check"])
        .env("RUSTFLAGS", features)
        .run()?;
    // What draws random cases has its seeds, but is compiled with a way to ask the system for others.
    let flags = format!("{features} --cfg getrandom_backend=\"unsupported\"");
    cargo(&["test", "-p", "dtwave", "--test", "anywhere", "--target", TARGET], &[])
        // The tests take seconds, and what they run would take minutes to compile.
        .arguments(&["--config", "profile.dev.package.dtw-cpu.opt-level=1"])
        .arguments(&["--config", "profile.dev.package.dtw-conformance.opt-level=1"])
        .env("RUSTFLAGS", &flags)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &node)
        .run()
}

fn neon() -> Result<()> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    needs("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross")?;
    needs("qemu-aarch64", "qemu-user")?;
    rustup(&["target", "add", TARGET])?;
    let emulated = |step: Step| {
        step.arguments(&["--target", TARGET])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu")
    };
    // Every random test of the consistency is slow under emulation; two dozen cases see all lanes.
    emulated(cargo(&["test", "-p", "dtw-cpu", "--test", "all"], &[]))
        .arguments(&["--", "consistency::"])
        .env("PROPTEST_CASES", "24")
        .run()?;
    let run = ["run", "-p", "dtw-conformance", "--features", "cli,cpu", "--bin", "conformance"];
    let mut options = vec!["--", "--backend", "cpu"];
    for section in NEON_SECTIONS {
        options.extend(["--section", section]);
    }
    emulated(cargo(&run, &[])).arguments(&options).env("PROPTEST_CASES", "32").run()
}
