//! The parts of .ci/more, what they watch, and whether they have passed since that changed.
//!
//! What a part watches is known by git's hashes of these files and folders, so that a commit that was moved to another
//! branch still counts.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::command::git;

const PARTS: &str = ".ci/parts.toml";
const PASSED: &str = ".ci/passed.toml";
/// What every part watches.
const ALWAYS: &[&str] = &["Cargo.lock", "Cargo.toml"];

/// What is done in a part, and when it is due.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) about: String,
    pub(crate) run: String,
    pub(crate) watches: Vec<String>,
    #[serde(default)]
    pub(crate) packages: Vec<String>,
}

/// How a part passed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pass {
    commit: String,
    date: String,
    seconds: u64,
    checks: u64,
    /// The commands that ran.
    run: String,
    /// What was watched, with git's hash.
    watched: BTreeMap<String, String>,
}

/// Whether a part is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    Passed(Pass),
    Never,
    /// What has changed since it passed.
    Changed(Pass, Vec<String>),
}

/// All parts by name, and how they passed.
pub(crate) struct Parts {
    pub(crate) all: BTreeMap<String, Part>,
    passed: BTreeMap<String, Pass>,
}

/// The watched files and folders as they are now.
pub(crate) struct Watched {
    hashes: BTreeMap<String, String>,
    /// Those of their files that are not as in the commit.
    uncommitted: Vec<String>,
}

impl Watched {
    /// The files that are not as they are committed, if there are any.
    pub(crate) fn changed(&self) -> Option<String> {
        (!self.uncommitted.is_empty()).then(|| self.uncommitted.join(", "))
    }
}

impl Part {
    fn paths(&self) -> impl Iterator<Item = &str> {
        self.watches.iter().map(String::as_str).chain(ALWAYS.iter().copied())
    }

    /// What it watches, as the last commit and the working tree below `root` have it.
    pub(crate) fn watched(&self, root: &Path) -> Result<Watched> {
        let of_paths = |arguments: &[&str]| {
            let paths: Vec<&str> = self.paths().collect();
            git(&["-C", &root.display().to_string()]).arguments(arguments).arguments(&paths).output()
        };
        let mut hashes = BTreeMap::new();
        for line in of_paths(&["ls-tree", "HEAD", "--"])?.lines() {
            let (kind, path) = line.split_once('\t').context("git ls-tree prints paths after tabs")?;
            let hash = kind.rsplit(' ').next().unwrap_or_default();
            hashes.insert(path.to_owned(), hash[..hash.len().min(12)].to_owned());
        }
        if let Some(unknown) = self.paths().find(|path| !hashes.contains_key(*path)) {
            bail!(
                "{PARTS} watches {unknown}, which is not in the last commit: commit it, or name what is there"
            );
        }
        let uncommitted = of_paths(&["status", "--porcelain", "--"])?;
        let uncommitted = uncommitted.lines().map(|line| line[3..].to_owned()).collect();
        Ok(Watched { hashes, uncommitted })
    }
}

