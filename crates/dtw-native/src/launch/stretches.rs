//! A long reference in stretches that are swept side by side, with the bits of one sweep of the whole.
//!
//! A state of a search depends on the points of the reference that come before it, and the longer ago they were, the
//! less. So a stretch may begin a few query lengths before its own rows, with nothing known (its *run-up*). If its
//! states are then those with which the stretch before it ends, all its own are right: a state depends on the row
//! before it and on nothing else. The device compares them, starts included (native/passes/agree.cuh). If some differ,
//! the run-up is made longer, and in the end the reference is swept whole: no result rests on a guess.

use std::ops::Range;

use dtw_core::{Pairing, Result};
use dtw_kernels::params::{self, PAD, Params};
use dtw_kernels::{Kernel, Role, SweepKind, catalog};
use dtw_plan::{BandLayout, Budget};

use crate::launch::job::{Edges, Job, LaunchBand};
use crate::launch::sweep::Sweeper;
use crate::machine::{Machine, blocks_for};
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};

/// Run-ups that are tried, in query lengths. Over noise, walks, ECG, plateaus and sines, states were the same after 0.3
/// to 1.8 lengths on average, and after 4 at most.
const RUN_UPS: [usize; 2] = [4, 16];

/// Own rows of a stretch are at least so many run-ups.
const LEAST_OWN: usize = 2;

/// Own rows of a stretch are a multiple of this, and so of all rows that a kernel takes at once.
const BUNDLE: usize = 32;

/// How a reference is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    points: usize,
    pub(crate) count: usize,
    run_up: usize,
    /// Rows of each stretch but the first, without its run-up.
    own: usize,
}

impl Cut {
    pub(crate) fn whole(points: usize) -> Self {
        Self { points, count: 1, run_up: 0, own: points }
    }

    /// Into `count` stretches; `None` where they would be too short for this run-up.
    fn new(points: usize, count: usize, run_up: usize) -> Option<Self> {
        let own = points.saturating_sub(run_up) / count / BUNDLE * BUNDLE;
        (count > 1 && own >= LEAST_OWN * run_up).then_some(Self { points, count, run_up, own })
    }

    /// The points whose ends a stretch gives.
    pub(crate) fn own(&self, stretch: usize) -> Range<usize> {
        let end = self.points - (self.count - 1 - stretch) * self.own;
        if stretch == 0 { 0..end } else { end - self.own..end }
    }

    /// The point that a stretch begins with.
    pub(crate) fn begin(&self, stretch: usize) -> usize {
        if stretch == 0 { 0 } else { self.own(stretch).start - self.run_up }
    }

    /// Rows of a stretch, with its run-up.
    fn rows(&self, stretch: usize) -> usize {
        self.own(stretch).end - self.begin(stretch)
    }

    fn longest(&self) -> usize {
        self.rows(0).max(self.rows(self.count - 1))
    }

    /// Where a stretch's own ends are in its last column.
    pub(crate) fn ends(&self, stretch: usize) -> Range<usize> {
        let own = self.own(stretch);
        own.start - self.begin(stretch)..own.end - self.begin(stretch)
    }
}

/// A reference that was swept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Swept {
    pub(crate) cut: Cut,
    /// Tasks are stretch * queries + query.
    pub(crate) edges: Edges,
}

/// What the sweep of stretches needs on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Stretches<M: Machine> {
    /// States of the last row of each task, totals and starts; behind them those of the run-ups.
    pub(crate) states: Region<M>,
    offsets: Region<M>,
    lengths: Region<M>,
    agreed: Region<M>,
    host_agreed: Vec<u32>,
}

default_of!(Stretches<M: Machine> { states, offsets, lengths, agreed, host_agreed });

