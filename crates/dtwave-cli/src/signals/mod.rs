//! Ctrl-C and the requests to terminate and to hang up.
//!
//! A computation listens: it is told, ends by itself, and the command says what is kept. Anything else (reading,
//! drawing, writing) is ended at once, its drafts removed, as the second signal ends a computation. A signal that was
//! ignored when the program started, as `nohup` and shells' background jobs want it, stays ignored.

#[cfg(unix)]
mod unix;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::{output, report};

const INTERRUPT: i32 = 2;
/// Shells report a signal as this plus its number.
const STATUS_BASE: i32 = 128;
/// How long a command may take to say what is kept, once its computation has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Whether a signal asked this run to end.
#[derive(Clone, Default)]
pub(crate) struct Cancel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    nobody_listens: Condvar,
}

#[derive(Default)]
struct State {
    signal: Option<i32>,
    /// Computations that ask [`Listener::is_raised`] and end by themselves.
    listeners: usize,
    /// What to say besides "interrupted".
    kept: String,
}

impl Cancel {
    pub(crate) fn listen() -> Result<Self> {
        let cancel = Cancel::default();
        let own = cancel.clone();
        #[cfg(unix)]
        unix::listen(move |signal| own.hear(signal)).context("cannot listen for Ctrl-C")?;
        #[cfg(not(unix))]
        ctrlc::set_handler(move || own.hear(INTERRUPT)).context("cannot listen for Ctrl-C")?;
        Ok(cancel)
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.state().signal.is_some()
    }

    pub(crate) fn status(&self) -> i32 {
        STATUS_BASE + self.state().signal.unwrap_or(INTERRUPT)
    }

    /// A computation that ends by itself begins.
    pub(crate) fn listener(&self) -> Listener {
        self.state().listeners += 1;
        Listener(self.clone())
    }

    /// From now on an interrupted run leaves something that is worth mentioning.
    pub(crate) fn keeps(&self, what: String) {
        self.state().kept = what;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, signal: i32) {
        let mut state = self.state();
        let is_first = state.signal.is_none();
        state.signal.get_or_insert(signal);
        if !is_first || state.listeners == 0 {
            drop(state);
            self.end();
        }
        drop(state);
        // What comes after the computation is not waited for. Beside this thread, which hears the second signal.
        let own = self.clone();
        std::thread::spawn(move || own.end_after_listeners());
    }

    fn end_after_listeners(&self) {
        let state = self.state();
        let state = self.0.nobody_listens.wait_while(state, |state| state.listeners > 0);
        drop(state.unwrap_or_else(PoisonError::into_inner));
        std::thread::sleep(LAST_WORDS);
        self.end();
    }

    fn end(&self) -> ! {
        let kept = std::mem::take(&mut self.state().kept);
        report::interrupted(&kept);
        output::end(self.status())
    }
}

/// A computation that ends by itself when a signal comes.
pub(crate) struct Listener(Cancel);

impl Listener {
    pub(crate) fn is_raised(&self) -> bool {
        self.0.is_raised()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.listeners -= 1;
        if state.listeners == 0 {
            self.0.0.nobody_listens.notify_all();
        }
    }
}
