//! What tidy reads: the project's text files.

use std::path::Path;

use anyhow::{Context, Result};
use xshell::cmd;

use crate::command::{root, shell};

/// A file of the project: its path from the root, with `/`, and its text.
pub(crate) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|e| e.to_str()).unwrap_or_default()
    }
}

/// The project's text files, as git sees them: committed or about to be.
pub(crate) struct Project {
    pub(super) files: Vec<File>,
    /// Every file that is no text.
    pub(super) binaries: Vec<String>,
}

impl Project {
    pub(crate) fn read() -> Result<Self> {
        let sh = shell()?;
        let list = cmd!(sh, "git ls-files -z --cached --others --exclude-standard").read()?;
        let (mut files, mut binaries) = (Vec::new(), Vec::new());
        for path in list.split_terminator('\0') {
            let full = root().join(path);
            // A file that was deleted but not yet committed is still listed.
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            // What is not UTF-8 is not text: pictures, archives.
            match String::from_utf8(bytes) {
                Ok(text) => files.push(File { path: path.to_owned(), text }),
                Err(_) => binaries.push(path.to_owned()),
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Ok(Self { files, binaries })
    }

    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// Whether there is such a file, or a folder with files in it.
    pub(super) fn has(&self, path: &str) -> bool {
        let is = |known: &str| {
            known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files.iter().any(|file| is(&file.path)) || self.binaries.iter().any(|known| is(known))
    }

    pub(super) fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.extension() == extension)
    }

    pub(super) fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }
}

/// What a rule found wrong.
pub(crate) type Complaints = Vec<String>;

#[cfg(test)]
pub(crate) fn project(files: &[(&str, &str)]) -> Project {
    let files =
        files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect();
    Project { files, binaries: Vec::new() }
}
