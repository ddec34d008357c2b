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
mod npz;
mod places;
mod target;

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

pub use csv::{write_csv_rows, write_csv_table};
pub use draft::end;
pub use npy::{NpyElement, npy_header, npy_values, write_npy};
pub use npz::write_csr;
pub use places::explain;
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

#[cfg(test)]
mod tests;
