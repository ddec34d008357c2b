//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md, checked.
//!
//! Every rule is a function from what it reads to a list of complaints, so that its tests need no workspace.

mod documents;
mod kernels;
mod measures;
mod modules;
mod packages;
mod rust_code;
mod sources;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, git, root};

/// A file of the project: its path from the root, with `/`, and its text.
pub(crate) struct File {
    path: String,
    text: String,
}

impl File {
    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|e| e.to_str()).unwrap_or_default()
    }
}

/// The project's text files, as git sees them: committed or about to be.
pub(crate) struct Project {
    files: Vec<File>,
    /// Every file that is no text.
    binaries: Vec<String>,
}

impl Project {
    fn read() -> Result<Self> {
        let list = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output()?;
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
    fn has(&self, path: &str) -> bool {
        let is = |known: &str| {
            known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files.iter().any(|file| is(&file.path)) || self.binaries.iter().any(|known| is(known))
    }

    fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.extension() == extension)
    }

    fn under<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }
}

/// What one rule found wrong.
pub(crate) type Complaints = Vec<String>;

/// Checks all rules; an error with every complaint, each on a line.
pub(crate) fn tidy() -> Result<()> {
    let project = Project::read()?;
    let metadata = cargo(&["metadata", "--format-version", "1"], &[]).output()?;
    let packages = packages::Packages::parse(&metadata)?;
    let table = measures::table();
    let with_kernels: Vec<&str> = dtw_kernels::catalog::measures().iter().map(|(key, _)| *key).collect();
    let rules: [(&str, Complaints); 21] = [
        ("dtw-core knows no machine", packages.core_knows_no_machine()),
        ("backends know no other backend", packages.backends_know_no_other()),
        ("what backends share knows no backend", packages.shared_knows_no_backend()),
        ("vendor crates in their own crate only", packages.vendors_at_home()),
        ("the workspace's lints everywhere", packages.lints_everywhere(&project)),
        ("files have one idea", sources::sizes(&project)),
        ("lines of prose are short", sources::widths(&project)),
        ("every crate says what it is", sources::crate_docs(&project)),
        ("nothing unfinished", sources::unfinished(&project)),
        ("the planner's modules need each other in one direction", modules::circles(&project)),
        ("unsafe has a reason", sources::unsafe_reasons(&project)),
        ("no machine's paths", sources::machine_paths(&project)),
        ("every measure is whole", measures::whole(&project, &table)),
        ("every measure has kernels", measures::kernels(&table, &with_kernels)),
        ("the Python classes are of the table", crate::python::measures::current(&project)),
        ("vendors are asked for in one place", kernels::vendors(&project)),
        ("links lead somewhere", documents::links(&project)),
        ("the site knows where links lead", documents::links_of_the_site(&project)),
        ("records say where they come from", documents::records(&project)),
        ("a changelog", documents::changelog(&project)),
        ("licences", documents::licences(&project)),
    ];
    let mut complaints = 0;
    for (rule, found) in &rules {
        println!(
            "tidy: {rule}: {}",
            if found.is_empty() { "ok".to_owned() } else { format!("{} wrong", found.len()) }
        );
        for complaint in found {
            println!("  {complaint}");
        }
        complaints += found.len();
    }
    if complaints > 0 {
        bail!("tidy: {complaints} complaints");
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn project(files: &[(&str, &str)]) -> Project {
    let files =
        files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect();
    Project { files, binaries: Vec::new() }
}
