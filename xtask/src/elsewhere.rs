//! `cargo xtask elsewhere`: other machines than this one, and the oldest Rust that is promised.
//!
//! What can only be compiled here is compiled; ARM's NEON sweeps also run, under QEMU, and WebAssembly under Node.js.
//! Targets and toolchains are added with rustup; linkers, the emulator and Node.js are the system's packages (Debian's
//! names are in the errors).

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::command::{add_target, needs, other_cargo, root, shell};

/// A machine, or a compiler, that this one is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Place {
    /// The whole workspace with the `rust-version` of Cargo.toml.
    Oldest,
    /// The command for Windows, with the `rust-version` of Cargo.toml.
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
        let sh = shell()?;
        match place {
            Place::Oldest => {
                // Nobody runs the kernels, and g++ is the same.
                sh.set_var("DTWAVE_HOST_KERNELS", "skip");
                let cargo = other_cargo(&sh, env!("CARGO_PKG_RUST_VERSION"), "rustc")?;
                cargo.args(["check", "--workspace", "--all-features"]).run()?;
                // The count that .ci/more wants of every part.
                let known = cmd!(sh, "cargo metadata --no-deps --format-version 1").quiet().read()?;
                let packages = known.matches("\"manifest_path\":").count();
                println!("compiled with Rust {}: {packages} passed", env!("CARGO_PKG_RUST_VERSION"));
            }
            Place::Windows => {
                needs(&sh, "x86_64-w64-mingw32-gcc", "Debian: gcc-mingw-w64-x86-64")?;
                let (oldest, target) = (env!("CARGO_PKG_RUST_VERSION"), "x86_64-pc-windows-gnu");
                let cargo = other_cargo(&sh, oldest, "rustc")?;
                cmd!(sh, "rustup target add {target} --toolchain {oldest}").run()?;
                cargo.args(["check", "-p", "dtwave-cli", "--target", target]).run()?;
            }
            // Without a linker for it, what has no operating system is compiled: the library.
            Place::Apple => {
                let target = "aarch64-apple-darwin";
                add_target(&sh, target)?;
                cmd!(sh, "cargo check -p dtwave --target {target}").run()?;
            }
            Place::Wasm => wasm(&sh, "-C target-feature=+simd128")?,
            Place::WasmScalar => wasm(&sh, "")?,
            Place::Neon => neon(&sh)?,
        }
    }
    Ok(())
}

fn wasm(sh: &Shell, features: &str) -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    needs(sh, "node", "Debian: nodejs")?;
    sh.set_var("RUSTFLAGS", features);
    add_target(sh, TARGET)?;
    // As users compile the library; the page of examples/web is a workspace of its own.
    let page = ["--manifest-path", "examples/web/Cargo.toml", "--target-dir", "target/web/check"];
    cmd!(sh, "cargo check --locked -p dtwave-web --target {TARGET} {page...}").run()?;
    // What draws random cases has its seeds, but is compiled with a way to ask the system for others.
    sh.set_var("RUSTFLAGS", format!("{features} --cfg getrandom_backend=\"unsupported\""));
    let node = format!("node {}", root().join("xtask/src/elsewhere/run.mjs").display());
    sh.set_var("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", node);
    // The tests take seconds, and what they run would take minutes to compile.
    let quick = ["dtw-cpu", "dtw-conformance"].map(|name| format!("profile.dev.package.{name}.opt-level=1"));
    let quick = quick.iter().flat_map(|option| ["--config", option]);
    Ok(cmd!(sh, "cargo test -p dtwave --test anywhere --target {TARGET} {quick...}").run()?)
}

fn neon(sh: &Shell) -> Result<()> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    needs(sh, "aarch64-linux-gnu-gcc", "Debian: gcc-aarch64-linux-gnu and libc6-dev-arm64-cross")?;
    needs(sh, "qemu-aarch64", "Debian: qemu-user")?;
    add_target(sh, TARGET)?;
    sh.set_var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    sh.set_var("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    // Every random test of the consistency is slow under emulation; two dozen cases see all lanes.
    sh.set_var("PROPTEST_CASES", "24");
    cmd!(sh, "cargo test -p dtw-cpu --test all --target {TARGET} -- consistency::").run()?;
    sh.set_var("PROPTEST_CASES", "32");
    let sections = NEON_SECTIONS.iter().flat_map(|section| ["--section", section]);
    let run = ["run", "-p", "dtw-conformance", "--features", "cli,cpu", "--bin", "conformance"];
    Ok(cmd!(sh, "cargo {run...} --target {TARGET} -- --backend cpu {sections...}").run()?)
}
