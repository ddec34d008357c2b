//! A file that a command is going to write: checked and locked before any work, whole or absent at the end.
//!
//! A command takes a [`Target`] for each output before it reads anything, and spends it on writing. Until then no
//! other run can write the same file, by whatever name: relative names, symbolic links and hard links lead to the same
//! lock. A symbolic link is written through: it stays, the file it names is replaced. A hard link is replaced, as by
//! every program that renames its results into place.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::draft::Draft;
use super::places::{explain, folder_of, is_special, sync_folder};

/// The sole right to write a file.
#[derive(Debug)]
pub struct Target {
    shown: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A device or pipe, written to directly.
    Stream,
    /// A file of this name, no symbolic link.
    File { path: PathBuf, draft: Draft },
}

impl Target {
    /// Takes the file at `path`.
    ///
    /// # Errors
    /// If it could not be written later: no such folder, no permission, or another run is about to write it. Nothing is
    /// changed then.
    pub fn take(path: &Path) -> Result<Self> {
        let shown = path.to_path_buf();
        if is_special(path) {
            return Ok(Target { shown, place: Place::Stream });
        }
        ensure!(!path.is_dir(), "cannot write {}: it is a folder; expected a file name", path.display());
        let real = followed(path)?;
        check_folder(&real, path)?;
        let draft = Draft::take(&real, path)?;
        Ok(Target { shown, place: Place::File { path: real, draft } })
    }

    /// What the user should know before the file is written.
    pub fn note(&self) -> Option<String> {
        match &self.place {
            Place::File { draft, .. } if !draft.is_locked => Some(format!(
                "the file system of {} has no locks: make sure that no other dtwave writes it",
                self.shown.display()
            )),
            _ => None,
        }
    }

    /// The name the user gave.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The file's own name, behind symbolic links.
    ///
    /// # Errors
    /// If it is a device or pipe.
    pub fn file(&self) -> Result<&Path> {
        match &self.place {
            Place::File { path, .. } => Ok(path),
            Place::Stream => bail!(
                "cannot write {}: a matrix needs a regular file, this is a device or pipe",
                self.shown.display()
            ),
        }
    }

    /// Writes the file through `write`, flushes it to the disk and gives it its name.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let mut write = Some(write);
        self.write_by(&mut |out| write.take().map_or(Ok(()), |write| write(out)))
    }

    /// [`Target::write`], compiled once.
    fn write_by(self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let Target { shown, place } = self;
        let written = match place {
            Place::Stream => File::options().write(true).open(&shown).and_then(|file| {
                let mut out = BufWriter::new(file);
                write(&mut out)?;
                out.flush()
            }),
            Place::File { path, mut draft } => (|| {
                let file = draft.content()?;
                let mut out = BufWriter::new(&mut *file);
                write(&mut out)?;
                out.flush()?;
                drop(out);
                keep_mode(file, &path)?;
                file.sync_all()?;
                draft.become_file(&path)?;
                sync_folder(&path)
            })(),
        };
        written.map_err(|e| explain(&shown, &e))
    }

    /// Gives `whole`, a finished file beside the target, the target's name, and removes `spent`.
    pub fn adopt(self, whole: &Path, spent: &Path) -> Result<()> {
        let path = self.file()?.to_path_buf();
        let Place::File { draft, .. } = &self.place else { unreachable!("file() refuses a stream") };
        let finished = draft.undisturbed(|| {
            keep_mode(&File::open(whole)?, &path)?;
            fs::rename(whole, &path)?;
            sync_folder(&path)?;
            fs::remove_file(spent)
        });
        finished.map_err(|e| explain(&self.shown, &e))
    }
}

/// Where a chain of symbolic links ends, also if nothing is there yet.
fn followed(path: &Path) -> Result<PathBuf> {
    const MOST: usize = 40;
    let mut real = path.to_path_buf();
    for _ in 0..MOST {
        match fs::read_link(&real) {
            Ok(next) => real = folder_of(&real).join(next),
            // No link, or nothing there.
            Err(_) => return Ok(real),
        }
    }
    bail!("cannot write {}: more than {MOST} symbolic links, perhaps in a circle", path.display())
}

/// Refuses a name in a folder that is not there.
fn check_folder(real: &Path, shown: &Path) -> Result<()> {
    let (folder, shown) = (folder_of(real), shown.display());
    let metadata = fs::metadata(folder)
        .with_context(|| format!("cannot write {shown}: its folder {} does not exist", folder.display()));
    ensure!(metadata?.is_dir(), "cannot write {shown}: {} is not a folder", folder.display());
    ensure!(real.file_name().is_some(), "cannot write {shown}: expected a file name");
    Ok(())
}

/// A result that replaces a file gets its mode; another has the one that new files have.
#[cfg(unix)]
fn keep_mode(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::metadata(path) {
        Ok(old) => file.set_permissions(fs::Permissions::from_mode(old.permissions().mode() & 0o777)),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_mode(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}
