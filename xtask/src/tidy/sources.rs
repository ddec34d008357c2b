//! Rules about single source files.

use super::project::{Complaints, File, Project};
use super::rust_code::words;

/// Lines above which a file has to become two.
const MOST_LINES: usize = 500;

/// Endings of files that are written by hand.
const SOURCES: &[&str] = &["rs", "py", "cuh", "cu", "cpp", "c", "h", "wgsl", "sh"];

/// Source files are short enough to hold one idea.
pub(super) fn sizes(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.files.iter().filter(|file| SOURCES.contains(&file.extension())) {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            complaints.push(format!("{}: {lines} lines; more than {MOST_LINES} make two files", file.path));
        }
    }
    complaints
}

/// Characters of a line of prose, at most.
const WIDTH: usize = 120;

/// Documents and comments have lines that a narrow window shows whole. Rows of tables may be wider, and what cannot be
/// broken; code is rustfmt's.
pub(super) fn widths(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in &project.files {
        let is_prose: fn(&str) -> bool = match file.extension() {
            "md" => |line| !line.trim_start().starts_with('|'),
            "rs" | "cuh" | "cu" | "cpp" | "c" | "h" | "wgsl" => |line| line.starts_with("//"),
            "toml" | "sh" | "py" => |line| line.starts_with('#'),
            _ => continue,
        };
        for (number, line) in file.text.lines().enumerate() {
            let breaks = line.trim_start().trim_start_matches(['/', '!', '#', '-', '|', ' ']).contains(' ');
            if line.chars().count() > WIDTH && breaks && is_prose(line.trim_start()) {
                complaints.push(format!("{}:{}: more than {WIDTH} characters", file.path, number + 1));
            }
        }
    }
    complaints
}

/// Endings of sources in C++ and C.
const CPP: &[&str] = &["cuh", "cu", "cpp", "c", "h"];

/// The root file of every crate, and every other file of one, starts with what it is.
pub(super) fn crate_docs(project: &Project) -> Complaints {
    let sources = project.with_extension("rs").filter(|file| file.path.contains("/src/"));
    let mut complaints = Complaints::new();
    for file in sources {
        let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let is_tests = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
        if !is_tests && !first.starts_with("//!") && !first.starts_with("#![doc") {
            complaints.push(format!("{}: starts without a module doc (//!)", file.path));
        }
    }
    for file in project.files.iter().filter(|file| CPP.contains(&file.extension())) {
        let first = file.text.lines().next().unwrap_or_default();
        if !first.strip_prefix("// ").is_some_and(|said| said.contains(' ')) {
            complaints.push(format!("{}: its first line must say what it is (// ...)", file.path));
        }
    }
    complaints
}

/// No placeholders and no debugging left over, also where clippy does not see it.
pub(super) fn unfinished(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.with_extension("rs") {
        for pair in words(&file.text).windows(2) {
            let [(line, name), (_, next)] = pair else { continue };
            if next == "!" && ["todo", "unimplemented", "dbg"].contains(&name.as_str()) {
                complaints.push(format!("{}:{line}: {name}!", file.path));
            }
        }
    }
    complaints
}

/// Every `unsafe` says why it is sound: `// SAFETY:` before a block or an implementation, `# Safety` in the doc of a
/// function or trait. A function of a trait's implementation has it in the trait.
pub(super) fn unsafe_reasons(project: &Project) -> Complaints {
    project.with_extension("rs").flat_map(unsafe_reasons_of).collect()
}

fn unsafe_reasons_of(file: &File) -> Complaints {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut complaints = Complaints::new();
    for (number, _) in words(&file.text).into_iter().filter(|(_, word)| word == "unsafe") {
        let (line, above) = (lines[number - 1], &lines[..number - 1]);
        let is_item = |line: &&&str| !line.is_empty() && !line.starts_with([' ', ')', '}', '/', '#']);
        let item = above.iter().rev().find(is_item);
        let implements = item.is_some_and(|item| item.contains("impl") && item.contains(" for "));
        let reasons = above.iter().rev().take_while(|line| {
            let line = line.trim();
            // Also above the statement that the line belongs to.
            let continues = !line.is_empty() && !line.ends_with([';', '{', '}']);
            line.starts_with("//") || line.starts_with("#[") || line.starts_with("unsafe ") || continues
        });
        let is_reason = |line: &&str| line.contains("// SAFETY:") || line.contains("# Safety");
        let is_inherited = implements && line.contains("unsafe fn ");
        if !is_inherited && !reasons.copied().chain([line]).any(|line| is_reason(&line)) {
            complaints.push(format!("{}:{number}: unsafe without // SAFETY:", file.path));
        }
    }
    complaints
}