impl<M: Machine> Stretches<M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.states, &self.offsets, &self.lengths, &self.agreed].iter().map(|region| region.bytes()).sum()
    }

    /// The least cycles at which the sweep of `job` in stretches is estimated; `None` if it is faster whole.
    pub(crate) fn estimate<T: Number>(sweeper: &Sweeper<M>, job: &Job, budget: &Budget) -> Option<f64> {
        let cut = fastest::<T, M>(sweeper, job, run_up(job, RUN_UPS[0]), budget)?;
        sweeper.estimate::<T>(&stretched(job, cut)).map(|(cycles, _)| cycles)
    }

    /// Sweeps a reference block by `job`, one series of rows whose border is above its first: in stretches if that is
    /// faster and they agree, else whole.
    pub(crate) fn sweep<T: Number>(
        &mut self,
        machine: &M,
        sweeper: &mut Sweeper<M>,
        job: &Job,
        budget: &Budget,
    ) -> Result<Swept> {
        if let Some(swept) = self.in_stretches::<T>(machine, sweeper, job, budget)? {
            return Ok(swept);
        }
        let cut = Cut::whole(job.x.length as usize);
        let edges = self.launch::<T>(machine, sweeper, job, cut, budget)?;
        Ok(Swept { cut, edges })
    }

    /// Sweeps in stretches if that is faster than whole; `None` if not, or if they do not agree.
    pub(crate) fn in_stretches<T: Number>(
        &mut self,
        machine: &M,
        sweeper: &mut Sweeper<M>,
        job: &Job,
        budget: &Budget,
    ) -> Result<Option<Swept>> {
        for lengths in RUN_UPS {
            let Some(cut) = fastest::<T, M>(sweeper, job, run_up(job, lengths), budget) else { break };
            let edges = self.launch::<T>(machine, sweeper, job, cut, budget)?;
            if self.agree::<T>(machine, &stretched(job, cut))?.iter().all(|agreed| *agreed != 0) {
                return Ok(Some(Swept { cut, edges }));
            }
        }
        Ok(None)
    }

    /// Launches the sweep of all stretches.
    fn launch<T: Number>(
        &mut self,
        machine: &M,
        sweeper: &mut Sweeper<M>,
        job: &Job,
        cut: Cut,
        budget: &Budget,
    ) -> Result<Edges> {
        self.states.reserve(machine, states_bytes::<T>(job, cut) as usize)?;
        let mut job = Job { last_row: self.states.address(), ..stretched(job, cut) };
        if cut.count > 1 {
            let first = |s: usize| u64::from(PAD) + cut.begin(s) as u64;
            let offsets: Vec<u64> = (0..cut.count).map(first).collect();
            let lengths: Vec<u32> = (0..cut.count).map(|s| cut.rows(s) as u32).collect();
            job.x.offsets = self.offsets.hold(machine, &offsets)?;
            job.x.lengths = self.lengths.hold(machine, &lengths)?;
        }
        let edges = sweeper.launch::<T>(&job, LaunchBand::plain(BandLayout::Full), budget)?;
        Ok(edges.expect("a search keeps its edges"))
    }

    /// For each task of a job that was swept, not 0 if its stretch began as the one before it ended.
    fn agree<T: Number>(&mut self, machine: &M, job: &Job) -> Result<&[u32]> {
        let tasks = job.tasks;
        self.agreed.reserve(machine, tasks as usize * size_of::<u32>())?;
        let p = params::Agree {
            states: self.states.address(),
            offsets: self.offsets.address(),
            lengths: job.y.lengths,
            agreed: self.agreed.address(),
            stride: u64::from(job.y.length),
            tasks,
            queries: job.y.count,
            length: job.y.length,
            has_starts: u32::from(job.functor.parts > 1),
            ..params::Agree::default()
        };
        machine.launch(agree_kernel::<T>(), p.bytes(), blocks_for(tasks))?;
        self.agreed.fetch(machine, &mut self.host_agreed, tasks as usize)?;
        Ok(&self.host_agreed)
    }
}

/// Rows of a run-up of so many query lengths.
fn run_up(job: &Job, lengths: usize) -> usize {
    (lengths * job.y.length as usize).next_multiple_of(32)
}

/// The job whose tasks are the stretches of each query.
fn stretched(job: &Job, cut: Cut) -> Job {
    let x = params::Side { count: cut.count as u32, length: cut.longest() as u32, ..job.x };
    Job {
        x,
        pairing: Pairing::Cross,
        tasks: cut.count as u64 * u64::from(job.y.count),
        cells: u64::from(x.length) * u64::from(job.y.length),
        run_up: cut.run_up as u32,
        stretches: cut.count as u32,
        keeps_edges: true,
        only: Some(if job.functor.parts > 1 { SweepKind::Block } else { SweepKind::Wide }),
        ..*job
    }
}

/// The cut with this run-up that is swept fastest, if it is faster than the whole and fits the memory.
fn fastest<T: Number, M: Machine>(
    sweeper: &Sweeper<M>,
    job: &Job,
    run_up: usize,
    budget: &Budget,
) -> Option<Cut> {
    let points = job.x.length as usize;
    let counts = std::iter::successors(Some(2_usize), |count| count.checked_mul(2));
    let cuts = counts.map_while(|count| Cut::new(points, count, run_up)).filter_map(|cut| {
        let each = stretched(job, cut);
        let (cycles, bytes) = sweeper.estimate::<T>(&each)?;
        (bytes + states_bytes::<T>(job, cut) <= budget.edges).then_some((cycles, cut))
    });
    let (cycles, cut) = cuts.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (cycles < sweeper.estimate::<T>(&stretched(job, Cut::whole(points)))?.0).then_some(cut)
}

/// Bytes of the states that a sweep writes: a total and a start, in slots of numbers, for each column of each task.
fn states_bytes<T>(job: &Job, cut: Cut) -> u64 {
    let rows = if cut.count > 1 { 2 } else { 1 };
    let columns = u64::from(job.y.count) * u64::from(job.y.length);
    cut.count as u64 * columns * rows * 2 * size_of::<T>() as u64
}

/// The kernel that compares the states of stretches.
fn agree_kernel<T: Number>() -> &'static Kernel {
    catalog::other(Role::Agree, "agree", T::DTYPE.name(), false).expect("permutations.toml lists it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_have_every_end_once() {
        for (points, count, run_up) in [(170, 2, 32), (1_000_003, 128, 1024), (400, 2, 64), (4097, 7, 96)] {
            let cut = Cut::new(points, count, run_up).unwrap();
            let mut next = 0;
            for s in 0..count {
                let (own, ends) = (cut.own(s), cut.ends(s));
                assert_eq!((own.start, own.len()), (next, ends.len()), "{cut:?} {s}");
                assert_eq!(cut.begin(s) + ends.start, own.start);
                assert_eq!(ends.end, cut.rows(s));
                assert!(cut.rows(s) <= cut.longest());
                assert_eq!(own.start - cut.begin(s), if s == 0 { 0 } else { run_up });
                next = own.end;
            }
            assert_eq!(next, points);
        }
        assert_eq!(Cut::new(95, 1, 32), None);
        assert_eq!(Cut::new(159, 2, 32), None);
    }
}
