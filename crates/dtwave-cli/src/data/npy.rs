//! NumPy arrays: `.npy` files and `.npz` archives.
//!
//! | array | series |
//! | --- | --- |
//! | `[length]` | one, one channel |
//! | `[n, length]` | n, one channel |
//! | `[n, length, channels]` | n |
//!
//! Element types: 32- and 64-bit floats and every integer type, in either byte order, C or Fortran layout.
//!
//! An archive holds either one such array; or one called `X` (or `x`) and, as an option, its labels `y`; or only
//! arrays of shape `[length]`, each a series of its own length, in the archive's order.

use std::io::{Cursor, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use npyz::{DType, NpyFile, NpyHeader, Order, TypeChar};

use super::{Dataset, quoted};

/// Parses the bytes of a `.npy` file.
pub(super) fn parse_npy(name: String, bytes: &[u8]) -> Result<Dataset> {
    Array::open(bytes)?.into_dataset(name)
}

/// Parses the bytes of a `.npz` archive.
pub(super) fn parse_npz(name: String, bytes: &[u8]) -> Result<Dataset> {
    let mut members = read_members(bytes)?;
    ensure!(!members.is_empty(), "the archive holds no .npy array");
    let at = |members: &[(String, Vec<u8>)], names: [&str; 2]| {
        members.iter().position(|(member, _)| names.contains(&member.as_str()))
    };
    if let Some(index) = at(&members, ["X", "x"]) {
        let (member, values) = members.remove(index);
        let dataset = in_member(&member, || Array::open(&values)?.into_dataset(name))?;
        let Some(index) = at(&members, ["y", "Y"]) else { return Ok(dataset) };
        let (member, values) = members.remove(index);
        let labels = in_member(&member, || Array::open(&values)?.labels())?;
        ensure!(
            labels.len() == dataset.len(),
            "array '{member}' holds {} labels for {} series",
            labels.len(),
            dataset.len()
        );
        return Ok(dataset.with_labels(labels));
    }
    if let [(member, values)] = &members[..] {
        return in_member(member, || Array::open(values)?.into_dataset(name));
    }
    let mut series = Vec::with_capacity(members.len());
    for (member, values) in &members {
        series.push(in_member(member, || {
            let array = Array::open(values)?;
            ensure!(
                array.shape.len() == 1,
                "shape {:?} in an archive of several arrays; expected [length], or one array called X",
                array.shape
            );
            array.values()
        })?);
    }
    Ok(Dataset::univariate(name, series))
}

fn in_member<T>(member: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    read().with_context(|| format!("array '{member}'"))
}

/// The arrays of an archive by name, in its order.
fn read_members(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| anyhow!("not a whole .npz archive ({e})"))?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(|e| anyhow!("damaged .npz archive ({e})"))?;
        let path = file.name().map_err(|e| anyhow!("damaged .npz archive ({e})"))?.into_owned();
        let Some(name) = npyz::npz::array_name_from_file_name(&path) else { continue };
        let name = name.to_owned();
        let mut values = Vec::new();
        file.read_to_end(&mut values).map_err(|e| anyhow!("array '{name}': damaged .npz archive ({e})"))?;
        members.push((name, values));
    }
    Ok(members)
}

/// A parsed header and the data that follow it, whole.
struct Array<'a> {
    header: NpyHeader,
    data: &'a [u8],
    shape: Vec<usize>,
}

