//! The progress file of a streamed matrix: which tiles are on the disk, under which parameters.
//!
//! ```text
//! dtwave-progress-1 {"shape":[n,m],"element_bytes":8,…,"parameters":{…}} <crc32>
//! tile <first row> <row end> <first column> <column end> <crc32>
//! …
//! ```
//!
//! One record per line, each with the CRC-32 of the text before it. Records are only appended, and a tile's record
//! only after its values are on the disk, so whatever the file says is done is done. A last record that a crash cut
//! short is ignored and overwritten; damage anywhere else is an error. This file knows nothing of the values.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::output::explain;

const MAGIC: &str = "dtwave-progress-1";

/// What must agree for a run to continue another's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Rows and columns of the matrix.
    pub(crate) shape: [usize; 2],
    /// Bytes per element: 4 or 8.
    pub(crate) element_bytes: usize,
    /// Whether tiles above the diagonal stand for their mirror images too.
    pub(crate) symmetric: bool,
    /// Everything else that decides the values, in the user's words.
    pub(crate) parameters: BTreeMap<String, String>,
}

impl Identity {
    /// The first difference to `earlier`, for an error message.
    fn difference(&self, earlier: &Identity) -> Option<String> {
        let fields = |identity: &Identity| {
            let mut all = identity.parameters.clone();
            all.insert("shape".into(), format!("{} × {}", identity.shape[0], identity.shape[1]));
            all.insert("dtype".into(), format!("f{}", identity.element_bytes * 8));
            all.insert("symmetric".into(), identity.symmetric.to_string());
            all
        };
        let (now, then) = (fields(self), fields(earlier));
        let keys = then.keys().chain(now.keys());
        let none = "none".to_owned();
        keys.map(|key| (key, then.get(key).unwrap_or(&none), now.get(key).unwrap_or(&none)))
            .find(|(_, then, now)| then != now)
            .map(|(key, then, now)| format!("{key} was {then} and is now {now}"))
    }
}

/// A block of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Rows of the matrix.
    pub(crate) rows: Range<usize>,
    /// Columns of the matrix.
    pub(crate) columns: Range<usize>,
}

impl Tile {
    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The block mirrored at the diagonal.
    fn mirrored(&self) -> Tile {
        Tile { rows: self.columns.clone(), columns: self.rows.clone() }
    }

    /// What is left of `self` without `other`: up to four blocks.
    fn without(&self, other: &Tile) -> Vec<Tile> {
        let rows = self.rows.start.max(other.rows.start)..self.rows.end.min(other.rows.end);
        let columns = self.columns.start.max(other.columns.start)..self.columns.end.min(other.columns.end);
        if rows.is_empty() || columns.is_empty() {
            return vec![self.clone()];
        }
        let all = &self.columns;
        let pieces = [
            (self.rows.start..rows.start, all.clone()),
            (rows.end..self.rows.end, all.clone()),
            (rows.clone(), all.start..columns.start),
            (rows, columns.end..all.end),
        ];
        pieces
            .into_iter()
            .filter(|(rows, columns)| !rows.is_empty() && !columns.is_empty())
            .map(|(rows, columns)| Tile { rows, columns })
            .collect()
    }
}

/// An open progress file, locked against a second run.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    done: Vec<Tile>,
    symmetric: bool,
}

impl Journal {
    /// Starts a progress file with no tile done, replacing one that is there.
    pub(crate) fn create(path: &Path, identity: &Identity) -> Result<Self> {
        let text = format!("{MAGIC} {}", serde_json::to_string(identity)?);
        // Whole or absent: a header that is cut short could not be told from another run's.
        crate::output::write_file(path, |out| out.write_all(record(&text).as_bytes()))?;
        let journal = Journal::open(path, identity)?;
        journal.ok_or_else(|| explain(path, &io::Error::other("it was removed while it was being written")))
    }

