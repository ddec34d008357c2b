//! Compressed data, inflated as it is read: `.gz` with all its members, and `.xz`.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

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
                _ => format!("the file is damaged ({error})"),
            };
            io::Error::new(error.kind(), format!("{name}: {said}"))
        })
    }
}

/// The members of a gzip file, one behind the other. Zeros behind the last are padding, as tapes and archives have it.
pub(crate) struct Members<R> {
    /// None behind the last.
    now: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    fn new(reader: R) -> Self {
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
