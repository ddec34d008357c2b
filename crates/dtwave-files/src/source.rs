//! Where bytes come from: files, standard input, compressed or not; and which format they are in.
//!
//! What lies on the disk is looked at before it is read: its first bytes, and its size, which must fit the memory
//! limit. What is inflated, or comes from a pipe, has no size that could be trusted: it is bounded while it is read.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::npy_header::measured_header;
use crate::unpacked::Unpacked;
use crate::xz_header;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Format {
    /// UCR/UEA `.ts`.
    Ts,
    /// Labels in the first column: the UCR archive's `.tsv` and `.txt`.
    #[cfg_attr(feature = "clap", value(alias = "txt"))]
    Tsv,
    /// Numbers only.
    Csv,
    /// A NumPy array.
    Npy,
    /// An archive of NumPy arrays.
    Npz,
    /// Raw numbers: unsigned bytes.
    U8,
    /// Raw numbers: signed bytes.
    I8,
    /// Raw numbers: integers of 16 bits, little-endian, as all that follow.
    #[cfg_attr(feature = "clap", value(name = "i16le"))]
    I16le,
    /// Raw numbers: integers of 32 bits.
    #[cfg_attr(feature = "clap", value(name = "i32le"))]
    I32le,
    /// Raw numbers: floats of 32 bits.
    #[cfg_attr(feature = "clap", value(name = "f32le"))]
    F32le,
    /// Raw numbers: floats of 64 bits.
    #[cfg_attr(feature = "clap", value(name = "f64le"))]
    F64le,
}

impl Format {
    /// The format that an extension stands for, compression (`.gz`, `.xz`) aside; none if it is not known.
    pub fn of(path: &Path) -> Option<Self> {
        let stem = if compression_of(path).is_some() { path.with_extension("") } else { path.to_path_buf() };
        Some(match extension(&stem).as_str() {
            "ts" => Format::Ts,
            "tsv" | "txt" => Format::Tsv,
            "csv" => Format::Csv,
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "u8" => Format::U8,
            "i8" => Format::I8,
            "i16le" => Format::I16le,
            "i32le" => Format::I32le,
            "f32le" => Format::F32le,
            "f64le" => Format::F64le,
            _ => return None,
        })
    }

    /// Whether it is numbers without a header.
    pub fn is_raw(self) -> bool {
        !matches!(self, Format::Ts | Format::Tsv | Format::Csv | Format::Npy | Format::Npz)
    }
}

