//! Windows before given ends of a reference: what the matches that end there cost, and where they start, with the bits
//! of a sweep of the whole.
//!
//! A window is swept as if a path came from above it into every column at no cost. So no total is above that of a sweep
//! of the whole: rounded sums and minima grow with what they are made of. Where the best path starts inside the window,
//! it is that of the whole, and so is what it costs: at each of its cells, those arrivals that it was preferred to are
//! no better in truth, and of equal ones the same direction is preferred (recurrence/subsequence.cuh).
//!
//! ```text
//!      reference   ------------------------------------------------------
//!      window                     | rows ............ end |                a path that starts in one of these rows is
//!                                 0 0 0 0 (above the first row)            the best of all that end here
//! ```

use dtw_core::{Pairing, Result};
use dtw_kernels::SweepKind;
use dtw_kernels::params::{self, CARRIED};
use dtw_plan::{BandLayout, Budget};

use crate::launch::candidates::Run;
use crate::launch::job::{Edges, Job, LaunchBand};
use crate::launch::sweep::Sweeper;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};

/// A window of a reference, and the query that is sought in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// First prepared point of the window.
    pub(crate) reference: u64,
    pub(crate) rows: u32,
    /// First prepared point of the query.
    pub(crate) query: u64,
    pub(crate) columns: u32,
}

/// What may come from above a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Above {
    /// A path into every column, at no cost.
    Anything,
    /// Nothing: the window begins with the reference.
    Nothing,
}

/// What the sweep of windows needs on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Locator<M: Machine> {
    /// Totals above the first row: all zero, and all infinite, of so many points.
    open: Region<M>,
    closed: Region<M>,
    closed_points: usize,
    states: Region<M>,
    offsets: [Region<M>; 2],
    lengths: [Region<M>; 2],
}

default_of!(Locator<M: Machine> { open, closed, closed_points, states, offsets, lengths });

impl<M: Machine> Locator<M> {
    pub(crate) fn bytes(&self) -> usize {
        let tables = self.offsets.iter().chain(&self.lengths);
        [&self.open, &self.closed, &self.states].into_iter().chain(tables).map(Region::bytes).sum()
    }

    /// Windows of so many rows and columns whose sweep fits the memory at once; `None` if not even one does.
    pub(crate) fn most<T: Number>(
        sweeper: &Sweeper<M>,
        job: &Job,
        rows: u32,
        budget: &Budget,
    ) -> Option<usize> {
        let (_, bytes) = sweeper.estimate::<T>(&windowed(job, 1, rows))?;
        let each = bytes + states_bytes::<T>(job);
        Some((budget.edges / each.max(1)) as usize).filter(|most| *most > 0)
    }

    /// Estimated cycles of so many windows.
    pub(crate) fn estimate<T: Number>(sweeper: &Sweeper<M>, job: &Job, windows: u64, rows: u32) -> f64 {
        sweeper.estimate::<T>(&windowed(job, windows, rows)).map_or(f64::INFINITY, |(cycles, _)| cycles)
    }

    /// Sweeps windows by `job`, whose sides are of the batches that they are parts of, with `points` prepared points of
    /// queries in all. Tasks are the windows, in their order.
    pub(crate) fn sweep<T: Number>(
        &mut self,
        machine: &M,
        sweeper: &mut Sweeper<M>,
        (job, points): (&Job, usize),
        (windows, above): (&[Window], Above),
        budget: &Budget,
    ) -> Result<Edges> {
        let rows = windows.iter().map(|window| window.rows).max().unwrap_or(0);
        let mut job = windowed(job, windows.len() as u64, rows);
        let of = |part: fn(&Window) -> u64| windows.iter().map(part).collect::<Vec<u64>>();
        let counted = |part: fn(&Window) -> u32| windows.iter().map(part).collect::<Vec<u32>>();
        job.x.offsets = self.offsets[0].hold(machine, &of(|window| window.reference))?;
        job.y.offsets = self.offsets[1].hold(machine, &of(|window| window.query))?;
        job.x.lengths = self.lengths[0].hold(machine, &counted(|window| window.rows))?;
        job.y.lengths = self.lengths[1].hold(machine, &counted(|window| window.columns))?;
        job.y.sums = match above {
            Above::Anything => self.open.zeros(machine, points * size_of::<T>())?,
            Above::Nothing => {
                if self.closed_points < points {
                    self.closed_points = 0;
                    self.closed.hold(machine, &vec![T::INFINITY; points])?;
                    self.closed_points = points;
                }
                self.closed.address()
            }
        };
        self.states.reserve(machine, windows.len() * states_bytes::<T>(&job) as usize)?;
        job.last_row = self.states.address();
        let edges = sweeper.launch::<T>(&job, LaunchBand::plain(BandLayout::Full), budget)?;
        Ok(edges.expect("a search keeps its edges"))
    }
}

/// Whether a path that starts there came from above its window.
pub(crate) fn is_from_above(start: u32) -> bool {
    start >= CARRIED
}

/// The last `ends` ends of windows that were swept, in runs of windows of as many rows.
pub(crate) fn last_ends<T>(edges: &Edges, windows: &[Window], ends: u32) -> Vec<Run> {
    let mut first = 0;
    let runs = windows.chunk_by(|a, b| a.rows == b.rows).map(|run| {
        let ends = ends.min(run[0].rows);
        let (task, from) = (first * edges.stride, u64::from(run[0].rows - ends));
        first += run.len() as u64;
        let number = size_of::<T>() as u64;
        Run {
            totals: edges.address + (task + from) * number,
            // Starts lie in slots as wide as a number, one after the other.
            starts: edges.address + (edges.part_stride + task) * number + from * size_of::<u32>() as u64,
            columns: run.len(),
            ends: ends as usize,
        }
    });
    runs.collect()
}

/// The job whose tasks are so many windows of at most so many rows.
fn windowed(job: &Job, windows: u64, rows: u32) -> Job {
    Job {
        x: params::Side { count: windows as u32, length: rows, ..job.x },
        y: params::Side { count: windows as u32, ..job.y },
        pairing: Pairing::Zipped,
        first_task: 0,
        tasks: windows,
        cells: u64::from(rows) * u64::from(job.y.length),
        keeps_edges: true,
        only: Some(SweepKind::Block),
        run_up: 0,
        stretches: 1,
        ..*job
    }
}

/// Bytes of the states that the sweep of a window writes: a total and a start, in slots of numbers, for each column.
fn states_bytes<T>(job: &Job) -> u64 {
    u64::from(job.y.length) * 2 * size_of::<T>() as u64
}
