//! Work of the host that several threads share: they move a tile's results while the device sweeps the next one.

use std::num::NonZero;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

/// Most threads: memory is as busy with so many as with more.
const MOST: usize = 8;

/// Bytes to be moved that are worth a thread.
const WORTH: usize = 1 << 20;

/// Calls `work` with each item. Several threads do so where the items move `bytes` that are worth them.
pub(crate) fn share<I: Send>(items: impl Iterator<Item = I> + Send, bytes: usize, work: impl Fn(I) + Sync) {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    among(worthwhile(bytes, *CORES), items, work);
}

/// Threads that so many bytes are worth.
fn worthwhile(bytes: usize, cores: usize) -> usize {
    (bytes / WORTH).min(MOST).min(cores).max(1)
}

/// Calls `work` with each item, in so many threads: the caller's, and others as far as the system has them.
fn among<I: Send>(threads: usize, items: impl Iterator<Item = I> + Send, work: impl Fn(I) + Sync) {
    let rest = Mutex::new(items);
    let next = || rest.lock().unwrap_or_else(PoisonError::into_inner).next();
    let labour = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, labour).is_err() {
                break;
            }
        }
        labour();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until so many threads are here.
    fn meet(here: &AtomicUsize, threads: usize) {
        here.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        while here.load(Ordering::Relaxed) < threads {
            assert!(start.elapsed() < Duration::from_secs(20), "there are fewer threads");
            thread::yield_now();
        }
    }

    #[test]
    fn threads_are_as_many_as_the_bytes_are_worth() {
        let mebibytes = [0, 1, 2, 3, 100].map(|count| count << 20);
        assert_eq!(mebibytes.map(|bytes| worthwhile(bytes, 64)), [1, 1, 2, 3, 8]);
        assert_eq!(mebibytes.map(|bytes| worthwhile(bytes, 2)), [1, 1, 2, 2, 2]);
        assert_eq!(worthwhile((2 << 20) - 1, 64), 1);
    }

    #[test]
    fn every_item_is_done_once_by_so_many_threads() {
        for threads in [1, 2, 5] {
            let done: Vec<AtomicUsize> = (0..40).map(|_| AtomicUsize::new(0)).collect();
            let here = AtomicUsize::new(0);
            among(threads, done.iter().enumerate(), |(k, count)| {
                if k < threads {
                    meet(&here, threads);
                }
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{threads}");
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_not_lost() {
        let caller = thread::current().id();
        let here = AtomicUsize::new(0);
        among(2, 0..2, |_| {
            meet(&here, 2);
            assert!(thread::current().id() == caller, "another thread fails");
        });
    }
}
