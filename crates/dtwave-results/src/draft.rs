//! The lock and the draft of one result: a hidden file beside it.
//!
//! Whoever holds the operating system's lock of `.<name>.dtwave` is the only one that may write `<name>`. The same file
//! takes the content of a small result and is then renamed to it, so a killed run leaves at most one file, which is
//! locked by nobody and taken over by the next run. A lock belongs to the file, not to its name: a holder makes sure
//! that the name still leads to the file it locked, because the run before may have renamed or removed it meanwhile.
//!
//! Drafts are listed ([`end`]): a run that is ended by a signal removes its own.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use super::places::explain;

/// The drafts of this process. Held while a draft appears or goes, so that a signal finds all of them.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is unfinished and ends the process. A result that is just getting its name gets it first.
pub fn end(status: i32) -> ! {
    let mut drafts = drafts();
    for draft in drafts.drain(..) {
        // Nothing is left to be told to.
        let _ = fs::remove_file(draft);
    }
    // Still holding the list: no draft can appear any more.
    std::process::exit(status)
}

/// The sole right to write a file, and a place for its content.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    file: File,
    /// The file that will be replaced, locked as well: another name may lead to it.
    _replaced: Option<File>,
    is_named: bool,
    pub(super) is_locked: bool,
}

impl Draft {
    /// Takes the right to write `target`, which messages call `shown`.
    pub(super) fn take(target: &Path, shown: &Path) -> Result<Self> {
        let ((path, file), is_locked) = match lock(&name_of(target, ""), shown)? {
            Some(held) => (held, true),
            None => (unprotected(target, shown)?, false),
        };
        // From here on an error removes the draft.
        let mut draft = Draft { path, file, _replaced: None, is_named: false, is_locked };
        draft._replaced = lock_replaced(target, shown)?;
        let owner = format!("{OWNER}{}\n", std::process::id());
        draft
            .empty()
            .and_then(|()| draft.file.write_all(owner.as_bytes()))
            .map_err(|e| explain(shown, &e))?;
        Ok(draft)
    }

    pub(super) fn content(&mut self) -> io::Result<&mut File> {
        self.empty()?;
        Ok(&mut self.file)
    }

    fn empty(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0)).map(|_| ())
    }

    /// Gives the draft the name of the result.
    pub(super) fn become_file(mut self, target: &Path) -> io::Result<()> {
        let mut drafts = drafts();
        fs::rename(&self.path, target)?;
        // Its old name is free for another run's draft, which is not ours to remove.
        self.is_named = true;
        drafts.retain(|draft| *draft != self.path);
        Ok(())
    }

    /// Runs `finish`, which gives a file its final name, so that a signal comes before or after it.
    pub(super) fn undisturbed(&self, finish: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let _drafts = drafts();
        finish()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_named {
            let mut drafts = drafts();
            drafts.retain(|draft| *draft != self.path);
            // An unfinished result, still locked; failing to remove it harms nobody.
            let _ = fs::remove_file(&self.path);
        }
    }
}

const OWNER: &str = "dtwave ";

/// `.<name>.dtwave` beside `target`; a name that is too long for that is hashed.
fn name_of(target: &Path, suffix: &str) -> PathBuf {
    const LONGEST: usize = 200;
    let name = target.file_name().unwrap_or_default();
    let mut own = OsString::from(".");
    if name.len() > LONGEST {
        own.push(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(name.as_encoded_bytes())));
    } else {
        own.push(name);
    }
    own.push(format!("{suffix}.dtwave"));
    target.with_file_name(own)
}

/// Opens and locks the file at `path`; `None` where the file system has no locks.
fn lock(path: &Path, shown: &Path) -> Result<Option<(PathBuf, File)>> {
    // Each round somebody else finished or gave up in between; that many in a row do not happen.
    const ROUNDS: usize = 10_000;
    let mut drafts = drafts();
    for _ in 0..ROUNDS {
        let mut file = open(path, shown)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(shown, owner(&mut file))),
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                drop(file);
                let _ = fs::remove_file(path);
                return Ok(None);
            }
            Err(TryLockError::Error(e)) => return Err(explain(shown, &e)),
        }
        if is_still(&file, path).map_err(|e| explain(shown, &e))? {
            drafts.push(path.to_path_buf());
            return Ok(Some((path.to_path_buf(), file)));
        }
    }
    bail!("cannot write {}: {} is in the way; delete it", shown.display(), path.display())
}

fn open(path: &Path, shown: &Path) -> Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|m| !m.is_file()) {
        bail!("cannot write {}: {} is in the way; delete it", shown.display(), path.display());
    }
    let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied if path.exists() => anyhow!(
            "cannot write {}: another user's dtwave is writing it, or has left {} behind",
            shown.display(),
            path.display()
        ),
        _ => explain(shown, &e),
    })
}

/// A draft of a name that no other process chooses, where there are no locks.
fn unprotected(target: &Path, shown: &Path) -> Result<(PathBuf, File)> {
    let path = name_of(target, &format!(".{}", std::process::id()));
    let mut drafts = drafts();
    let file = open(&path, shown)?;
    drafts.push(path.clone());
    Ok((path, file))
}

/// Locks the file that will be replaced, if there is one: a hard link is another name of it, with another draft.
fn lock_replaced(target: &Path, shown: &Path) -> Result<Option<File>> {
    // A network file system may want write access for a lock. A file that cannot be opened at all can only be
    // replaced, which harms nobody who writes it under another name.
    let opened = File::options().read(true).write(true).open(target).or_else(|_| File::open(target));
    let Ok(file) = opened else { return Ok(None) };
    // Whoever was late for a draft holds its lock for a moment after it was renamed.
    const ROUNDS: usize = 100;
    const PAUSE: Duration = Duration::from_millis(2);
    for _ in 0..ROUNDS {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    bail!(
        "cannot write {}: another process holds a lock on this file, perhaps under another name; wait until that has \
         ended, or choose another name",
        shown.display()
    )
}

/// The process that took the draft, as far as it said so.
fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    const LONGEST: u64 = 32;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    text.strip_prefix(OWNER)?.strip_suffix('\n')?.parse().ok()
}

fn busy(shown: &Path, owner: Option<u32>) -> anyhow::Error {
    let shown = shown.display();
    if owner == Some(std::process::id()) {
        return anyhow!("cannot write {shown}: another output of this command leads to the same file");
    }
    let who =
        owner.map_or_else(|| "another dtwave".to_owned(), |id| format!("another dtwave (process {id})"));
    anyhow!("cannot write {shown}: {who} is writing it; wait until that has ended, or choose another name")
}

/// Whether `path` is still the name of the open file.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((held.dev(), held.ino()) == (named.dev(), named.ino())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether `path` is still the name of the open file.
#[cfg(not(unix))]
fn is_still(file: &File, path: &Path) -> io::Result<bool> {
    match same_file::Handle::from_path(path) {
        Ok(named) => Ok(same_file::Handle::from_file(file.try_clone()?)? == named),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}
