//! How an option was written on the command line, so that errors name it as its author knows it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

/// Of the `ways` to write an option the one that stands on this program's command line.
pub(crate) fn given(ways: &[&'static str]) -> &'static str {
    as_written(&std::env::args_os().collect::<Vec<_>>(), ways).unwrap_or(ways[0])
}

/// Of the `ways` to write an option (`--clusters`, `-k`) the one that stands among `words`, if any does.
fn as_written<'a>(words: &[OsString], ways: &[&'a str]) -> Option<&'a str> {
    let stands = |way: &&&str| {
        words.iter().any(|word| match word.to_string_lossy().strip_prefix(**way) {
            Some(rest) => rest.is_empty() || rest.starts_with('=') || !way.starts_with("--"),
            None => false,
        })
    };
    ways.iter().find(stands).copied()
}

/// An error of clap's, which names options by their long names, with the name that stands among `words`.
pub(crate) fn named_as_given(
    mut error: clap::Error,
    command: &clap::Command,
    words: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(shown)) = error.get(ContextKind::InvalidArg) else { return error };
    let (long, value) = shown.split_once(' ').unwrap_or((shown, ""));
    let args = command.get_subcommands().chain([command]).flat_map(clap::Command::get_arguments);
    for arg in args.filter(|arg| arg.get_long().is_some_and(|name| long == format!("--{name}"))) {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        let others =
            aliases.iter().map(|name| format!("--{name}")).chain(arg.get_short().map(|c| format!("-{c}")));
        let ways: Vec<String> = [long.to_owned()].into_iter().chain(others).collect();
        let ways: Vec<&str> = ways.iter().map(|way| &**way).collect();
        if let Some(way) = as_written(words, &ways).filter(|way| *way != long) {
            let named = format!("{way} {value}").trim_end().to_owned();
            error.insert(ContextKind::InvalidArg, ContextValue::String(named));
            return error;
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_as_they_were_written() {
        let ways = ["--top-k", "--k", "-k"];
        for (line, expected) in [
            ("search -k 3", Some("-k")),
            ("search -k3", Some("-k")),
            ("search --k=3", Some("--k")),
            ("search --k 3", Some("--k")),
            ("search --top-k 3", Some("--top-k")),
            ("search --key a", None),
            ("search", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(as_written(&words, &ways), expected, "{line}");
        }
    }
}
