//! Series read from files.
//!
//! A [`Dataset`] is what every command works on: named series of `[time][channel]` values, row-major, all with
//! the same number of channels and every value finite. The format is chosen by the file's extension; what a
//! file leaves open (missing values, timestamps, contradictions between header and data) is refused with the
//! place where it stands, never guessed. This module knows nothing of measures or devices.

mod csv;
mod npy;
mod ts;
mod ucr;

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// How the cells of a `.csv` file form series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum CsvLayout {
    /// A file with one column is one series; otherwise each row is a series.
    #[default]
    Auto,
    /// Each row is a series.
    Rows,
    /// Each column is a series.
    Columns,
}

/// Series with the same number of channels, and their class labels if the file has them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dataset {
    /// The file's stem, or what the generator calls it.
    pub(crate) name: String,
    /// Values per point of time, at least 1.
    pub(crate) channels: usize,
    /// Row-major `[time][channel]` values of each series.
    pub(crate) series: Vec<Vec<f64>>,
    /// One label per series.
    pub(crate) labels: Option<Vec<String>>,
    /// The distinct labels: in the header's order where there is one, else sorted.
    pub(crate) classes: Vec<String>,
    /// What the reader should be told about how the file was understood.
    pub(crate) notes: Vec<String>,
}

impl Dataset {
    /// Reads the file at `path`; the format follows from the extension.
    pub(crate) fn read(path: &Path, csv_layout: CsvLayout) -> Result<Self> {
        let shown = path.display();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        if !matches!(extension.as_str(), "ts" | "tsv" | "txt" | "npy" | "npz" | "csv") {
            bail!("{shown}: unknown extension; expected .ts, .tsv, .txt, .npy, .npz or .csv");
        }
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        if bytes.is_empty() {
            bail!("{shown}: the file is empty");
        }
        let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let dataset = match extension.as_str() {
            "ts" => ts::parse(name, &bytes),
            "tsv" | "txt" => ucr::parse(name, &bytes),
            "npy" => npy::parse_npy(name, &bytes),
            "npz" => npy::parse_npz(name, &bytes),
            _ => csv::parse(name, &bytes, csv_layout),
        };
        dataset.and_then(Dataset::checked).map_err(|e| e.context(shown.to_string()))
    }

    /// Builds a dataset of one-channel series without labels.
    pub(crate) fn univariate(name: String, series: Vec<Vec<f64>>) -> Self {
        Dataset { name, channels: 1, series, labels: None, classes: Vec::new(), notes: Vec::new() }
    }

    /// Attaches labels; `classes` lists the distinct ones, sorted (by value where all are integers).
    pub(crate) fn with_labels(mut self, labels: Vec<String>) -> Self {
        let mut classes = labels.clone();
        classes.sort_by(|a, b| match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => a.cmp(b),
        });
        classes.dedup();
        self.labels = Some(labels);
        self.classes = classes;
        self
    }

    /// The number of series.
    pub(crate) fn len(&self) -> usize {
        self.series.len()
    }

    /// The points of time of series `index`.
    pub(crate) fn length(&self, index: usize) -> usize {
        self.series[index].len() / self.channels
    }

    /// The shortest and the longest length.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let lengths = (0..self.len()).map(|i| self.length(i));
        lengths.fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)))
    }

    /// Refuses what no measure is defined on: no series, an empty series, NaN and infinities.
    fn checked(self) -> Result<Self> {
        if self.series.is_empty() {
            bail!("the file holds no series");
        }
        for (index, values) in self.series.iter().enumerate() {
            if values.is_empty() {
                bail!("series {index} is empty");
            }
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                let position = Position { at, channels: self.channels };
                bail!("series {index}, {position}: {} where a finite number was expected", values[at]);
            }
        }
        Ok(self)
    }
}

/// The place of a flat index, as a reader counts: time from 0, and the channel if there are several.
struct Position {
    at: usize,
    channels: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}", self.at / self.channels)?;
        if self.channels > 1 {
            write!(f, ", channel {}", self.at % self.channels)?;
        }
        Ok(())
    }
}

/// Splits text into lines with their 1-based numbers; an encoding error names the line.
///
/// A byte-order mark and carriage returns are dropped. Lines that start with `comment` may be in any encoding.
fn numbered_lines(bytes: &[u8], comment: Option<u8>) -> impl Iterator<Item = Result<(usize, &str)>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|b| *b == b'\n').enumerate().filter_map(move |(index, line)| {
        if comment.is_some() && line.trim_ascii_start().first() == comment.as_ref() {
            return None;
        }
        let text = std::str::from_utf8(line).map(str::trim);
        match text {
            Ok("") => None,
            Ok(text) => Some(Ok((index + 1, text))),
            Err(_) => Some(Err(anyhow::anyhow!("line {}: not UTF-8 text", index + 1))),
        }
    })
}

