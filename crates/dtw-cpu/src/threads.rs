//! The threads that a backend computes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dtw_core::{Error, Result, bail_invalid};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::name::NAME;

/// A pool of threads; none of its own where the target has no threads (WebAssembly): work is then done by the caller.
#[derive(Debug, Clone)]
pub struct Threads(Option<Arc<Pool>>);

#[derive(Debug)]
struct Pool {
    threads: ThreadPool,
    /// The process that they live in. A child that was forked from it has none of them.
    process: u32,
}

/// Why there is no pool, in one line that says all: it has no source.
fn not_started(error: &ThreadPoolBuildError) -> Error {
    let reason = format!("the operating system does not start as many threads: {error}; use fewer");
    Error::failed(NAME, reason)
}

/// Pools that everybody shares: what they were asked for, the latest used last.
static SHARED: Mutex<Vec<(usize, Arc<Pool>)>> = Mutex::new(Vec::new());

/// Most shared pools. The one that was not asked for longest makes room; its threads end with its last backend.
const MOST_SHARED: usize = 8;

/// Most threads that can be asked for, on a machine of no more cores: a number that was meant as another one, or that
/// nobody thought about, does not fill the machine with threads.
const MOST_THREADS: usize = 1024;

/// Refuses a number of threads that cannot be meant.
fn check(count: usize) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = MOST_THREADS.max(cores);
    if count > most {
        bail_invalid!(
            "{count} threads are too many: ask for at most {most}; more than one per core, which here is {cores}, are \
             no faster"
        );
    }
    Ok(())
}

/// Nothing that panics is done under the lock, and nothing that takes long.
fn shared() -> MutexGuard<'static, Vec<(usize, Arc<Pool>)>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    fn start(count: usize) -> Result<Arc<Self>> {
        let threads = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|k| format!("dtwave-{k}"))
            .build()
            .map_err(|error| not_started(&error))?;
        Ok(Arc::new(Self { threads, process: std::process::id() }))
    }

    /// Runs `work` on the threads. It is no type parameter: rayon would be compiled for each.
    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        self.threads.install(work);
    }

    /// The same while the caller's thread does `other`.
    fn install_beside(&self, work: &mut (dyn FnMut() + Send), other: &mut dyn FnMut()) {
        self.threads.in_place_scope(|scope| {
            scope.spawn(|_| work());
            other();
        });
    }

    /// The pool of this process for this count.
    fn shared(count: usize) -> Result<Arc<Self>> {
        let process = std::process::id();
        let find = |pools: &mut Vec<(usize, Arc<Self>)>| {
            pools.retain(|(_, pool)| pool.process == process);
            let at = pools.iter().position(|(asked, _)| *asked == count)?;
            let found = pools.remove(at);
            let pool = Arc::clone(&found.1);
            pools.push(found);
            Some(pool)
        };
        if let Some(pool) = find(&mut shared()) {
            return Ok(pool);
        }
        let started = Self::start(count)?;
        let mut pools = shared();
        // Another thread may have been quicker.
        let pool = find(&mut pools).unwrap_or_else(|| {
            pools.push((count, Arc::clone(&started)));
            started
        });
        let oldest = (pools.len() > MOST_SHARED).then(|| pools.remove(0));
        drop(pools);
        drop(oldest);
        Ok(pool)
    }
}

impl Threads {
    /// Starts this many threads; 0 for one per core.
    pub(crate) fn start(count: usize) -> Result<Self> {
        check(count)?;
        if cfg!(target_family = "wasm") { Ok(Self(None)) } else { Ok(Self(Some(Pool::start(count)?))) }
    }

    /// The threads that this process shares, started when they are first asked for; 0 for one per core.
    pub(crate) fn shared(count: usize) -> Result<Self> {
        check(count)?;
        if cfg!(target_family = "wasm") { Ok(Self(None)) } else { Ok(Self(Some(Pool::shared(count)?))) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.threads.current_num_threads())
    }

    /// Runs `work` on them: rayon's iterators in it use these threads. In a child that was forked, on shared threads of
    /// the child, as many.
    ///
    /// # Errors
    /// Errors of `work`; [`Error::Backend`] where the system starts no threads in a child.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        let Some(pool) = self.pool()? else { return work() };
        let (mut work, mut worked) = (Some(work), None);
        pool.install(&mut || worked = work.take().map(|work| work()));
        worked.expect("a pool does what it is given")
    }

    /// Runs `work` on them while the caller's thread does `other`, which may wait for calls that need these threads;
    /// one after the other where there are none.
    ///
    /// # Errors
    /// As [`Threads::run`]; those of `work` before those of `other`.
    pub(crate) fn run_beside<R: Send>(
        &self,
        work: impl FnOnce() -> Result<R> + Send,
        other: impl FnOnce() -> Result<()>,
    ) -> Result<R> {
        let Some(pool) = self.pool()? else {
            let worked = work()?;
            other()?;
            return Ok(worked);
        };
        let (mut work, mut worked) = (Some(work), None);
        let (mut other, mut done) = (Some(other), None);
        pool.install_beside(&mut || worked = work.take().map(|work| work()), &mut || {
            done = other.take().map(|other| other())
        });
        let both = worked.zip(done);
        let (worked, done) = both.expect("a scope waits for what it has spawned");
        let worked = worked?;
        done?;
        Ok(worked)
    }

    /// The pool of this process.
    fn pool(&self) -> Result<Option<Arc<Pool>>> {
        match &self.0 {
            Some(pool) if pool.process != std::process::id() => Pool::shared(self.count()).map(Some),
            own => Ok(own.clone()),
        }
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;

    #[test]
    fn threads_that_do_not_start_are_told_once() {
        // A thread can be part of one pool only.
        let pool = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        let _first = pool().unwrap();
        let Error::Backend { reason, .. } = not_started(&pool().unwrap_err()) else {
            panic!("an error of a backend")
        };
        assert!(reason.to_string().ends_with("; use fewer"), "{reason}");
        assert!(reason.source().is_none());
    }

    #[test]
    fn a_number_of_threads_that_cannot_be_meant_is_refused() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let most = MOST_THREADS.max(cores);
        check(most).unwrap();
        for asked in [most + 1, usize::MAX] {
            for refused in [Threads::start(asked), Threads::shared(asked)] {
                let error = refused.unwrap_err().to_string();
                let expected = format!("{asked} threads are too many: ask for at most {most};");
                assert!(error.starts_with(&expected), "{error}");
            }
        }
    }

    #[test]
    fn those_who_ask_for_as_many_share_them_and_few_are_kept() {
        let same = |a: &Threads, b: &Threads| match (&a.0, &b.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let first = Threads::shared(2).unwrap();
        assert!(same(&first, &Threads::shared(2).unwrap()));
        assert!(!same(&first, &Threads::shared(3).unwrap()) && !same(&first, &Threads::start(2).unwrap()));
        let asked: Vec<_> = (1..=MOST_SHARED + 2).map(|count| Threads::shared(count).unwrap()).collect();
        assert!(shared().len() <= MOST_SHARED);
        // The oldest has made room, and works all the same.
        assert!(!same(&asked[0], &Threads::shared(1).unwrap()));
        assert_eq!(asked[0].run(|| Ok(rayon::current_num_threads())).unwrap(), 1);
    }
}
