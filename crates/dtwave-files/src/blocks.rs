//! One long series, read block by block, so that it need not fit in memory.
//!
//! That is how raw numbers and a `.csv` file of one column are read, and an `.npy` array of the shape `[length]`,
//! `[1, length]` or `[1, length, channels]`, also compressed and from a pipe. Anything else is read whole. The values
//! are the same either way.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::column::{self, Column};
use crate::dataset::Position;
use crate::npy::Array;
use crate::raw::{self, Item, Raw};
use crate::source::{Content, is_stdin, name_of};
use crate::stream::{self, Bytes, Passed, Stream, peeked, whole};
use crate::text::not_finite;
use crate::{AxisOrder, Dataset, Format, Missing, ReadOptions, Resample, format_of, shown};

/// Bytes that are looked at before it is decided how to read: more than the longest header of an array.
const HEAD_BYTES: u64 = 1 << 17;

/// A file that is expected to hold one series.
pub enum LongSeries {
    /// It is read as it is needed.
    Blocks(SeriesBlocks),
    /// It was read whole.
    Whole(Dataset),
}

/// A series whose points are read as they are needed.
pub struct SeriesBlocks {
    name: String,
    shown: String,
    channels: usize,
    /// How many points there are, where the file says so.
    points: Option<usize>,
    done: usize,
    source: Source,
    progress: Option<Passed>,
}

enum Source {
    Column(Column),
    Array(Array<Bytes>),
    Raw(Raw<Bytes>),
}

/// Whether what was read from `path` can be read again: it is a file, not a pipe.
pub fn is_read_again(path: &Path) -> bool {
    !is_stdin(path) && std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

impl LongSeries {
    /// Opens a file, or standard input, and reads it whole where it is not of the kind that can be read block by block.
    ///
    /// Memory: less than a megabyte, and what inflating takes; for others as [`Dataset::read`].
    ///
    /// # Errors
    /// As [`Dataset::read`]. Of blocks, only what is wrong with the first bytes.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let format = format_of(path, options)?;
        let item = Item::of(format);
        if (!matches!(format, Format::Csv | Format::Npy) && item.is_none())
            || (item.is_some() && options.missing != Missing::Error)
        {
            return Dataset::read(path, options).map(LongSeries::Whole);
        }
        let limit_bytes = options.memory_limit_bytes;
        let open = stream::raw(path).with_context(|| format!("cannot read {}", shown(path)))?;
        let parse = || {
            let Stream { mut bytes, progress, size } = Stream::inflated(path, format, open, limit_bytes)?;
            if let Some(item) = item {
                let channels = raw::channels(options)?;
                let points = size.map(|size| Raw::<Bytes>::points(item, channels, size)).transpose()?;
                let (name, shown) = (name_of(path), shown(path));
                let source = Source::Raw(Raw::new(item, channels, bytes));
                let blocks = SeriesBlocks { name, shown, channels, points, done: 0, source, progress };
                return Ok(Some(LongSeries::Blocks(blocks)));
            }
            let head = peeked(&mut *bytes, HEAD_BYTES)?;
            let is_all = (head.len() as u64) < HEAD_BYTES;
            // Times are in another column.
            let suits = options.resample == Resample::None
                && match format {
                    Format::Csv => column::suits(&head, is_all, options),
                    // What is wrong with the header is said by whoever reads the whole.
                    _ => {
                        options.missing == Missing::Error
                            && Array::unmeasured(&head[..])
                                .is_ok_and(|array| extent(&array, options).is_some())
                    }
                };
            if !suits {
                if is_read_again(path) {
                    return Ok(None);
                }
                let content = Content::limited(whole(head, bytes, limit_bytes)?, limit_bytes);
                ensure!(!content.bytes.is_empty(), "the file is empty");
                return Dataset::of_inflated(path, format, content, options)
                    .map(|dataset| Some(LongSeries::Whole(dataset)));
            }
            let mark = usize::from(format == Format::Csv && head.starts_with(b"\xef\xbb\xbf")) * 3;
            let mut head = Cursor::new(head);
            head.set_position(mark as u64);
            let bytes: Bytes = Box::new(head.chain(bytes));
            let (points, channels, source) = if format == Format::Csv {
                (None, 1, Source::Column(Column::open(bytes, options)?))
            } else {
                let array = match size {
                    Some(size) => Array::open(bytes, size)?,
                    None => Array::unmeasured(bytes)?,
                };
                let (points, channels) = extent(&array, options).expect("looked at above");
                (Some(points), channels, Source::Array(array))
            };
            let (name, shown) = (name_of(path), shown(path));
            let blocks = SeriesBlocks { name, shown, channels, points, done: 0, source, progress };
            Ok(Some(LongSeries::Blocks(blocks)))
        };
        let opened: Result<Option<Self>> = parse();
        match opened.with_context(|| shown(path))? {
            Some(opened) => Ok(opened),
            None => Dataset::read(path, options).map(LongSeries::Whole),
        }
    }
}

