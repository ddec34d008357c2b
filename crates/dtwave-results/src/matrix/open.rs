//! What an earlier run left, and what of it can be trusted.
//!
//! Every state that a crash can leave is continued or started anew, and so is what was damaged since: the progress file
//! says which values were on the disk and what their checksums are; whatever does not match is computed again, and
//! said. Only a progress file that is itself damaged, or of another job, stops a run: it is deleted by whoever
//! wants to start again, and that alone is enough.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::blocked::Blocked;
use super::identity::Identity;
use super::journal::{Done, Journal};
use super::tile::Tile;
use super::values::{Layout, Values};
use super::writer::MatrixWriter;
use crate::{NpyElement, Target, explain, npy_header};

/// Whether to continue an interrupted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Start anew; an unfinished result is an error.
    Fresh,
    /// Continue an unfinished result if there is one.
    Resume,
}

/// What opening found.
#[derive(Debug)]
pub enum Opened<T> {
    /// Tiles are left to write. The notes say what was done to what was found.
    Unfinished(Box<MatrixWriter<T>>, Vec<String>),
    /// An earlier run finished this very result: every value matches its checksum.
    Finished,
    /// A result of this shape and number type is there. Which job it is of, nothing says any more.
    Named(Target),
}

/// The files of a result: its own, and the two of a run that is not finished.
pub(super) struct Files {
    pub(super) out: PathBuf,
    pub(super) partial: PathBuf,
    pub(super) progress: PathBuf,
    /// What stands before the values, and the size with all values.
    pub(super) header: Vec<u8>,
    pub(super) total_bytes: u64,
    pub(super) layout: Layout,
}

/// Opens the result at `target` for writing; reserves its space on the disk.
pub fn open<T: NpyElement>(target: Target, identity: &Identity, start: Start) -> Result<Opened<T>> {
    assert_eq!(identity.element_bytes, T::BYTES, "the identity must name the element type");
    let out = target.file()?.to_path_buf();
    let [n, m] = identity.shape;
    let value_bytes = n.checked_mul(m).and_then(|cells| cells.checked_mul(T::BYTES));
    let Some(value_bytes) = value_bytes.filter(|bytes| *bytes < isize::MAX as usize) else {
        bail!("a {n} × {m} matrix is larger than any file")
    };
    let header = npy_header::<T>(&identity.shape);
    let total_bytes = (value_bytes + header.len()) as u64;
    let (partial, progress) = (beside(&out, ".partial"), beside(&out, ".progress"));
    let files = Files { out, partial, progress, header, total_bytes, layout: Layout::Rows(m) };

    let mut notes = Vec::new();
    let found = match start {
        Start::Resume => Journal::open(&files.progress, identity)?,
        Start::Fresh => {
            let Files { partial, progress, .. } = &files;
            if progress.exists() && partial.exists() {
                bail!(Blocked::Unfinished { partial: partial.clone(), progress: progress.clone() });
            }
            None
        }
    };
    let (journal, values) = match found {
        Some(journal) => {
            if !files.partial.exists() && files.has_whole_result(identity, &journal)? {
                fs::remove_file(&files.progress).map_err(|e| explain(&files.progress, &e))?;
                return Ok(Opened::Finished);
            }
            files.continued(identity, journal, &mut notes)?
        }
        None => {
            if files.partial.exists() {
                let partial = files.partial.display();
                notes.push(format!("{partial} has lost its progress file and is written anew"));
            } else if start == Start::Resume && files.out.exists() {
                files.check_named(identity)?;
                return Ok(Opened::Named(target));
            }
            files.created(identity)?
        }
    };
    let Files { partial, progress, .. } = files;
    let writer = MatrixWriter::new(target, [partial, progress], identity, values, journal);
    Ok(Opened::Unfinished(Box::new(writer), notes))
}

impl Files {
    pub(super) fn values(&self, file: File, identity: &Identity) -> Values {
        let (header_bytes, layout) = (self.header.len() as u64, self.layout.clone());
        Values { file, header_bytes, layout, element_bytes: identity.element_bytes }
    }

    /// A new progress file and a data file of the final size: the header, then zeros.
    pub(super) fn created(&self, identity: &Identity) -> Result<(Journal, Values)> {
        let journal = Journal::create(&self.progress, identity, &[])?;
        let created = File::options().read(true).write(true).create(true).truncate(true).open(&self.partial);
        let file = created.and_then(|mut file| self.complete(&mut file).map(|()| file)).map_err(|e| {
            // Nothing of value is in either file yet.
            let _ = fs::remove_file(&self.partial);
            let _ = fs::remove_file(&self.progress);
            explain(&self.partial, &e)
        })?;
        Ok((journal, self.values(file, identity)))
    }

