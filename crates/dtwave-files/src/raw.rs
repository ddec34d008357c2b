//! Raw numbers: a file without a header, which holds one series.
//!
//! The numbers are little-endian, one after the other; of several channels those of a point are together. Nothing in
//! the file says so: the format and the number of channels are the user's. A file that does not end with a whole point
//! is refused, because then one of the two is wrong, or the file was not written whole. What the file's first bytes
//! look like has no meaning, so only a name tells that it is compressed.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::{Context, Result, bail, ensure};

use crate::dataset::counted;
use crate::source::{Content, allow_values};
use crate::{Dataset, Format, ReadOptions};

/// A number type of raw files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Item {
    /// That of a format, if it is a raw one.
    pub(crate) fn of(format: Format) -> Option<Self> {
        Some(match format {
            Format::U8 => Item::U8,
            Format::I8 => Item::I8,
            Format::I16le => Item::I16,
            Format::I32le => Item::I32,
            Format::F32le => Item::F32,
            Format::F64le => Item::F64,
            Format::Ts | Format::Tsv | Format::Csv | Format::Npy | Format::Npz => return None,
        })
    }

    const fn bytes(self) -> usize {
        match self {
            Item::U8 | Item::I8 => 1,
            Item::I16 => 2,
            Item::I32 | Item::F32 => 4,
            Item::F64 => 8,
        }
    }

    /// Appends the numbers of so many bytes; those behind the last whole number are left.
    fn append(self, bytes: &[u8], values: &mut Vec<f64>) {
        match self {
            Item::U8 => values.extend(bytes.iter().map(|byte| f64::from(*byte))),
            Item::I8 => values.extend(bytes.iter().map(|byte| f64::from(byte.cast_signed()))),
            Item::I16 => {
                values.extend(bytes.as_chunks().0.iter().map(|item| f64::from(i16::from_le_bytes(*item))));
            }
            Item::I32 => {
                values.extend(bytes.as_chunks().0.iter().map(|item| f64::from(i32::from_le_bytes(*item))));
            }
            Item::F32 => {
                values.extend(bytes.as_chunks().0.iter().map(|item| f64::from(f32::from_le_bytes(*item))));
            }
            Item::F64 => {
                values.extend(bytes.as_chunks().0.iter().map(|item| f64::from_le_bytes(*item)));
            }
        }
    }
}

/// Numbers of a reader, of which nobody need know how many there are.
pub(crate) struct Raw<R> {
    item: Item,
    channels: usize,
    data: R,
    /// Bytes that were read.
    done: u64,
}

impl<R: Read> Raw<R> {
    pub(crate) fn new(item: Item, channels: usize, data: R) -> Self {
        Raw { item, channels, data, done: 0 }
    }

    /// Points of a file of so many bytes.
    ///
    /// # Errors
    /// Where there are no whole points.
    pub(crate) fn points(item: Item, channels: usize, size: u64) -> Result<usize> {
        let point = (item.bytes() as u64).saturating_mul(channels as u64);
        ensure!(
            size.is_multiple_of(point),
            "{size} bytes are no whole number of points of {point} bytes ({} of {}): are --format and --channels right, \
             and was it written whole?",
            counted(channels, "channel"),
            counted(item.bytes(), "byte")
        );
        usize::try_from(size / point).context("the file is larger than memory can address")
    }

    /// Appends the next points, at most so many; fewer at the end alone.
    ///
    /// # Errors
    /// Where the end is not that of a point.
    pub(crate) fn append(&mut self, points: usize, values: &mut Vec<f64>) -> Result<()> {
        const CHUNK: usize = 1 << 15;
        let mut left = points.saturating_mul(self.channels).saturating_mul(self.item.bytes());
        let mut buffer = vec![0; CHUNK.min(left)];
        while left > 0 {
            let part = &mut buffer[..CHUNK.min(left)];
            let mut filled = 0;
            while filled < part.len() {
                match self.data.read(&mut part[filled..]) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error).context("cannot read the data"),
                }
            }
            self.item.append(&part[..filled], values);
            self.done += filled as u64;
            left -= filled;
            if filled < part.len() {
                Self::points(self.item, self.channels, self.done)?;
                break;
            }
        }
        Ok(())
    }
}

/// The channels that the user says, or one.
pub(crate) fn channels(options: &ReadOptions) -> Result<usize> {
    match options.channels {
        Some(0) => bail!("--channels must be at least 1, got 0"),
        channels => Ok(channels.unwrap_or(1)),
    }
}

