//! Whether there is a standard output to print results on.
//!
//! The standard library puts `/dev/null` in the place of a standard output that is closed (`>&-`), and takes it for a
//! success that one which is open for reading only cannot be written to. A result would be lost without a word, so the
//! program asks before the library does.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};

/// Whether nothing could be written when the program started.
static IS_MISSING: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
ctor::declarative::ctor! {
    // SAFETY: before `main` only a call of the C library and an atomic store are made.
    #[ctor(unsafe)]
    fn look() {
        IS_MISSING.store(!is_written(), Ordering::Relaxed);
    }
}

/// Whether the standard output is open for writing.
#[cfg(unix)]
#[expect(unsafe_code, reason = "no safe call asks for the flags of a stream that may be closed")]
fn is_written() -> bool {
    // SAFETY: the call reads the flags of a descriptor, open or not, and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}

/// Refuses to run where no result could be printed.
pub(crate) fn check() -> Result<()> {
    ensure!(
        !IS_MISSING.load(Ordering::Relaxed),
        "the standard output is closed; send it to a file, a pipe or /dev/null"
    );
    Ok(())
}
