//! The parts of .ci/more, what they watch, and whether they have passed since that changed.
//!
//! What a part watches is known by git's hashes of these files and folders, so that a commit that was moved to another
//! branch still counts.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use xshell::{Shell, cmd};

const PARTS: &str = ".ci/parts.toml";
const PASSED: &str = ".ci/passed.toml";
/// The first line of the file of passes.
const HEAD: &str =
    "# When each part of .ci/more last passed: written by .ci/more, read by `cargo xtask release-check`.\n";
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
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pass {
    commit: String,
    date: String,
    seconds: u64,
    checks: u64,
    /// The commands that ran.
    run: String,
    /// What was watched, with git's hash.
    watched: BTreeMap<String, String>,
}

/// How a part last passed, and what has changed since then.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pass: Option<&'a Pass>,
    changed: Vec<String>,
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
    pub(crate) uncommitted: Vec<String>,
}

impl Part {
    fn paths(&self) -> impl Iterator<Item = &str> {
        self.watches.iter().map(String::as_str).chain(ALWAYS.iter().copied())
    }

    /// What it watches, as the last commit and the working tree have it.
    pub(crate) fn watched(&self, sh: &Shell) -> Result<Watched> {
        let paths = &self.paths().collect::<Vec<_>>();
        let mut hashes = BTreeMap::new();
        for line in cmd!(sh, "git ls-tree --abbrev=12 HEAD -- {paths...}").read()?.lines() {
            let (kind, path) = line.split_once('\t').context("git ls-tree prints paths after tabs")?;
            hashes.insert(path.to_owned(), kind.rsplit(' ').next().unwrap_or_default().to_owned());
        }
        if let Some(unknown) = self.paths().find(|path| !hashes.contains_key(*path)) {
            bail!(
                "{PARTS} watches {unknown}, which is not in the last commit: commit it, or name what is there"
            );
        }
        let uncommitted = cmd!(sh, "git status --porcelain -- {paths...}").read()?;
        Ok(Watched { hashes, uncommitted: uncommitted.lines().map(|line| line[3..].to_owned()).collect() })
    }
}

impl Parts {
    pub(crate) fn read(sh: &Shell) -> Result<Self> {
        fn table<T: for<'a> Deserialize<'a>>(sh: &Shell, name: &str) -> Result<T> {
            toml::from_str(&sh.read_file(name)?).with_context(|| name.to_owned())
        }
        Ok(Self { all: table(sh, PARTS)?, passed: table(sh, PASSED)? })
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
    pub(crate) fn state(&self, sh: &Shell, name: &str) -> Result<State<'_>> {
        let (part, pass) = (&self.all[name], self.passed.get(name));
        let now = part.watched(sh)?;
        let mut changed = Vec::new();
        if let Some(pass) = pass {
            let is_other = |path: &&String| now.hashes.get(*path) != pass.watched.get(*path);
            let gone = pass.watched.keys().filter(|path| !now.hashes.contains_key(*path));
            changed.extend(now.hashes.keys().chain(gone).filter(is_other).cloned());
            changed.extend(now.uncommitted);
            changed.extend((part.run != pass.run).then(|| "its commands".to_owned()));
        }
        Ok(State { pass, changed })
    }

    /// Writes down that this part has passed.
    pub(crate) fn note(
        &mut self,
        sh: &Shell,
        name: &str,
        found: &Watched,
        seconds: u64,
        checks: u64,
    ) -> Result<()> {
        ensure!(found.uncommitted.is_empty(), "what is not committed cannot be noted");
        let commit = cmd!(sh, "git rev-parse --short=12 HEAD").read()?;
        let date = cmd!(sh, "date -u +%F").read()?;
        let (run, watched) = (self.all[name].run.clone(), found.hashes.clone());
        self.passed.insert(name.to_owned(), Pass { commit, date, seconds, checks, run, watched });
        Ok(sh.write_file(PASSED, format!("{HEAD}\n{}", toml::to_string_pretty(&self.passed)?))?)
    }
}

impl State<'_> {
    /// Whether it has to run before the next release.
    pub(crate) fn is_due(&self) -> bool {
        self.pass.is_none() || !self.changed.is_empty()
    }
}

