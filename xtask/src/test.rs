//! `cargo xtask test`: every test there is, by the runner that is there.

use anyhow::Result;

use crate::command::cargo;

/// Runs all tests.
pub(crate) fn test() -> Result<()> {
    if cargo(&["nextest", "--version"], &[]).succeeds() {
        println!("cargo-nextest is installed: tests run with it, documentation tests with cargo test");
        cargo(&["nextest", "run", "--workspace", "--all-features"], &[]).run()?;
        cargo(&["test", "--doc", "--workspace", "--all-features"], &[]).run()
    } else {
        println!("cargo-nextest is not installed: all tests run with cargo test");
        cargo(&["test", "--workspace", "--all-features"], &[]).run()
    }
}
