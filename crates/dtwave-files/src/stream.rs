//! Bytes as they come, from a file, a pipe or standard input, inflated on the way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use flate2::bufread::GzDecoder;

use crate::source::{self, Compression, is_stdin};
use crate::xz_header;

/// A reader that another thread may hold.
pub(crate) type Bytes = Box<dyn Read + Send>;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// An input that is open, inflated where it is compressed.
pub(crate) struct Stream {
    pub(crate) bytes: Bytes,
    /// How much of the file was read; none of a pipe, which has no size.
    pub(crate) progress: Option<Passed>,
    /// How many bytes will come, where that is known.
    pub(crate) size: Option<u64>,
}

/// How much of a file was read.
#[derive(Clone)]
pub(crate) struct Passed {
    bytes: Arc<AtomicU64>,
    size: u64,
}

impl Passed {
    /// From 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let bytes = self.bytes.load(Ordering::Relaxed).min(self.size);
        bytes as f64 / self.size.max(1) as f64
    }
}

struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A file or standard input as it is.
pub(crate) fn raw(path: &Path) -> io::Result<(Bytes, Option<Passed>)> {
    if is_stdin(path) {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok((Box::new(file), None));
    }
    let passed = Passed { bytes: Arc::default(), size: metadata.len() };
    Ok((Box::new(Counted { inner: file, bytes: Arc::clone(&passed.bytes) }), Some(passed)))
}

impl Stream {
    /// Inflates what is compressed; `limit_bytes` bounds the memory that it takes.
    pub(crate) fn inflated(
        path: &Path,
        (mut raw, progress): (Bytes, Option<Passed>),
        limit_bytes: u64,
    ) -> Result<Self> {
        let first = peeked(&mut raw, xz_header::MOST_BYTES).context("cannot read the first bytes")?;
        ensure!(!first.is_empty(), "the file is empty");
        let compression = source::compression(path, &first)?;
        let dictionary_bytes = xz_header::dictionary_bytes(&first);
        let raw = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(first).chain(raw));
        let size = progress.as_ref().map(|passed| passed.size).filter(|_| compression.is_none());
        let bytes: Bytes = match compression {
            None => Box::new(raw),
            Some(Compression::Gz) => Box::new(Unpacked::gz(raw)),
            Some(Compression::Xz) => Box::new(Unpacked::xz(raw, dictionary_bytes, limit_bytes)),
        };
        Ok(Stream { bytes, progress, size })
    }
}

/// The next bytes, as many as `most` where there are so many.
pub(crate) fn peeked(reader: &mut dyn Read, most: u64) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    reader.take(most).read_to_end(&mut first)?;
    Ok(first)
}

/// What comes of compressed data; errors say what was read and what to do.
pub(crate) struct Unpacked<R> {
    inner: R,
    name: &'static str,
    /// Size of the first dictionary, where it has one and says so.
    dictionary_bytes: Option<u64>,
}

impl<R: BufRead> Unpacked<Members<R>> {
    pub(crate) fn gz(reader: R) -> Self {
        Unpacked { inner: Members::new(reader), name: "gzip data", dictionary_bytes: None }
    }
}

impl<R: Read> Unpacked<lzma_rust2::XzReader<R>> {
    /// The dictionary counts against the limit: a file of a few bytes may ask for one of 4 GiB.
    pub(crate) fn xz(reader: R, dictionary_bytes: Option<u64>, limit_bytes: u64) -> Self {
        let limit_kib = u32::try_from(limit_bytes / 1024).unwrap_or(u32::MAX - 1).max(1);
        let inner = lzma_rust2::XzReader::new_mem_limit(reader, true, limit_kib);
        Unpacked { inner, name: "xz data", dictionary_bytes }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let name = self.name;
            let said = match (error.kind(), self.dictionary_bytes) {
                (io::ErrorKind::UnexpectedEof, _) => "the file ends early; is it complete?".to_owned(),
                (io::ErrorKind::OutOfMemory, Some(bytes)) => format!(
                    "needs {} MiB to be unpacked (its dictionary), more than the memory limit",
                    // What the decoder takes besides is less than that.
                    (bytes >> 20) + 1
                ),
                (io::ErrorKind::OutOfMemory, None) => {
                    "its dictionary does not fit the memory limit".to_owned()
                }
                _ => error.to_string(),
            };
            io::Error::new(error.kind(), format!("{name}: {said}"))
        })
    }
}

/// All that comes, to be read whole within the limit.
pub(crate) fn whole(head: Vec<u8>, rest: Bytes, limit_bytes: u64) -> Result<Vec<u8>> {
    source::read_stream(Cursor::new(head).chain(rest), limit_bytes)
}

/// The members of a gzip file, one behind the other. Zeros behind the last are padding, as tapes and archives have it.
pub(crate) struct Members<R> {
    /// None behind the last.
    now: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(reader: R) -> Self {
        Members { now: Some(GzDecoder::new(reader)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.now {
            // Also what the decoder calls damaged, if nothing is left to read: a file that was cut.
            let count = match member.read(buffer) {
                Err(error) if member.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
                }
                read => read?,
            };
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.now.take().map(GzDecoder::into_inner) else { break };
            let zeros = skip_zeros(&mut rest)?;
            if rest.fill_buf()?.is_empty() {
                break;
            }
            if zeros > 0 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "more data behind zeros that end it"));
            }
            self.now = Some(GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Passes over zeros; gives how many there were.
fn skip_zeros(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut all = 0;
    loop {
        let bytes = reader.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let is_over = zeros < bytes.len() || bytes.is_empty();
        reader.consume(zeros);
        all += zeros as u64;
        if is_over {
            return Ok(all);
        }
    }
}
