//! Where results go: what a name leads to, its folder, and why it cannot be written.

use std::io;
use std::path::Path;

use anyhow::anyhow;

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `path` is a device, pipe or socket.
pub(super) fn is_special(path: &Path) -> bool {
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
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    std::fs::File::open(folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