impl Parts {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        fn table<T: for<'a> Deserialize<'a>>(root: &Path, name: &str) -> Result<T> {
            let text =
                std::fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))?;
            toml::from_str(&text).with_context(|| name.to_owned())
        }
        Ok(Self { all: table(root, PARTS)?, passed: table(root, PASSED)? })
    }

    /// The parts of these names; all, if there are none.
    pub(crate) fn chosen(&self, names: &[String]) -> Result<Vec<String>> {
        let known = || self.all.keys().cloned().collect::<Vec<_>>();
        if let Some(unknown) = names.iter().find(|name| !self.all.contains_key(*name)) {
            bail!("there is no part {unknown:?} in {PARTS}; there are {}", known().join(", "));
        }
        Ok(if names.is_empty() { known() } else { names.to_vec() })
    }

    /// Whether this part has passed with its commands, and with what it watches, as they are now.
    pub(crate) fn state(&self, root: &Path, name: &str) -> Result<State> {
        let part = &self.all[name];
        let now = part.watched(root)?;
        let Some(pass) = self.passed.get(name) else { return Ok(State::Never) };
        let is_other = |path: &String| now.hashes.get(path) != pass.watched.get(path);
        let paths =
            now.hashes.keys().chain(pass.watched.keys().filter(|path| !now.hashes.contains_key(*path)));
        let mut changed: Vec<String> = paths.filter(|path| is_other(path)).cloned().collect();
        changed.extend(now.uncommitted);
        if part.run != pass.run {
            changed.push("its commands".to_owned());
        }
        Ok(if changed.is_empty() {
            State::Passed(pass.clone())
        } else {
            State::Changed(pass.clone(), changed)
        })
    }

    /// Writes down that this part has passed.
    pub(crate) fn note(
        &mut self,
        root: &Path,
        name: &str,
        found: &Watched,
        seconds: u64,
        checks: u64,
    ) -> Result<()> {
        ensure!(found.uncommitted.is_empty(), "what is not committed cannot be noted");
        let folder = root.display().to_string();
        let commit = git(&["-C", &folder, "rev-parse", "--short=12", "HEAD"]).output()?.trim().to_owned();
        let date = crate::command::program("date", &["-u", "+%F"]).output()?.trim().to_owned();
        let (run, watched) = (self.all[name].run.clone(), found.hashes.clone());
        self.passed.insert(name.to_owned(), Pass { commit, date, seconds, checks, run, watched });
        let path = root.join(PASSED);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let mut text: String =
            old.lines().take_while(|line| line.starts_with('#')).map(|line| line.to_owned() + "\n").collect();
        for (name, pass) in &self.passed {
            let Pass { commit, date, seconds, checks, run, watched } = pass;
            let _ = write!(
                text,
                "\n[{name}]\ncommit = {commit:?}\ndate = {date:?}\nseconds = {seconds}\nchecks = {checks}\nrun = {run:?}\n\
                 [{name}.watched]\n"
            );
            for (path, hash) in watched {
                let _ = writeln!(text, "{path:?} = {hash:?}");
            }
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {PASSED}"))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = |pass: &Pass| {
            let Pass { commit, date, seconds, checks, .. } = pass;
            format!("passed on {date} at {commit}: {checks} checks, {seconds} s")
        };
        match self {
            Self::Passed(pass) => f.write_str(&passed(pass)),
            Self::Never => f.write_str("DUE: it has never passed"),
            Self::Changed(pass, changed) => {
                write!(f, "DUE: {}; since then these have changed: {}", passed(pass), changed.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::root;

    const TABLE: &str = r#"
[one]
about = "one"
run = "true"
watches = ["a", "b/c.rs"]

[two]
about = "two"
run = '''
for x in 1; do
    echo "$x"
done
'''
watches = ["d"]
"#;

    /// A repository of its own, with one commit.
    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let own = Self(tempfile::tempdir().unwrap());
            own.git(&["init", "--quiet"]);
            for path in ["Cargo.toml", "Cargo.lock", "a/x.rs", "a/y.rs", "b/c.rs", "b/other.rs", "d/z"] {
                own.write(path, path);
            }
            own.write(PARTS, TABLE);
            own.write(PASSED, "# Kept.\n");
            own.commit();
            own
        }

        fn path(&self) -> &Path {
            self.0.path()
        }

        fn git(&self, arguments: &[&str]) {
            let folder = self.path().display().to_string();
            let who =
                ["-C", &folder, "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
            git(&who).arguments(arguments).output().unwrap();
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn commit(&self) {
            self.git(&["add", "--all"]);
            self.git(&["commit", "--quiet", "--message", "x"]);
        }

        fn state(&self, name: &str) -> State {
            Parts::read(self.path()).unwrap().state(self.path(), name).unwrap()
        }

        fn has_passed(&self, name: &str) -> bool {
            matches!(self.state(name), State::Passed(_))
        }

        fn changed(&self, name: &str) -> Vec<String> {
            match self.state(name) {
                State::Changed(_, changed) => changed,
                other => panic!("{other}"),
            }
        }

        fn pass(&self, name: &str) {
            let mut parts = Parts::read(self.path()).unwrap();
            let found = parts.all[name].watched(self.path()).unwrap();
            parts.note(self.path(), name, &found, 5, 7).unwrap();
        }
    }

    #[test]
    fn a_part_is_due_until_it_passes_and_when_what_it_watches_changes() {
        let own = Repository::new();
        assert_eq!(own.state("one"), State::Never);
        own.pass("one");
        own.pass("two");
        own.commit();
        assert!(std::fs::read_to_string(own.path().join(PASSED)).unwrap().starts_with("# Kept.\n\n[one]"));
        assert!(own.state("one").to_string().ends_with(": 7 checks, 5 s"), "{}", own.state("one"));

        own.write("b/other.rs", "nobody watches this");
        own.write("d/new", "not committed");
        assert!(own.has_passed("one"));
        assert_eq!(own.changed("two"), ["d/new"]);
        own.commit();
        assert_eq!(own.changed("two"), ["d"]);
        own.pass("two");
        assert!(own.has_passed("two"));

        own.write("Cargo.lock", "other versions");
        own.commit();
        assert_eq!(own.changed("one"), ["Cargo.lock"]);
        own.write("Cargo.lock", "Cargo.lock");
        own.commit();
        assert!(own.has_passed("one"), "what was there when it passed is there again");
        own.write(PARTS, &TABLE.replace("\"true\"", "\"false\""));
        assert_eq!(own.changed("one"), ["its commands"]);
    }

    #[test]
    fn a_pass_counts_on_another_branch() {
        let own = Repository::new();
        own.pass("one");
        own.git(&["commit", "--quiet", "--amend", "--all", "--message", "rewritten"]);
        assert!(own.has_passed("one"));
    }

    #[test]
    fn what_is_not_committed_is_not_noted() {
        let own = Repository::new();
        own.write("a/x.rs", "edited");
        let mut parts = Parts::read(own.path()).unwrap();
        let found = parts.all["one"].watched(own.path()).unwrap();
        assert_eq!(found.uncommitted, ["a/x.rs"]);
        assert!(parts.note(own.path(), "one", &found, 5, 7).is_err());
    }

    #[test]
    fn unknown_parts_and_paths_are_errors() {
        let own = Repository::new();
        let error = Parts::read(own.path()).unwrap().chosen(&["tow".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("\"tow\"") && error.ends_with("one, two"), "{error}");
        own.git(&["rm", "--quiet", "-r", "d"]);
        own.commit();
        let error = Parts::read(own.path()).unwrap().state(own.path(), "two").unwrap_err().to_string();
        assert!(error.contains("watches d,"), "{error}");
    }

    #[test]
    fn parts_watch_what_their_crates_depend_on() {
        let parts = Parts::read(&root()).unwrap();
        for (name, part) in &parts.all {
            for path in part.paths() {
                assert!(root().join(path).exists(), "{name} watches {path}, which is not there");
            }
            for package in part.watches.iter().filter(|path| path.starts_with("crates/")) {
                let text = std::fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
                let manifest: toml::Table = text.parse().unwrap();
                let always = |(needed, of): &(&String, &toml::Value)| {
                    needed.starts_with("dtw") && of.get("optional").is_none()
                };
                let needed = manifest.get("dependencies").and_then(toml::Value::as_table);
                for (needed, _) in needed.into_iter().flatten().filter(always) {
                    let path = format!("crates/{needed}");
                    assert!(part.watches.contains(&path), "{name} watches {package}, but not {path}");
                }
            }
        }
    }
}
