//! What the command line says about the files it reads.

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Args;

use super::Bytes;
use crate::data::{AxisOrder, CsvLayout, Format, HeaderLine, IndexColumn, Key, ReadOptions, is_stdin};

/// How input files are to be understood, where they leave it open.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// Format of standard input (-), and of files without a known extension
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// How a .csv file holds series: auto (one column is one series, otherwise each row), rows or columns
    #[arg(long, value_enum, default_value = "auto")]
    csv_layout: CsvLayout,

    /// Whether line 1 of a .csv, .tsv or .txt file names the columns: auto (if it holds no numbers, or 0, 1, 2, … above
    /// fractions), yes or no
    #[arg(long, value_enum, default_value = "auto")]
    csv_header: HeaderLine,

    /// Whether the first column of a .csv, .tsv or .txt file is an index, which is left out: auto (if line 1 names the
    /// other columns but not this one), yes (of files with more than one column) or no
    #[arg(long, value_enum, default_value = "auto")]
    csv_index: IndexColumn,

    /// Axes of a three-dimensional array: channels-last or channels-first [default: channels-last]
    #[arg(long, value_enum)]
    layout: Option<AxisOrder>,

    /// Array of a .npz archive that holds the series, and the one that holds the labels [default: X,y]
    #[arg(long, value_name = "NAME[,LABELS]")]
    key: Option<Key>,
}

impl InputArgs {
    /// These options for the reader; what is inflated must fit the memory limit.
    pub(crate) fn read_options(&self, memory_limit: Bytes) -> ReadOptions {
        ReadOptions::new(memory_limit.0)
            .with_format(self.format)
            .with_csv_layout(self.csv_layout)
            .with_header(self.csv_header)
            .with_index(self.csv_index)
            .with_axes(self.layout)
            .with_key(self.key.clone())
    }

    /// Refuses options that no input has a use for, and standard input where it is wanted twice.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<()> {
        ensure!(
            inputs.iter().filter(|path| is_stdin(path)).count() < 2,
            "standard input (-) can be one input only"
        );
        let options = self.read_options(Bytes(0));
        let any = |formats: &[Format]| {
            inputs.iter().filter_map(|path| options.format_of(path)).any(|format| formats.contains(&format))
        };
        let is_open = |path: &&Path| is_stdin(path) || Format::of(path).is_none();
        ensure!(
            self.format.is_none() || inputs.iter().any(is_open),
            "--format belongs to standard input (-) and to files without a known extension; no input is one"
        );
        ensure!(
            self.csv_layout == CsvLayout::Auto || any(&[Format::Csv]),
            "--csv-layout belongs to .csv files; no input is one"
        );
        ensure!(
            self.csv_header == HeaderLine::Auto || any(&[Format::Csv, Format::Tsv]),
            "--csv-header belongs to .csv, .tsv and .txt files; no input is one"
        );
        ensure!(
            self.csv_index == IndexColumn::Auto || any(&[Format::Csv, Format::Tsv]),
            "--csv-index belongs to .csv, .tsv and .txt files; no input is one"
        );
        ensure!(
            self.layout.is_none() || any(&[Format::Npy, Format::Npz]),
            "--layout belongs to .npy and .npz files; no input is one"
        );
        ensure!(self.key.is_none() || any(&[Format::Npz]), "--key belongs to .npz files; no input is one");
        Ok(())
    }
}
