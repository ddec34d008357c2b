//! Signals of Unix: a thread that waits for those that were not ignored when the program started.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `hear` with every signal that asks the process to end.
pub(super) fn listen(hear: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !is_ignored(*s)).collect();
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || signals.forever().for_each(hear))?;
    Ok(())
}

#[expect(unsafe_code, reason = "no safe call asks for a signal's disposition")]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call changes nothing; it writes the present one to `action`, which has room.
    let answer = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: on success the call has filled the structure.
    answer == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
