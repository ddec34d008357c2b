//! What a file's name and content leave open, and the user may say.

use std::path::Path;
use std::str::FromStr;

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

/// What a file's name and content leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format of standard input, and of files whose extension stands for none.
    pub format: Option<Format>,
    /// How the cells of a `.csv` file form series.
    pub csv_layout: CsvLayout,
    /// Whether line 1 names the columns.
    pub header: HeaderLine,
    /// Whether the first column is an index.
    pub index: IndexColumn,
    /// The order of the axes of arrays `[n, ·, ·]`; none is channels last, with a warning where that looks wrong.
    pub axes: Option<AxisOrder>,
    /// Which arrays of a `.npz` archive are read.
    pub key: Option<Key>,
    /// Most bytes that are inflated or taken from a pipe to be read whole.
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
            axes: None,
            key: None,
            memory_limit_bytes,
        }
    }

    /// Options with this format where the name says none.
    #[must_use]
    pub fn with_format(mut self, format: Option<Format>) -> Self {
        self.format = format;
        self
    }

    /// Options with cells of a `.csv` file laid out so.
    #[must_use]
    pub fn with_csv_layout(mut self, csv_layout: CsvLayout) -> Self {
        self.csv_layout = csv_layout;
        self
    }

    /// Options with this said of line 1.
    #[must_use]
    pub fn with_header(mut self, header: HeaderLine) -> Self {
        self.header = header;
        self
    }

    /// Options with this said of the first column.
    #[must_use]
    pub fn with_index(mut self, index: IndexColumn) -> Self {
        self.index = index;
        self
    }

    /// Options with this order of axes.
    #[must_use]
    pub fn with_axes(mut self, axes: Option<AxisOrder>) -> Self {
        self.axes = axes;
        self
    }

    /// Options with these arrays of an archive.
    #[must_use]
    pub fn with_key(mut self, key: Option<Key>) -> Self {
        self.key = key;
        self
    }

    /// The format of `path` as it will be read, if that is known.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        Format::of(path).filter(|_| !is_stdin(path)).or(self.format)
    }
}
