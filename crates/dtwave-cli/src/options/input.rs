//! What the command line says about the files it reads, beside what [`ReadOptions`] takes.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::data::{CsvLayout, Format, HeaderLine, IndexColumn, ReadOptions, is_stdin};

/// Refuses options that no input has a use for, and standard input where it is wanted twice.
pub(crate) fn check_inputs(options: &ReadOptions, inputs: &[&Path]) -> Result<()> {
    ensure!(
        inputs.iter().filter(|path| is_stdin(path)).count() < 2,
        "standard input (-) can be one input only"
    );
    let any = |formats: &[Format]| {
        inputs.iter().filter_map(|path| options.format_of(path)).any(|format| formats.contains(&format))
    };
    let is_open = |path: &&Path| is_stdin(path) || Format::of(path).is_none();
    ensure!(
        options.format.is_none() || inputs.iter().any(is_open),
        "--format belongs to standard input (-) and to files without a known extension; no input is one"
    );
    let tables = &[Format::Csv, Format::Tsv][..];
    let arrays = &[Format::Npy, Format::Npz][..];
    for (is_given, option, formats, shown) in [
        (options.csv_layout != CsvLayout::Auto, "--csv-layout", &[Format::Csv][..], ".csv"),
        (options.header != HeaderLine::Auto, "--csv-header", tables, ".csv, .tsv and .txt"),
        (options.index != IndexColumn::Auto, "--csv-index", tables, ".csv, .tsv and .txt"),
        (options.axes.is_some(), "--layout", arrays, ".npy and .npz"),
        (options.key.is_some(), "--key", &[Format::Npz], ".npz"),
    ] {
        ensure!(!is_given || any(formats), "{option} belongs to {shown} files; no input is one");
    }
    Ok(())
}
