//! `cargo xtask fmt`: formatting, including modules that macros declare, which `cargo fmt` does not see.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::command::{cargo, program, root};

/// Folders whose modules the table of measures declares.
const DECLARED_BY_MACROS: [&str; 2] = ["crates/dtw-core/src/recurrence", "crates/dtw-conformance/src/oracle"];

/// Formats everything, or with `--check` says what is not formatted.
pub(crate) fn format(options: &[&str]) -> Result<()> {
    let all: Vec<&str> = ["fmt", "--all"].iter().chain(options).copied().collect();
    cargo(&all, &[]).run()?;
    let files = files()?;
    let files: Vec<&str> = files.iter().filter_map(|path| path.to_str()).collect();
    program("rustfmt", &["--edition", "2024"]).arguments(options).arguments(&files).run()
}

/// The files of these folders, from the root.
fn files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in DECLARED_BY_MACROS {
        let entries =
            std::fs::read_dir(root().join(folder)).with_context(|| format!("cannot read {folder}"))?;
        for entry in entries {
            let path = PathBuf::from(folder).join(entry?.file_name());
            if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_macros_declare_is_found() {
        let files = files().unwrap();
        for folder in DECLARED_BY_MACROS {
            assert!(files.contains(&PathBuf::from(folder).join("dtw.rs")), "{folder}");
        }
    }
}
