//! Which files of the Python package import which.

use std::collections::{BTreeMap, BTreeSet};

use super::project::Project;

/// Where the package stands.
pub(super) const PACKAGE: &str = "python/dtwave/";

/// Modules of the package and those that each imports, wherever in the file; imports for type checkers are left out.
pub(super) fn needs(project: &Project) -> BTreeMap<String, BTreeSet<String>> {
    let files = project.under(PACKAGE).filter_map(|file| {
        let path = file.path.strip_prefix("python/")?;
        // The native half has a stub alone.
        let path = path.strip_suffix(".py").or_else(|| path.strip_suffix(".pyi"))?;
        Some((path.strip_suffix("/__init__").unwrap_or(path).replace('/', "."), file))
    });
    let files: BTreeMap<String, _> = files.collect();
    let needs = files.iter().map(|(own, file)| {
        let is_package = file.path.ends_with("/__init__.py");
        let mut found = BTreeSet::new();
        for statement in statements(&file.text) {
            for name in imported(&statement, own, is_package) {
                // `from a import b` imports the module a.b, or b of the module a.
                let parent = name.rsplit_once('.').map_or("", |(parent, _)| parent);
                found.extend(
                    [name.as_str(), parent]
                        .iter()
                        .find(|name| files.contains_key(**name))
                        .map(|n| (*n).to_owned()),
                );
            }
        }
        found.remove(own);
        (own.clone(), found)
    });
    needs.collect()
}

/// The import statements, each in one line; none of those below `if TYPE_CHECKING:`.
fn statements(text: &str) -> Vec<String> {
    let (mut found, mut lines) = (Vec::new(), text.lines());
    let mut hidden: Option<usize> = None;
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim();
        if hidden.is_some_and(|begin| indent > begin || code.is_empty()) {
            continue;
        }
        hidden = (code == "if TYPE_CHECKING:").then_some(indent);
        if code.starts_with("import ") || code.starts_with("from ") && code.contains(" import ") {
            let mut statement = code.to_owned();
            while statement.contains('(') && !statement.contains(')') {
                let Some(next) = lines.next() else { break };
                statement += next.split('#').next().unwrap_or_default().trim();
            }
            found.push(statement);
        }
    }
    found
}

/// The full names that a statement imports into the module `own`.
fn imported(statement: &str, own: &str, is_package: bool) -> Vec<String> {
    let statement = statement.split('#').next().unwrap_or_default().replace(['(', ')'], "");
    let first = |name: &str| name.split_whitespace().next().unwrap_or_default().to_owned();
    let names =
        |list: &str| -> Vec<String> { list.split(',').map(first).filter(|name| !name.is_empty()).collect() };
    let Some((from, list)) = statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
    else {
        return names(statement.strip_prefix("import ").unwrap_or_default());
    };
    let from = from.trim();
    let below = from.trim_start_matches('.');
    let dots = from.len() - below.len();
    let mut base: Vec<&str> = own.split('.').collect();
    if dots > 0 {
        base.truncate((base.len() + usize::from(is_package)).saturating_sub(dots));
    } else {
        base.clear();
    }
    base.extend(below.split('.').filter(|part| !part.is_empty()));
    let base = base.join(".");
    names(list).into_iter().map(|name| format!("{base}.{name}")).collect()
}
