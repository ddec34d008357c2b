//! NumPy arrays: `.npy` files and the members of `.npz` archives.
//!
//! | array | series |
//! | --- | --- |
//! | `[length]` | one, one channel |
//! | `[n, length]` | n, one channel |
//! | `[n, length, channels]` | n |
//! | `[n, channels, length]`, where the user says so | n |
//!
//! Element types: 16-, 32- and 64-bit floats, every integer type and bool, in either byte order, C or Fortran layout.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::{Context, Result, bail, ensure};

use super::dataset::counted;
use super::npy_header::{Element, Header, Kind, measured_header, read_header};
use super::source::{Content, allow_values};
use super::{AxisOrder, Dataset, ReadOptions};

pub(super) fn parse(name: String, content: &Content, options: &ReadOptions) -> Result<Dataset> {
    let array = Array::open(&content.bytes[..], content.bytes.len() as u64)?;
    // An axis without extent is told of below.
    if !array.shape().contains(&0) {
        content.allow(array.memory_bytes())?;
    }
    array.into_dataset(name, options.axes)
}

/// Reads a file of so many bytes in one pass: what is in memory are its values, not its bytes as well. What the file
/// loses meanwhile is an error.
pub(super) fn parse_file(name: String, file: File, size: u64, options: &ReadOptions) -> Result<Dataset> {
    let array = Array::open(BufReader::with_capacity(1 << 16, file), size)?;
    if !array.shape().contains(&0) {
        allow_values(array.memory_bytes(), options.memory_limit_bytes)?;
    }
    array.into_dataset(name, options.axes)
}

/// A checked header and the reader that gives the data: as many bytes as the header says.
pub(super) struct Array<R> {
    header: Header,
    data: R,
}

impl<R: Read> Array<R> {
    /// Reads the header; `size` is how many bytes the reader will give, all in all.
    pub(super) fn open(mut reader: R, size: u64) -> Result<Self> {
        let header = measured_header(&mut reader, size)?;
        Ok(Array { header, data: reader })
    }

    /// Reads an array where nobody knows how many bytes there are: the data may end early, and more may follow.
    pub(super) fn unmeasured(mut reader: R) -> Result<Self> {
        let (header, _) = read_header(&mut reader)?;
        header.data_bytes()?;
        Ok(Array { header, data: reader })
    }

    /// Whether the first axis runs fastest.
    pub(super) fn is_fortran(&self) -> bool {
        self.header.fortran
    }

    pub(super) fn is_numeric(&self) -> bool {
        !self.header.element.is_text()
    }

    /// The reader, behind the values that were taken.
    pub(super) fn rest(&mut self) -> &mut R {
        &mut self.data
    }

    pub(super) fn shape(&self) -> &[u64] {
        &self.header.shape
    }

    /// Most memory that the array takes as series or as labels.
    pub(super) fn memory_bytes(&self) -> u64 {
        // A series of its own, or a label and its class; both in vectors that double while they grow.
        const PER_SERIES: u64 = 128;
        let element = self.header.element;
        let per_value = if element.is_text() { PER_SERIES + 2 * element.bytes as u64 } else { 8 };
        let values = self.shape().iter().fold(per_value, |n, extent| n.saturating_mul(*extent));
        // Transposed, the values are there twice.
        let is_stored = self.header.fortran && self.shape().len() > 1;
        let values = if is_stored { values.saturating_mul(2) } else { values };
        let series = if self.shape().len() > 1 { self.shape()[0] } else { 0 };
        values.saturating_add(series.saturating_mul(PER_SERIES))
    }

    /// The next `count` values as f64, in stored order; integers that f64 cannot hold exactly are refused.
    pub(super) fn values(&mut self, count: usize, first: usize) -> Result<Vec<f64>> {
        let mut values = Vec::with_capacity(count);
        self.append(count, first, &mut values)?;
        Ok(values)
    }

