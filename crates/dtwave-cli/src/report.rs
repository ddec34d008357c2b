//! What the command says: results on stdout, one line per error or note on stderr.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Error, Result};
use clap::error::ErrorKind;
use dtwave::Error as DistanceError;

/// Exit status of a run that Ctrl-C ended, as shells count it.
const INTERRUPTED: u8 = 130;
/// Exit status of a command line that could not be understood.
const USAGE: u8 = 2;

/// Ctrl-C ended the run; the text says what is left and how to go on.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "interrupted{}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Writes to stdout; a reader that went away (`| head`) ends the program quietly.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => Err(crate::output::explain(&PathBuf::from("the standard output"), &e)),
        Ok(()) => Ok(()),
    }
}

/// Prints a line of text.
pub(crate) fn print_line(text: &str) -> Result<()> {
    print(|out| writeln!(out, "{text}"))
}

/// Prints one JSON document on one line.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    print_line(&value.to_string())
}

/// Tells the user something that is not an error.
pub(crate) fn note(text: &str) {
    eprintln!("note: {}", one_line(text));
}

/// Tells the user of a result that is probably not what they want.
pub(crate) fn warn(text: &str) {
    eprintln!("warning: {}", one_line(text));
}

/// Prints the error and gives the exit status.
pub(crate) fn fail(error: &Error) -> ExitCode {
    let text = one_line(&format!("{error:#}"));
    if error.is::<Interrupted>() || matches!(error.downcast_ref(), Some(DistanceError::Cancelled)) {
        eprintln!("error: {}", if text == "cancelled" { "interrupted" } else { &text });
        return ExitCode::from(INTERRUPTED);
    }
    eprintln!("error: {text}");
    ExitCode::FAILURE
}

/// Prints help and version on stdout, and a usage error as one line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let help = [
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayVersion,
        // No command at all: a first look, not a mistake.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    if help.contains(&error.kind()) {
        return match print(|out| write!(out, "{}", error.render())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
    let text = error.render().to_string();
    let said = text.split("\nUsage:").next().unwrap_or(&text);
    let said = said.split("\nFor more information").next().unwrap_or(said);
    let said = said.trim_start_matches("error: ").replace("\n\n  tip:", "; tip:");
    eprintln!("error: {}", one_line(&said));
    ExitCode::from(USAGE)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line() {
        assert_eq!(one_line("a\n  b:\tc\n"), "a b: c");
        assert_eq!(one_line(&format!("{:#}", Error::msg("c\nd").context("a"))), "a: c d");
    }

    #[test]
    fn an_interruption_says_what_is_left() {
        assert_eq!(Interrupted("; 3 of 4 tiles".into()).to_string(), "interrupted; 3 of 4 tiles");
    }
}
