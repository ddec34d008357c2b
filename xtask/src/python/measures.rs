//! What the Python package and its documentation say of every measure, written from the table of measures.

use std::fmt::Write as _;

use dtw_core::Anchor;
use dtw_core::measure::{Kind, Parameter, Paths, Range, Value};

use crate::tidy::project::{Complaints, Project};

/// Where the classes stand.
const CLASSES: &str = "python/dtwave/_measures.py";
/// Where the site lists the classes.
const PAGE: &str = "docs/api/measures.rst";
/// What exports the classes, by the line that does.
const EXPORTS: (&str, &str) = ("python/dtwave/__init__.py", "from ._measures import *");

/// What has a table of all measures, and how the table begins.
const README: &str = "README.md";
const TABLE_HEAD: &str = "| key | what it is | parameters and defaults |\n| --- | --- | --- |\n";

/// Width of a line of Python.
const WIDTH: usize = 100;

const HEAD: &str = "\
\"\"\"The measures, one class each. Written by `cargo xtask stubs` of the table of measures: do not edit.\"\"\"

from __future__ import annotations

from typing import Literal, TypedDict

from ._measure import Measure

";

/// The page above the classes.
const PAGE_HEAD: &str = "\
.. Written by `cargo xtask stubs` from the table of measures: do not edit.

Measures
========

.. currentmodule:: dtwave

:doc:`Every measure is defined </measures>` on a page of its own: equation, borders, ties and source.

.. py:data:: MEASURES
   :type: dict[str, type[Measure]]

   The class of every measure, by its key.

.. autoclass:: Measure
";

/// Keywords of Python get an underscore.
fn python_name(name: &str) -> String {
    if name == "lambda" { format!("{name}_") } else { name.to_owned() }
}

/// `soft_dtw` as a class: `SoftDtw`.
pub(crate) fn class_name(key: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    key.split('_').map(capital).collect()
}

/// `text` in lines, each after `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_full = lines
            .last()
            .is_some_and(|line| indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH);
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// The text of a row without rustdoc's links.
fn plain(text: &str) -> String {
    let mut plain = text.replace("Measure::", "");
    for (link, name) in
        Kind::all().iter().map(|kind| (format!("[`{}`]", class_name(kind.key)), class_name(kind.key)))
    {
        plain = plain.replace(&link, &format!("`{name}`"));
    }
    plain
}

/// As Python writes it: `0.05`, `1.0`.
fn number(number: f64) -> String {
    format!("{number:?}")
}

fn type_of(parameter: &Parameter) -> String {
    match parameter.choices {
        [] => "float".to_owned(),
        choices => {
            let choices: Vec<String> = choices.iter().map(|choice| format!("{choice:?}")).collect();
            format!("Literal[{}]", choices.join(", "))
        }
    }
}

/// `c: float = 1.0`.
fn argument(parameter: &Parameter) -> String {
    let start = format!("{}: {}", python_name(parameter.name), type_of(parameter));
    match parameter.usual() {
        Some(Value::Number(usual)) => format!("{start} = {}", number(usual)),
        Some(Value::Choice(usual)) => format!("{start} = {usual:?}"),
        _ => start,
    }
}

/// What a parameter is, in a line of the docstring.
fn explained(parameter: &Parameter) -> String {
    let mut text = format!("{}: {}", python_name(parameter.name), parameter.text);
    if let (Some(on), [off, _]) = (parameter.switch(), parameter.choices) {
        return format!("{}: {off:?}, or {on:?}: {}.", python_name(parameter.name), lowered(parameter.text));
    }
    if !parameter.choices.is_empty() {
        text += &format!(
            ": {}",
            parameter.choices.iter().map(|c| format!("{c:?}")).collect::<Vec<_>>().join(", ")
        );
    }
    match parameter.range {
        Range::AtLeast(least) => text += &format!(", >= {least}"),
        Range::Above(least) => text += &format!(", > {least}"),
        _ => {}
    }
    text + "."
}

