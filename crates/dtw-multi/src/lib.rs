//! Several devices of a process as one backend.
//!
//! [`Several`] is a [`Backend`] whose calls are divided among other backends, a thread or two each. A call is a number
//! of units that do not depend on each other: pairs, rows of a matrix, queries of a search. A device takes a piece of
//! them, computes it, and takes the next one (`queue.rs`). Devices of one kind take pieces of one size. Of several
//! kinds, the rates that were seen decide, so a slow device takes little, and all end together.
//!
//! Results go to their places, so they do not depend on who computed what. Devices of one model give the same bits
//! every time, and those of one device where these do not depend on how a matrix is cut (`docs/numerics.md`). Devices
//! of several models round differently; there the last digits of a result depend on the device that had its turn.
//!
//! A device that fails gives its piece back, the others go on, and the observer hears of it ([`Observer::lost`]).
//!
//! What cannot be divided is computed by the first device: one pair, one path, one query in one reference, a reference
//! that is read in blocks, and any call of little work.
//!
//! [`Observer::lost`]: dtw_core::Observer::lost

mod call;
mod crew;
mod hand;
mod member;
mod queue;
mod triangle;
mod work;

use dtw_core::{Backend, Error, Plan, Problem, Result, Scalar, Task};

pub use crate::crew::{Worker, is_own, run};
pub use crate::member::Member;
pub use crate::work::Work;

use crate::call::Call;
use crate::hand::Hand;

/// Cells of a call that are worth more than one device: a hundredth of a second of a CPU, next to nothing of a GPU.
const LEAST_CELLS: u64 = 1 << 26;

/// Several backends as one. Each of them may use a problem's memory limit, on its own device.
#[derive(Debug)]
pub struct Several<T> {
    members: Vec<Member<T>>,
    least_cells: u64,
}

impl<T> Clone for Several<T> {
    fn clone(&self) -> Self {
        Self { members: self.members.clone(), least_cells: self.least_cells }
    }
}

impl<T: Scalar> Several<T> {
    /// Of these, of which the first computes what cannot be divided.
    ///
    /// # Errors
    /// [`Error::Invalid`] for none.
    pub fn new(members: Vec<Member<T>>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::invalid("expected one device or more, got none"));
        }
        Ok(Self { members, least_cells: LEAST_CELLS })
    }

    /// Divides calls of this many cells and more; for tests.
    #[must_use]
    pub fn with_least_cells(mut self, cells: u64) -> Self {
        self.least_cells = cells;
        self
    }

    fn is_of_one_kind(&self) -> bool {
        self.members.iter().all(|member| member.backend.name() == self.members[0].backend.name())
    }
}

impl<T: Scalar> Backend<T> for Several<T> {
    /// That of all members, if they are of one kind.
    fn name(&self) -> &'static str {
        if self.is_of_one_kind() { self.members[0].backend.name() } else { "several devices" }
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        self.members.iter().try_for_each(|member| member.backend.supports(problem, task))
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        let mut hands: Vec<_> =
            self.members.iter().flat_map(|m| Hand::of(m, hands_of(&*m.backend, problem))).collect();
        // What is wrong with the problem is said before any call, however few of the devices it needs.
        self.supports(problem, Task::Distances)?;
        hands[0].plan_whole(problem, false)?;
        let equal = self.is_of_one_kind().then_some(self.members.len());
        Ok(Box::new(Call::new(problem.clone(), hands, self.least_cells, equal)))
    }

    fn prunes_nearest(&self, problem: &Problem) -> bool {
        self.members.iter().all(|member| member.backend.prunes_nearest(problem))
    }

    fn prunes_windows(&self, problem: &Problem) -> bool {
        self.members.iter().all(|member| member.backend.prunes_windows(problem))
    }

    fn computes_elsewhere(&self) -> bool {
        self.members.iter().all(|member| member.backend.computes_elsewhere())
    }
}

/// Threads that work with a device. While one of a GPU's copies results to their places, the GPU sweeps for the other.
fn hands_of<T: Scalar>(backend: &dyn Backend<T>, problem: &Problem) -> usize {
    let is_shared = hand::shared_limit(problem.memory_limit_bytes()) < problem.memory_limit_bytes();
    if backend.name() != "cpu" && is_shared { 2 } else { 1 }
}
