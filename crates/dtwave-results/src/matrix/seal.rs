//! A finished shard: a file of some tiles of a matrix that says whose they are, where, and with which checksums.
//!
//! ```text
//! dtwave-shard-1 {"job":{…},"number":3,"count":16} <crc32>
//! <the values of its tiles, one behind the other, each row-major, little-endian>
//! tile <first row> <row end> <first column> <column end> <checksum of the values> <crc32>
//! …
//! end <number of tiles> <where the first record begins> <crc32>
//! ```
//!
//! The records are those of the progress file, in the order of the tiles. Until they are there, and flushed, the file
//! has another name. Nothing is read into memory that is larger than the file itself.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::identity::Identity;
use super::journal::{Done, Journal, checked, lies_in, record, tile};
use super::tile::Tile;
use crate::{NpyElement, explain};

const MAGIC: &str = "dtwave-shard-1";
/// A header is a few hundred bytes, a record less than a hundred.
const LONGEST_HEADER: u64 = 1 << 20;
const LONGEST_RECORD: u64 = 256;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    job: Identity,
    number: usize,
    count: usize,
}

/// The first line of shard `number` of `count`.
pub(super) fn header(job: &Identity, number: usize, count: usize) -> Result<Vec<u8>> {
    let header = Header { job: job.clone(), number, count };
    Ok(record(&format!("{MAGIC} {}", serde_json::to_string(&header)?)).into_bytes())
}

/// What a shard's file ends with.
#[derive(Debug)]
pub(super) struct Seal {
    /// Its tiles, in the order of their values.
    pub(super) tiles: Vec<Tile>,
    /// Where the records begin.
    pub(super) start: u64,
}

/// Appends the records of the tiles, which the progress file has, to their values.
pub(super) fn seal(partial: &Path, progress: &Path, identity: &Identity, seal: &Seal) -> Result<()> {
    let gone = || explain(progress, &io::Error::other("it was removed while the shard was being written"));
    let journal = Journal::open(progress, identity)?.ok_or_else(gone)?;
    let done: HashMap<&Tile, &Done> = journal.done().iter().map(|done| (&done.tile, done)).collect();
    let records: Option<Vec<&Done>> = seal.tiles.iter().map(|tile| done.get(tile).copied()).collect();
    let records = records.ok_or_else(gone)?;
    let written = (|| {
        let mut file = File::options().write(true).open(partial)?;
        // A run may have stopped right here.
        file.set_len(seal.start)?;
        file.seek(SeekFrom::End(0))?;
        let mut out = BufWriter::new(file);
        records.iter().try_for_each(|done| out.write_all(done.record().as_bytes()))?;
        out.write_all(record(&format!("end {} {}", records.len(), seal.start)).as_bytes())?;
        out.flush()
    })();
    written.map_err(|e| explain(partial, &e))
}

/// What a finished shard says of itself. The values are not read yet.
#[derive(Debug)]
pub(super) struct Sealed {
    pub(super) path: PathBuf,
    pub(super) job: Identity,
    pub(super) number: usize,
    pub(super) count: usize,
    /// Where the values begin.
    pub(super) first: u64,
    /// Its tiles in the order of their values.
    pub(super) tiles: Vec<Done>,
}

