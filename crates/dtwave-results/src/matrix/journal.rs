//! The progress file of a streamed matrix: which tiles are on the disk, with which content, under which parameters.
//!
//! ```text
//! dtwave-progress-2 {"shape":[n,m],"element_bytes":8,…} <crc32>
//! tile <first row> <row end> <first column> <column end> <checksum of the values> <crc32>
//! …
//! ```
//!
//! One record per line, each with the CRC-32 of the text before it. Records are only appended, and a tile's record
//! only after its values are on the disk. A last record that a crash cut short is ignored and overwritten; damage
//! anywhere else is an error. Whether the values are still those of their checksum, the matrix asks.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::blocked::Blocked;
use super::identity::Identity;
use super::tile::{Tile, are_covering};
use crate::{explain, write_file};

const MAGIC: &str = "dtwave-progress-2";

/// A tile whose values are on the disk, and their checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) tile: Tile,
    pub(super) checksum: u64,
}

impl Done {
    pub(super) fn record(&self) -> String {
        let Tile { rows, columns } = &self.tile;
        let (a, b, c, d) = (rows.start, rows.end, columns.start, columns.end);
        record(&format!("tile {a} {b} {c} {d} {:016x}", self.checksum))
    }
}

/// An open progress file. Its result's lock keeps other runs away.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    done: Vec<Done>,
    symmetric: bool,
}

impl Journal {
    /// Starts a progress file that vouches for `done`, replacing one that is there.
    pub(super) fn create(path: &Path, identity: &Identity, done: &[Done]) -> Result<Self> {
        let mut text = record(&format!("{MAGIC} {}", serde_json::to_string(identity)?));
        text.extend(done.iter().map(Done::record));
        // Whole or absent: a header that is cut short could not be told from another run's.
        write_file(path, |out| out.write_all(text.as_bytes()))?;
        let journal = Journal::open(path, identity)?;
        journal.ok_or_else(|| explain(path, &io::Error::other("it was removed while it was being written")))
    }

    /// Opens the progress file of an interrupted run, if there is one.
    pub(super) fn open(path: &Path, identity: &Identity) -> Result<Option<Self>> {
        let shown = path.display();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(anyhow::Error::from(e).context(format!("cannot read {shown}"))),
        };
        let Contents { identity: header, done, whole } =
            parse(&bytes).map_err(|e| anyhow!("{shown}: {e:#}; delete it to start again"))?;
        if let Some(difference) = identity.difference(&header) {
            bail!(Blocked::OtherJob { difference, progress: path.to_owned() });
        }
        let opened = (|| {
            let mut file = File::options().write(true).open(path)?;
            // What a crash cut short must not stay in front of the next record.
            file.set_len(whole as u64)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        })();
        let file = opened.map_err(|e| explain(path, &e))?;
        Ok(Some(Journal { path: path.to_path_buf(), file, done, symmetric: identity.symmetric }))
    }

    /// Records tiles whose values are on the disk.
    pub(super) fn append(&mut self, done: Vec<Done>) -> Result<()> {
        let records: String = done.iter().map(Done::record).collect();
        let written = self.file.write_all(records.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|e| explain(&self.path, &e))?;
        self.done.extend(done);
        Ok(())
    }

    /// Whether every element of `tile` is on the disk, however the earlier run was cut into tiles.
    pub(super) fn covers(&self, tile: &Tile) -> bool {
        are_covering(self.done.iter().map(|done| &done.tile), self.symmetric, tile)
    }

    pub(super) fn done(&self) -> &[Done] {
        &self.done
    }
}

/// A line with its checksum.
pub(super) fn record(text: &str) -> String {
    format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
}