/// The series that bytes hold.
pub(crate) fn parse(name: String, content: &Content, item: Item, options: &ReadOptions) -> Result<Dataset> {
    let size = content.bytes.len() as u64;
    let points = Raw::<&[u8]>::points(item, channels(options)?, size)?;
    content.allow((size / item.bytes() as u64).saturating_mul(8))?;
    read(name, &content.bytes[..], item, points, options)
}

/// The series of a file of so many bytes, read in one pass: what is in memory are its values, not its bytes as well.
pub(crate) fn parse_file(
    name: String,
    file: File,
    size: u64,
    item: Item,
    options: &ReadOptions,
) -> Result<Dataset> {
    ensure!(size > 0, "the file is empty");
    let points = Raw::<File>::points(item, channels(options)?, size)?;
    allow_values((size / item.bytes() as u64).saturating_mul(8), options.memory_limit_bytes)?;
    read(name, BufReader::with_capacity(1 << 16, file), item, points, options)
}

fn read(
    name: String,
    reader: impl Read,
    item: Item,
    points: usize,
    options: &ReadOptions,
) -> Result<Dataset> {
    let channels = channels(options)?;
    // The bytes are there, so their values may be.
    let mut values = Vec::with_capacity(points * channels);
    Raw::new(item, channels, reader).append(points, &mut values)?;
    ensure!(
        values.len() == points * channels,
        "truncated: {points} points were there, and {} are",
        values.len() / channels
    );
    Ok(Dataset { channels, ..Dataset::univariate(name, vec![values]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::gz;
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{AxisOrder, LongSeries, Missing};

    fn with(format: Format, channels: Option<usize>) -> ReadOptions {
        ReadOptions { format: Some(format), channels, ..options() }
    }

    /// All of a file, `points` at a time.
    fn in_blocks(name: &str, bytes: &[u8], options: &ReadOptions, points: usize) -> Result<Vec<f64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let LongSeries::Blocks(mut blocks) = LongSeries::open(&path, options)? else { panic!("read whole") };
        let mut values = Vec::new();
        loop {
            let before = values.len();
            blocks.read(points, &mut values)?;
            assert!(values.len() - before <= points * blocks.channels());
            if values.len() == before {
                assert_eq!(blocks.done() * blocks.channels(), values.len());
                assert!(blocks.points().is_none_or(|points| points == blocks.done()));
                return Ok(values);
            }
        }
    }

    #[test]
    fn every_number_type_is_read_whole_and_in_blocks() {
        let f32s = [1.5_f32, -2.0, f32::MAX, 1e-40, -0.0, 7.0].map(f32::to_le_bytes).concat();
        let f64s = [0.1_f64, -2.0, f64::MAX, 5e-324, 3.0, 7.0].map(f64::to_le_bytes).concat();
        let i16s = [0_i16, -1, i16::MAX, i16::MIN, 256, 7].map(i16::to_le_bytes).concat();
        let i32s = [0_i32, -1, i32::MAX, i32::MIN, 65536, 7].map(i32::to_le_bytes).concat();
        for (format, extension, bytes, expected) in [
            (Format::U8, "u8", vec![0, 255, 128, 1, 2, 3], [0., 255., 128., 1., 2., 3.]),
            (Format::I8, "i8", vec![0, 255, 128, 127, 2, 3], [0., -1., -128., 127., 2., 3.]),
            (Format::I16le, "i16le", i16s, [0., -1., 32767., -32768., 256., 7.]),
            (Format::I32le, "i32le", i32s, [0., -1., 2147483647., -2147483648., 65536., 7.]),
            (Format::F32le, "f32le", f32s, [1.5, -2., f64::from(f32::MAX), f64::from(1e-40_f32), 0., 7.]),
            (Format::F64le, "f64le", f64s, [0.1, -2., f64::MAX, 5e-324, 3., 7.]),
        ] {
            for channels in [None, Some(1), Some(2), Some(3), Some(6)] {
                let said = with(format, channels);
                let own = ReadOptions { format: None, ..said.clone() };
                let named = format!("a.{extension}");
                for (name, bytes, options) in [
                    ("a.bin", bytes.clone(), &said),
                    (&named, bytes.clone(), &own),
                    (&format!("{named}.gz"), gz(&bytes), &own),
                ] {
                    let whole = read_with(name, &bytes, options).unwrap();
                    let channels = channels.unwrap_or(1);
                    assert_eq!((whole.len(), whole.channels), (1, channels), "{name}");
                    assert_eq!(
                        (whole.length(0), &whole.series[0][..]),
                        (6 / channels, &expected[..]),
                        "{name}"
                    );
                    assert!(whole.warnings.is_empty(), "{:?}", whole.warnings);
                    for points in [1, 2, 4, 100] {
                        assert_eq!(
                            in_blocks(name, &bytes, options, points).unwrap(),
                            expected,
                            "{name} {points}"
                        );
                    }
                }
            }
        }
    }

    /// More than is read at a time, in less memory than its values take.
    #[test]
    fn long_files_are_read_in_little_memory() {
        let values: Vec<i16> = (0..200_001).map(|k| (k % 30_011) as i16).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let expected: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let tight = ReadOptions { memory_limit_bytes: 1 << 18, ..options() };
        for points in [4096, 16_411, 1 << 20] {
            assert_eq!(in_blocks("a.i16le", &bytes, &tight, points).unwrap(), expected);
            assert_eq!(in_blocks("a.i16le.gz", &gz(&bytes), &tight, points).unwrap(), expected);
        }
        // Read whole, what a file of 20 MB holds does not fit a limit of 16 MiB.
        refuses_with("a.u8", vec![0; 20 << 20], &tight, &["more than the", "of the memory limit"]);
    }

    /// Numbers may look like anything; a name alone says that they are compressed.
    #[test]
    fn first_bytes_have_no_meaning() {
        for bytes in
            [&b"\x1f\x8b\x08\x00"[..], b"\xfd7zXZ\0\0\0", b"PK\x03\x04", b"\x93NUMPY\x01\x00", &[0; 8]]
        {
            let expected: Vec<f64> = bytes.iter().map(|byte| f64::from(*byte)).collect();
            assert_eq!(read("a.u8", bytes).unwrap().series, std::slice::from_ref(&expected));
            assert_eq!(in_blocks("a.u8", bytes, &options(), 3).unwrap(), expected);
        }
        refuses("a.u8.gz", b"\x01\x02", &["the name says gzip", "no gzip data"]);
    }

    #[test]
    fn what_has_no_whole_points_is_refused_with_both_numbers() {
        for (format, channels, bytes, parts) in [
            (Format::I16le, None, 5, &["5 bytes", "points of 2 bytes"][..]),
            (Format::F64le, None, 7, &["7 bytes", "points of 8 bytes"]),
            (Format::F32le, Some(3), 16, &["16 bytes", "points of 12 bytes", "--channels"]),
            (Format::U8, Some(4), 6, &["6 bytes", "points of 4 bytes"]),
            (Format::U8, Some(0), 6, &["--channels must be at least 1"]),
            (Format::U8, Some(usize::MAX), 6, &["6 bytes"]),
            (Format::F64le, Some(usize::MAX), 6, &["6 bytes"]),
        ] {
            let options = with(format, channels);
            refuses_with("a.bin", vec![0; bytes], &options, parts);
            let error = format!("{:#}", in_blocks("a.bin", &vec![0; bytes], &options, 100).unwrap_err());
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        // Of what is inflated the size is not known before its end.
        let error = in_blocks("a.i16le.gz", &gz(&[1, 2, 3]), &options(), 100).unwrap_err();
        assert!(
            format!("{error:#}").contains("3 bytes are no whole number of points of 2 bytes"),
            "{error:#}"
        );
        for name in ["a.u8", "a.f64le"] {
            refuses(name, b"", &["the file is empty"]);
            assert!(format!("{:#}", in_blocks(name, b"", &options(), 9).unwrap_err()).contains("is empty"));
        }
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_place() {
        let bytes = [1.0_f32, 2.0, 3.0, f32::NAN, 5.0, f32::INFINITY].map(f32::to_le_bytes).concat();
        refuses("a.f32le", &bytes, &["series 0, position 3", "NaN"]);
        let two = ReadOptions { channels: Some(2), ..options() };
        refuses_with("a.f32le", &bytes, &two, &["series 0, position 1, channel 1"]);
        let error = format!("{:#}", in_blocks("a.f32le", &bytes, &two, 1).unwrap_err());
        assert!(error.contains("position 1, channel 1: NaN"), "{error}");
        // NaN may be filled in, as in other files.
        let filled = ReadOptions { missing: Missing::Linear, ..options() };
        assert_eq!(read_with("a.f32le", &bytes[..20], &filled).unwrap().series, [[1., 2., 3., 4., 5.]]);
        let first = ReadOptions { axes: Some(AxisOrder::ChannelsFirst), ..options() };
        assert!(read_with("a.f32le", &bytes[..12], &first).is_ok(), "it has no axes");
    }
}