impl SeriesBlocks {
    /// Opens lines of one number that are read as they come, from a file or a pipe that may still grow.
    ///
    /// Memory: less than a megabyte.
    ///
    /// # Errors
    /// What cannot be read so, and what is wrong with the first line.
    pub fn follow(path: &Path, options: &ReadOptions) -> Result<Self> {
        ensure!(
            format_of(path, options)? == Format::Csv,
            "{}: what is followed has one number in each line: say --format csv",
            shown(path)
        );
        ensure!(
            options.resample == Resample::None && options.missing == Missing::Error,
            "--resample and --missing need what comes later: leave them out with --follow"
        );
        let open = || {
            let (bytes, progress) = stream::raw(path).context("cannot read it")?;
            let mut bytes = BufReader::new(bytes);
            // As much as is there: waiting for more could be waiting for long.
            if bytes.fill_buf().context("cannot read the first bytes")?.starts_with(b"\xef\xbb\xbf") {
                bytes.consume(3);
            }
            let source = Source::Column(Column::open(Box::new(bytes), options)?);
            let (name, shown) = (name_of(path), shown(path));
            Ok(SeriesBlocks { name, shown, channels: 1, points: None, done: 0, source, progress })
        };
        let opened: Result<Self> = open();
        opened.with_context(|| shown(path))
    }
}

/// Points and channels of an array that holds one series, its points one after the other, that needs no warning.
fn extent<R: Read>(array: &Array<R>, options: &ReadOptions) -> Option<(usize, usize)> {
    let (length, channels) = match *array.shape() {
        [length] | [1, length] if options.axes.is_none() => (length, 1),
        [1, length, channels] if !array.is_fortran() => (length, channels),
        _ => return None,
    };
    let is_clear = match options.axes {
        None => channels <= length,
        Some(axes) => axes == AxisOrder::ChannelsLast,
    };
    let (length, channels) = (usize::try_from(length).ok()?, usize::try_from(channels).ok()?);
    (is_clear && array.is_numeric() && length > 0 && channels > 0).then_some((length, channels))
}

impl SeriesBlocks {
    /// What the file is called in results.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Values per point.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Points read so far.
    pub fn done(&self) -> usize {
        self.done
    }

    /// How many points there are, where the file says so.
    pub fn points(&self) -> Option<usize> {
        self.points
    }

    /// What the user should be told about how the file was understood.
    pub fn notes(&self) -> &[String] {
        match &self.source {
            Source::Column(column) => column.notes(),
            Source::Array(_) | Source::Raw(_) => &[],
        }
    }

    /// How much was read, from 0 to 1, where that is known.
    pub fn share(&self) -> Option<f64> {
        match (self.points, &self.progress) {
            (Some(points), _) => Some(self.done as f64 / points as f64),
            (None, Some(passed)) => Some(passed.share()),
            (None, None) => None,
        }
    }

    /// Appends the next points to `block`, at most `points`; none at the end.
    ///
    /// # Errors
    /// What is wrong with the file, and where, in one line that names it.
    pub fn read(&mut self, points: usize, block: &mut Vec<f64>) -> Result<()> {
        self.next(points, block).with_context(|| self.shown.clone())
    }