impl<'a> Array<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        ensure!(bytes.starts_with(b"\x93NUMPY"), "not a .npy file (it does not start with \\x93NUMPY)");
        let mut data = bytes;
        let header = NpyHeader::from_reader(&mut data)
            .map_err(|e| anyhow!("the .npy header is truncated or damaged ({})", one_line(&e.to_string())))?;
        ensure!(!header.uses_pickled_array(), "an array of Python objects; expected numbers");
        let item_bytes = match header.dtype() {
            DType::Plain(kind) => kind.num_bytes(),
            _ => None,
        };
        let item_bytes = item_bytes
            .ok_or_else(|| anyhow!("element type {}; expected plain numbers", header.dtype().descr()))?;
        let expected = header
            .shape()
            .iter()
            .try_fold(item_bytes as u64, |bytes, extent| bytes.checked_mul(*extent))
            .ok_or_else(|| anyhow!("shape {:?} is larger than any file", header.shape()))?;
        let held = data.len() as u64;
        ensure!(
            held >= expected,
            "truncated: shape {:?} needs {expected} bytes of data, the file holds {held}",
            header.shape()
        );
        ensure!(
            held == expected,
            "{} bytes after the data; shape {:?} needs {expected}",
            held - expected,
            header.shape()
        );
        let shape = header.shape().iter().map(|extent| *extent as usize).collect();
        Ok(Array { header, data, shape })
    }

    /// All values as f64, in stored order; integers that f64 cannot hold exactly are refused.
    fn values(&self) -> Result<Vec<f64>> {
        let dtype = self.header.dtype();
        let DType::Plain(kind) = &dtype else { bail!("expected a plain element type") };
        match (kind.type_char(), kind.num_bytes()) {
            (TypeChar::Float, Some(4)) => Ok(self.read::<f32>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Float, Some(8)) => self.read::<f64>(),
            (TypeChar::Int, Some(1)) => Ok(self.read::<i8>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Int, Some(2)) => Ok(self.read::<i16>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Int, Some(4)) => Ok(self.read::<i32>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Int, Some(8)) => exact(self.read::<i64>()?.into_iter().map(i128::from)),
            (TypeChar::Uint, Some(1)) => Ok(self.read::<u8>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Uint, Some(2)) => Ok(self.read::<u16>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Uint, Some(4)) => Ok(self.read::<u32>()?.into_iter().map(f64::from).collect()),
            (TypeChar::Uint, Some(8)) => exact(self.read::<u64>()?.into_iter().map(i128::from)),
            _ => bail!("element type {}; expected float32, float64 or integers", dtype.descr()),
        }
    }

    fn read<T: npyz::Deserialize>(&self) -> Result<Vec<T>> {
        NpyFile::with_header(self.header.clone(), self.data)
            .into_vec()
            .map_err(|e| anyhow!("cannot read the data ({})", one_line(&e.to_string())))
    }

    fn into_dataset(self, name: String) -> Result<Dataset> {
        let (n_series, length, channels) = match self.shape[..] {
            [length] => (1, length, 1),
            [n_series, length] => (n_series, length, 1),
            [n_series, length, channels] => (n_series, length, channels),
            _ => bail!(
                "rank {} (shape {:?}); expected [length], [n, length] or [n, length, channels]",
                self.shape.len(),
                self.shape
            ),
        };
        ensure!(n_series > 0, "shape {:?} holds no series", self.shape);
        ensure!(length > 0, "series 0 is empty (shape {:?})", self.shape);
        ensure!(channels > 0, "shape {:?} has no channels", self.shape);
        let stored = self.values()?;
        let series = match self.header.order() {
            Order::C => stored.chunks_exact(length * channels).map(<[f64]>::to_vec).collect(),
            Order::Fortran => (0..n_series)
                .map(|i| {
                    let at = |time, channel| stored[i + n_series * (time + length * channel)];
                    (0..length).flat_map(|t| (0..channels).map(move |k| at(t, k))).collect()
                })
                .collect(),
        };
        let mut dataset = Dataset::univariate(name, series);
        dataset.channels = channels;
        Ok(dataset)
    }

    /// A one-dimensional array of integers or strings as class labels.
    fn labels(&self) -> Result<Vec<String>> {
        ensure!(self.shape.len() == 1, "labels of shape {:?}; expected [n]", self.shape);
        let dtype = self.header.dtype();
        let DType::Plain(kind) = &dtype else { bail!("expected a plain element type") };
        match kind.type_char() {
            TypeChar::UnicodeStr | TypeChar::ByteStr => self.read::<String>(),
            TypeChar::Int | TypeChar::Uint | TypeChar::Float => self
                .values()?
                .into_iter()
                .enumerate()
                .map(|(index, v)| {
                    ensure!(v.fract() == 0.0, "label {index} is {v}; expected whole numbers or strings");
                    Ok(format!("{v:.0}"))
                })
                .collect(),
            _ => bail!("labels of type {}; expected integers or strings", quoted(&dtype.descr())),
        }
    }
}

