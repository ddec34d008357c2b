//! Time series from files, as the command `dtwave` reads them.
//!
//! A [`Dataset`] is what every command works on: named series of `[time][channel]` values, row-major, all with the same
//! number of channels and every value finite. The format is chosen by the file's extension, and compressed files are
//! decompressed. Missing values, and contradictions between header and data, are refused with their place; nothing is
//! guessed. A note says what was left out, and what could be understood in two ways. `docs/files.md` describes the
//! formats.
//!
//! Nothing is allocated because a file says so. Claims about sizes are checked against the file's real size. What is
//! decompressed or comes from a pipe is checked against a memory limit. Time is linear in the number of bytes (sorting
//! labels aside). This crate knows nothing of measures or devices.

#![forbid(unsafe_code)]

mod blocks;
mod column;
mod csv;
mod csv_table;
mod dataset;
mod npy;
mod npy_header;
mod npz;
mod source;
mod stream;
mod text;
mod ts;
mod ts_values;
mod ucr;
mod xz_header;

use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail, ensure};

pub use blocks::{LongSeries, SeriesBlocks, is_read_again};
pub use dataset::{Dataset, Times, by_label};
use source::Content;
pub use source::{Format, is_stdin};

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

impl Dataset {
    /// Reads the file at `path`, or standard input where that is `-`; the format follows from the extension.
    ///
    /// Memory: the file, inflated, and its values in `f64`.
    ///
    /// # Errors
    /// What is wrong with the file, and where, in one line that names it.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self> {
        let format = format_of(path, options)?;
        let content = source::content(path, options.memory_limit_bytes)?;
        Self::of_content(path, format, content, options)
    }

    /// Reads bytes that are there already as if they were the file `path`.
    ///
    /// # Errors
    /// As [`Dataset::read`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Self> {
        let format = format_of(path, options)?;
        Self::of_content(path, format, Content::measured(bytes), options)
    }

    /// Reads what `reader` gives as if it were the file `path`.
    ///
    /// # Errors
    /// As [`Dataset::read`].
    pub fn from_stream(path: &Path, reader: impl Read, options: &ReadOptions) -> Result<Self> {
        let format = format_of(path, options)?;
        let limit_bytes = options.memory_limit_bytes;
        let bytes = source::read_stream(reader, limit_bytes).map_err(|e| e.context(shown(path)))?;
        Self::of_content(path, format, Content::limited(bytes, limit_bytes), options)
    }

    fn of_content(path: &Path, format: Format, content: Content, options: &ReadOptions) -> Result<Self> {
        let parse = || {
            ensure!(!content.bytes.is_empty(), "the file is empty");
            let content = source::inflated(path, content, options.memory_limit_bytes)?;
            Self::of_inflated(path, format, content, options)
        };
        parse().map_err(|e| e.context(shown(path)))
    }

    fn of_inflated(path: &Path, format: Format, content: Content, options: &ReadOptions) -> Result<Self> {
        let name = source::name_of(path);
        if content.is_limited() && !matches!(format, Format::Npy | Format::Npz) {
            content.allow(text::memory_bytes(&content.bytes))?;
        }
        let dataset = match format {
            Format::Ts => ts::parse(name, &content.bytes),
            Format::Tsv => ucr::parse(name, &content.bytes, options.header, options.index),
            Format::Npy => npy::parse(name, &content, options),
            Format::Npz => npz::parse(name, &content, options),
            Format::Csv => csv::parse(name, &content.bytes, options),
        };
        dataset.and_then(Dataset::checked)
    }
}

/// What the file at `path`, or standard input where that is `-`, is called in messages.
pub fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn format_of(path: &Path, options: &ReadOptions) -> Result<Format> {
    match options.format_of(path) {
        Some(format) => Ok(format),
        None if is_stdin(path) => bail!("standard input needs --format ts, tsv, csv, npy or npz"),
        None if path.is_dir() => bail!("{}: a folder; expected a file", shown(path)),
        None => bail!(
            "{}: unknown extension; expected .ts, .tsv, .txt, .npy, .npz or .csv, each also with .gz or .xz, or say --format",
            shown(path)
        ),
    }
}

#[cfg(test)]
mod tests;
