//! What the fuzz targets share: files made from random choices ([`files`]) and what must hold for each of them.
//!
//! A target turns the fuzzer's bytes into a file: as they are, or as choices of a writer that knows the format, so that
//! most files get past the first check. Reading it must not panic, must end within [`guard::MOST_SECS`] of processor
//! time and [`guard::MOST_BYTES`] of memory, and gives finite series or one line of error. [`results`] does the same
//! with what an interrupted run leaves: resuming it gives the right matrix, bit for bit, or one line of error.

pub mod blocks;
pub mod files;
pub mod guard;
pub mod results;

use std::collections::HashSet;
use std::path::Path;

use arbitrary::{Result, Unstructured};
use dtwave_files::{AxisOrder, CsvLayout, Dataset, Format, HeaderLine, IndexColumn, Missing, ReadOptions};

/// Most bytes that are inflated: room for what the targets write, with all that comes of it within
/// [`guard::MOST_BYTES`].
const INFLATED_BYTES: u64 = 12 << 20;

/// Runs one input of a target: the bytes as the file `name` (a quarter of all inputs), or what `write` makes of them.
pub fn file(name: &str, data: &[u8], write: fn(&mut Unstructured<'_>) -> Result<Vec<u8>>) {
    let mut choices = Unstructured::new(data);
    let Ok((options, is_raw)) = options(&mut choices) else { return };
    let bytes = if is_raw {
        choices.take_rest().to_vec()
    } else {
        let Ok(bytes) = write(&mut choices) else { return };
        bytes
    };
    read(Path::new(name), bytes, &options);
}

/// Options for the reader, and whether the rest is a file as it is.
fn options(choices: &mut Unstructured<'_>) -> Result<(ReadOptions, bool)> {
    let key = ["X", "X,y", "a", "a,b"];
    let labels = ["first", "last", "none", "a"];
    let text_and_arrays = [Format::Ts, Format::Tsv, Format::Csv, Format::Npy, Format::Npz];
    let raw = [Format::U8, Format::I8, Format::I16le, Format::I32le, Format::F32le, Format::F64le];
    let formats = [&text_and_arrays[..], &raw].concat().into_iter().map(Some).collect::<Vec<_>>();
    let axes = [None, None, Some(AxisOrder::ChannelsFirst), Some(AxisOrder::ChannelsLast)];
    let options = ReadOptions {
        format: *choices.choose(&[&[None][..], &formats].concat())?,
        csv_layout: *choices.choose(&[CsvLayout::Auto, CsvLayout::Rows, CsvLayout::Columns])?,
        header: *choices.choose(&[HeaderLine::Auto, HeaderLine::Yes, HeaderLine::No])?,
        index: *choices.choose(&[IndexColumn::Auto, IndexColumn::Yes, IndexColumn::No])?,
        labels: if choices.ratio(1, 4)? { choices.choose(&labels)?.parse().ok() } else { None },
        missing: *choices.choose(&[Missing::Error, Missing::Linear, Missing::Previous, Missing::Drop])?,
        axes: *choices.choose(&axes)?,
        channels: *choices.choose(&[None, Some(0), Some(1), Some(3), Some(usize::MAX)])?,
        key: if choices.ratio(1, 4)? { choices.choose(&key)?.parse().ok() } else { None },
        ..ReadOptions::new(INFLATED_BYTES)
    };
    Ok((options, choices.ratio(1, 4)?))
}

/// Reads the file and checks what came of it.
fn read(path: &Path, bytes: Vec<u8>, options: &ReadOptions) {
    if bytes.len() > guard::MOST_FILE_BYTES {
        return;
    }
    let result = guard::guarded(|| {
        if dtwave_files::is_stdin(path) {
            Dataset::from_stream(path, &bytes[..], options)
        } else {
            Dataset::from_bytes(path, bytes, options)
        }
    });
    match result {
        Ok(dataset) => check(&dataset),
        Err(error) => {
            let message = format!("{error:#}");
            assert!(!message.contains('\n'), "an error of several lines: {message:?}");
            assert!(message.len() < 2000, "an error of {} bytes", message.len());
        }
    }
}

/// Whole, finite series; labels for each; and the same again when they are written and read back.
fn check(dataset: &Dataset) {
    assert!(dataset.len() > 0 && dataset.channels > 0);
    for values in &dataset.series {
        assert!(!values.is_empty() && values.len() % dataset.channels == 0);
        assert!(values.iter().all(|value| value.is_finite()));
    }
    if let Some(labels) = &dataset.labels {
        assert_eq!(labels.len(), dataset.len());
        let distinct: HashSet<&String> = dataset.classes.iter().collect();
        assert!(labels.iter().all(|label| distinct.contains(label)));
        assert_eq!(distinct.len(), dataset.classes.len(), "a class stands twice");
    }
    assert!(!dataset.described().contains(|c: char| c.is_control()));
    let size: usize = dataset.series.iter().map(Vec::len).sum();
    if size > 1 << 14 {
        return;
    }
    let plain = ReadOptions { csv_layout: CsvLayout::Rows, header: HeaderLine::No, ..unsaid() };
    if dataset.channels == 1 {
        let text: String = dataset.series.iter().map(|values| line(values)).collect();
        let again = Dataset::from_stream(Path::new("again.csv"), text.as_bytes(), &plain).expect("own .csv");
        assert_eq!(again.series, dataset.series);
    }
    let (low, high) = dataset.lengths();
    if low == high {
        let bytes = files::npy_of(&[dataset.len(), low, dataset.channels], &dataset.series.concat());
        let again = Dataset::from_stream(Path::new("again.npy"), &bytes[..], &unsaid()).expect("own .npy");
        assert_eq!((again.channels, &again.series), (dataset.channels, &dataset.series));
    }
}

fn line(values: &[f64]) -> String {
    let cells: Vec<String> = values.iter().map(f64::to_string).collect();
    cells.join(",") + "\n"
}

fn unsaid() -> ReadOptions {
    ReadOptions::new(64 << 20)
}
