//! `.npy` output: C order, little-endian, float32 or float64.

use std::io;

use anyhow::Result;
use npyz::{DType, WriterBuilder};

use super::Target;

/// A float that a result is stored in.
pub trait NpyElement:
    npyz::AutoSerialize + npyz::Deserialize + Copy + Default + Send + Sync + 'static
{
    /// Bytes per element.
    const BYTES: usize;
    /// Appends the little-endian bytes of `self`.
    fn put(self, bytes: &mut Vec<u8>);
    /// The number of which `bytes` are the little-endian bytes.
    fn get(bytes: &[u8]) -> Self;
}

impl NpyElement for f32 {
    const BYTES: usize = 4;
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        let mut own = [0; Self::BYTES];
        own.copy_from_slice(bytes);
        Self::from_le_bytes(own)
    }
}

impl NpyElement for f64 {
    const BYTES: usize = 8;
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        let mut own = [0; Self::BYTES];
        own.copy_from_slice(bytes);
        Self::from_le_bytes(own)
    }
}

/// The header of an array of `T`, padded to 64 bytes as NumPy does; the values follow it.
pub fn npy_header<T: NpyElement>(shape: &[usize]) -> io::Result<Vec<u8>> {
    let shape: Vec<u64> = shape.iter().map(|extent| *extent as u64).collect();
    let dtype = DType::Plain(format!("<f{}", T::BYTES).parse().map_err(io::Error::other)?);
    let mut bytes = Vec::new();
    // The header is out as soon as the writer begins; the values are written without it.
    drop(npyz::WriteOptions::<T>::new().dtype(dtype).shape(&shape).writer(&mut bytes).begin_nd()?);
    Ok(bytes)
}

/// Writes `values`, row-major, as an array of `shape`.
pub fn write_npy<T: NpyElement>(target: Target, shape: &[usize], values: &[T]) -> Result<()> {
    assert_eq!(values.len(), shape.iter().product::<usize>(), "the shape must cover the values");
    target.write(|out| {
        out.write_all(&npy_header::<T>(shape)?)?;
        let mut bytes = Vec::new();
        for chunk in values.chunks(1 << 16) {
            bytes.clear();
            chunk.iter().for_each(|v| v.put(&mut bytes));
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_arrays_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_npy(Target::take(&path).unwrap(), &[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, -0.5]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 128 + 24);
        let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(npy.shape(), [2, 3]);
        assert_eq!(npy.into_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, -0.5]);
        write_npy(Target::take(&path).unwrap(), &[2], &[1.5f64, f64::MIN]).unwrap();
        let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(npy.into_vec::<f64>().unwrap(), [1.5, f64::MIN]);
    }
}
