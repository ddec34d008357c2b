//! What the command says: results on stdout, one line per error or note on stderr.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Error, Result};
use clap::error::ErrorKind;
use dtwave::{Error as DistanceError, Remedy};
use dtwave_results::matrix::{Blocked, Words};

/// Exit status of a command line that could not be understood.
const USAGE: u8 = 2;

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// The JSON document of a command that the program runs for itself, while it does.
static CAPTURED: Mutex<Option<serde_json::Value>> = Mutex::new(None);

/// Leaves out notes and progress from now on; warnings and errors remain.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Ctrl-C ended the run; the text says what is left and how to go on.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "interrupted{}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// The reader of the standard output went away (`| head`): nothing is left to say, and nothing went wrong.
#[derive(Debug)]
struct ReaderLeft;

impl std::fmt::Display for ReaderLeft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the reader of the standard output went away")
    }
}

impl std::error::Error for ReaderLeft {}

/// Writes text to stdout. Control characters, which come from names and labels, are shown as escapes.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(Printable(io::BufWriter::new(io::stdout().lock())));
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(ReaderLeft.into()),
        Err(e) => Err(crate::output::explain(Path::new("the standard output"), &e)),
        Ok(()) => Ok(()),
    }
}

/// Passes text on with its control characters escaped.
struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Whole characters only; the rest comes again with what follows it.
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) if e.valid_up_to() > 0 => {
                std::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => {
                self.0.write_all(bytes)?;
                return Ok(bytes.len());
            }
        };
        self.0.write_all(printable(text).as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub(crate) fn print_line(text: &str) -> Result<()> {
    print(|out| writeln!(out, "{text}"))
}

pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    if let Some(captured) = &mut *CAPTURED.lock().unwrap_or_else(PoisonError::into_inner) {
        *captured = value.clone();
        return Ok(());
    }
    let mut text = String::new();
    // The format leaves some control characters as they are; they can only stand in strings.
    for character in value.to_string().chars() {
        if is_control(character) {
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    print_line(&text)
}

/// The JSON document that `run` would print. It says no notes meanwhile.
pub(crate) fn captured(run: impl FnOnce() -> Result<()>) -> Result<serde_json::Value> {
    let captured = || CAPTURED.lock().unwrap_or_else(PoisonError::into_inner);
    *captured() = Some(serde_json::Value::Null);
    let done = run();
    let value = captured().take().unwrap_or_default();
    done.map(|()| value)
}

/// Whether a terminal would obey a character instead of showing it.
fn is_control(character: char) -> bool {
    // Besides the control characters, those that turn the direction of the text around them, and those that are none.
    let turns =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_none = matches!(character, '\u{fffe}' | '\u{ffff}');
    turns || is_none || (character.is_control() && character != '\n' && character != '\t')
}

/// Tells the user something that is not an error, unless `--quiet` was given.
pub(crate) fn note(text: &str) {
    let is_captured = CAPTURED.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    if !is_quiet() && !is_captured {
        say("note", text);
    }
}

/// Tells the user how a result was computed, who asked for it.
pub(crate) fn explain(line: &str) {
    say("explain", line);
}

/// Tells the user of a result that is probably not what they want.
pub(crate) fn warn(text: &str) {
    say("warning", text);
}

/// Says that a signal ended the run; `kept` is what is left and how to go on. Nothing is said on stderr after that.
pub(crate) fn interrupted(kept: &str) {
    let mut stderr = io::stderr().lock();
    say_to(&mut stderr, "error", &Interrupted(kept.to_owned()).to_string());
    // Other threads that have something to say wait until the process ends, which is now.
    std::mem::forget(stderr);
}

/// One line on stderr. A stderr that cannot be written to is no reason to lose a result.
fn say(what: &str, text: &str) {
    say_to(&mut io::stderr(), what, text);
}

/// At once, so that no other line gets into it.
fn say_to(to: &mut impl Write, what: &str, text: &str) {
    let _ = to.write_all(format!("{what}: {}\n", one_line(text)).as_bytes());
}

/// Prints the error and gives the exit status: `interrupted` where the error tells of a signal that came.
pub(crate) fn fail(error: &Error, interrupted: Option<i32>) -> ExitCode {
    if error.is::<ReaderLeft>() {
        return ExitCode::SUCCESS;
    }
    let is_interruption =
        error.is::<Interrupted>() || matches!(error.downcast_ref(), Some(DistanceError::Cancelled));
    if let Some(status) = interrupted.filter(|_| is_interruption) {
        let text = chain(error);
        say("error", if text == "cancelled" { "interrupted" } else { &text });
        return u8::try_from(status).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    say("error", &chain(error));
    ExitCode::FAILURE
}

/// What helps against an error, as the command spells it.
pub(crate) fn in_command(remedy: Remedy) -> String {
    match remedy {
        Remedy::Backend(name) => format!("use --backend {name}"),
        Remedy::Dtype(dtype) => format!("use --dtype {dtype}"),
        Remedy::MoreMemory => "raise --memory-limit".to_owned(),
        Remedy::Feature(name) => format!("build it with --features {name}"),
        Remedy::ExpectedAlignment => "soft_dtw has an expected alignment instead".to_owned(),
        // No command compares series with themselves where that is not symmetric.
        Remedy::BothSides => String::new(),
        remedy => remedy.in_rust(),
    }
}

/// Whether an error is that of a file which takes more memory than the limit.
pub(crate) fn is_over_limit(error: &Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::OutOfMemory)
}

/// The error and its causes, each told once: errors of other libraries often end with the text of their cause.
fn chain(error: &Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = if let Some(error) = cause.downcast_ref::<DistanceError>() {
            error.told(in_command)
        } else if let Some(blocked) = cause.downcast_ref::<Blocked>() {
            blocked.told(Words { resume: "--resume", run: "command", dtype: "--dtype" })
        } else {
            cause.to_string()
        };
        if text.is_empty() {
            text = cause;
        } else if text != cause && !text.ends_with(&format!(": {cause}")) {
            text += &format!(": {cause}");
        }
    }
    if is_over_limit(error) {
        text += "; raise --memory-limit if that is meant";
    }
    text
}

/// What clap says of a mistake, without its layout: the mistake, what may have been meant, and the usage.
fn usage_error(text: &str) -> String {
    let text = text.split("\nFor more information").next().unwrap_or(text);
    let (said, usage) = text.split_once("\nUsage:").unwrap_or((text, ""));
    let said = said.trim_start_matches("error: ").trim_end().replace("\n\n  tip:", "; tip:");
    let usage = usage.trim();
    if usage.is_empty() { said } else { format!("{said}; usage: {usage}") }
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
            Err(error) => fail(&error, None),
        };
    }
    let text = error.render().to_string();
    say("error", &usage_error(&text));
    ExitCode::from(USAGE)
}