    /// Opens the progress file of an interrupted run, if there is one.
    pub(crate) fn open(path: &Path, identity: &Identity) -> Result<Option<Self>> {
        let shown = path.display();
        let mut file = match File::options().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(explain(path, &e)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{shown}: another dtwave is working on this result"),
            // A file system without locks: the run goes on without this protection.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(explain(path, &e)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| explain(path, &e))?;
        let (header, records, whole) = parse(&bytes).map_err(|e| e.context(shown.to_string()))?;
        if let Some(difference) = identity.difference(&header) {
            bail!("cannot resume: {difference}; repeat the first command, or delete {shown} to start again");
        }
        // What a crash cut short must not stay in front of the next record.
        file.set_len(whole as u64).map_err(|e| explain(path, &e))?;
        file.seek(SeekFrom::End(0)).map_err(|e| explain(path, &e))?;
        Ok(Some(Journal { path: path.to_path_buf(), file, done: records, symmetric: identity.symmetric }))
    }

    /// Records a tile whose values are on the disk.
    pub(crate) fn append(&mut self, tile: &Tile) -> Result<()> {
        let Tile { rows, columns } = tile;
        let text = format!("tile {} {} {} {}", rows.start, rows.end, columns.start, columns.end);
        let written = self.file.write_all(record(&text).as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| explain(&self.path, &e))?;
        self.done.push(tile.clone());
        Ok(())
    }

    /// Whether every element of `tile` is on the disk, however the earlier run was cut into tiles.
    pub(crate) fn covers(&self, tile: &Tile) -> bool {
        let mut left = vec![tile.clone()];
        for done in &self.done {
            left = left.iter().flat_map(|piece| piece.without(done)).collect();
            if self.symmetric {
                let mirrored = done.mirrored();
                left = left.iter().flat_map(|piece| piece.without(&mirrored)).collect();
            }
            if left.is_empty() {
                return true;
            }
        }
        false
    }

    /// The number of tiles on the disk.
    pub(crate) fn tiles_done(&self) -> usize {
        self.done.len()
    }
}

fn record(text: &str) -> String {
    format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// The header, the tiles, and the length of the part that is whole.
fn parse(bytes: &[u8]) -> Result<(Identity, Vec<Tile>, usize)> {
    const DAMAGED: &str = "the progress file is damaged; delete it and the .partial file to start again";
    let mut header = None;
    let mut tiles: Vec<Tile> = Vec::new();
    let mut whole = 0;
    let mut lines = bytes.split_inclusive(|b| *b == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let text = checked(line);
        match (index, text) {
            (0, Some(text)) => {
                let json = text.strip_prefix(MAGIC).map(str::trim_start);
                header = json.and_then(|json| serde_json::from_str(json).ok());
            }
            (_, Some(text)) => match tile(text) {
                Some(tile) => tiles.push(tile),
                None => bail!("line {}: {DAMAGED}", index + 1),
            },
            (_, None) if index > 0 && lines.peek().is_none() => break,
            (_, None) => bail!("line {}: {DAMAGED}", index + 1),
        }
        whole += line.len();
    }
    match header {
        Some(header) => Ok((header, tiles, whole)),
        None => bail!("line 1: {DAMAGED}"),
    }
}

/// The text of a whole record with the right checksum.
fn checked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (text, sum) = line.rsplit_once(' ')?;
    let expected = u32::from_str_radix(sum, 16).ok().filter(|_| sum.len() == 8)?;
    (crc32fast::hash(text.as_bytes()) == expected).then_some(text)
}

fn tile(text: &str) -> Option<Tile> {
    let numbers: Option<Vec<usize>> =
        text.strip_prefix("tile ")?.split(' ').map(|n| n.parse().ok()).collect();
    match numbers?[..] {
        [a, b, c, d] if a < b && c < d => Some(Tile { rows: a..b, columns: c..d }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(gamma: &str) -> Identity {
        let parameters = BTreeMap::from([("gamma".to_owned(), gamma.to_owned())]);
        Identity { shape: [4, 4], element_bytes: 8, symmetric: false, parameters }
    }

    #[test]
    fn covering_does_not_depend_on_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(&folder.path().join("j"), &identity("1")).unwrap();
        journal.append(&Tile { rows: 0..2, columns: 0..2 }).unwrap();
        journal.append(&Tile { rows: 0..2, columns: 1..4 }).unwrap();
        assert!(journal.covers(&Tile { rows: 0..2, columns: 0..4 }));
        assert!(journal.covers(&Tile { rows: 1..2, columns: 1..3 }));
        assert!(!journal.covers(&Tile { rows: 1..3, columns: 1..3 }));
        assert!(!journal.covers(&Tile { rows: 2..3, columns: 0..1 }));
        let symmetric = Identity { symmetric: true, ..identity("1") };
        let mut journal = Journal::create(&folder.path().join("s"), &symmetric).unwrap();
        journal.append(&Tile { rows: 0..2, columns: 2..4 }).unwrap();
        assert!(journal.covers(&Tile { rows: 2..4, columns: 0..2 }));
        assert!(!journal.covers(&Tile { rows: 0..2, columns: 0..4 }));
    }

    #[test]
    fn other_parameters_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        drop(Journal::create(&path, &identity("1")).unwrap());
        let error = Journal::open(&path, &identity("2")).unwrap_err().to_string();
        assert!(error.contains("gamma was 1 and is now 2"), "{error}");
        let other = Identity { element_bytes: 4, ..identity("1") };
        let error = Journal::open(&path, &other).unwrap_err().to_string();
        assert!(error.contains("dtype was f64 and is now f32"), "{error}");
        assert!(Journal::open(&path, &identity("1")).unwrap().is_some());
    }

    #[test]
    fn a_second_run_is_kept_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let _first = Journal::create(&path, &identity("1")).unwrap();
        let error = Journal::open(&path, &identity("1")).unwrap_err().to_string();
        assert!(error.contains("another dtwave"), "{error}");
    }

    #[test]
    fn damage_before_the_last_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let mut journal = Journal::create(&path, &identity("1")).unwrap();
        for row in 0..3 {
            journal.append(&Tile { rows: row..row + 1, columns: 0..4 }).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            match Journal::open(&path, &identity("1")) {
                Ok(journal) => {
                    // Without the line end before it, the last record takes the one before with it.
                    assert!(at >= last, "a flipped bit at {at} went unnoticed");
                    assert_eq!(journal.unwrap().tiles_done(), if at == last { 1 } else { 2 });
                }
                Err(error) => {
                    assert!(at < last, "{error:#}");
                    assert!(format!("{error:#}").contains("damaged"), "{error:#}");
                }
            }
        }
    }
}