pub(crate) const FORMATS: &str = "ts, tsv, txt, csv, npy, npz, u8, i8, i16le, i32le, f32le or f64le";

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Format::of(Path::new(&format!("x.{text}")))
            .ok_or_else(|| format!("unknown format '{text}'; expected {FORMATS}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gz,
    Xz,
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase()
}

fn compression_of(path: &Path) -> Option<Compression> {
    match extension(path).as_str() {
        "gz" => Some(Compression::Gz),
        "xz" => Some(Compression::Xz),
        _ => None,
    }
}

/// Whether the path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What the file is called in results: its name without extensions.
pub(crate) fn name_of(path: &Path) -> String {
    if is_stdin(path) {
        return "stdin".to_owned();
    }
    let path = if compression_of(path).is_some() { path.with_extension("") } else { path.to_path_buf() };
    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// Bytes to parse, and the memory that may come of them.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    /// None where the bytes were in memory before: what comes of them is in proportion to that.
    limit_bytes: Option<u64>,
}

impl Content {
    /// What lies somewhere as it is.
    pub(crate) fn measured(bytes: Vec<u8>) -> Self {
        Content { bytes, limit_bytes: None }
    }

    /// What has no size that could be trusted.
    pub(crate) fn limited(bytes: Vec<u8>, limit_bytes: u64) -> Self {
        Content { bytes, limit_bytes: Some(limit_bytes) }
    }

    /// Refuses what would take more memory, besides the bytes, than the limit allows.
    pub(crate) fn allow(&self, needed_bytes: u64) -> Result<()> {
        let needed = needed_bytes.saturating_add(self.bytes.len() as u64);
        match self.limit_bytes {
            Some(limit) if needed > limit => bail!(over_limit(format!(
                "the values may take {needed} bytes of memory, more than the {limit} of the memory limit"
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.limit_bytes.is_some()
    }
}

/// The bytes as they lie in the file or come from standard input.
pub(crate) fn content(path: &Path, format: Format, limit_bytes: u64) -> Result<Content> {
    let stream = |reader: &mut dyn Read| {
        read_stream(reader, limit_bytes).map(|bytes| Content::limited(bytes, limit_bytes))
    };
    if is_stdin(path) {
        return stream(&mut std::io::stdin().lock()).context("cannot read standard input");
    }
    let read = || -> Result<Content> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            // A pipe or device has no size, and may never end.
            return stream(&mut file);
        }
        // What it cannot be is found by its first bytes, however large it is.
        let mut bytes = Vec::new();
        (&mut file).take(FIRST_BYTES).read_to_end(&mut bytes)?;
        if !bytes.is_empty() && compression(path, format, &bytes)?.is_none() {
            check_first(format, &bytes, metadata.len())?;
        }
        let limit_bytes = limit_bytes.max(SMALL_BYTES);
        ensure!(
            metadata.len() <= limit_bytes,
            over_limit(format!(
                "the file has {} bytes, more than the {limit_bytes} of the memory limit",
                metadata.len()
            ))
        );
        let size = usize::try_from(metadata.len()).map_err(|_| anyhow!("the file is larger than memory"))?;
        let more = size.saturating_sub(bytes.len());
        bytes.try_reserve_exact(more).map_err(|_| anyhow!("{size} bytes do not fit the memory"))?;
        file.read_to_end(&mut bytes)?;
        Ok(Content::limited(bytes, limit_bytes))
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// A file that lies on the disk as it is, and its size in bytes: it can be read in one pass. `None` for pipes, and for
/// names that promise a compression.
pub(crate) fn on_disk(path: &Path) -> Result<Option<(File, u64)>> {
    if is_stdin(path) || compression_of(path).is_some() {
        return Ok(None);
    }
    let open = || -> io::Result<Option<(File, u64)>> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then_some((file, metadata.len())))
    };
    open().with_context(|| format!("cannot read {}", path.display()))
}

/// As [`on_disk`], of a NumPy array: `None` for whatever else `content` knows how to read or to refuse.
pub(crate) fn array_on_disk(path: &Path) -> Result<Option<(File, u64)>> {
    let Some((mut file, size)) = on_disk(path)? else { return Ok(None) };
    let mut first = Vec::new();
    let read = (&mut file).take(ARRAY.len() as u64).read_to_end(&mut first).and_then(|_| file.rewind());
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok((first == ARRAY).then_some((file, size)))
}

/// What an array begins with.
const ARRAY: &[u8] = b"\x93NUMPY";

/// Refuses values that would take more memory than the limit.
pub(crate) fn allow_values(needed_bytes: u64, limit_bytes: u64) -> Result<()> {
    let limit = limit_bytes.max(SMALL_BYTES);
    ensure!(
        needed_bytes <= limit,
        over_limit(format!(
            "the values may take {needed_bytes} bytes of memory, more than the {limit} of the memory limit"
        ))
    );
    Ok(())
}

/// What files take on the disk, with their values, that are read whatever the limit: a small limit is meant for results
/// and scratch.
const SMALL_BYTES: u64 = 16 << 20;

/// Bytes that are looked at before a file is read: more than the longest header of an array.
const FIRST_BYTES: u64 = 1 << 17;

/// Refuses what cannot be of the format, by its first bytes and its size.
pub(crate) fn check_first(format: Format, bytes: &[u8], size: u64) -> Result<()> {
    let first = &bytes[..bytes.len().min(FIRST_BYTES as usize)];
    match format {
        Format::Npy => measured_header(&mut &first[..], size).map(|_| ()),
        // Any bytes are numbers.
        Format::U8 | Format::I8 | Format::I16le | Format::I32le | Format::F32le | Format::F64le => Ok(()),
        Format::Npz => {
            ensure!(first.starts_with(b"PK"), "not an .npz archive (it does not start with PK)");
            Ok(())
        }
        Format::Ts | Format::Tsv | Format::Csv => {
            if first.iter().all(|byte| *byte == 0) {
                bail!(
                    "the file begins with {} NUL bytes and nothing else: it was not written whole",
                    first.len()
                );
            }
            // Text of 16 bits has them too, and is told of elsewhere.
            let is_wide = first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff");
            match first.iter().position(|byte| *byte == 0).filter(|_| !is_wide) {
                Some(at) => {
                    bail!("no text: a NUL byte at {at}; was it written whole, and is its name right?")
                }
                None => Ok(()),
            }
        }
    }
}

/// All that a reader of unknown size has; an error where that is more than the limit.
pub(crate) fn read_stream(reader: impl Read, limit_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    ensure!(
        bytes.len() as u64 <= limit_bytes,
        over_limit(format!("more than {limit_bytes} bytes, which is the memory limit"))
    );
    Ok(bytes)
}

/// The error of what takes more memory than the limit. [`io::ErrorKind::OutOfMemory`] tells it from others, wherever
/// in a chain of causes it is.
pub(crate) fn over_limit(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, text)
}

/// How content is compressed, by its first bytes, which of raw numbers say nothing; a name that promises a compression
/// must have it.
pub(crate) fn compression(path: &Path, format: Format, bytes: &[u8]) -> Result<Option<Compression>> {
    if format.is_raw() && compression_of(path).is_none() {
        return Ok(None);
    }
    let found = if bytes.starts_with(b"\x1f\x8b") {
        Some(Compression::Gz)
    } else if bytes.starts_with(b"\xfd7zXZ\0") {
        Some(Compression::Xz)
    } else {
        None
    };
    if let Some(promised) = compression_of(path).filter(|promised| found != Some(*promised)) {
        let (name, other) = match promised {
            Compression::Gz => ("gzip", "xz"),
            Compression::Xz => ("xz", "gzip"),
        };
        let said = if found.is_some() { format!("it is {other} data") } else { format!("no {name} data") };
        bail!("the name says {name}, but {said}");
    }
    Ok(found)
}

pub(crate) fn inflated(path: &Path, format: Format, content: Content, limit_bytes: u64) -> Result<Content> {
    let bytes = &content.bytes;
    let found = compression(path, format, bytes)?;
    let inflated = match found {
        None => return Ok(content),
        Some(Compression::Gz) => read_stream(Unpacked::gz(&bytes[..]), limit_bytes)?,
        Some(Compression::Xz) => {
            let needed = xz_header::dictionary_bytes(bytes);
            read_stream(Unpacked::xz(&bytes[..], needed, limit_bytes), limit_bytes)?
        }
    };
    ensure!(!inflated.is_empty(), "the file is empty");
    Ok(Content::limited(inflated, limit_bytes))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write;

    use super::*;
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{Dataset, ReadOptions};

    pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn formats_follow_extensions() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.b.TS", Some(Format::Ts)),
            ("a.txt.gz", Some(Format::Tsv)),
            ("a.npy.XZ", Some(Format::Npy)),
            ("a.gz", None),
            ("a.gz.xz", None),
            ("csv", None),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
        assert_eq!("tsv.gz".parse(), Ok(Format::Tsv));
        assert!("wav".parse::<Format>().unwrap_err().contains("expected ts, tsv"));
        assert_eq!(name_of(Path::new("folder/a.csv.gz")), "a");
    }

    #[test]
    fn compressed_files_read_as_plain_ones() {
        let text = b"1,2.5\n-3,4\n";
        let plain = read("a.csv", text).unwrap().series;
        for bytes in [gz(text), xz(text), [gz(b"1,2.5\n"), gz(b"-3,4\n")].concat()] {
            let name = if bytes[0] == 0x1f { "a.csv.gz" } else { "a.csv.xz" };
            assert_eq!(read(name, &bytes).unwrap().series, plain);
            assert_eq!(read("a.csv", &bytes).unwrap().series, plain, "by its first bytes");
        }
        refuses("a.csv.gz", text, &["the name says gzip", "no gzip data"]);
        refuses("a.csv.gz", xz(text), &["the name says gzip", "it is xz data"]);
        refuses("a.csv.xz", gz(b""), &["the name says xz"]);
        refuses("a.csv.gz", gz(b""), &["the file is empty"]);
    }

    #[test]
    fn damaged_compressed_data_is_an_error() {
        for (name, whole) in [("a.csv.gz", gz(b"1\n2\n3\n")), ("a.csv.xz", xz(b"1\n2\n3\n"))] {
            for end in 7..whole.len() {
                refuses(name, &whole[..end], &[name]);
            }
            let mut damaged = whole.clone();
            let at = damaged.len() / 2;
            damaged[at] ^= 0x55;
            refuses(name, damaged, &[name]);
            refuses(name, [&whole[..], b"rubbish"].concat(), &[name]);
        }
    }

    #[test]
    fn what_ends_early_and_what_needs_more_memory_is_told() {
        let lines: String = (0..5000).map(|k| format!("{}\n", f64::from(k).sin())).collect();
        for (name, whole) in [("a.csv.gz", gz(lines.as_bytes())), ("a.csv.xz", xz(lines.as_bytes()))] {
            for end in [40, whole.len() / 2, whole.len() - 3] {
                refuses(name, &whole[..end], &["data: the file ends early"]);
            }
        }
        // A dictionary of 1 MiB.
        let limited = ReadOptions { memory_limit_bytes: 1 << 20, ..options() };
        let said = ["xz data: needs 2 MiB to be unpacked (its dictionary)", "more than the memory limit"];
        refuses_with("a.csv.xz", xz(b"1\n2\n"), &limited, &said);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv.xz");
        std::fs::write(&path, xz(b"1\n2\n")).unwrap();
        let in_blocks = crate::LongSeries::open(&path, &limited).err().map(|e| format!("{e:#}")).unwrap();
        assert!(said.iter().all(|part| in_blocks.contains(part)), "{in_blocks}");
    }

    #[test]
    fn zeros_behind_compressed_data_are_padding() {
        let text = b"1,2.5\n-3,4\n";
        for (name, whole) in [("a.csv.gz", gz(text)), ("a.csv.xz", xz(text))] {
            for zeros in [4, 512, 100_000] {
                let padded = [&whole[..], &vec![0; zeros]].concat();
                assert_eq!(read(name, &padded).unwrap().series, [[1., 2.5], [-3., 4.]], "{name}: {zeros}");
                refuses(name, [&padded[..], b"x"].concat(), &[name]);
                refuses(name, [&padded[..], &whole[..5]].concat(), &[name]);
            }
        }
    }

    /// What is inflated is bounded by the memory limit, however small the file.
    #[test]
    fn bombs_are_refused() {
        let limited = ReadOptions { memory_limit_bytes: 1 << 20, ..options() };
        let zeros = vec![b'0'; 3 << 20];
        // Few bytes of text, but each line a series.
        let lines = "1\n".repeat(400_000);
        let bytes = vec![0_u8; 800_000];
        let array = crate::npy::tests::npy(&[800_000], &bytes);
        for (name, bytes) in [
            ("a.csv.gz", gz(&zeros)),
            ("a.csv.xz", xz(&zeros)),
            ("a.csv.gz", gz(lines.as_bytes())),
            ("a.ts.xz", xz(format!("@data\n{lines}").as_bytes())),
            ("a.npy.gz", gz(&array)),
        ] {
            assert!(bytes.len() < 8192);
            let error = format!("{:#}", read_with(name, bytes, &limited).unwrap_err());
            assert!(error.contains("memory") && error.contains(name), "{error}");
        }
    }

    #[test]
    fn streams_need_a_format_and_end_at_the_limit() {
        let stdin = Path::new("-");
        let csv = ReadOptions { format: Some(Format::Csv), memory_limit_bytes: 100_000, ..options() };
        let dataset = Dataset::from_stream(stdin, &b"1,2\n3,4\n"[..], &csv).unwrap();
        assert_eq!((dataset.name.as_str(), dataset.len()), ("stdin", 2));
        assert_eq!(Dataset::from_stream(stdin, &gz(b"1,2\n3,4\n")[..], &csv).unwrap().len(), 2);
        let endless = format!("{:#}", Dataset::from_stream(stdin, std::io::repeat(b'1'), &csv).unwrap_err());
        assert!(endless.contains("more than 100000 bytes"), "{endless}");
        let open = format!("{:#}", Dataset::from_stream(stdin, &b"1\n"[..], &options()).unwrap_err());
        assert!(open.contains("--format"), "{open}");
    }

    /// By their first bytes and their size: nothing else is read of them.
    #[cfg(unix)]
    #[test]
    fn what_a_file_cannot_be_is_found_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str, first: &[u8], limit_bytes: u64, part: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, first).unwrap();
            // Ten terabytes, of which nothing is on the disk; reading them would take hours.
            std::fs::File::options().write(true).open(&path).unwrap().set_len(10 << 40).unwrap();
            let options = ReadOptions { memory_limit_bytes: limit_bytes, ..options() };
            let read = format!("{:#}", Dataset::read(&path, &options).unwrap_err());
            assert!(read.contains(part) && read.contains(name), "{name}: {read}");
        };
        let array = crate::npy::tests::npy(&[2], &[1.0, 2.0]);
        refused("a.npy", b"junk", u64::MAX, "not a .npy file");
        refused("b.npy", &array, u64::MAX, "bytes after the data");
        refused("a.npz", b"junk", u64::MAX, "does not start with PK");
        for name in ["a.csv", "a.tsv", "a.ts"] {
            refused(name, b"", u64::MAX, "NUL bytes and nothing else");
            refused(name, b"1,2\n", u64::MAX, "a NUL byte at 4");
            refused(name, "1,2\n".repeat(1 << 15).as_bytes(), 1 << 20, "of the memory limit");
        }
        refused("a.csv.gz", &gz(b"1\n"), 1 << 20, "of the memory limit");
    }

    #[test]
    fn damage_is_called_by_its_name() {
        let mut damaged = xz(&b"1\n2\n3\n".repeat(200));
        damaged[30..34].copy_from_slice(b"junk");
        refuses("a.csv.xz", &damaged, &["xz data: the file is damaged"]);
        let mut damaged = gz(&b"1\n2\n3\n".repeat(200));
        damaged[12..16].fill(0xff);
        refuses("a.csv.gz", &damaged, &["gzip data: the file is damaged"]);
        refuses("a.csv", vec![0; 4096], &["4096 NUL bytes and nothing else"]);
        for (text, line) in [("1,2\n3,\"4\n5,6\n", 2), ("\"1,2\n", 1), ("\"a\"\"b\",c\n1,\"x\n", 2)] {
            refuses("a.csv", text, &[&format!("line {line}: a quote")]);
        }
        assert_eq!(read("a.csv", "\"1\",2\n3,4\n").unwrap().series, [[1., 2.], [3., 4.]]);
        refuses("a.csv", "1,5\"\n", &["line 1, column 2", "5\""]);
    }
}
