//! The files that a command writes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::inputs::Inputs;
use crate::engine;
use crate::options::RunArgs;
use crate::output::{self, Target};

/// What a result is written as: the extension of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Csv,
    Json,
    Npz,
}

impl Format {
    /// What matrices and averages are written as.
    pub(crate) const ALL: [Format; 3] = [Format::Npy, Format::Csv, Format::Json];

    /// What sparse matrices are written as.
    pub(crate) const SPARSE: [Format; 3] = [Format::Csv, Format::Json, Format::Npz];

    fn extension(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Npz => "npz",
        }
    }

    /// The one of `formats` that a file name asks for.
    pub(crate) fn of(file: &Path, formats: &[Format]) -> Result<Self> {
        let extension = file.extension().unwrap_or_default();
        let mut known = formats.iter();
        match known.find(|format| extension.eq_ignore_ascii_case(format.extension())) {
            Some(format) => Ok(*format),
            None => {
                bail!("cannot write {}: unknown extension; expected {}", file.display(), listed(formats))
            }
        }
    }
}

/// `.npy, .csv or .json`
fn listed(formats: &[Format]) -> String {
    let names: Vec<String> = formats.iter().map(|format| format!(".{}", format.extension())).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// A file for results, taken before any work: nobody waits for a result that has no place.
pub(crate) struct Output {
    pub(crate) format: Format,
    pub(crate) target: Target,
}

impl Output {
    /// Takes the file that an option names, if it was given; refuses names of other formats.
    pub(crate) fn take(file: &Option<PathBuf>, formats: &[Format]) -> Result<Option<Self>> {
        let Some(file) = file else { return Ok(None) };
        Ok(Some(Output { format: Format::of(file, formats)?, target: engine::take(file)? }))
    }
}

/// The inputs of a command. Refuses outputs that would replace one, and options about inputs that none has a use for.
pub(crate) fn check_files(inputs: &[&Path], outputs: &[&Option<PathBuf>], run: &RunArgs) -> Result<Inputs> {
    for out in outputs.iter().copied().flatten() {
        if let Some(input) = inputs.iter().find(|input| output::is_same_file(input, out)) {
            bail!("cannot write {}: it is the input {}; choose another name", out.display(), input.display());
        }
    }
    Inputs::new(inputs, run)
}

/// The line that names a file which was written, and what is in it.
pub(crate) fn written(out: &mut dyn Write, what: &str, file: &Option<PathBuf>) -> io::Result<()> {
    match file {
        Some(file) => writeln!(out, "{what} in {}", file.display()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_unknown_formats_are_refused() {
        let of = |name: &str, formats: &[Format]| Format::of(Path::new(name), formats);
        assert_eq!(of("a.CSV", &Format::ALL).unwrap(), Format::Csv);
        assert_eq!(of("a.b.npy", &[Format::Npy]).unwrap(), Format::Npy);
        for (name, formats, expected) in [
            ("a.npy", &[Format::Csv][..], ".csv"),
            ("a", &Format::ALL, ".npy, .csv or .json"),
            (".csv", &[Format::Csv, Format::Json], ".csv or .json"),
        ] {
            let error = of(name, formats).unwrap_err().to_string();
            assert_eq!(error, format!("cannot write {name}: unknown extension; expected {expected}"));
        }
    }
}
