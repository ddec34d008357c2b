//! A job: tasks that a device is given, and how much of them is done at once.

use crate::launch::speed::PARALLEL;
use crate::shaders::constants::RESCALE_ROWS;
use crate::shaders::params::Params;
use crate::shaders::sweep::Sweep;

/// Pairs that are swept in pieces at the same time, where memory allows.
const MOST_PIECES: u64 = 4096;
/// Rows of a piece, at least: fewer would leave the lanes idle.
pub(crate) const LEAST_ROWS: u64 = 64;
/// And at most: a call is stopped between two pieces.
const MOST_ROWS: u64 = 8192;

/// Tasks to dispatch.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) sweep: Sweep,
    pub(crate) params: Params,
    pub(crate) tasks: u64,
    /// Most points of a row's and of a column's series.
    pub(crate) longest: (usize, usize),
    /// Cells of the largest task.
    pub(crate) cells: u64,
    /// Whether the columns are among the rows on the device.
    pub(crate) within_x: bool,
}

/// What is done at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) tasks: u64,
    pub(crate) rows: u64,
    pub(crate) strips: u64,
}

/// As many of these rows as make whole steps of [`RESCALE_ROWS`], or all where they are fewer: a state is rescaled in
/// the same rows however pieces are cut.
pub(crate) fn whole_steps(rows: u64) -> u64 {
    const STEP: u64 = RESCALE_ROWS as u64;
    if rows > STEP { rows - rows % STEP } else { rows }
}

impl Job {
    pub(crate) fn strips(&self) -> u64 {
        (self.longest.1 as u64).div_ceil(u64::from(self.sweep.strip_columns()))
    }

    /// Columns of so many strips.
    pub(crate) fn columns(&self, strips: u64) -> u64 {
        (self.longest.1 as u64).min(strips * u64::from(self.sweep.strip_columns()))
    }

    /// Bytes of the edges of so many tasks and rows, and of the row before them.
    pub(crate) fn edge_bytes(&self, tasks: u64, rows: u64) -> u64 {
        tasks * (rows + 1 + self.longest.1 as u64) * self.sweep.functor.state_bytes()
    }

    /// The arguments, with such edges.
    pub(crate) fn params_with_edges(&self, tasks: u64, rows: u64) -> Params {
        let m = self.longest.1 as u64;
        Params {
            edge_stride: rows as u32 + 1,
            edge_first: (tasks * m) as u32,
            carry_stride: m as u32,
            ..self.params
        }
    }

    /// Whole pairs of a dispatch, at most: as many for each of `workgroups` as `loops` turns of a loop allow, or one.
    pub(crate) fn whole_tasks(&self, workgroups: u64, loops: Option<u64>) -> u64 {
        // Such devices count the turns of all loops of an invocation together.
        let turns = self.sweep.turns_of_rows(self.longest.0 as u64, self.params.channels);
        let of_workgroup = loops.map_or(u64::MAX, |loops| (loops / turns).max(1));
        of_workgroup.saturating_mul(workgroups * u64::from(self.sweep.pairs()))
    }

    /// Tasks, rows and strips that are done at once, at most: as `loops` turns of a loop allow, and such that edges and
    /// carried rows take no more than `bytes`. `None` where not even one row of one task fits.
    pub(crate) fn piece(&self, cells: u64, loops: Option<u64>, bytes: u64) -> Option<Piece> {
        let (n, m) = (self.longest.0 as u64, self.longest.1 as u64);
        let (mut strips, mut rows) = (self.strips(), n.min(MOST_ROWS));
        if let Some(loops) = loops {
            let channels = self.params.channels;
            if strips * self.sweep.turns_of_rows(LEAST_ROWS.min(n), channels) > loops {
                strips = 1;
            }
            rows = rows.min(self.sweep.rows_in_turns(loops, strips, channels));
        }
        // The rows of a search in blocks are carried to the next block, each in its place.
        let keeps = self.params.saves == 1;
        let mut tasks = if keeps { self.tasks } else { self.tasks.min(MOST_PIECES) };
        let of_row = self.columns(strips);
        while !keeps && tasks > PARALLEL && tasks * of_row * LEAST_ROWS > cells {
            tasks = tasks.div_ceil(2);
        }
        loop {
            let fit = (bytes / (tasks * self.sweep.functor.state_bytes())).saturating_sub(1 + m);
            if fit >= rows.min(LEAST_ROWS) || ((keeps || tasks == 1) && fit > 0) {
                return Some(Piece { tasks, rows: rows.min(fit), strips });
            }
            if keeps || tasks == 1 {
                return None;
            }
            tasks = tasks.div_ceil(2);
        }
    }
}