    /// As [`Array::values`], behind those that are there.
    pub(super) fn append(&mut self, count: usize, first: usize, values: &mut Vec<f64>) -> Result<()> {
        const CHUNK: usize = 4096;
        let element = self.header.element;
        let mut buffer = vec![0; element.bytes * CHUNK.min(count)];
        values.reserve(count);
        for done in (0..count).step_by(CHUNK) {
            let part = &mut buffer[..element.bytes * CHUNK.min(count - done)];
            self.data.read_exact(part).context("cannot read the data")?;
            match (element.kind, element.big_endian) {
                // What most files hold, without a question for each value.
                (Kind::Float, false) if element.bytes == 4 => {
                    values.extend(part.as_chunks().0.iter().map(|item| f64::from(f32::from_le_bytes(*item))));
                }
                (Kind::Float, false) if element.bytes == 8 => {
                    values.extend(part.as_chunks().0.iter().map(|item| f64::from_le_bytes(*item)));
                }
                _ => {
                    for (at, item) in part.chunks_exact(element.bytes).enumerate() {
                        values.push(number(element, item, first + done + at)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// The only axis of the array as one series.
    pub(super) fn into_series(mut self) -> Result<Vec<f64>> {
        ensure!(
            self.shape().len() == 1,
            "shape {:?} in an archive of several arrays; expected [length], or one array called X, or --key NAME",
            self.shape()
        );
        self.values(self.shape()[0] as usize, 0)
    }

    pub(super) fn into_dataset(mut self, name: String, axes: Option<AxisOrder>) -> Result<Dataset> {
        let channels_first = axes == Some(AxisOrder::ChannelsFirst);
        let (n_series, length, channels) = match self.shape() {
            _ if self.shape().len() < 3 && axes.is_some() => bail!(
                "--layout is about the axes of [n, length, channels]; this array has the shape {:?}",
                self.shape()
            ),
            [length] => (1, *length, 1),
            [n_series, length] => (*n_series, *length, 1),
            [n_series, channels, length] if channels_first => (*n_series, *length, *channels),
            [n_series, length, channels] => (*n_series, *length, *channels),
            _ => bail!(
                "rank {} (shape {:?}); expected [length], [n, length] or [n, length, channels]",
                self.shape().len(),
                self.shape()
            ),
        };
        ensure!(n_series > 0, "shape {:?} holds no series", self.shape());
        ensure!(length > 0, "series 0 is empty (shape {:?})", self.shape());
        ensure!(channels > 0, "shape {:?} has no channels", self.shape());
        // The data are there, so these fit.
        let (n_series, length, channels) = (n_series as usize, length as usize, channels as usize);
        let mut warnings = Vec::new();
        if axes.is_none() && channels > length {
            warnings.push(format!(
                "shape {:?} was read as series of {} with {channels} channels; if it is [n, channels, length], as aeon writes it, say --layout channels-first (if not, --layout channels-last)",
                self.shape(),
                counted(length, "point")
            ));
        }
        let size = length * channels;
        let mut series = Vec::new();
        if self.header.fortran {
            let stored = self.values(n_series * size, 0)?;
            // The first axis runs fastest.
            let (time_step, channel_step) =
                if channels_first { (n_series * channels, n_series) } else { (n_series, n_series * length) };
            series.reserve_exact(n_series);
            series.extend((0..n_series).map(|i| {
                let at = |time, channel| stored[i + time * time_step + channel * channel_step];
                (0..length).flat_map(|t| (0..channels).map(move |k| (t, k))).map(|(t, k)| at(t, k)).collect()
            }));
        } else {
            for i in 0..n_series {
                let values = self.values(size, i * size)?;
                series.push(if channels_first && channels > 1 {
                    (0..size).map(|at| values[at % channels * length + at / channels]).collect()
                } else {
                    values
                });
            }
        }
        Ok(Dataset { channels, warnings, ..Dataset::univariate(name, series) })
    }

    /// How many labels the array holds, if it may hold labels.
    pub(super) fn label_count(&self) -> Result<u64> {
        match self.shape() {
            [count] => Ok(*count),
            shape => bail!("labels of shape {shape:?}; expected [n]"),
        }
    }

    /// A one-dimensional array of whole numbers or text as class labels.
    pub(super) fn into_labels(mut self) -> Result<Vec<String>> {
        let count = self.label_count()? as usize;
        let element = self.header.element;
        match element.kind {
            Kind::Unicode | Kind::Bytes => {
                let mut item = vec![0; element.bytes];
                let mut labels = Vec::new();
                for index in 0..count {
                    self.data.read_exact(&mut item).context("cannot read the labels")?;
                    labels.push(label(element, &item).with_context(|| format!("label {index}"))?);
                }
                Ok(labels)
            }
            _ => {
                let values = self.values(count, 0)?.into_iter().enumerate();
                values
                    .map(|(index, v)| {
                        ensure!(v.fract() == 0.0, "label {index} is {v}; expected whole numbers or text");
                        Ok(format!("{v:.0}"))
                    })
                    .collect()
            }
        }
    }
}

fn number(element: Element, item: &[u8], index: usize) -> Result<f64> {
    let mut bytes = [0; 8];
    for (at, byte) in item.iter().enumerate().take(8) {
        bytes[if element.big_endian { item.len() - 1 - at } else { at }] = *byte;
    }
    let unsigned = u64::from_le_bytes(bytes);
    let integer = match element.kind {
        Kind::Float => {
            return Ok(match element.bytes {
                2 => half::f16::from_bits(unsigned as u16).to_f64(),
                4 => f64::from(f32::from_bits(unsigned as u32)),
                _ => f64::from_bits(unsigned),
            });
        }
        Kind::Bool => i128::from(unsigned != 0),
        Kind::Unsigned => i128::from(unsigned),
        Kind::Signed => {
            // The sign's bit is moved to the top and back.
            let unused = 64 - 8 * element.bytes;
            i128::from(((unsigned << unused) as i64) >> unused)
        }
        Kind::Unicode | Kind::Bytes => {
            bail!("element type {element}; expected floats, integers or bool")
        }
    };
    let float = integer as f64;
    ensure!(float as i128 == integer, "element {index} is {integer}, which float64 cannot hold exactly");
    Ok(float)
}

/// One text, without the zeros that fill its field.
fn label(element: Element, item: &[u8]) -> Result<String> {
    if element.kind == Kind::Bytes {
        let end = item.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        return Ok(std::str::from_utf8(&item[..end]).context("not UTF-8 text")?.to_owned());
    }
    let mut text = String::new();
    for bytes in item.chunks_exact(4) {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let code = if element.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        text.push(char::from_u32(code).with_context(|| format!("U+{code:04X} is no character"))?);
    }
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}

#[cfg(test)]
pub(crate) mod tests {
    use npyz::{AutoSerialize, Order, WriterBuilder};

    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{AxisOrder, ReadOptions};

    fn npy_in<T: AutoSerialize + Clone>(shape: &[u64], order: Order, values: &[T]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend(values.iter().cloned()).unwrap();
        writer.finish().unwrap();
        bytes
    }

    pub(crate) fn npy<T: AutoSerialize + Clone>(shape: &[u64], values: &[T]) -> Vec<u8> {
        npy_in(shape, Order::C, values)
    }

    /// A NumPy 1.0 header for a type npyz has no writer for.
    pub(crate) fn raw(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dict.len() as u16).to_le_bytes());
        bytes.extend(dict.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn ranks_one_to_three() {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let one = read("a.npy", npy(&[12], &values)).unwrap();
        assert_eq!((one.len(), one.length(0), one.channels), (1, 12, 1));
        let two = read("a.npy", npy(&[3, 4], &values)).unwrap();
        assert_eq!((two.len(), two.length(0), two.channels), (3, 4, 1));
        assert_eq!(two.series[1], [4., 5., 6., 7.]);
        let three = read("a.npy", npy(&[2, 3, 2], &values)).unwrap();
        assert_eq!((three.len(), three.length(0), three.channels), (2, 3, 2));
        assert_eq!(three.series[1], [6., 7., 8., 9., 10., 11.]);
    }

    #[test]
    fn fortran_order_reads_as_c_order() {
        // shape [2, 3, 2], value 100·i + 10·t + k, first index fastest
        let stored: Vec<f32> = (0..12).map(|f| ((f % 2) * 100 + (f / 2 % 3) * 10 + f / 6) as f32).collect();
        let dataset = read("a.npy", npy_in(&[2, 3, 2], Order::Fortran, &stored)).unwrap();
        assert_eq!(dataset.series[1], [100., 101., 110., 111., 120., 121.]);
        let flat = read("a.npy", npy_in(&[2, 3], Order::Fortran, &[1., 4., 2., 5., 3., 6.])).unwrap();
        assert_eq!(flat.series, [[1., 2., 3.], [4., 5., 6.]]);
    }

    #[test]
    fn every_number_type_is_read() {
        let expected = [vec![1.0, 2.0]];
        assert_eq!(read("a.npy", npy(&[2], &[1i8, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1i16, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1i32, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1i64, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1u8, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1u16, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1u32, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1u64, 2])).unwrap().series, expected);
        assert_eq!(read("a.npy", npy(&[2], &[1f32, 2.])).unwrap().series, expected);
        let big_endian: Vec<u8> = [1f64, 2.].iter().flat_map(|v| v.to_be_bytes()).collect();
        assert_eq!(read("a.npy", raw(">f8", "(2,)", &big_endian)).unwrap().series, expected);
        assert_eq!(
            read("a.npy", npy(&[2], &[half::f16::ONE, half::f16::from_f32(2.0)])).unwrap().series,
            expected
        );
        assert_eq!(read("a.npy", npy(&[3], &[true, false, true])).unwrap().series, [[1., 0., 1.]]);
        assert_eq!(read("a.npy", npy(&[2], &[-1i8, 127])).unwrap().series, [[-1., 127.]]);
        assert_eq!(read("a.npy", npy(&[2], &[i32::MIN, -1])).unwrap().series, [[-2147483648., -1.]]);
        assert_eq!(read("a.npy", raw(">i2", "(2,)", &[0xff, 0xfe, 1, 0])).unwrap().series, [[-2., 256.]]);
        refuses("a.npy", npy(&[1], &[half::f16::NAN]), &["series 0, position 0", "NaN"]);
    }

    #[test]
    fn integers_are_read_exactly_or_refused() {
        let first_gap = (1_i64 << 53) + 1;
        for exact in [0, first_gap - 1, first_gap + 1, i64::MAX - 1023, i64::MIN] {
            assert_eq!(read("a.npy", npy(&[1], &[exact])).unwrap().series, [[exact as f64]]);
        }
        for between in [first_gap, -first_gap, first_gap + 2, i64::MAX - 1022, i64::MAX, i64::MIN + 1] {
            refuses("a.npy", npy(&[2], &[0, between]), &["element 1", &between.to_string(), "exactly"]);
        }
        assert_eq!(read("a.npy", npy(&[1], &[1_u64 << 63])).unwrap().series, [[2_f64.powi(63)]]);
        for between in [first_gap as u64, (1 << 63) + 1, u64::MAX] {
            refuses("a.npy", npy(&[1], &[between]), &["element 0", &between.to_string(), "exactly"]);
        }
    }

    #[test]
    fn wrong_arrays_are_refused() {
        refuses("a.npy", npy(&[], &[1.0]), &["rank 0"]);
        refuses("a.npy", npy(&[1, 1, 1, 1], &[1.0]), &["rank 4", "[n, length, channels]"]);
        refuses("a.npy", npy::<f64>(&[0, 3], &[]), &["no series"]);
        refuses("a.npy", npy::<f64>(&[3, 0], &[]), &["series 0 is empty"]);
        refuses("a.npy", npy::<f64>(&[2, 3, 0], &[]), &["no channels"]);
        refuses("a.npy", npy(&[2, 2], &[1., 2., 3., f64::NAN]), &["series 1, position 1", "NaN"]);
        refuses("a.npy", npy(&[1, 1, 2], &[1., f64::INFINITY]), &["series 0, position 0, channel 1", "inf"]);
        refuses("a.npy", raw("<c16", "(1,)", &[0; 16]), &["element type '<c16'"]);
        refuses("a.npy", raw("|O", "(1,)", &[0; 8]), &["Python objects"]);
        refuses("a.npy", raw("<U3", "(1,)", &[0; 12]), &["element type '<U3'"]);
        refuses("a.npy", "1,2,3\n4,5,6\n", &["not a .npy file"]);
        let mut long = npy(&[2], &[1.0, 2.0]);
        long.push(0);
        refuses("a.npy", long, &["1 bytes after the data"]);
    }

    #[test]
    fn truncation_anywhere_is_an_error() {
        let whole = npy(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        for end in 1..whole.len() {
            let parts: &[&str] = if end < 6 {
                &["not a .npy file"]
            } else if end < whole.len() - 32 {
                &["truncated or damaged"]
            } else {
                &["truncated: shape [2, 2] needs 32 bytes"]
            };
            refuses("a.npy", &whole[..end], parts);
        }
    }

    /// Channels outnumber points in aeon's layout far more often than in ours.
    #[test]
    fn channels_first_is_warned_of_and_read() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let with = |axes, shape: &[u64], order| {
            read_with("a.npy", npy_in(shape, order, &values), &ReadOptions { axes, ..options() })
        };
        let doubted = with(None, &[2, 2, 5], Order::C).unwrap();
        assert_eq!((doubted.channels, doubted.warnings.len()), (5, 1));
        assert!(doubted.warnings[0].contains("[2, 2, 5]") && doubted.warnings[0].contains("channels-first"));
        assert!(with(None, &[2, 5, 2], Order::C).unwrap().warnings.is_empty());
        assert!(with(Some(AxisOrder::ChannelsLast), &[2, 2, 5], Order::C).unwrap().warnings.is_empty());
        let first = with(Some(AxisOrder::ChannelsFirst), &[2, 2, 5], Order::C).unwrap();
        assert_eq!((first.channels, first.length(1), first.warnings.len()), (2, 5, 0));
        assert_eq!(first.series[1], [10., 15., 11., 16., 12., 17., 13., 18., 14., 19.]);
        // In Fortran order value f stands at series f % 2, channel f / 2 % 2, time f / 4.
        let fortran = with(Some(AxisOrder::ChannelsFirst), &[2, 2, 5], Order::Fortran).unwrap();
        assert_eq!(fortran.series[1], [1., 3., 5., 7., 9., 11., 13., 15., 17., 19.]);
        let axes = ReadOptions { axes: Some(AxisOrder::ChannelsFirst), ..options() };
        refuses_with("a.npy", npy(&[2, 2], &[1., 2., 3., 4.]), &axes, &["--layout", "[2, 2]"]);
    }

    /// What a header claims takes neither time nor memory.
    #[test]
    fn claims_beyond_the_file_are_refused() {
        refuses("a.npy", raw("<f8", "(1000000000000,)", &[0; 8]), &["truncated", "8000000000000 bytes"]);
        refuses("a.npy", raw("<f8", "(4294967296, 4294967296, 4294967296)", &[]), &["larger than any file"]);
        refuses("a.npy", raw("<U0", "(1000000000000,)", &[]), &["element type '<U0'"]);
        refuses("a.npy", raw("<f8", "(1000000000000, 0)", &[]), &["series 0 is empty"]);
        for bracket in ["{", "[", "("] {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((20_000_u16).to_le_bytes());
            bytes.extend(bracket.repeat(20_000).as_bytes());
            refuses("a.npy", bytes, &["truncated or damaged"]);
        }
    }
}
