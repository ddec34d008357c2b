//! `cargo xtask fmt`: formatting, including modules that macros declare, which `cargo fmt` does not see.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::command::shell;

/// Folders whose modules the table of measures declares.
const DECLARED_BY_MACROS: [&str; 2] = ["crates/dtw-core/src/recurrence", "crates/dtw-conformance/src/oracle"];

/// Formats everything, or with `--check` says what is not formatted.
pub(crate) fn format(options: &[&str]) -> Result<()> {
    let sh = shell()?;
    cmd!(sh, "cargo fmt --all {options...}").run()?;
    let files = files(&sh)?;
    Ok(cmd!(sh, "rustfmt --edition 2024 {options...} {files...}").quiet().run()?)
}

/// The files of these folders.
fn files(sh: &Shell) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in DECLARED_BY_MACROS {
        files.extend(sh.read_dir(folder)?);
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_macros_declare_is_found() {
        let files = files(&shell().unwrap()).unwrap();
        for folder in DECLARED_BY_MACROS {
            assert!(files.iter().any(|path| path.ends_with(format!("{folder}/dtw.rs"))), "{folder}");
        }
    }
}
