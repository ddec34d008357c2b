//! `.npy` results: C order, little-endian, float32 or float64. The layout is NEP 1.

use std::io::{self, Read};

use anyhow::{Context, Result, ensure};

use super::Target;

/// A float that a result is stored in.
pub trait NpyElement: bytemuck::Pod + Default + Send + Sync {
    /// Bytes per element.
    const BYTES: usize;
    /// Appends the little-endian bytes of `self`.
    fn put(self, bytes: &mut Vec<u8>);
    /// The little-endian bytes of `values`, in `room` where they are not what stands in memory.
    fn bytes_of<'a>(values: &'a [Self], room: &'a mut Vec<u8>) -> &'a [u8] {
        if cfg!(target_endian = "little") {
            return bytemuck::cast_slice(values);
        }
        room.clear();
        values.iter().for_each(|value| value.put(room));
        room
    }
    /// The number of which `bytes` are the little-endian bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($float:ty) => {
        impl NpyElement for $float {
            const BYTES: usize = size_of::<$float>();
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; Self::BYTES];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    };
}
element!(f32);
element!(f64);

/// The header of an array of `T`, padded to 64 bytes as NumPy does; the values follow it.
pub fn npy_header<T: NpyElement>(shape: &[usize]) -> Vec<u8> {
    header_of(&format!("<f{}", T::BYTES), shape)
}

/// [`npy_header`] of elements that NumPy describes so.
pub(crate) fn header_of(descr: &str, shape: &[usize]) -> Vec<u8> {
    // A tuple of one has a comma after it.
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    let extents = extents.join(", ") + if shape.len() == 1 { "," } else { "" };
    let mut dict =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}").into_bytes();
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    // The length of the dictionary has two bytes, and a line feed ends it.
    let length = (bytes.len() + 2 + dict.len() + 1).next_multiple_of(64) - bytes.len() - 2;
    dict.resize(length - 1, b' ');
    dict.push(b'\n');
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(dict);
    bytes
}

/// The values of the array of `shape` that `reader` gives, which must be as this crate writes them.
///
/// # Errors
/// Where the header is another's; each value's where the data end early.
pub fn npy_values<T: NpyElement>(
    mut reader: impl Read,
    shape: &[usize],
) -> Result<impl Iterator<Item = io::Result<T>>> {
    let expected = npy_header::<T>(shape);
    let mut header = vec![0; expected.len()];
    reader.read_exact(&mut header).context("the .npy header is truncated")?;
    ensure!(header == expected, "expected an array of float{} and shape {shape:?}", 8 * T::BYTES);
    let mut bytes = [0; 8];
    let mut next = move || {
        let bytes = &mut bytes[..T::BYTES];
        reader.read_exact(bytes).map(|()| T::get(bytes))
    };
    Ok((0..shape.iter().product::<usize>()).map(move |_| next()))
}

/// Writes `values`, row-major, as an array of `shape`.
pub fn write_npy<T: NpyElement>(target: Target, shape: &[usize], values: &[T]) -> Result<()> {
    assert_eq!(values.len(), shape.iter().product::<usize>(), "the shape must cover the values");
    target.write(|out| {
        out.write_all(&npy_header::<T>(shape))?;
        let mut room = Vec::new();
        values.chunks(1 << 16).try_for_each(|chunk| out.write_all(T::bytes_of(chunk, &mut room)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_arrays_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let values = [1.0f32, 2.0, 3.0, 4.0, 5.0, -0.5];
        write_npy(Target::take(&path).unwrap(), &[2, 3], &values).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 128 + 24);
        let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(npy.shape(), [2, 3]);
        assert_eq!(npy.into_vec::<f32>().unwrap(), values);
        let own: io::Result<Vec<f32>> = npy_values(&bytes[..], &[2, 3]).unwrap().collect();
        assert_eq!(own.unwrap(), values);
        write_npy(Target::take(&path).unwrap(), &[2], &[1.5f64, f64::MIN]).unwrap();
        let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(npy.shape(), [2]);
        assert_eq!(npy.into_vec::<f64>().unwrap(), [1.5, f64::MIN]);
    }

    #[test]
    fn headers_of_any_length_are_padded() {
        // Shapes of which the unpadded header has every length around a multiple of 64.
        for digits in 0..16 {
            for axes in 1..=20 {
                let mut shape = vec![1; axes];
                shape[0] = 10_usize.pow(digits);
                let header = npy_header::<f64>(&shape);
                assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')), "{shape:?}");
                let read = npyz::NpyHeader::from_reader(&header[..]).unwrap();
                assert!(read.shape().iter().map(|e| *e as usize).eq(shape), "{:?}", read.shape());
            }
        }
    }

    #[test]
    fn other_arrays_are_refused() {
        let header = npy_header::<f64>(&[2, 3]);
        let error = |shape: &[usize]| npy_values::<f64>(&header[..], shape).err().unwrap().to_string();
        assert_eq!(error(&[3, 2]), "expected an array of float64 and shape [3, 2]");
        assert_eq!(error(&[6]), "expected an array of float64 and shape [6]");
        assert!(npy_values::<f32>(&header[..], &[2, 3]).is_err());
        assert!(npy_values::<f64>(&header[..100], &[2, 3]).is_err());
        let cut = npy_values::<f64>(&header[..], &[2, 3]).unwrap().next().unwrap();
        assert_eq!(cut.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