impl fmt::Display for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Pass { commit, date, seconds, checks, .. }) = self.pass else {
            return f.write_str("DUE: it has never passed");
        };
        let due = if self.is_due() { "DUE: " } else { "" };
        write!(f, "{due}passed on {date} at {commit}: {checks} checks, {seconds} s")?;
        if self.is_due() {
            write!(f, "; since then these have changed: {}", self.changed.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use xshell::TempDir;

    use super::*;
    use crate::command::shell;

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
    struct Repository {
        sh: Shell,
        _folder: TempDir,
    }

    impl Repository {
        fn new() -> Self {
            let sh = Shell::new().unwrap();
            let folder = sh.create_temp_dir().unwrap();
            sh.change_dir(folder.path());
            cmd!(sh, "git init --quiet").run().unwrap();
            let own = Self { sh, _folder: folder };
            for path in ["Cargo.toml", "Cargo.lock", "a/x.rs", "a/y.rs", "b/c.rs", "b/other.rs", "d/z"] {
                own.write(path, path);
            }
            own.write(PARTS, TABLE);
            own.write(PASSED, "");
            own.commit(&[]);
            own
        }

        fn write(&self, path: &str, text: &str) {
            self.sh.write_file(path, text).unwrap();
        }

        fn commit(&self, how: &[&str]) {
            let who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"];
            cmd!(self.sh, "git add --all").run().unwrap();
            cmd!(self.sh, "git {who...} commit --quiet --message x {how...}").run().unwrap();
        }

        fn parts(&self) -> Parts {
            Parts::read(&self.sh).unwrap()
        }

        fn shown(&self, name: &str) -> String {
            self.parts().state(&self.sh, name).unwrap().to_string()
        }

        fn has_passed(&self, name: &str) -> bool {
            !self.parts().state(&self.sh, name).unwrap().is_due()
        }

        fn changed(&self, name: &str) -> Vec<String> {
            self.parts().state(&self.sh, name).unwrap().changed
        }

        fn pass(&self, name: &str) -> Result<()> {
            let mut parts = self.parts();
            let found = parts.all[name].watched(&self.sh).unwrap();
            parts.note(&self.sh, name, &found, 5, 7)
        }
    }

    #[test]
    fn a_part_is_due_until_it_passes_and_when_what_it_watches_changes() {
        let own = Repository::new();
        assert_eq!(own.shown("one"), "DUE: it has never passed");
        own.pass("one").unwrap();
        own.pass("two").unwrap();
        own.commit(&[]);
        assert!(own.shown("one").starts_with("passed on "), "{}", own.shown("one"));
        assert!(own.shown("one").ends_with(": 7 checks, 5 s"), "{}", own.shown("one"));

        own.write("b/other.rs", "nobody watches this");
        own.write("d/new", "not committed");
        assert!(own.has_passed("one"));
        assert_eq!(own.changed("two"), ["d/new"]);
        own.commit(&[]);
        assert_eq!(own.changed("two"), ["d"]);
        own.pass("two").unwrap();
        assert!(own.has_passed("two"));

        own.write("Cargo.lock", "other versions");
        own.commit(&[]);
        assert_eq!(own.changed("one"), ["Cargo.lock"]);
        own.write("Cargo.lock", "Cargo.lock");
        own.commit(&[]);
        assert!(own.has_passed("one"), "what was there when it passed is there again");
        own.write(PARTS, &TABLE.replace("\"true\"", "\"false\""));
        assert_eq!(own.changed("one"), ["its commands"]);
    }

    #[test]
    fn a_pass_counts_on_another_branch() {
        let own = Repository::new();
        own.pass("one").unwrap();
        own.commit(&["--amend"]);
        assert!(own.has_passed("one"));
    }

    #[test]
    fn what_is_not_committed_is_not_noted() {
        let own = Repository::new();
        own.write("a/x.rs", "edited");
        assert_eq!(own.parts().all["one"].watched(&own.sh).unwrap().uncommitted, ["a/x.rs"]);
        assert!(own.pass("one").is_err());
    }

    #[test]
    fn unknown_parts_and_paths_are_errors() {
        let own = Repository::new();
        let error = own.parts().chosen(&["tow".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("\"tow\"") && error.ends_with("one, two"), "{error}");
        own.sh.remove_path("d").unwrap();
        own.commit(&[]);
        let error = own.parts().state(&own.sh, "two").unwrap_err().to_string();
        assert!(error.contains("watches d,"), "{error}");
    }

    #[test]
    fn parts_watch_what_their_crates_depend_on() {
        let sh = shell().unwrap();
        let parts = Parts::read(&sh).unwrap();
        for (name, part) in &parts.all {
            for path in part.paths() {
                assert!(sh.path_exists(path), "{name} watches {path}, which is not there");
            }
            for package in part.watches.iter().filter(|path| path.starts_with("crates/")) {
                let text = sh.read_file(format!("{package}/Cargo.toml")).unwrap();
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