    fn next(&mut self, points: usize, block: &mut Vec<f64>) -> Result<()> {
        let (before, channels) = (block.len(), self.channels);
        match &mut self.source {
            Source::Column(column) => {
                while block.len() - before < points {
                    let Some(value) = column.next()? else { break };
                    block.push(value);
                }
            }
            Source::Raw(raw) => {
                raw.append(points, block)?;
                let read = (block.len() - before) / channels;
                if let Some(all) = self.points.filter(|all| read < points && self.done + read < *all) {
                    bail!("truncated: {all} points were there, and {} are", self.done + read);
                }
            }
            Source::Array(array) => {
                let all = self.points.unwrap_or(0);
                let count = points.min(all - self.done);
                array.append(count * channels, self.done * channels, block).map_err(|error| {
                    let is_cut = error
                        .downcast_ref::<io::Error>()
                        .is_some_and(|e| e.kind() == io::ErrorKind::UnexpectedEof);
                    if is_cut {
                        error.context(format!("truncated: shape {:?}", array.shape()))
                    } else {
                        error
                    }
                })?;
                if count > 0 && self.done + count == all {
                    let more = peeked(array.rest(), 1).context("cannot read the end")?;
                    ensure!(more.is_empty(), "more bytes after the data of shape {:?}", array.shape());
                }
            }
        }
        // Without a way out of the loop, it takes several values at a time.
        let is_finite = block[before..].iter().fold(true, |all, value| all & value.is_finite());
        let damaged = || block[before..].iter().position(|value| !value.is_finite());
        if let Some(at) = if is_finite { None } else { damaged() } {
            let position = Position { at: self.done * channels + at, channels };
            bail!("series 0, {position}: {}", not_finite(block[before + at]));
        }
        self.done += (block.len() - before) / channels;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::npy::tests::{npy, raw};
    use crate::source::tests::{gz, xz};
    use crate::tests::options;
    use crate::{CsvLayout, HeaderLine};

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    /// All of a file, `points` at a time; none where it is read whole.
    fn all(path: &Path, options: &ReadOptions, points: usize) -> Result<Option<Vec<f64>>> {
        let LongSeries::Blocks(mut blocks) = LongSeries::open(path, options)? else { return Ok(None) };
        let mut values = Vec::new();
        loop {
            let before = values.len();
            blocks.read(points, &mut values)?;
            assert!(values.len() - before <= points * blocks.channels());
            assert!(blocks.share().is_some_and(|share| share <= 1.0));
            if values.len() == before {
                assert_eq!(blocks.done() * blocks.channels(), values.len());
                assert!(blocks.points().is_none_or(|points| points == blocks.done()));
                return Ok(Some(values));
            }
        }
    }

    #[test]
    fn blocks_are_what_is_read_at_once() {
        let values: Vec<f64> = (0..20).map(|k| f64::from(k) * 0.5 - 3.0).collect();
        let lines: String = values.iter().map(|v| format!("{v}\n")).collect();
        let spaced = format!("\u{feff}\r\na;b\r\n {} \n  \n", lines.trim_end().replace('\n', " \r\n"));
        for (name, bytes) in [
            ("a.csv", lines.clone().into_bytes()),
            ("a.csv", lines.trim_end().as_bytes().to_vec()),
            ("a.csv", b"7".to_vec()),
            ("a.csv", spaced.into_bytes()),
            ("a.csv.gz", gz(lines.as_bytes())),
            ("a.csv.xz", xz(lines.as_bytes())),
            ("a.csv.gz", [gz(b"1\n2\n"), gz(lines.as_bytes()), vec![0; 300_000]].concat()),
            ("a.npy", npy(&[20], &values)),
            ("a.npy", npy(&[1, 20], &values)),
            ("a.npy", npy(&[1, 10, 2], &values)),
            ("a.npy", npy(&[3], &[1_i16, -2, 3])),
            ("a.npy.gz", gz(&npy(&[20], &values))),
            ("a.npy.xz", xz(&npy(&[1, 10, 2], &values))),
        ] {
            let (_folder, path) = file(name, &bytes);
            let whole = Dataset::read(&path, &options()).unwrap();
            for points in [1, 7, 20, 1000] {
                let read = all(&path, &options(), points).unwrap();
                assert_eq!(read.as_ref(), Some(&whole.series[0]), "{name} {points}");
            }
        }
    }

    /// More than is looked at before it is decided.
    #[test]
    fn long_files_are_read_in_little_memory() {
        let values: Vec<f64> = (0..100_000).map(|k| f64::from(k) * 0.25).collect();
        let lines: String = values.iter().map(|v| format!("{v}\n")).collect();
        let tight = ReadOptions { memory_limit_bytes: 1 << 18, ..options() };
        for (name, bytes) in [
            ("a.csv", lines.clone().into_bytes()),
            ("a.csv.gz", gz(lines.as_bytes())),
            ("a.npy", npy(&[100_000], &values)),
            ("a.npy.gz", gz(&npy(&[100_000], &values))),
        ] {
            let (_folder, path) = file(name, &bytes);
            assert_eq!(all(&path, &tight, 4096).unwrap().as_ref(), Some(&values), "{name}");
        }
    }

    #[test]
    fn what_is_not_one_series_in_order_is_read_whole() {
        let rows = ReadOptions { csv_layout: CsvLayout::Rows, ..options() };
        let first = ReadOptions { axes: Some(AxisOrder::ChannelsFirst), ..options() };
        for (name, bytes, options) in [
            ("a.csv", b"1,2,3\n4,5,6\n".to_vec(), options()),
            ("a.csv", b"1;2\n3;4\n".to_vec(), options()),
            ("a.csv", b"\"1\"\n\"2\"\n".to_vec(), options()),
            ("a.csv", b"1\n2\n".to_vec(), rows),
            ("a.tsv", b"1\t2\t3\n".to_vec(), options()),
            ("a.npy", npy(&[2, 2], &[1.0; 4]), options()),
            ("a.npy", npy(&[1, 2, 3], &[1.0; 6]), options()),
            ("a.npy", npy(&[1, 2, 3], &[1.0; 6]), first),
        ] {
            let (_folder, path) = file(name, &bytes);
            let LongSeries::Whole(read) = LongSeries::open(&path, &options).unwrap() else {
                panic!("{name} {bytes:?}")
            };
            assert_eq!(read, Dataset::read(&path, &options).unwrap());
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let mut long = npy(&[3], &[1.0, 2.0, 3.0]);
        long.push(0);
        let cut = npy(&[3], &[1.0, 2.0, 3.0]);
        let endless = vec![b'7'; 3 << 20];
        for (name, bytes, parts) in [
            ("a.csv", b"1\n2\n2,3\n".to_vec(), &["line 3: '2,3' where one number was expected"][..]),
            ("a.csv", b"1\nx\n".to_vec(), &["line 2, column 1", "'x'"]),
            ("a.csv", b"1\n2\n1e999\n".to_vec(), &["line 3", "position 2", "inf"]),
            ("a.csv", b"1\n2\n \n3\n".to_vec(), &["line 3", "empty cell"]),
            (
                "a.csv",
                [&b"1\n2\n"[..], &b"3\n".repeat(70_000), b"\"4\"\n"].concat(),
                &["line 70003", "one number"],
            ),
            ("a.csv", [b"1\n2\n", &endless[..]].concat(), &["line 3 is longer than 1048576 bytes"]),
            ("a.csv", b"1\n2\n\n\n3\n".to_vec(), &["line 3: an empty line"]),
            ("a.csv", b"1\n2\n\n \n".to_vec(), &["line 3: an empty line"]),
            ("a.csv", b"1\n2\n3\r4\n".to_vec(), &["line 3: a carriage return"]),
            ("a.csv", b"value\n".to_vec(), &["only a header"]),
            ("a.csv", b"".to_vec(), &["the file is empty"]),
            ("a.csv", b"\n \n".to_vec(), &["line 1: an empty line"]),
            ("a.csv.gz", b"1\n2\n".to_vec(), &["the name says gzip"]),
            ("a.csv.gz", gz(b"1\n2\n")[..16].to_vec(), &["gzip data"]),
            ("a.csv.gz", [gz(b"1\n2\n"), vec![0; 300_000], vec![1]].concat(), &["gzip data", "behind zeros"]),
            ("a.npy", npy(&[3], &[1.0, f64::NAN, 2.0]), &["series 0, position 1: NaN"]),
            ("a.npy", npy(&[1, 2, 2], &[1.0, 1.0, 2.0, f64::INFINITY]), &["position 1, channel 1: inf"]),
            ("a.npy", long.clone(), &["1 bytes after the data"]),
            ("a.npy", cut[..cut.len() - 1].to_vec(), &["truncated"]),
            ("a.npy.gz", gz(&long), &["more bytes after the data"]),
            ("a.npy.gz", gz(&cut[..cut.len() - 1]), &["truncated: shape [3]"]),
            ("a.npy", raw("<U3", "(1,)", &[0; 12]), &["element type '<U3'"]),
            ("a.npy", b"1\n2\n".to_vec(), &["not a .npy file"]),
            ("a.wav", b"RIFF".to_vec(), &["unknown extension"]),
        ] {
            let (_folder, path) = file(name, &bytes);
            let error = format!("{:#}", all(&path, &options(), 10).unwrap_err());
            assert!(error.contains(name) && !error.contains('\n'), "{error}");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}: {parts:?}");
        }
        let no = ReadOptions { header: HeaderLine::No, ..options() };
        let (_folder, path) = file("a.csv", b"value\n1\n");
        assert!(format!("{:#}", all(&path, &no, 9).unwrap_err()).contains("line 1, column 1: 'value'"));
        let yes = ReadOptions { header: HeaderLine::Yes, ..options() };
        let (_folder, path) = file("a.csv", b"5\n1\n");
        assert_eq!(all(&path, &yes, 9).unwrap().unwrap(), [1.0]);
        let (LongSeries::Blocks(blocks), whole) =
            (LongSeries::open(&path, &yes).unwrap(), Dataset::read(&path, &yes).unwrap())
        else {
            panic!("read whole")
        };
        assert_eq!((blocks.notes(), blocks.notes().len()), (&whole.notes[..], 1));
        assert!(is_read_again(&path) && !is_read_again(Path::new("-")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// However a file is damaged, blocks hold what the whole of it holds, or there is an error. What is an error in
        /// blocks alone is a line that shows several columns, or a lone carriage return.
        #[test]
        fn damaged_files_are_read_the_same_in_blocks(
            is_array: bool, at in any::<proptest::sample::Index>(),
            piece in "[0-9.eE\\-,;\t\r\n\" x]{0,4}", cut: bool, points in 1_usize..9,
        ) {
            let lines = b"1.5\n-2\n3e2\n4\r\n 5 \n6\n".to_vec();
            let mut bytes = if is_array { npy(&[1, 3, 2], &[1., 2., 3., 4., 5., 6.]) } else { lines };
            let at = at.index(bytes.len());
            let end = if cut { bytes.len() } else { (at + piece.len()).min(bytes.len()) };
            bytes.splice(at..end, piece.bytes());
            let (_folder, path) = file(if is_array { "a.npy" } else { "a.csv" }, &bytes);
            match (all(&path, &options(), points), Dataset::read(&path, &options())) {
                (Ok(Some(values)), Ok(whole)) => prop_assert_eq!(&[values][..], &whole.series[..]),
                (Ok(Some(values)), Err(error)) => prop_assert!(false, "{:?} in blocks, but {:#}", values, error),
                (Err(error), Ok(_)) => {
                    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
                    prop_assert!(text.contains([',', ';', '\t', '"', '\r']), "in blocks: {:#}", error);
                }
                (Ok(None), _) | (Err(_), Err(_)) => {}
            }
        }
    }
}
