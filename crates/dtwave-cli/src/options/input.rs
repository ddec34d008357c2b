//! What the command line says about the files it reads, beside what [`ReadOptions`] takes.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::data::{CsvLayout, Format, HeaderLine, IndexColumn, ReadOptions, is_stdin};

/// Whether a file's name does not say in which format it is.
fn is_open(path: &Path) -> bool {
    is_stdin(path) || Format::of(path).is_none()
}

/// How one of the inputs is read. `--format` is for those whose names say nothing; where there are none, it overrides
/// the extensions.
pub(crate) fn for_input<'a>(
    options: &ReadOptions,
    mut inputs: impl Iterator<Item = &'a Path>,
    path: &Path,
) -> ReadOptions {
    let format = options.format.filter(|_| is_open(path) || !inputs.any(is_open));
    ReadOptions { format, ..options.clone() }
}

/// Refuses options that no input has a use for, and standard input where it is wanted twice.
pub(crate) fn check_inputs(options: &ReadOptions, inputs: &[&Path]) -> Result<()> {
    ensure!(
        inputs.iter().filter(|path| is_stdin(path)).count() < 2,
        "standard input (-) can be one input only"
    );
    let format_of = |path: &&Path| for_input(options, inputs.iter().copied(), path).format_of(path);
    let any =
        |formats: &[Format]| inputs.iter().filter_map(format_of).any(|format| formats.contains(&format));
    let tables = &[Format::Csv, Format::Tsv][..];
    let arrays = &[Format::Npy, Format::Npz][..];
    for (is_given, option, formats, shown) in [
        (options.csv_layout != CsvLayout::Auto, "--csv-layout", &[Format::Csv][..], ".csv"),
        (options.header != HeaderLine::Auto, "--csv-header", tables, ".csv, .tsv and .txt"),
        (options.index != IndexColumn::Auto, "--csv-index", tables, ".csv, .tsv and .txt"),
        (options.labels.is_some(), "--labels", tables, ".csv, .tsv and .txt"),
        (options.axes.is_some(), "--layout", arrays, ".npy and .npz"),
        (options.key.is_some(), "--key", &[Format::Npz], ".npz"),
    ] {
        ensure!(!is_given || any(formats), "{option} belongs to {shown} files; no input is one");
    }
    ensure!(
        options.channels.is_none() || inputs.iter().filter_map(format_of).any(Format::is_raw),
        "--channels belongs to raw files (.u8 to .f64le); no input is one"
    );
    Ok(())
}
