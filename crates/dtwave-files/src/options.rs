//! What a file's name and content leave open, and the user may say.

use std::path::Path;
use std::str::FromStr;

use crate::labels::LabelColumn;
use crate::missing::Missing;
use crate::resample::Resample;
use crate::source::{Format, is_stdin};

/// How the cells of a `.csv` file form series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum CsvLayout {
    /// A file with one column is one series; otherwise each row is a series.
    #[default]
    Auto,
    /// Each row is a series.
    Rows,
    /// Each column is a series.
    Columns,
}

/// Whether line 1 of a `.csv`, `.tsv` or `.txt` file names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum HeaderLine {
    /// It does if it holds no numbers, or counts 0, 1, 2, … above values that are not whole.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is a series, or the first point of each.
    No,
}

/// Whether the first column of a `.csv`, `.tsv` or `.txt` file is an index: numbers or names of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum IndexColumn {
    /// It is if line 1 names the other columns but not this one; in a `.tsv` or `.txt` file only if it counts 0, 1, 2,
    /// … as well.
    #[default]
    Auto,
    /// It is, and is left out.
    Yes,
    /// It holds values, or labels in a `.tsv` or `.txt` file.
    No,
}

/// The order of the axes of a three-dimensional array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum AxisOrder {
    /// `[n, length, channels]`, as tslearn has it.
    ChannelsLast,
    /// `[n, channels, length]`, as aeon and sktime have it.
    ChannelsFirst,
}

/// Which arrays of an archive are read: `SERIES` or `SERIES,LABELS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The name of the array of series.
    pub series: String,
    /// The name of the array of labels.
    pub labels: Option<String>,
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (series, labels) = match text.split_once(',') {
            Some((series, labels)) => (series, Some(labels)),
            None => (text, None),
        };
        if series.is_empty() || labels.is_some_and(str::is_empty) {
            return Err(format!("'{text}' names no array; expected NAME or NAME,LABELS"));
        }
        Ok(Key { series: series.to_owned(), labels: labels.map(str::to_owned) })
    }
}

/// What a file's name and content leave open. With the feature `clap`, the options of a command: their texts are its
/// help.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Input"))]
pub struct ReadOptions {
    /// Format of standard input (-) and of files without a known extension; if all inputs have one, instead of it. u8
    /// to f64le are raw little-endian numbers without a header: one series
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "FORMAT"))]
    pub format: Option<Format>,

    /// How a .csv file holds series: auto (one column is one series, otherwise each row), rows or columns
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value = "auto"))]
    pub csv_layout: CsvLayout,

    /// Whether line 1 of a .csv, .tsv or .txt file names the columns: auto (if it holds no numbers, or 0, 1, 2, … above
    /// fractions), yes or no
    #[cfg_attr(feature = "clap", arg(long = "csv-header", value_enum, default_value = "auto"))]
    pub header: HeaderLine,

    /// Whether the first column of a .csv, .tsv or .txt file is an index, which is left out: auto (if line 1 names the
    /// other columns but not this one), yes (of files with more than one column) or no
    #[cfg_attr(feature = "clap", arg(long = "csv-index", value_enum, default_value = "auto"))]
    pub index: IndexColumn,

    /// Column of a .csv, .tsv or .txt file that holds class labels: first, last, its name in line 1, or none [default:
    /// none in .csv, first in .tsv and .txt]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN"))]
    pub labels: Option<LabelColumn>,

    /// Missing values (empty fields, ?, NA, NaN): error, linear (interpolated), previous (the last known value) or drop
    /// (their points are left out)
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value = "error"))]
    pub missing: Missing,

    /// Makes points equally spaced by their times, the first column of a .csv file or the timestamps of a .ts file:
    /// none, median (the median spacing) or a step in units of the times, of dates in seconds, as 0.5 or 5min
    #[cfg_attr(feature = "clap", arg(long, default_value = "none", value_parser = str::parse::<Resample>, value_name = "STEP", allow_hyphen_values = true))]
    pub resample: Resample,

    /// Axes of a three-dimensional array: channels-last or channels-first [default: channels-last]
    #[cfg_attr(feature = "clap", arg(long = "layout", value_enum))]
    pub axes: Option<AxisOrder>,

    /// Channels of a file of raw numbers, whose points lie one after the other [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "C"))]
    pub channels: Option<usize>,

    /// Array of a .npz archive that holds the series, and the one that holds the labels [default: X,y]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME[,LABELS]"))]
    pub key: Option<Key>,

    /// Most bytes that are read whole, or that are made of them; no option of a command.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub memory_limit_bytes: u64,
}

impl ReadOptions {
    /// Nothing said: what is open is found out.
    pub fn new(memory_limit_bytes: u64) -> Self {
        Self {
            format: None,
            csv_layout: CsvLayout::Auto,
            header: HeaderLine::Auto,
            index: IndexColumn::Auto,
            labels: None,
            missing: Missing::Error,
            resample: Resample::None,
            axes: None,
            channels: None,
            key: None,
            memory_limit_bytes,
        }
    }

    /// The format of `path` as it will be read, if that is known.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        self.format.or_else(|| Format::of(path).filter(|_| !is_stdin(path)))
    }
}