/// Shortens a cell for an error message.
fn quoted(cell: &str) -> String {
    const SHOWN: usize = 24;
    let clean: String = cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.chars().count() > SHOWN {
        format!("'{}…'", clean.chars().take(SHOWN).collect::<String>())
    } else {
        format!("'{clean}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `bytes` to a file of this name in a fresh folder and reads it back.
    pub(super) fn read(name: &str, bytes: impl AsRef<[u8]>) -> Result<Dataset> {
        read_with(name, bytes, CsvLayout::Auto)
    }

    pub(super) fn read_with(name: &str, bytes: impl AsRef<[u8]>, layout: CsvLayout) -> Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Dataset::read(&path, layout)
    }

    /// The error of reading such a file: one line that names the file and every one of `parts`.
    pub(super) fn refuses(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
        refuses_with(name, bytes, CsvLayout::Auto, parts);
    }

    pub(super) fn refuses_with(name: &str, bytes: impl AsRef<[u8]>, layout: CsvLayout, parts: &[&str]) {
        let error = read_with(name, bytes, layout).expect_err("the file should be refused");
        let message = format!("{error:#}");
        assert!(message.contains(name), "{message:?} does not name the file");
        assert!(!message.contains('\n'), "{message:?} has several lines");
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }

    #[test]
    fn empty_missing_and_unknown_files_are_refused() {
        for name in ["a.ts", "a.tsv", "a.txt", "a.npy", "a.npz", "a.csv"] {
            refuses(name, "", &["the file is empty"]);
        }
        refuses("a.wav", "RIFF", &["unknown extension", ".npy"]);
        let error = Dataset::read(Path::new("no/such.csv"), CsvLayout::Auto).unwrap_err();
        assert!(format!("{error:#}").contains("cannot read no/such.csv"));
    }

    #[test]
    fn labels_sort_as_numbers_where_they_are() {
        let labels = ["10", "9", "-1", "9"].map(String::from).to_vec();
        let dataset = Dataset::univariate("x".into(), vec![vec![0.0]; 4]).with_labels(labels);
        assert_eq!(dataset.classes, ["-1", "9", "10"]);
    }

    #[test]
    fn lengths_count_points_of_time() {
        let mut dataset = Dataset::univariate("x".into(), vec![vec![0.0; 6], vec![0.0; 4]]);
        dataset.channels = 2;
        assert_eq!(dataset.lengths(), (2, 3));
    }

    /// A small valid file of each format.
    fn valid() -> Vec<(&'static str, Vec<u8>)> {
        let mut npy = Vec::new();
        let header = crate::output::npy_header::<f64>(&[2, 3]).unwrap();
        npy.extend(&header);
        (0..6).for_each(|v| npy.extend(f64::from(v).to_le_bytes()));
        let mut npz = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        npz.start_file("X.npy", zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut npz, &npy).unwrap();
        let npz = npz.finish().unwrap().into_inner();
        let ts = b"@univariate false\n@classLabel true a b\n@data\n1,2:3,4:a\n5,6:7,8:b\n".to_vec();
        vec![
            ("f.csv", b"1,2.5,-3\n4,5e1,6\n".to_vec()),
            ("f.tsv", b"1\t0.5\t2\n2\t3\tNaN\n".to_vec()),
            ("f.txt", b"1 0.5 2\n2 3 4\n".to_vec()),
            ("f.ts", ts),
            ("f.npy", npy),
            ("f.npz", npz),
        ]
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(512))]

        /// However a file is damaged, reading it gives finite series or one line that names it.
        #[test]
        fn damaged_files_never_pass_for_whole_series(
            which in 0_usize..6, at in proptest::prelude::any::<proptest::sample::Index>(),
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..4), cut: bool,
        ) {
            let (name, mut file) = valid().swap_remove(which);
            let at = at.index(file.len());
            let end = if cut { file.len() } else { (at + bytes.len()).min(file.len()) };
            file.splice(at..end, bytes);
            match read(name, file) {
                Ok(dataset) => {
                    proptest::prop_assert!(dataset.len() > 0 && dataset.channels > 0);
                    for values in &dataset.series {
                        proptest::prop_assert!(!values.is_empty() && values.len() % dataset.channels == 0);
                        proptest::prop_assert!(values.iter().all(|v| v.is_finite()));
                    }
                    if let Some(labels) = &dataset.labels {
                        proptest::prop_assert_eq!(labels.len(), dataset.len());
                    }
                }
                Err(error) => {
                    let message = format!("{error:#}");
                    proptest::prop_assert!(message.contains(name), "{}", message);
                    proptest::prop_assert_eq!(message.lines().count(), 1, "{}", message);
                }
            }
        }
    }
}
