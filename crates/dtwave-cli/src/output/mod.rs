//! Results written to files: whole or not at all.
//!
//! A result is written to a temporary file in the target's own folder, flushed to the disk, and only then
//! renamed to its name; whatever interrupts the writing, the name holds the old file or the new one. A target
//! that exists and is not a regular file (`/dev/stdout`, a pipe) is written to directly.

mod csv;
mod npy;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

pub(crate) use csv::{write_csv_rows, write_csv_table};
pub(crate) use npy::{NpyElement, npy_header, write_npy};

/// Writes the file at `path` through `write`, atomically.
pub(crate) fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let folder = existing_folder(path)?;
    if is_special(path) {
        let file = File::options().write(true).open(path);
        let result = file.and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        });
        return result.map_err(|e| explain(path, &e));
    }
    let mut temporary = tempfile::Builder::new()
        .prefix(".dtwave-")
        .suffix(".tmp")
        .tempfile_in(&folder)
        .map_err(|e| explain(path, &e))?;
    let written = (|| {
        let mut out = BufWriter::new(temporary.as_file_mut());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        restore_mode(temporary.as_file(), path)?;
        temporary.as_file().sync_all()
    })();
    written.map_err(|e| explain(path, &e))?;
    temporary.persist(path).map_err(|e| explain(path, &e.error))?;
    sync_folder(&folder).map_err(|e| explain(path, &e))
}

/// Refuses a target that could not be written later, before any work is done.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    let folder = existing_folder(path)?;
    if is_special(path) {
        return Ok(());
    }
    tempfile::Builder::new().prefix(".dtwave-").tempfile_in(folder).map_err(|e| explain(path, &e))?;
    Ok(())
}

/// The folder of `path`; an error if there is none or `path` is one itself.
fn existing_folder(path: &Path) -> Result<PathBuf> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let metadata = std::fs::metadata(&folder).with_context(|| {
        format!("cannot write {}: its folder {} does not exist", path.display(), folder.display())
    });
    if !metadata?.is_dir() {
        bail!("cannot write {}: {} is not a folder", path.display(), folder.display());
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder; expected a file name", path.display());
    }
    Ok(folder)
}

/// Whether two names, both of which exist, lead to one file: through a link, another spelling, or letter case.
#[cfg(unix)]
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether two names, both of which exist, lead to one file: through a link, another spelling, or letter case.
#[cfg(not(unix))]
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether `path` is a device, pipe or socket.
pub(crate) fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// One line that says why `path` could not be written, and what to do where that is known.
pub(crate) fn explain(path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            anyhow!("cannot write {shown}: the disk is full")
        }
        io::ErrorKind::ReadOnlyFilesystem => anyhow!("cannot write {shown}: the file system is read-only"),
        io::ErrorKind::PermissionDenied => {
            anyhow!("cannot write {shown}: permission denied (is the folder read-only?)")
        }
        _ => anyhow!("cannot write {shown}: {error}"),
    }
}

/// Temporary files are private; a result gets the mode of the file it replaces or the usual one.
#[cfg(unix)]
fn restore_mode(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const USUAL: u32 = 0o644;
    let mode = std::fs::metadata(path).map_or(USUAL, |m| m.permissions().mode() & 0o777);
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn restore_mode(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes a rename in `folder` durable.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let result = write_file(&path, |out| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let message = format!("{:#}", result.unwrap_err());
        assert!(message.ends_with("out.csv: the disk is full"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_finished_write_replaces_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        for text in ["one", "two"] {
            write_file(&path, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn folders_that_cannot_take_the_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/out.csv");
        for result in [check_writable(&missing), write_file(&missing, |_| Ok(()))] {
            let message = format!("{:#}", result.unwrap_err());
            assert!(message.contains("does not exist"), "{message}");
        }
        let message = format!("{:#}", check_writable(folder.path()).unwrap_err());
        assert!(message.contains("it is a folder"), "{message}");
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let message = format!("{:#}", check_writable(&file.join("out.csv")).unwrap_err());
        assert!(message.contains("is not a folder"), "{message}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_directly_and_a_full_one_is_an_error() {
        write_file(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
        assert!(is_special(Path::new("/dev/null")));
        let result = write_file(Path::new("/dev/full"), |out| out.write_all(b"x"));
        assert_eq!(format!("{:#}", result.unwrap_err()), "cannot write /dev/full: the disk is full");
    }
}