/// No file names a folder of the machine it was written on.
pub(super) fn machine_paths(project: &Project) -> Complaints {
    // Put together so that this file does not name them either.
    let homes = ["root", "work", "home", "Users"].map(|name| format!("/{name}/"));
    let mut complaints = Complaints::new();
    for file in project.files.iter().filter(|file| file.extension() != "lock") {
        for (number, line) in file.text.lines().enumerate() {
            for home in &homes {
                let starts = line.match_indices(home.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    before.is_none_or(|c| !c.is_alphanumeric() && !"._-/}".contains(c))
                });
                if starts {
                    complaints.push(format!("{}:{}: names a path under {home}", file.path, number + 1));
                }
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    #[test]
    fn long_files_are_found() {
        let of = |lines: usize| sizes(&project(&[("crates/a/src/a.rs", &"//\n".repeat(lines))]));
        assert!(of(MOST_LINES).is_empty());
        assert_eq!(of(MOST_LINES + 1).len(), 1);
        assert!(sizes(&project(&[("data.csv", &"1\n".repeat(10_000))])).is_empty());
    }

    #[test]
    fn module_docs_are_asked_for() {
        assert!(crate_docs(&project(&[("crates/a/src/lib.rs", "\n//! A.\n")])).is_empty());
        assert_eq!(crate_docs(&project(&[("crates/a/src/lib.rs", "mod b;\n")])).len(), 1);
        assert!(crate_docs(&project(&[("a/b.cuh", "// The b.\n#pragma once\n")])).is_empty());
        assert_eq!(crate_docs(&project(&[("a/b.cuh", "#pragma once\n// The b.\n")])).len(), 1);
    }

    #[test]
    fn placeholders_are_found_in_code_only() {
        let text = "fn f() { todo!() }\n// todo!\nlet a = \"dbg!(x)\";\nmy_todo!();\n  dbg!(x);\n";
        assert_eq!(unfinished(&project(&[("a.rs", text)])), ["a.rs:1: todo!", "a.rs:5: dbg!"]);
    }

    #[test]
    fn long_lines_of_prose_are_found() {
        let (words, word) = ("word ".repeat(30), "word".repeat(40));
        let fine = [
            ("a.md", format!("| {words} |\n{word}\n")),
            ("a.rs", format!("let a = \"{words}\"; // {words}\n/// <{word}>\n")),
            ("a.csv", words.clone()),
        ];
        for (path, text) in fine {
            assert!(widths(&project(&[(path, &text)])).is_empty(), "{path}");
        }
        for (path, text) in [
            ("a.md", format!("- {words}")),
            ("b.rs", format!("    //! {words}")),
            ("c.toml", format!("# {words}")),
        ] {
            assert_eq!(widths(&project(&[(path, &text)])), [format!("{path}:1: more than 120 characters")]);
        }
    }

    #[test]
    fn unsafe_needs_its_reason() {
        let sound = "// SAFETY: checked above.\nunsafe { f() }\n/// # Safety\n/// x\nunsafe fn g() {}\n#![forbid(unsafe_code)]\n\
             // SAFETY: checked above.\nlet a =\n    f(unsafe { g() });\n";
        assert!(unsafe_reasons(&project(&[("a.rs", sound)])).is_empty());
        let inherited = "impl<T: B> A<T> for C {\n    fn h() {}\n    unsafe fn g() {}\n}\n";
        assert!(unsafe_reasons(&project(&[("a.rs", inherited)])).is_empty());
        for unsound in [
            "// SAFETY: far away.\nlet x = 1;\nunsafe { f() }\n",
            "impl A for B {}\nimpl C {\n    unsafe fn g() {}\n}\n",
            "impl A for B {\n    fn g() {\n        unsafe { f() }\n    }\n}\n",
        ] {
            assert_eq!(unsafe_reasons(&project(&[("a.rs", unsound)])), ["a.rs:3: unsafe without // SAFETY:"]);
        }
    }

    #[test]
    fn machine_paths_are_found() {
        let text = format!("see /{}/x/y\nframe/{}/z\n", "root", "work");
        assert_eq!(machine_paths(&project(&[("a.md", &text)])).len(), 1);
    }
}
