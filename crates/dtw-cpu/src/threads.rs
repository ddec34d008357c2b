//! The threads that a backend computes on.

use std::sync::Arc;

use dtw_core::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::NAME;

/// A pool of threads; none of its own where the target has no threads (WebAssembly): work is then done by the caller.
#[derive(Debug, Clone)]
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// Starts this many threads; 0 for one per core.
    pub(crate) fn start(count: usize) -> Result<Self> {
        if cfg!(target_family = "wasm") {
            return Ok(Self(None));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|k| format!("dtwave-{k}"))
            .build()
            .map_err(|error| Error::Backend {
                backend: NAME,
                reason: format!("the operating system does not start as many threads: {error}; use fewer")
                    .into(),
            })?;
        Ok(Self(Some(Arc::new(pool))))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on them: rayon's iterators in it use these threads.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
