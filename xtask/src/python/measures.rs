//! The classes of measures of the Python package, written of the table of measures.

use std::fmt::Write as _;

use dtw_core::Anchor;
use dtw_core::measure::{Kind, Parameter, Range, Value};

use crate::tidy::{Complaints, Project};

/// Where they stand.
pub(super) const PATH: &str = "python/dtwave/_measures.py";

/// Width of a line of Python.
const WIDTH: usize = 100;

const HEAD: &str = "\
\"\"\"The measures, one class each. Written by `cargo xtask stubs` of the table of measures: do not edit.\"\"\"

from __future__ import annotations

from typing import Literal

from ._measure import Measure

";

/// Keywords of Python get an underscore.
fn python_name(name: &str) -> String {
    if name == "lambda" { format!("{name}_") } else { name.to_owned() }
}

/// `soft_dtw` as a class: `SoftDtw`.
fn class_name(key: &str) -> String {
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

/// The whole file.
pub(super) fn text() -> String {
    let mut out = HEAD.to_owned();
    let classes: Vec<String> = Kind::all().iter().map(class).collect();
    out += &classes.join("\n");
    out += "\n\n#: The classes by key, in the order of the documentation.\nMEASURES: dict[str, type[Measure]] = {\n";
    for kind in Kind::all() {
        let _ = writeln!(out, "    {:?}: {},", kind.key, class_name(kind.key));
    }
    out += "}\n";
    out
}

/// The file is the one that the table makes.
pub(crate) fn current(project: &Project) -> Complaints {
    match project.get(PATH) {
        Some(found) if found == text() => Vec::new(),
        _ => vec![format!("{PATH}: not what the table of measures says; run `cargo xtask stubs`")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(text().lines().all(|line| line.chars().count() <= 110), "{}", text());
        assert!(!text().contains("[`"), "{}", text());
    }
}
