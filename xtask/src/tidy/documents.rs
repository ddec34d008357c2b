//! Rules about documents and records.

use super::{Complaints, Project};

/// Where dtw-core names its measures.
const MEASURES: &str = "crates/dtw-core/src/measure.rs";
/// Where they are defined for people.
const SECTIONS: &str = "docs/measures.md";
/// Where the oracles are.
const ORACLES: &str = "crates/dtw-conformance/src/oracle/";
/// Where the conformance suite lists what it tests.
const CASES: &str = "crates/dtw-conformance/src/cases.rs";

/// The keys in dtw-core's `key` functions: every text literal behind an arrow there.
fn keys(source: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut within = false;
    for line in source.lines() {
        if line.contains("fn key(&self)") {
            within = true;
        } else if line == "    }" {
            within = false;
        }
        let literal = line.split_once("=> \"").and_then(|(_, rest)| rest.split_once('"'));
        if let Some((key, _)) = literal.filter(|_| within) {
            keys.push(key.to_owned());
        }
    }
    keys
}

/// The keys of dtw-core's measures.
pub(super) fn measure_keys(project: &Project) -> Vec<String> {
    keys(project.get(MEASURES).unwrap_or_default())
}

/// Every measure of dtw-core has a section in docs/measures.md, an oracle, and a place in the suite.
pub(super) fn measures(project: &Project) -> Complaints {
    let found = measure_keys(project);
    if found.is_empty() {
        return vec![format!("{MEASURES}: found no measure keys")];
    }
    let sections = project.get(SECTIONS).unwrap_or_default();
    let cases = project.get(CASES).unwrap_or_default();
    let mut complaints = Complaints::new();
    for key in found {
        let is_heading = |line: &str| line.starts_with("## ") && line.contains(&format!("`{key}`"));
        if !sections.lines().any(is_heading) {
            complaints.push(format!("{SECTIONS}: no section (## `{key}`) for the measure {key}"));
        }
        // The derivative measures are their plain counterparts on the oracle's own derivative.
        let file = match key.as_str() {
            "ddtw" | "wddtw" => "derivative",
            other => other,
        };
        if project.get(&format!("{ORACLES}{file}.rs")).is_none() {
            complaints.push(format!("{ORACLES}{file}.rs: no oracle for the measure {key}"));
        }
        if !cases.contains(&format!("\"{key}\"")) {
            complaints.push(format!("{CASES}: the suite does not test the measure {key}"));
        }
    }
    complaints
}

/// Relative links of documents point at files of the project.
pub(super) fn links(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.with_extension("md") {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in file.text.lines().enumerate() {
            for rest in line.split("](").skip(1) {
                let link = rest.split([')', '#', ' ']).next().unwrap_or_default();
                if link.is_empty() || link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                if !project.has(&resolve(folder, link)) {
                    complaints.push(format!(
                        "{}:{}: links to {link}, which is not there",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
    }
    complaints
}

/// The path from the root of a link in a document of `folder`.
fn resolve(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// Columns without which a timing is only a number.
const ORIGIN: [&str; 3] = ["date", "cpu", "commit"];

/// Every benchmark record names date, CPU and commit in every row.
pub(super) fn records(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.under("benchmarks/record/").filter(|file| file.extension() == "csv") {
        let mut lines = file.text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        for name in ORIGIN {
            let Some(column) = header.iter().position(|title| *title == name) else {
                complaints.push(format!("{}: has no column {name}", file.path));
                continue;
            };
            for (number, line) in lines.clone().enumerate() {
                if line.split(',').nth(column).is_none_or(|value| value.trim().is_empty()) {
                    complaints.push(format!("{}:{}: names no {name}", file.path, number + 2));
                }
            }
        }
    }
    complaints
}

/// The changelog has a place for what is not released yet.
pub(super) fn changelog(project: &Project) -> Complaints {
    let text = project.get("CHANGELOG.md").unwrap_or_default();
    if text.lines().any(|line| line.trim() == "## [Unreleased]") {
        Vec::new()
    } else {
        vec!["CHANGELOG.md: has no section ## [Unreleased]".into()]
    }
}

/// Both licences are there, and every package names them.
pub(super) fn licences(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for (path, title) in [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Apache License")] {
        if !project.get(path).is_some_and(|text| text.contains(title)) {
            complaints.push(format!("{path}: missing, or not the {title}"));
        }
    }
    for file in project.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        if !file.text.lines().any(|line| line.replace(' ', "") == "license.workspace=true") {
            complaints.push(format!("{}: needs license.workspace = true", file.path));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::project;
    use super::*;

    const CORE: &str = "impl Measure {\n    pub const fn key(&self) -> &'static str {\n        match self {\n            \
        Self::Dtw { .. } => \"dtw\",\n            Self::Wddtw { .. } => \"wddtw\",\n        }\n    }\n    fn f() {\n        \
        x => \"no key\",\n    }\n}\n";

    #[test]
    fn keys_are_those_of_the_key_function() {
        assert_eq!(keys(CORE), ["dtw", "wddtw"]);
    }

    #[test]
    fn every_measure_needs_section_oracle_and_cases() {
        let whole = [
            (MEASURES, CORE),
            (SECTIONS, "## `dtw`\n## `wddtw`: weighted\n"),
            ("crates/dtw-conformance/src/oracle/dtw.rs", ""),
            ("crates/dtw-conformance/src/oracle/derivative.rs", ""),
            (CASES, "\"dtw\", \"wddtw\""),
        ];
        assert_eq!(measures(&project(&whole)), Complaints::new());
        for missing in 1..whole.len() {
            let rest: Vec<_> =
                whole.iter().enumerate().filter(|(k, _)| *k != missing).map(|(_, f)| *f).collect();
            assert!(!measures(&project(&rest)).is_empty(), "{}", whole[missing].0);
        }
        assert_eq!(measures(&project(&[])).len(), 1);
    }

    #[test]
    fn links_are_followed() {
        let text = "[a](b.md#c) [d](../e/) [f](https://g.h/i) [j](#k)\n![l](m.svg)\n";
        let there = [("docs/a.md", text), ("docs/b.md", ""), ("e/x.rs", ""), ("docs/m.svg", "")];
        assert!(links(&project(&there)).is_empty());
        let missing = links(&project(&[("docs/a.md", text), ("docs/b.md", ""), ("eee", "")]));
        assert_eq!(
            missing,
            [
                "docs/a.md:1: links to ../e/, which is not there",
                "docs/a.md:2: links to m.svg, which is not there"
            ]
        );
    }

    #[test]
    fn records_name_their_origin() {
        let path = "benchmarks/record/some-cpu/2026-01-01.csv";
        let good = "date,cpu,commit,median_secs\n2026-01-01,Some CPU,abc,1\n";
        assert!(records(&project(&[(path, good)])).is_empty());
        let no_commit = "date,cpu,median_secs\n2026-01-01,Some CPU,1\n";
        assert_eq!(records(&project(&[(path, no_commit)])), [format!("{path}: has no column commit")]);
        let empty = "date,cpu,commit\n2026-01-01,,abc\n";
        assert_eq!(records(&project(&[(path, empty)])), [format!("{path}:2: names no cpu")]);
    }

    #[test]
    fn changelog_and_licences_are_asked_for() {
        assert!(changelog(&project(&[("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")])).is_empty());
        assert_eq!(changelog(&project(&[("CHANGELOG.md", "# Changelog\n")])).len(), 1);
        assert_eq!(
            licences(&project(&[("LICENSE-MIT", "MIT License"), ("a/Cargo.toml", "[package]")])).len(),
            2
        );
    }
}