fn exact(values: impl Iterator<Item = i128>) -> Result<Vec<f64>> {
    values
        .enumerate()
        .map(|(index, value)| {
            let float = value as f64;
            ensure!(float as i128 == value, "element {index} is {value}, which float64 cannot hold exactly");
            Ok(float)
        })
        .collect()
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use npyz::{AutoSerialize, WriterBuilder};

    use super::super::tests::{read, refuses};
    use super::*;

    fn npy_in<T: AutoSerialize + Clone>(shape: &[u64], order: Order, values: &[T]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend(values.iter().cloned()).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn npy<T: AutoSerialize + Clone>(shape: &[u64], values: &[T]) -> Vec<u8> {
        npy_in(shape, Order::C, values)
    }

    fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = zip::ZipWriter::new(&mut bytes);
        for (index, (name, values)) in members.iter().enumerate() {
            let method = [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated][index % 2];
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            writer.start_file(*name, options).unwrap();
            writer.write_all(values).unwrap();
        }
        writer.finish().unwrap();
        bytes.into_inner()
    }

    /// A NumPy 1.0 header for a type npyz has no writer for.
    fn raw(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
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
        refuses("a.npy", npy(&[1], &[i64::MAX]), &["element 0", "9223372036854775807", "exactly"]);
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
        refuses("a.npy", npy(&[1], &[true]), &["element type '|b1'", "expected float32"]);
        refuses("a.npy", raw("<f2", "(1,)", &[0; 2]), &["element type '<f2'"]);
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

    #[test]
    fn archives_of_one_array_and_of_x_and_y() {
        let x = npy(&[2, 2], &[1., 2., 3., 4.]);
        assert_eq!(read("a.npz", npz(&[("arr_0.npy", x.clone())])).unwrap().len(), 2);
        let labelled = read("a.npz", npz(&[("y.npy", npy(&[2], &[2i64, 1])), ("X.npy", x.clone())])).unwrap();
        assert_eq!(labelled.labels.unwrap(), ["2", "1"]);
        assert_eq!(labelled.classes, ["1", "2"]);
        let text: Vec<u8> = "ab".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let named =
            read("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", raw("<U1", "(2,)", &text))])).unwrap();
        assert_eq!(named.labels.unwrap(), ["a", "b"]);
        refuses("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", npy(&[1], &[2i64]))]), &["1 labels for 2"]);
        refuses("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", npy(&[2], &[0.5, 1.]))]), &["label 0 is 0.5"]);
        refuses("a.npz", npz(&[("X.npy", x), ("y.npy", npy(&[1, 2], &[1, 2]))]), &["labels of shape [1, 2]"]);
    }

    #[test]
    fn archives_of_ragged_series() {
        let a = npy(&[2], &[1., 2.]);
        let b = npy(&[1], &[3f32]);
        let dataset =
            read("a.npz", npz(&[("b.npy", b), ("note.txt", vec![1]), ("a.npy", a.clone())])).unwrap();
        assert_eq!(dataset.series, [vec![3.], vec![1., 2.]]);
        refuses("a.npz", npz(&[("a.npy", a), ("b.npy", npy(&[1, 1], &[1.]))]), &["array 'b'", "[1, 1]"]);
        refuses("a.npz", npz(&[("readme.txt", vec![1])]), &["no .npy array"]);
        refuses("a.npz", npz(&[("a.npy", vec![1])]), &["array 'a'", "not a .npy file"]);
    }

    #[test]
    fn truncated_archives_are_refused() {
        let whole = npz(&[("a.npy", npy(&[2], &[1., 2.])), ("b.npy", npy(&[2], &[1., 2.]))]);
        for end in 1..whole.len() {
            refuses("a.npz", &whole[..end], &[".npz archive"]);
        }
    }
}
