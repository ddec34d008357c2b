//! Rules about documents and records.

use super::project::{Complaints, File, Project};

/// The relative links of a document: line, what is linked to from the root, and the section.
fn links_of(file: &File) -> impl Iterator<Item = (usize, String, &str)> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    file.text.lines().enumerate().flat_map(move |(number, line)| {
        let links = line.split("](").skip(1).map(|rest| rest.split([')', ' ']).next().unwrap_or_default());
        let relative =
            links.filter(|link| !link.starts_with(['#']) && !link.is_empty() && !link.contains(':'));
        relative.map(move |link| {
            let (path, section) = link.split_once('#').unwrap_or((link, ""));
            (number + 1, resolve(folder, path), section)
        })
    })
}

/// Relative links of documents point at files of the project.
pub(super) fn links(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.with_extension("md") {
        for (line, path, _) in links_of(file).filter(|(_, path, _)| !project.has(path)) {
            complaints.push(format!("{}:{line}: links to {path}, which is not there", file.path));
        }
    }
    complaints
}

/// The file that says where the site's links to what is no page of it lead.
const SITE: &str = "docs/site/conf.py";

/// Documents that are pages of the site link to sections and folders outside docs/ only where the site knows a page.
pub(super) fn links_of_the_site(project: &Project) -> Complaints {
    let site = project.get(SITE).unwrap_or_default();
    let mut complaints = Complaints::new();
    for file in project.under("docs/").filter(|file| file.extension() == "md") {
        for (line, path, section) in links_of(file).filter(|(_, path, _)| !path.starts_with("docs/")) {
            let whole = format!("../{path}{}{section}", if section.is_empty() { "" } else { "#" });
            let is_file =
                section.is_empty() && (project.get(&path).is_some() || project.binaries.contains(&path));
            if !is_file && !site.contains(&format!("\"{whole}\": ")) {
                complaints.push(format!(
                    "{}:{line}: links to {whole}, for which outside_links of {SITE} has no page",
                    file.path
                ));
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

/// What the manifest of every package says, where its path begins so.
const MANIFESTS: [(&str, &str); 3] = [
    ("", "license.workspace = true"),
    ("crates/", "[lints]\nworkspace = true"),
    ("xtask/", "[lints]\nworkspace = true"),
];

/// Both licences are there, and every package names them and takes the workspace's lints.
pub(super) fn licences_and_lints(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for (path, title) in [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Apache License")] {
        if !project.get(path).is_some_and(|text| text.contains(title)) {
            complaints.push(format!("{path}: missing, or not the {title}"));
        }
    }
    for file in project.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let needed = MANIFESTS.iter().filter(|(start, _)| file.path.starts_with(start));
        for (_, needed) in needed.filter(|(_, needed)| !file.text.contains(&format!("\n{needed}\n"))) {
            complaints.push(format!("{}: needs {}", file.path, needed.replace('\n', " ")));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    #[test]
    fn links_are_followed() {
        let text = "[a](b.md#c) [d](../e/) [f](https://g.h/i) [j](#k)\n![l](m.svg)\n";
        let there = [("docs/a.md", text), ("docs/b.md", ""), ("e/x.rs", ""), ("docs/m.svg", "")];
        assert!(links(&project(&there)).is_empty());
        let missing = links(&project(&[("docs/a.md", text), ("docs/b.md", ""), ("eee", "")]));
        assert_eq!(
            missing,
            [
                "docs/a.md:1: links to e, which is not there",
                "docs/a.md:2: links to docs/m.svg, which is not there"
            ]
        );
    }

    #[test]
    fn links_of_the_site_have_pages() {
        let text = "[a](../b) [c](../d.md#e) [f](../d.md) [g](h.md#i) [j](#k) [l](https://m.n/o#p)\n";
        let files = [("docs/a.md", text), ("b/x.rs", ""), ("d.md", ""), ("docs/h.md", "")];
        assert_eq!(
            links_of_the_site(&project(&files)),
            [
                "docs/a.md:1: links to ../b, for which outside_links of docs/site/conf.py has no page",
                "docs/a.md:1: links to ../d.md#e, for which outside_links of docs/site/conf.py has no page"
            ]
        );
        let site = (SITE, "outside_links = {\n    \"../b\": \"h.md\",\n    \"../d.md#e\": \"h.md\",\n}\n");
        assert!(links_of_the_site(&project(&[&files[..], &[site]].concat())).is_empty());
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
        let licences = [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "Apache License")];
        let found = |text: &str| {
            licences_and_lints(&project(&[licences[0], licences[1], ("crates/a/Cargo.toml", text)]))
        };
        let whole = "[package]\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";
        assert_eq!(found(whole), [""; 0]);
        assert_eq!(
            found(&whole.replace("[lints]", "")),
            ["crates/a/Cargo.toml: needs [lints] workspace = true"]
        );
        assert_eq!(
            found(&whole.replace("license", "")),
            ["crates/a/Cargo.toml: needs license.workspace = true"]
        );
        assert_eq!(licences_and_lints(&project(&[])).len(), 2);
    }
}
