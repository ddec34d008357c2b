//! Bytes as they come, from a file, a pipe or standard input, inflated on the way.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use flate2::bufread::GzDecoder;

use crate::source::{self, Compression, is_stdin};

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
        let first = peeked(&mut raw, 6).context("cannot read the first bytes")?;
        ensure!(!first.is_empty(), "the file is empty");
        let compression = source::compression(path, &first)?;
        let raw = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(first).chain(raw));
        let size = progress.as_ref().map(|passed| passed.size).filter(|_| compression.is_none());
        let bytes: Bytes = match compression {
            None => Box::new(raw),
            Some(Compression::Gz) => Box::new(Named { inner: Members::new(raw), name: "gzip data" }),
            Some(Compression::Xz) => {
                let limit_kib = source::xz_limit_kib(limit_bytes);
                let inner = lzma_rust2::XzReader::new_mem_limit(raw, true, limit_kib);
                Box::new(Named { inner, name: "xz data" })
            }
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

/// A reader whose errors say what was read.
struct Named<R> {
    inner: R,
    name: &'static str,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let name = self.name;
        self.inner.read(buffer).map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))
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
            let count = member.read(buffer)?;
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
