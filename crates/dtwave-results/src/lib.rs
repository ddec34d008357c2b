//! Results written to files: whole or not at all, and by one run at a time.
//!
//! Before any work, a command takes a [`Target`] for each of its outputs, which checks and locks it. The content goes
//! to a hidden draft beside the target and is flushed to the disk. Only then is the draft renamed. If the writing is
//! interrupted, the name holds the old file or the new one. A target that exists and is not a regular file
//! (`/dev/stdout`, a pipe) is written to directly.

mod csv;
mod draft;
pub mod matrix;
mod npy;
mod target;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};

pub use csv::{write_csv_rows, write_csv_table};
pub use draft::end;
pub use npy::{NpyElement, npy_header, npy_values, write_npy};
pub use target::Target;

/// Takes, writes and names the file at `path` in one go.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    Target::take(path)?.write(write)
}

/// Whether two names, both of which exist, lead to one file: through a link, another spelling, or letter case.
#[cfg(unix)]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino()));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether two names, both of which exist, lead to one file: through a link, another spelling, or letter case.
#[cfg(not(unix))]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Whether `path` is a device, pipe or socket.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// One line that says why `path` could not be written, and what to do where that is known.
pub fn explain(path: &Path, error: &io::Error) -> anyhow::Error {
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

/// Makes the renaming of a file to `path` durable.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    std::fs::File::open(target::folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
