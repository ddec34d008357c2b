//! What the command says about its own options is true of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Cli, command};

/// The long options of every command.
fn options() -> BTreeMap<String, BTreeSet<String>> {
    let mut root = command();
    root.build();
    let of = |command: &clap::Command| -> BTreeSet<String> {
        let names = command.get_arguments().flat_map(clap::Arg::get_long_and_visible_aliases);
        names.flatten().map(|long| format!("--{long}")).collect()
    };
    root.get_subcommands().map(|command| (command.get_name().to_owned(), of(command))).collect()
}

/// The words of a text that look like long options.
fn options_named(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
    let mut named = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let before = text[..at].chars().next_back();
        let word: String = text[at..].chars().take_while(|c| is_word(*c)).collect();
        let after = text[at + word.len()..].chars().next();
        let is_option = !before.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_')
            && word.len() > 2
            && !word[2..].starts_with('-')
            && !after.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if is_option {
            named.insert(word.trim_end_matches('-').to_owned());
        }
    }
    named
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

/// The part of a source file before its tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// An option that a message advises must be one that its reader can give.
#[test]
fn messages_name_options_that_exist() {
    let options = options();
    let all: BTreeSet<String> = options.values().flatten().cloned().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for option in crate::options::settings().iter().map(|setting| setting.name).chain(["sqrt"]) {
        assert!(all.contains(&format!("--{option}")), "{option} is no option");
    }
    let mut seen = 0;
    // Also what speaks for the command from beside it.
    let beside = ["dtwave-files", "dtwave-results"].map(|name| root.join("../..").join(name).join("src"));
    let files = [sources(&root), sources(&beside[0]), sources(&beside[1])].concat();
    for path in files.into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = without_tests(&text);
        // A command's own file may name its own options only.
        let inside = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        // These take the names from the table of parameters.
        let has_table = inside.starts_with("options/") || inside.starts_with("commands/pairwise");
        assert!(
            has_table || !text.contains("--{"),
            "{inside}: an option's name is put together; write it out"
        );
        let owner =
            inside.strip_prefix("commands/").map(|rest| rest.split(['.', '/']).next().unwrap_or(rest));
        let known =
            owner.filter(|owner| *owner != "demo").and_then(|owner| options.get(owner)).unwrap_or(&all);
        for option in options_named(text) {
            // Options of cargo, and of clap.
            let is_foreign = ["--features", "--release", "--help", "--version"].contains(&&*option);
            assert!(
                is_foreign || known.contains(&option),
                "{inside} names {option}, which is no option there"
            );
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} options were found in the sources");
    assert_eq!(
        options_named("a--b x---y --start-index `--k 3` --gamma"),
        ["--gamma", "--k", "--start-index"].map(String::from).into()
    );
}

/// Every command line in a help text or document can be understood.
#[test]
fn examples_are_understood() {
    let mut root = command();
    root.build();
    let helps = root.get_subcommands().map(|c| (c.get_name().to_owned(), c.get_after_help()));
    let mut texts: Vec<(String, String)> = helps
        .map(|(name, help)| (name, help.map(ToString::to_string).unwrap_or_default()))
        .filter(|(name, _)| name != "help")
        .collect();
    for (name, text) in &texts {
        assert!(text.contains(&format!("  dtwave {name}")), "{name} has no example");
    }
    texts.push(("dtwave".into(), root.get_after_help().unwrap().to_string()));
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["README.md", "docs/command-line.md"] {
        // A sentence may begin with the name too: commands stand between fences.
        let text = std::fs::read_to_string(project.join(page)).unwrap();
        texts.push((page.into(), text.split("```").skip(1).step_by(2).collect()));
    }
    let mut understood = 0;
    for (name, text) in texts {
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("dtwave ")) {
            // Up to a comment or what the shell does with it.
            let line = line.split(['#', '>', '|', '`']).next().unwrap_or(line);
            let line = line.split("   ").next().unwrap_or(line).replace('\\', " ");
            if line.split_whitespace().nth(1) == Some("help") {
                continue;
            }
            Cli::read_from(line.split_whitespace()).unwrap_or_else(|e| panic!("{name}: {line}: {e}"));
            understood += 1;
        }
    }
    assert!(understood > 20, "only {understood} examples were found");
}

/// The help of a command shows the measures and parameters that it takes, and no others.
#[test]
fn help_shows_what_a_command_takes() {
    let mut root = command();
    root.build();
    let mut help = |name: &str| root.find_subcommand_mut(name).unwrap().render_long_help().to_string();
    for (name, shown, hidden) in [
        ("pairwise", &["--gamma", "--sigma", "--edr-normalized", "--sqrt", "subsequence_dtw"][..], &[][..]),
        ("classify", &["--gamma", "--sigma", "--sqrt"], &["subsequence_dtw"]),
        (
            "search",
            &["--cost", "--sqrt", "--band"],
            &["--measure", "--gamma", "--nu", "--sigma", "--penalty"],
        ),
        ("align", &["--cost", "--nu", "--penalty"], &["--gamma", "--sigma", "soft_dtw", "subsequence_dtw"]),
        (
            "barycenter",
            &["--gamma", "soft_dtw_divergence", "--nu", "--penalty", "wdtw"],
            &["--cost", "--sqrt", "--epsilon", "--sigma", "frechet", "lcss"],
        ),
        ("cluster", &["--gamma", "--nu", "--method"], &["--sqrt", "subsequence_dtw"]),
    ] {
        let text = help(name);
        for word in shown {
            assert!(text.contains(word), "the help of {name} lacks {word}");
        }
        for word in hidden {
            assert!(!text.contains(word), "the help of {name} shows {word}");
        }
    }
    assert!(help("search").contains("Compare windows: z") && !help("align").contains("Compare windows"));
    assert!(help("align").contains("dtw, ddtw: Cost of matching two points"));
    assert!(help("search").contains("      --cost <COST>\n          Cost of matching two points"));
}
