//! A rule about who imports whom within a crate.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_code::code_of;
use super::{Complaints, Project};

/// Crates of modules that lie one above the other.
const LAYERED: &[&str] = &["crates/dtw-native/src/", "crates/dtw-plan/src/"];

/// Modules, and those that each imports.
type Imports<'a> = BTreeMap<&'a str, BTreeSet<String>>;

/// In layered crates no module imports one that imports it, not even through others. Tests may.
pub(super) fn circles(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for folder in LAYERED {
        let imports = imports(project, folder);
        let mut done = BTreeSet::new();
        for module in imports.keys() {
            follow(&imports, &mut vec![*module], &mut done, &mut |circle| {
                complaints.push(format!("{folder}: a circle of imports: {}", circle.join(" -> ")));
            });
        }
    }
    complaints
}

/// Imports of all modules in a folder. What the crate's root has from them is nobody's import.
fn imports<'a>(project: &'a Project, folder: &'a str) -> Imports<'a> {
    let module = |path: &'a str| path.strip_prefix(folder)?.strip_suffix(".rs").filter(|name| *name != "lib");
    let files = || project.under(folder).filter_map(|file| Some((module(&file.path)?, file)));
    let names: BTreeSet<&str> = files().map(|(name, _)| name).collect();
    let of = |text: &str, own: &str| {
        let code = code_of(text);
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        let mut found = BTreeSet::new();
        for (at, _) in code.match_indices("crate::") {
            found.extend(first_names(&code[at + "crate::".len()..]));
        }
        found.retain(|name| name != own && names.contains(name.as_str()));
        found
    };
    files().map(|(name, file)| (name, of(&file.text, name))).collect()
}

/// The first name of a path, or those of the paths in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// Follows imports from the last module of `path` and tells of those that lead back into it.
fn follow<'a>(
    imports: &'a Imports<'a>,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
    tell: &mut impl FnMut(Vec<&str>),
) {
    let module = *path.last().expect("it begins with a module");
    for next in &imports[module] {
        if let Some(begin) = path.iter().position(|known| known == next) {
            tell([&path[begin..], &[next.as_str()]].concat());
        } else if !done.contains(next.as_str()) {
            path.push(next);
            follow(imports, path, done, tell);
            path.pop();
        }
    }
    done.insert(module);
}

#[cfg(test)]
mod tests {
    use super::super::project;
    use super::*;

    #[test]
    fn a_circle_is_found_through_a_third_module() {
        let layers = [
            ("crates/dtw-plan/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
            ("crates/dtw-plan/src/a.rs", "use crate::{b::B, c::{C, D}};\n// crate::a\n"),
            ("crates/dtw-plan/src/b.rs", "use crate::c::C;\nfn f() -> crate::A {}\n"),
            ("crates/dtw-plan/src/c.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\n"),
        ];
        assert_eq!(circles(&project(&layers)), [""; 0]);
        let mut circle = layers;
        circle[3].1 = "use crate::a::A;\n";
        let found = ["crates/dtw-plan/src/: a circle of imports: a -> b -> c -> a"];
        assert_eq!(circles(&project(&circle)), found);
    }
}
