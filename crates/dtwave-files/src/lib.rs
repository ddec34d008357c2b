//! Time series from files, as the command `dtwave` reads them.
//!
//! A [`Dataset`] is what every command works on: named series of `[time][channel]` values, row-major, all with the same
//! number of channels and every value finite. The format is chosen by the file's extension, and compressed files are
//! decompressed. Missing values are refused unless the user says how to fill them in, contradictions between header and
//! data always, with their place; nothing is guessed. A note says what was left out, and what could be understood in
//! two ways. `docs/files.md` describes the formats.
//!
//! Nothing is allocated because a file says so. Claims about sizes are checked against the file's real size. What is
//! decompressed or comes from a pipe is checked against a memory limit. Time is linear in the number of bytes (sorting
//! labels aside). This crate knows nothing of measures or devices.

#![forbid(unsafe_code)]

mod blocks;
mod column;
mod csv;
mod csv_lines;
mod csv_table;
mod dataset;
mod labels;
mod missing;
mod npy;
mod npy_header;
mod npz;
mod options;
mod raw;
mod resample;
mod source;
mod stream;
mod text;
mod ts;
mod ts_values;
mod ucr;
mod unpacked;
mod xz_header;

use std::io::Read;
use std::path::Path;

use anyhow::{Result, bail, ensure};

pub use blocks::{LongSeries, SeriesBlocks, is_read_again};
pub use dataset::{Dataset, Times, by_label};
pub use labels::LabelColumn;
pub use missing::{Filled, Missing, fill};
pub use options::{AxisOrder, CsvLayout, HeaderLine, IndexColumn, Key, ReadOptions};
pub use resample::Resample;
use source::Content;
pub use source::{Format, is_stdin};

impl Dataset {
    /// Reads the file at `path`, or standard input where that is `-`; the format follows from the extension.
    ///
    /// Memory: the file, inflated, and its values in `f64`; of a `.npy` file on the disk only the values, because it is
    /// read in one pass.
    ///
    /// # Errors
    /// What is wrong with the file, and where, in one line that names it.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self> {
        let format = format_of(path, options)?;
        if format == Format::Npy
            && let Some((file, size)) = source::array_on_disk(path)?
        {
            let read = npy::parse_file(source::name_of(path), file, size, options);
            return read
                .and_then(|dataset| Self::finished(dataset, options))
                .map_err(|e| e.context(shown(path)));
        }
        if let Some(item) = raw::Item::of(format)
            && let Some((file, size)) = source::on_disk(path)?
        {
            let read = raw::parse_file(source::name_of(path), file, size, item, options);
            return read
                .and_then(|dataset| Self::finished(dataset, options))
                .map_err(|e| e.context(shown(path)));
        }
        let content = source::content(path, format, options.memory_limit_bytes)?;
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
            let content = source::inflated(path, format, content, options.memory_limit_bytes)?;
            Self::of_inflated(path, format, content, options)
        };
        parse().map_err(|e| e.context(shown(path)))
    }

    fn of_inflated(path: &Path, format: Format, content: Content, options: &ReadOptions) -> Result<Self> {
        let name = source::name_of(path);
        let item = raw::Item::of(format);
        if content.is_limited() && item.is_none() && !matches!(format, Format::Npy | Format::Npz) {
            content.allow(text::memory_bytes(&content.bytes))?;
        }
        source::check_first(format, &content.bytes, content.bytes.len() as u64)?;
        if let Some(item) = item {
            let dataset = raw::parse(name, &content, item, options);
            return dataset.and_then(|dataset| Self::finished(dataset, options));
        }
        let dataset = match format {
            Format::Ts => ts::parse(name, &content.bytes, options),
            Format::Tsv => ucr::parse(name, &content.bytes, options),
            Format::Npy => npy::parse(name, &content, options),
            Format::Npz => npz::parse(name, &content, options),
            _ => csv::parse(name, &content.bytes, options),
        };
        dataset.and_then(|dataset| Self::finished(dataset, options))
    }

    fn finished(dataset: Dataset, options: &ReadOptions) -> Result<Self> {
        missing::filled(dataset, options.missing).and_then(Dataset::checked)
    }
}

/// What the file at `path`, or standard input where that is `-`, is called in messages.
pub fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn format_of(path: &Path, options: &ReadOptions) -> Result<Format> {
    match options.format_of(path) {
        Some(format) if options.resample != Resample::None && !matches!(format, Format::Ts | Format::Csv) => {
            bail!("{}: {}", shown(path), resample::NEEDS_TIMES)
        }
        Some(format) => Ok(format),
        None if is_stdin(path) => bail!("standard input needs --format {}", source::FORMATS),
        None if path.is_dir() => bail!("{}: a folder; expected a file", shown(path)),
        None => bail!(
            "{}: unknown extension; expected .ts, .tsv, .txt, .npy, .npz, .csv or of raw numbers .u8, .i8, .i16le, .i32le, .f32le or .f64le, each also with .gz or .xz, or say --format",
            shown(path)
        ),
    }
}

#[cfg(test)]
mod generated;
#[cfg(test)]
mod tests;