impl Sealed {
    /// Reads all but the values.
    ///
    /// # Errors
    /// If the file cannot be read, or is not whole.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let mut file = BufReader::new(File::open(path).with_context(|| format!("cannot read {shown}"))?);
        Self::parsed(&mut file, path).with_context(|| format!("cannot read {shown}"))?.ok_or_else(|| {
            anyhow!("{shown} is no whole shard: it was damaged, or is of another version or program; delete it and run its \
                     command again")
        })
    }

    /// `None` where the file is not whole.
    fn parsed(file: &mut BufReader<File>, path: &Path) -> io::Result<Option<Self>> {
        let bytes = file.get_ref().metadata()?.len();
        let mut line = Vec::new();
        file.take(LONGEST_HEADER).read_until(b'\n', &mut line)?;
        let first = line.len() as u64;
        let text = checked(&line).and_then(|text| text.strip_prefix(MAGIC));
        let Some(Header { job, number, count }) = text.and_then(|json| serde_json::from_str(json).ok())
        else {
            return Ok(None);
        };
        let Some((tiles, start, end)) = last(file, bytes)?.filter(|(_, start, _)| *start >= first) else {
            return Ok(None);
        };
        let values = job.shape[0].checked_mul(job.shape[1]);
        let all_bytes = values.and_then(|values| values.checked_mul(job.element_bytes));
        // Every tile is a part of this, so that nothing below overflows.
        if !matches!(job.element_bytes, 4 | 8) || all_bytes.is_none() {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(start))?;
        let mut sealed = Sealed { path: path.to_path_buf(), job, number, count, first, tiles: Vec::new() };
        let (mut at, mut left) = (start, start - first);
        while at < end {
            line.clear();
            file.take(LONGEST_RECORD.min(end - at)).read_until(b'\n', &mut line)?;
            at += line.len() as u64;
            let done = checked(&line).and_then(tile).filter(|done| lies_in(&done.tile, sealed.job.shape));
            let Some(done) = done else { return Ok(None) };
            let bytes = (done.tile.len() * sealed.job.element_bytes) as u64;
            let Some(rest) = left.checked_sub(bytes) else { return Ok(None) };
            left = rest;
            sealed.tiles.push(done);
        }
        Ok((left == 0 && sealed.tiles.len() == tiles).then_some(sealed))
    }

    /// Refuses a file that was made as another shard than its name says.
    pub(super) fn check_name(&self, number: usize, count: usize) -> Result<()> {
        let shown = self.path.display();
        ensure!(
            (self.number, self.count) == (number, count),
            "{shown} holds shard {} of {}; delete it and run its command again, with --shard {number}/{count}",
            self.number,
            self.count
        );
        Ok(())
    }

    /// Reads the values, tile by tile.
    pub(super) fn values(&self) -> Result<Values<'_>> {
        let file = File::open(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?;
        Ok(Values { sealed: self, file, at: self.first })
    }

    /// What to say of a shard of which so many tiles are not those of their checksums.
    pub(super) fn damaged(&self, tiles: usize) -> anyhow::Error {
        let Sealed { path, number, count, .. } = self;
        anyhow!(
            "{}: {tiles} of {} tiles do not match their checksum; delete it and run its command again, with --shard \
             {number}/{count}",
            path.display(),
            self.tiles.len()
        )
    }
}

/// The values of a shard, to be asked for in the order of its tiles.
pub(super) struct Values<'a> {
    sealed: &'a Sealed,
    file: File,
    at: u64,
}

impl Values<'_> {
    /// Passes over the next tile.
    pub(super) fn skip<T: NpyElement>(&mut self, done: &Done) {
        self.at += (done.tile.len() * T::BYTES) as u64;
    }

    /// Reads the next tile, row-major.
    ///
    /// # Errors
    /// If it cannot be read, or is not what its checksum says.
    pub(super) fn read<T: NpyElement>(&mut self, done: &Done, values: &mut Vec<T>) -> Result<()> {
        values.clear();
        values.resize(done.tile.len(), T::default());
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let read = self.file.seek(SeekFrom::Start(self.at)).and_then(|_| self.file.read_exact(bytes));
        read.with_context(|| format!("cannot read {}", self.sealed.path.display()))?;
        if xxh3_64(bytes) != done.checksum {
            return Err(self.sealed.damaged(1));
        }
        if cfg!(target_endian = "big") {
            values.iter_mut().for_each(|value| *value = T::get(bytemuck::bytes_of(value)));
        }
        self.skip::<T>(done);
        Ok(())
    }
}

/// The last line: the number of tiles, where their records begin, and where they end.
fn last(file: &mut BufReader<File>, bytes: u64) -> io::Result<Option<(usize, u64, u64)>> {
    let tail = LONGEST_RECORD.min(bytes);
    file.seek(SeekFrom::Start(bytes - tail))?;
    let mut text = Vec::new();
    file.take(tail).read_to_end(&mut text)?;
    let before = text.strip_suffix(b"\n").and_then(|text| text.iter().rposition(|b| *b == b'\n'));
    let begin = before.map_or(0, |at| at + 1);
    let numbers = checked(&text[begin..]).and_then(|text| text.strip_prefix("end ")?.split_once(' '));
    let parsed = numbers.and_then(|(tiles, start)| Some((tiles.parse().ok()?, start.parse().ok()?)));
    let end = bytes - (text.len() - begin) as u64;
    Ok(parsed.filter(|(_, start)| *start <= end).map(|(tiles, start)| (tiles, start, end)))
}
