//! A rule about who needs whom within a crate, and within the Python package: no circles of files.
//!
//! A file needs another where its code names something that stands there. A name that a file only passes on
//! (`pub use b::B`) stands where it comes from. Tests may name anything.

use std::collections::{BTreeMap, BTreeSet};

use super::project::{Complaints, Project};
use super::python_code;
use super::rust_code::{Names, Path, names};

/// Files and those that each needs.
type Needs = BTreeMap<String, BTreeSet<String>>;

/// No file needs one that needs it, not even through others.
pub(super) fn circles(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    let crates = project.files.iter().filter_map(|file| file.path.strip_suffix("Cargo.toml"));
    let sources = crates.map(|folder| format!("{folder}src/"));
    let graphs = sources.map(|folder| (rust(project, &folder), folder));
    for (needs, folder) in graphs.chain([(python_code::needs(project), python_code::PACKAGE.to_owned())]) {
        let mut done = BTreeSet::new();
        for file in needs.keys() {
            follow(&needs, &mut vec![file], &mut done, &mut |circle| {
                complaints.push(format!("{folder}: a circle of files: {}", circle.join(" -> ")));
            });
        }
    }
    complaints
}

/// The modules of a crate by their paths, `` for its root.
struct Modules(BTreeMap<Vec<String>, Names>);

/// Who needs whom among the modules in a folder.
fn rust(project: &Project, folder: &str) -> Needs {
    let segments = |path: &str| -> Option<Vec<String>> {
        let path = path.strip_prefix(folder)?.strip_suffix(".rs")?;
        let path = path.strip_suffix("/mod").unwrap_or(path);
        let is_root = path == "lib" || path == "main";
        Some(if is_root { Vec::new() } else { path.split('/').map(str::to_owned).collect() })
    };
    let files = project.under(folder).filter_map(|file| Some((segments(&file.path)?, names(&file.text))));
    let mut modules = Modules(files.collect());
    let tests: Vec<Vec<String>> = modules
        .0
        .iter()
        .flat_map(|(own, names)| {
            names.tests.iter().map(|test| [own.as_slice(), std::slice::from_ref(test)].concat())
        })
        .collect();
    modules.0.retain(|own, _| !tests.iter().any(|test| own.starts_with(test)));
    let shown = |path: &[String]| if path.is_empty() { "the root".to_owned() } else { path.join("::") };
    let needs = modules.0.iter().map(|(own, names)| {
        let is_needed = |path: &&Path| {
            let is_named = || {
                path.binds.as_ref().is_some_and(|name| {
                    names.plain.contains(name) || names.paths.iter().any(|other| other.segments[0] == *name)
                })
            };
            !path.is_passed_on || is_named()
        };
        let found = names.paths.iter().filter(is_needed).filter_map(|path| modules.home(own, path, 8));
        (shown(own), found.filter(|home| home != own).map(|home| shown(&home)).collect())
    });
    needs.collect()
}

impl Modules {
    /// The module in which stands what `path` names, if it is of this crate; follows at most `most` names passed on.
    fn home(&self, own: &[String], path: &Path, most: usize) -> Option<Vec<String>> {
        let mut at = own.to_vec();
        let mut rest = path.segments.as_slice();
        let mut depth = path.depth;
        match rest[0].as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    rest = &rest[1..];
                    if depth == 0 {
                        at.pop();
                    }
                    depth = depth.saturating_sub(1);
                }
            }
            child if self.0.contains_key(&[own, &[child.to_owned()]].concat()) => {}
            _ => return None,
        }
        while let Some(next) = rest.first() {
            let child = [at.as_slice(), std::slice::from_ref(next)].concat();
            if !self.0.contains_key(&child) {
                break;
            }
            (at, rest) = (child, &rest[1..]);
        }
        let passed = rest.first().and_then(|name| {
            let is_it = |other: &&Path| other.binds.as_ref() == Some(name) && *other != path;
            self.0.get(&at)?.paths.iter().find(is_it)
        });
        match passed {
            Some(other) if at != own && most > 0 => self.home(&at, other, most - 1),
            _ => Some(at),
        }
    }
}

/// Follows needs from the last file of `path` and tells of those that lead back into it.
fn follow<'a>(
    needs: &'a Needs,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
    tell: &mut impl FnMut(Vec<&str>),
) {
    let file = *path.last().expect("it begins with a file");
    if done.contains(file) {
        return;
    }
    for next in needs.get(file).into_iter().flatten() {
        if let Some(begin) = path.iter().position(|known| known == next) {
            tell([&path[begin..], &[next.as_str()]].concat());
        } else {
            path.push(next);
            follow(needs, path, done, tell);
            path.pop();
        }
    }
    done.insert(file);
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    /// A crate of a root, `a`, `a::b` and `c`, sound as it is.
    const SOUND: [(&str, &str); 5] = [
        ("crates/x/Cargo.toml", ""),
        ("crates/x/src/lib.rs", "mod a;\nmod c;\npub use a::A;\n"),
        ("crates/x/src/a.rs", "mod b;\npub use b::B;\nuse crate::c::C;\n// crate::a\n"),
        ("crates/x/src/a/b.rs", "use super::{C,};\n#[cfg(test)]\nmod tests { use super::super::A; }\n"),
        ("crates/x/src/c.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\n"),
    ];

    fn found(file: usize, text: &str) -> Complaints {
        let mut files = SOUND;
        files[file].1 = text;
        circles(&project(&files))
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(circles(&project(&SOUND)), [""; 0]);
        let circle = |files: &str| [format!("crates/x/src/: a circle of files: {files}")];
        // A child that uses its parent, which uses the child.
        let parent = "mod b;\nfn f() { b::g() }\nstruct A;\n";
        let mut files = SOUND;
        (files[2].1, files[3].1) = (parent, "use super::A;\n");
        assert_eq!(circles(&project(&files)), circle("a -> a::b -> a"));
        // Through what the root passes on, and through a third file.
        assert_eq!(found(4, "fn f() -> crate::A {}\n"), circle("a -> c -> a"));
        (files[2].1, files[3].1) = (SOUND[2].1, "struct B;\n");
        files[4].1 = "use crate::a::B;\nuse super::a::b;\n";
        assert_eq!(circles(&project(&files)), [""; 0]);
        files[3].1 = "use super::super::c::D;\n";
        assert_eq!(circles(&project(&files)), circle("c -> a::b -> c"));
    }

    #[test]
    fn circles_of_python_are_found() {
        let files = [
            ("python/dtwave/__init__.py", "from ._a import A\nfrom . import c\n"),
            ("python/dtwave/_a.py", "if TYPE_CHECKING:\n    from ._b import B\n\nimport os\n"),
            ("python/dtwave/_b.py", "from . import _a, other\n"),
            ("python/dtwave/c/__init__.py", "def f():\n    from .._b import (\n        B,\n    )\n"),
        ];
        // `other` is a name of the package itself.
        let through = "python/dtwave/: a circle of files: dtwave -> dtwave.c -> dtwave._b -> dtwave";
        assert_eq!(circles(&project(&files)), [through]);
        let mut sound = files;
        sound[2].1 = "import dtwave._a\n";
        assert_eq!(circles(&project(&sound)), [""; 0]);
    }
}