pub(super) struct Contents {
    pub(super) identity: Identity,
    pub(super) done: Vec<Done>,
    /// Length of the part that is whole.
    whole: usize,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Contents> {
    let mut lines = bytes.split_inclusive(|b| *b == b'\n').enumerate().peekable();
    let header = lines.next().and_then(|(_, line)| Some((checked(line)?, line.len())));
    let Some((text, mut whole)) = header else { bail!("line 1: the progress file is damaged") };
    let Some(json) = text.strip_prefix(MAGIC) else {
        bail!("line 1: the progress file is of another version of dtwave, or of another program")
    };
    let Ok(identity) = serde_json::from_str::<Identity>(json) else {
        bail!("line 1: the progress file is damaged")
    };
    let mut done = Vec::new();
    while let Some((index, line)) = lines.next() {
        match checked(line) {
            Some(text) => {
                let tile = tile(text).filter(|done| lies_in(&done.tile, identity.shape));
                done.push(tile.with_context(|| format!("line {}: the progress file is damaged", index + 1))?);
            }
            None => {
                ensure!(lines.peek().is_none(), "line {}: the progress file is damaged", index + 1);
                break;
            }
        }
        whole += line.len();
    }
    Ok(Contents { identity, done, whole })
}

pub(super) fn lies_in(tile: &Tile, shape: [usize; 2]) -> bool {
    !tile.rows.is_empty()
        && !tile.columns.is_empty()
        && tile.rows.end <= shape[0]
        && tile.columns.end <= shape[1]
}

/// The text of a whole record with the right checksum.
pub(super) fn checked(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (text, sum) = line.rsplit_once(' ')?;
    let expected = u32::from_str_radix(sum, 16).ok().filter(|_| sum.len() == 8)?;
    (crc32fast::hash(text.as_bytes()) == expected).then_some(text)
}

pub(super) fn tile(text: &str) -> Option<Done> {
    let (place, checksum) = text.strip_prefix("tile ")?.rsplit_once(' ')?;
    let checksum = u64::from_str_radix(checksum, 16).ok().filter(|_| checksum.len() == 16)?;
    let numbers: Option<Vec<usize>> = place.split(' ').map(|n| n.parse().ok()).collect();
    match numbers?[..] {
        [a, b, c, d] => Some(Done { tile: Tile { rows: a..b, columns: c..d }, checksum }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(gamma: &str) -> Identity {
        let options = vec![("--gamma".to_owned(), gamma.to_owned())];
        Identity { shape: [4, 4], element_bytes: 8, symmetric: false, options, inputs: Vec::new() }
    }

    fn done(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Done {
        Done { tile: Tile { rows, columns }, checksum: 0xabc }
    }

    #[test]
    fn covering_does_not_depend_on_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(&folder.path().join("j"), &identity("1"), &[]).unwrap();
        journal.append(vec![done(0..2, 0..2)]).unwrap();
        journal.append(vec![done(0..2, 1..4)]).unwrap();
        assert!(journal.covers(&Tile { rows: 0..2, columns: 0..4 }));
        assert!(journal.covers(&Tile { rows: 1..2, columns: 1..3 }));
        assert!(!journal.covers(&Tile { rows: 1..3, columns: 1..3 }));
        assert!(!journal.covers(&Tile { rows: 2..3, columns: 0..1 }));
        let symmetric = Identity { symmetric: true, ..identity("1") };
        let mut journal = Journal::create(&folder.path().join("s"), &symmetric, &[]).unwrap();
        journal.append(vec![done(0..2, 2..4)]).unwrap();
        assert!(journal.covers(&Tile { rows: 2..4, columns: 0..2 }));
        assert!(!journal.covers(&Tile { rows: 0..2, columns: 0..4 }));
    }

    #[test]
    fn other_parameters_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        drop(Journal::create(&path, &identity("1"), &[]).unwrap());
        let error = Journal::open(&path, &identity("2")).unwrap_err().to_string();
        assert!(error.contains("--gamma was 1 and is now 2"), "{error}");
        let other = Identity { element_bytes: 4, ..identity("1") };
        let error = Journal::open(&path, &other).unwrap_err().to_string();
        assert!(error.contains("dtype was f64 and is now f32"), "{error}");
        assert!(Journal::open(&path, &identity("1")).unwrap().is_some());
    }

    #[test]
    fn damage_before_the_last_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let mut journal = Journal::create(&path, &identity("1"), &[]).unwrap();
        for row in 0..3 {
            journal.append(vec![done(row..row + 1, 0..4)]).unwrap();
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
                    assert_eq!(journal.unwrap().done().len(), if at == last { 1 } else { 2 });
                }
                Err(error) => {
                    assert!(at < last, "{error:#}");
                    assert!(format!("{error:#}").contains("damaged; delete it"), "{error:#}");
                }
            }
        }
    }

    #[test]
    fn tiles_beside_the_matrix_are_damage() {
        let header = format!("{MAGIC} {}", serde_json::to_string(&identity("1")).unwrap());
        for bad in ["tile 0 5 0 4", "tile 0 4 3 3", "tile 2 1 0 4", "tile 0 4 0 18446744073709551615"] {
            let text = [record(&header), record(&format!("{bad} 0000000000000abc"))].concat();
            assert!(parse(text.as_bytes()).is_err(), "{bad}");
        }
        let text = [record(&header), record("tile 0 4 0 4 0000000000000abc")].concat();
        assert_eq!(parse(text.as_bytes()).unwrap().done, [done(0..4, 0..4)]);
    }
}
