//! Bytes as they come, from a file, a pipe or standard input, inflated on the way.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};

use crate::source::{self, Compression, Format, is_stdin};
use crate::unpacked::Unpacked;
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
        format: Format,
        (mut raw, progress): (Bytes, Option<Passed>),
        limit_bytes: u64,
    ) -> Result<Self> {
        let first = peeked(&mut raw, xz_header::MOST_BYTES).context("cannot read the first bytes")?;
        ensure!(!first.is_empty(), "the file is empty");
        let compression = source::compression(path, format, &first)?;
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

/// All that comes, to be read whole within the limit.
pub(crate) fn whole(head: Vec<u8>, rest: Bytes, limit_bytes: u64) -> Result<Vec<u8>> {
    source::read_stream(Cursor::new(head).chain(rest), limit_bytes)
}
