//! `cargo xtask new-measure KEY`: the files of a new measure, to be filled in.
//!
//! The template is a measure that is there, so it compiles, passes the suite and is never out of date. It has what most
//! have: a parameter, and arrivals that cost different things.

use anyhow::{Context, Result, ensure};
use dtw_core::measure::Kind;

use crate::command::root;
use crate::python::measures::class_name;
use crate::tidy::measures::{ORACLE, PERMUTATIONS, RECURRENCES, TABLE};
use crate::tidy::project::Project;

/// What is copied.
const TEMPLATE: &str = "adtw";

/// Writes the files of a new measure.
pub(crate) fn new_measure(key: &str) -> Result<()> {
    for (path, text) in files(&Project::read()?, key)? {
        std::fs::write(root().join(&path), text).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    println!("they say what {TEMPLATE} is: make them say what {key} is, as ARCHITECTURE.md has it");
    Ok(())
}

/// Every file with the template's text under another name.
fn files(project: &Project, key: &str) -> Result<Vec<(String, String)>> {
    let is_word = |word: &str| word.starts_with(|first: char| first.is_ascii_lowercase());
    let is_key = key.split('_').all(is_word)
        && key.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    ensure!(is_key, "expected a key like soft_dtw, got {key:?}");
    ensure!(Kind::of(key).is_none(), "there is a measure {key}");
    let renamed = |text: &str| {
        let class = class_name(key);
        text.replace(TEMPLATE, key)
            .replace(&class_name(TEMPLATE), &class)
            .replace(&TEMPLATE.to_uppercase(), &class)
    };
    let read = |path: &str| project.get(path).with_context(|| format!("{path} is not there"));
    let mut files = Vec::new();
    for path in RECURRENCES.iter().chain([&ORACLE]) {
        files.push((path.replace("KEY", key), renamed(read(&path.replace("KEY", TEMPLATE))?)));
    }
    // A row ends with an empty line, and is copied whole.
    let table = read(TABLE)?.split_inclusive("\n\n");
    let is_row = |text: &str| text.lines().any(|line| line.trim_start().starts_with(&format!("{TEMPLATE} ")));
    let table = table.map(|row| if is_row(row) { row.to_owned() + &renamed(row) } else { row.to_owned() });
    files.push((TABLE.to_owned(), table.collect()));
    // Its functor has a line, and is a word of groups.
    let quoted = format!("{TEMPLATE:?}, ");
    let line = |line: &str| {
        if line.starts_with(&format!("{TEMPLATE} = ")) {
            line.to_owned() + &renamed(line)
        } else {
            line.replace(&quoted, &(quoted.clone() + &renamed(&quoted)))
        }
    };
    files.push((PERMUTATIONS.to_owned(), read(PERMUTATIONS)?.split_inclusive('\n').map(line).collect()));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::project;

    #[test]
    fn what_the_template_makes_is_all_but_the_words_for_people() {
        let project_now = Project::read().unwrap();
        let files = files(&project_now, "of_a_test").unwrap();
        for (path, text) in &files {
            let old = project_now.get(path).unwrap_or_default();
            // What is new has nothing of the template's names, and nothing old is lost.
            let count = |text: &str| text.matches("adtw").count() + text.matches("Adtw").count();
            assert_eq!(count(text), count(old), "{path}");
        }
        let texts: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let complaints = crate::tidy::measures::of_key(&project(&texts), "of_a_test");
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].starts_with("docs/measures.md") && complaints[1].starts_with("CHANGELOG.md"));
        for wrong in ["dtw", "Dtw", "a-b", "", "a__b"] {
            assert!(super::files(&project_now, wrong).is_err(), "{wrong}");
        }
    }
}
