//! The CPU backend: SIMD lanes and threads.
//!
//! Two sweeps share every recurrence. The *batched sweep* puts one pair in each lane. It is the fastest sweep if there
//! are enough pairs. The *diagonal sweep* puts neighbouring cells of one pair in the lanes. It is for few or long
//! pairs, and takes O(n + m) memory. Both compute the same bits for the same pair, whatever the thread count.
//!
//! The caller's thread does small work, or a single task, itself: to wake another thread takes longer.
//!
//! This crate knows [`dtw_core`] and a machine with registers and cores; it knows no other backend.
//!
//! ```
//! use dtw_core::{Backend, Pairing, Problem, SeriesBatch, Spec};
//!
//! let values = [0.0_f64, 1.0, 2.0, 2.0, 1.0, 0.0];
//! let batch = SeriesBatch::equal(&values, 2, 3, 1)?;
//! let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &batch, &batch)?;
//! let backend = dtw_cpu::CpuBackend::new();
//! let mut plan = Backend::<f64>::plan(&backend, &problem)?;
//! let mut out = [0.0; 4];
//! plan.distances(batch, batch, &mut out)?;
//! assert_eq!(out, [0.0, 8.0, 8.0, 0.0]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

#![forbid(unsafe_code)]

mod abandon;
mod batched;
mod bit_parallel;
mod cells;
mod choices;
mod costs;
mod diagonal;
mod differentiate;
mod gradient;
mod gradient_scratch;
mod gradient_single;
mod gradient_strip;
mod gradient_tiles;
mod group;
mod in_lanes;
mod isa;
mod joined;
mod keogh;
mod lanes;
mod least;
mod line;
mod living;
mod name;
mod nearest;
mod nearest_any;
mod nearest_dtw;
mod open;
mod parallel;
mod path;
mod plan;
mod prepare;
mod pruned;
mod quantity;
mod scan;
mod schedule;
mod search;
mod side;
mod single;
mod span;
mod stretches;
mod tables;
mod threads;
mod told;
mod trace;
mod wide;
mod windows;
mod within;

use dtw_core::Task;
use dtw_core::{Backend, Plan, Problem, Result};

pub use costs::CostMatrices;
pub use isa::{Element, Isa};
pub use name::NAME;
use threads::Threads;

/// Computes on this machine's cores.
#[derive(Debug, Clone)]
pub struct CpuBackend {
    isa: Isa,
    threads: Threads,
}

impl CpuBackend {
    /// All cores, the widest instruction set.
    pub fn new() -> Self {
        Self::with_threads(0)
    }

    /// This many threads; 0 for one per core.
    ///
    /// # Panics
    /// As [`CpuBackend::try_with_threads`] fails.
    pub fn with_threads(threads: usize) -> Self {
        Self::try_with_threads(threads).expect("the operating system starts threads, not too many")
    }

    /// This many threads; 0 for one per core. Where there are no threads (WebAssembly), the caller's.
    ///
    /// # Errors
    /// [`dtw_core::Error::Backend`] when the operating system refuses to start them: a limit of memory or of processes;
    /// [`dtw_core::Error::Invalid`] for more than 1,024, or than there are cores if these are more.
    pub fn try_with_threads(threads: usize) -> Result<Self> {
        Ok(Self { isa: Isa::best(), threads: Threads::start(threads)? })
    }

    /// This many threads, 0 for one per core, which all of this process's backends that ask for as many share: they are
    /// started once, and cost nothing after. How many cores there are (or what `RAYON_NUM_THREADS` says) is asked then.
    /// Shared threads of the eight counts that were asked for last are kept.
    ///
    /// A process that was forked from this one gets threads of its own when it first has work for them.
    ///
    /// # Errors
    /// As [`CpuBackend::try_with_threads`].
    pub fn shared(threads: usize) -> Result<Self> {
        Ok(Self { isa: Isa::best(), threads: Threads::shared(threads)? })
    }

    /// This backend on another instruction set of this machine; for tests and comparisons.
    #[must_use]
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// The instruction set in use.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Element> Backend<T> for CpuBackend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        problem.admits(task)
    }

    fn prunes_nearest(&self, problem: &Problem) -> bool {
        nearest::is_pruned(problem, self.isa.is_tuned())
    }

    fn prunes_windows(&self, problem: &Problem) -> bool {
        joined::is_pruned(problem)
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        T::plan(self.isa, problem, self.threads.clone())
    }
}
