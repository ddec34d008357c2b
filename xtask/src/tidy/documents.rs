//! Rules about documents and records.

use super::project::{Complaints, Project};

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

/// The file that says where the site's links to what is no page of it lead.
const SITE: &str = "docs/site/conf.py";

/// Documents that are pages of the site link to sections and folders outside docs/ only where the site knows a page.
pub(super) fn links_of_the_site(project: &Project) -> Complaints {
    let site = project.get(SITE).unwrap_or_default();
    let mut complaints = Complaints::new();
    for file in project.under("docs/").filter(|file| file.extension() == "md") {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in file.text.lines().enumerate() {
            for rest in line.split("](").skip(1) {
                let link = rest.split([')', ' ']).next().unwrap_or_default();
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let path = resolve(folder, path);
                if link.contains("://") || link.starts_with('#') || path.starts_with("docs/") {
                    continue;
                }
                let whole = format!("../{path}{}{anchor}", if anchor.is_empty() { "" } else { "#" });
                let is_file =
                    anchor.is_empty() && (project.get(&path).is_some() || project.binaries.contains(&path));
                if !is_file && !site.contains(&format!("\"{whole}\": ")) {
                    complaints.push(format!(
                        "{}:{}: links to {whole}, for which outside_links of {SITE} has no page",
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
                "docs/a.md:1: links to ../e/, which is not there",
                "docs/a.md:2: links to m.svg, which is not there"
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
        assert_eq!(
            licences(&project(&[("LICENSE-MIT", "MIT License"), ("a/Cargo.toml", "[package]")])).len(),
            2
        );
    }
}