/// `text` as it stands within a sentence.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn class(kind: &Kind) -> String {
    let name = class_name(kind.key);
    let mut out = format!("\nclass {name}(Measure):\n");
    let text = wrapped(&format!("\"\"\"{}", plain(kind.text.trim())), "    ");
    out += &text;
    let mut facts = Vec::new();
    if kind.anchor == Anchor::Subsequence {
        facts.push("Not symmetric: the first series is the query, the second the reference.");
    }
    if kind.has_gradient {
        facts.push("Has gradients.");
    }
    if kind.takes_times {
        facts.push("Series may have timestamps.");
    }
    for fact in facts {
        let _ = write!(out, "\n    {fact}\n");
    }
    if !kind.parameters.is_empty() {
        out.push('\n');
        for parameter in kind.parameters {
            out += &wrapped(&explained(parameter), "    ");
        }
    }
    out += "    \"\"\"\n\n    __slots__ = ()\n";
    let _ = writeln!(out, "    key = {:?}", kind.key);
    if kind.is_rooted {
        out += "    is_rooted = True\n";
    }
    if kind.parameters.is_empty() {
        return out;
    }
    let arguments: Vec<String> = kind.parameters.iter().map(argument).collect();
    let values: Vec<String> =
        kind.parameters.iter().map(|p| format!("{}={}", python_name(p.name), python_name(p.name))).collect();
    let line = format!("    def __init__(self, *, {}) -> None:\n", arguments.join(", "));
    if line.chars().count() <= WIDTH {
        let _ = write!(out, "\n{line}");
    } else {
        let _ = write!(out, "\n    def __init__(\n        self,\n        *,\n");
        arguments.iter().for_each(|argument| {
            let _ = writeln!(out, "        {argument},");
        });
        out += "    ) -> None:\n";
    }
    let _ = writeln!(out, "        self._set({})", values.join(", "));
    out
}

/// The classes, the table of them, and what follows from it.
fn classes() -> String {
    let mut out = HEAD.to_owned();
    let classes: Vec<String> = Kind::all().iter().map(class).collect();
    out += &classes.join("\n");
    out += "\n\n#: The classes by key, in the order of the documentation.\nMEASURES: dict[str, type[Measure]] = {\n";
    for kind in Kind::all() {
        let _ = writeln!(out, "    {:?}: {},", kind.key, class_name(kind.key));
    }
    out += "}\n\n#: Measures whose distance is the cost of one path between whole series, not a sum over all paths.\n";
    out += "MINIMA = frozenset(\n    (\n";
    for kind in Kind::all().iter().filter(|kind| kind.paths != Paths::All && kind.is_symmetric()) {
        let _ = writeln!(out, "        {:?},", kind.key);
    }
    out += "    )\n)\n\n\nclass Parameters(TypedDict, total=False):\n";
    out += "    \"\"\"The parameters of all measures, as keywords of functions.\"\"\"\n\n";
    for line in keywords() {
        out += &line;
    }
    out += "\n\n__all__ = [\n    \"MEASURES\",\n";
    for kind in Kind::all() {
        let _ = writeln!(out, "    {:?},", class_name(kind.key));
    }
    out + "]\n"
}

/// A line for each parameter of any measure, in the order of first use.
fn keywords() -> Vec<String> {
    let mut lines = Vec::new();
    for parameter in Kind::all().iter().flat_map(|kind| kind.parameters) {
        let start = format!("    {}: ", python_name(parameter.name));
        let line = match lines.iter_mut().find(|line: &&mut String| line.starts_with(&start)) {
            // Measures may give one name choices of their own.
            Some(line) if !line.contains(&type_of(parameter)) => {
                *line = format!("{} | {}\n", line.trim_end(), type_of(parameter));
                continue;
            }
            Some(_) => continue,
            None => format!("{start}{}\n", type_of(parameter)),
        };
        lines.push(line);
    }
    lines
}

/// The site's page of classes.
fn page() -> String {
    let mut out = PAGE_HEAD.to_owned();
    for kind in Kind::all() {
        let _ = write!(out, "\n.. autoclass:: {}\n   :exclude-members: key\n", class_name(kind.key));
    }
    out
}