/// The text on one line, with control characters as escapes.
fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_control(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Told(&'static str, Option<Box<Told>>);

    impl std::fmt::Display for Told {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Told {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn each_cause_is_told_once() {
        let reason = std::io::Error::other("no memory");
        let error = DistanceError::failed("cpu", reason);
        assert_eq!(chain(&Error::from(error).context("cannot compute")), "cannot compute: cpu: no memory");
        assert_eq!(chain(&Error::msg("a").context("b").context("c")), "c: b: a");
        let of = |text, cause| Error::from(Told(text, Some(Box::new(Told(cause, None)))));
        assert_eq!(
            chain(&of("I/O error: the disk is full", "the disk is full")),
            "I/O error: the disk is full"
        );
        assert_eq!(chain(&of("the disk is full", "the disk is full")), "the disk is full");
    }

    #[test]
    fn the_command_names_its_flags() {
        let remedies = &[Remedy::Dtype(dtwave::Dtype::F32), Remedy::Backend("cpu")];
        let error = DistanceError::Unsupported { backend: "wgpu", what: "f64".to_owned(), remedies };
        let told = "wgpu cannot compute this: f64; use --dtype f32, or use --backend cpu";
        assert_eq!(chain(&error.into()), told);
        let error = DistanceError::OutOfMemory { what: "it".into(), requested_bytes: 2, available_bytes: 1 };
        assert!(
            chain(&Error::from(error).context("a")).ends_with("1 bytes are allowed; raise --memory-limit")
        );
        let large = std::io::Error::new(io::ErrorKind::OutOfMemory, "2 bytes");
        assert!(chain(&Error::from(large).context("b")).starts_with("b: 2 bytes; raise --memory-limit"));
        let other = Blocked::OtherResult("it is none".to_owned());
        assert!(chain(&other.into()).starts_with("it is none; leave out --resume to replace it"));
    }

    /// A cause may be a word of the text before it and still say something else.
    #[test]
    fn no_cause_is_left_out_for_its_words() {
        let of = |text, cause| Error::from(Told(text, Some(Box::new(Told(cause, None)))));
        assert_eq!(chain(&of("cannot read data.csv", "data")), "cannot read data.csv: data");
        assert_eq!(chain(&of("cannot read the data", "data")), "cannot read the data: data");
        assert_eq!(chain(&of("line 1: x: it is no number", "x")), "line 1: x: it is no number: x");
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_usage() {
        let text = "error: unexpected argument '--x' found\n\n  tip: a similar argument exists: '--y'\n\nUsage: dtwave z --y <Y>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            usage_error(text),
            "unexpected argument '--x' found; tip: a similar argument exists: '--y'; usage: dtwave z --y <Y>"
        );
        assert_eq!(usage_error("error: no\n"), "no");
    }

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
