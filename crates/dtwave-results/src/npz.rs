//! Sparse matrices in `.npz` archives, as SciPy's `save_npz` writes them and `load_npz` reads them.

use std::io::{self, Write};

use anyhow::Result;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Target;
use super::npy::{NpyElement, header_of};

/// Writes a sparse matrix in compressed rows: the entries of row `i` are those from `starts[i]` to `starts[i + 1]`,
/// `values[e]` in column `indices[e]`. Indices are int64, nothing is compressed.
///
/// # Panics
/// When the arrays do not belong together.
pub fn write_csr<T: NpyElement>(
    target: Target,
    shape: [usize; 2],
    starts: &[usize],
    indices: &[usize],
    values: &[T],
) -> Result<()> {
    assert_eq!(starts.len(), shape[0] + 1, "each row has a start, and the last an end");
    assert_eq!((starts.last(), indices.len()), (Some(&values.len()), values.len()), "an entry has a column");
    target.write(|out| {
        let mut archive = ZipWriter::new_stream(out);
        let options =
            SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored).large_file(true);
        let begin = |archive: &mut ZipWriter<_>, name: &str, header: Vec<u8>| {
            archive.start_file(format!("{name}.npy"), options)?;
            archive.write_all(&header)
        };
        for (name, whole) in [("indices", indices), ("indptr", starts)] {
            begin(&mut archive, name, header_of("<i8", &[whole.len()]))?;
            write_whole(&mut archive, whole)?;
        }
        begin(&mut archive, "format", header_of("|S3", &[]))?;
        archive.write_all(b"csr")?;
        begin(&mut archive, "shape", header_of("<i8", &[2]))?;
        write_whole(&mut archive, &shape)?;
        begin(&mut archive, "data", header_of(&format!("<f{}", T::BYTES), &[values.len()]))?;
        let mut room = Vec::new();
        values.chunks(1 << 16).try_for_each(|chunk| archive.write_all(T::bytes_of(chunk, &mut room)))?;
        archive.finish()?;
        Ok(())
    })
}

fn write_whole(out: &mut impl Write, whole: &[usize]) -> io::Result<()> {
    let mut bytes = Vec::new();
    whole.chunks(1 << 16).try_for_each(|chunk| {
        bytes.clear();
        chunk.iter().for_each(|number| bytes.extend((*number as i64).to_le_bytes()));
        out.write_all(&bytes)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn archives_hold_the_arrays_of_the_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        write_csr(Target::take(&path).unwrap(), [3, 4], &[0, 2, 2, 3], &[3, 0, 1], &[0.0f32, 1.5, -2.0])
            .unwrap();
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        let mut bytes = |name: &str| {
            let mut bytes = Vec::new();
            archive.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        };
        let whole = |bytes: Vec<u8>| npyz::NpyFile::new(&bytes[..]).unwrap().into_vec::<i64>().unwrap();
        assert_eq!(whole(bytes("indices.npy")), [3, 0, 1]);
        assert_eq!(whole(bytes("indptr.npy")), [0, 2, 2, 3]);
        assert_eq!(whole(bytes("shape.npy")), [3, 4]);
        let data = bytes("data.npy");
        assert_eq!(npyz::NpyFile::new(&data[..]).unwrap().into_vec::<f32>().unwrap(), [0.0, 1.5, -2.0]);
        let format = bytes("format.npy");
        assert!(format.ends_with(b"\ncsr") && format.starts_with(b"\x93NUMPY"), "{format:?}");
    }
}