    /// The files of an interrupted run; what cannot be trusted is taken out of the progress file.
    pub(super) fn continued(
        &self,
        identity: &Identity,
        journal: Journal,
        notes: &mut Vec<String>,
    ) -> Result<(Journal, Values)> {
        let shown = self.partial.display();
        let opened = (|| {
            let was_there = self.partial.exists();
            let mut file =
                File::options().read(true).write(true).create(true).truncate(false).open(&self.partial)?;
            let is_sound = self.is_sound(&mut file)?;
            if !is_sound {
                self.complete(&mut file)?;
            }
            Ok((file, was_there, is_sound))
        })();
        let (file, was_there, is_sound) = opened.map_err(|e| explain(&self.partial, &e))?;
        let all = journal.done().len();
        // A run that stopped before its first tile may have stopped before it made this file.
        if all > 0 && !was_there {
            notes.push(format!("{shown} is gone; it is written anew"));
        } else if all > 0 && !is_sound {
            notes.push(format!("{shown} had another header or size than this result; that is mended"));
        }
        let mut values = self.values(file, identity);
        let (sound, damaged) =
            judged(&mut values, identity, journal.done()).with_context(|| format!("cannot read {shown}"))?;
        if damaged == 0 {
            return Ok((journal, values));
        }
        notes.push(format!(
            "{damaged} of {all} finished tiles in {shown} do not match their checksum and are computed again"
        ));
        Ok((Journal::create(&self.progress, identity, &sound)?, values))
    }

    /// Whether an open data file has the right size and header.
    fn is_sound(&self, file: &mut File) -> io::Result<bool> {
        let bytes = file.metadata()?.len();
        // A run may have stopped while it wrote what follows the values of a shard.
        let may_be_longer = matches!(self.layout, Layout::Packed(_));
        if bytes < self.total_bytes || (bytes > self.total_bytes && !may_be_longer) {
            return Ok(false);
        }
        let mut header = vec![0; self.header.len()];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut header)?;
        Ok(header == self.header)
    }

    /// Gives a data file the right size and header.
    fn complete(&self, file: &mut File) -> io::Result<()> {
        // Reserving the space now turns a disk that would fill up later into an error before any work.
        match fs4::FileExt::allocate(&*file, self.total_bytes) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
            result => result?,
        }
        file.set_len(self.total_bytes)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&self.header)?;
        file.sync_all()
    }

    /// Whether the result has its name already: the run stopped before it removed the progress file.
    fn has_whole_result(&self, identity: &Identity, journal: &Journal) -> Result<bool> {
        let [n, m] = identity.shape;
        if !self.out.exists() || !journal.covers(&Tile { rows: 0..n, columns: 0..m }) {
            return Ok(false);
        }
        let judged = (|| {
            let mut file = File::open(&self.out)?;
            if !self.is_sound(&mut file)? {
                return Ok(false);
            }
            judged(&mut self.values(file, identity), identity, journal.done())
                .map(|(_, damaged)| damaged == 0)
        })();
        judged.map_err(|e: io::Error| {
            anyhow::Error::from(e).context(format!("cannot read {}", self.out.display()))
        })
    }

    /// Refuses a file under the result's name that is none of this job's.
    fn check_named(&self, identity: &Identity) -> Result<()> {
        let shown = self.out.display();
        let [n, m] = identity.shape;
        let sound = File::open(&self.out).and_then(|mut file| self.is_sound(&mut file));
        ensure!(
            sound.with_context(|| format!("cannot read {shown}"))?,
            Blocked::OtherResult(format!(
                "{shown} is no {n} × {m} result of float{}",
                identity.element_bytes * 8
            ))
        );
        Ok(())
    }
}

/// The tiles whose values match their checksum, and the number of the others.
pub(super) fn judged(
    values: &mut Values,
    identity: &Identity,
    all: &[Done],
) -> io::Result<(Vec<Done>, usize)> {
    let mut sound = Vec::new();
    for done in all {
        if values.layout.holds(&done.tile) && values.checksum(identity, &done.tile)? == done.checksum {
            sound.push(done.clone());
        }
    }
    let damaged = all.len() - sound.len();
    Ok((sound, damaged))
}

pub(super) fn beside(out: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = out.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