/// A row of README's table: what a measure is, in the first sentence that the table says of it, and its parameters.
fn line(kind: &Kind) -> String {
    let parameter = |parameter: &Parameter| match parameter.usual() {
        Some(Value::Number(usual)) => format!("`{}` = {usual}", parameter.name),
        Some(Value::Choice(usual)) => format!("`{}` = `{usual}`", parameter.name),
        _ => format!("`{}` must be given", parameter.name),
    };
    let parameters: Vec<String> = kind.parameters.iter().map(parameter).collect();
    let text = kind.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut what = text.split(". ").next().unwrap_or_default().trim_end_matches('.').replace('|', "\\|");
    for other in Kind::all() {
        what = what.replace(&format!("[`Measure::{}`]", class_name(other.key)), &format!("`{}`", other.key));
    }
    what += if kind.has_gradient { "; gradients" } else { "" };
    what += if kind.takes_times { "; timestamps can be given" } else { "" };
    let parameters = if parameters.is_empty() { "–".to_owned() } else { parameters.join(", ") };
    format!("| `{}` | {what} | {parameters} |\n", kind.key)
}

/// README, with its table of measures.
fn readme(project: &Project) -> String {
    let text = project.get(README).unwrap_or_default();
    let (head, rest) = text.split_once(TABLE_HEAD).unwrap_or((text, ""));
    let rest = rest.split_once("\n\n").map_or("", |(_, rest)| rest);
    format!("{head}{TABLE_HEAD}{}\n{rest}", Kind::all().iter().map(line).collect::<String>())
}

/// Every file that the table makes, with its text.
pub(super) fn files(project: &Project) -> [(&'static str, String); 3] {
    [(CLASSES, classes()), (PAGE, page()), (README, readme(project))]
}

/// The files are those that the table makes, and the package exports every class.
pub(crate) fn current(project: &Project) -> Complaints {
    let files = files(project).into_iter().filter(|(path, text)| project.get(path) != Some(text));
    let mut complaints: Complaints = files
        .map(|(path, _)| format!("{path}: not what the table of measures says; run `cargo xtask stubs`"))
        .collect();
    let (path, line) = EXPORTS;
    if !project.get(path).is_some_and(|text| text.lines().any(|found| found.starts_with(line))) {
        complaints.push(format!("{path}: lacks measures; it needs the line `{line}`"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::project;

    #[test]
    fn classes_say_their_parameters() {
        let twed = class(Kind::of("twed").unwrap());
        assert!(
            twed.contains(
                "def __init__(self, *, nu: float = 0.001, lambda_: float = 1.0, degree: float = 2.0)"
            ),
            "{twed}"
        );
        assert!(twed.contains("lambda_: Cost of a deletion, >= 0."), "{twed}");
        let edr = class(Kind::of("edr").unwrap());
        let own = "epsilon: float,\n        output: Literal[\"count\", \"normalized\"] = \"count\",\n";
        assert!(edr.contains(own), "{edr}");
        assert!(classes().lines().all(|line| line.chars().count() <= 110), "{}", classes());
        assert!(!classes().contains("[`"), "{}", classes());
    }

    #[test]
    fn a_measure_that_python_lacks_is_found() {
        let made = files(&project(&[(README, TABLE_HEAD)]));
        let mut whole: Vec<_> = made.iter().map(|(path, text)| (*path, text.as_str())).collect();
        whole.push(EXPORTS);
        assert!(current(&project(&whole)).is_empty());
        for missing in 0..whole.len() {
            let mut files = whole.clone();
            let text = files[missing]
                .1
                .replacen("Wdtw", "", 1)
                .replacen("`wdtw`", "", 1)
                .replace("import *", "import Dtw");
            files[missing].1 = &text;
            let found = current(&project(&files));
            assert!(found.len() == 1 && found[0].starts_with(whole[missing].0), "{found:?}");
        }
    }
}
