//! Proposals of a search in half precision, and their confirmation: launches of native/sweeps/propose.cuh and
//! native/passes/confirm.cuh.

use dtw_core::Result;
use dtw_kernels::params::{self, CARRIED, Params};
use dtw_kernels::{Kernel, Role, catalog};
use dtw_plan::{BandLayout, Budget};

use crate::launch::candidates::Candidates;
use crate::launch::job::{Edges, Job, LaunchBand};
use crate::launch::locate::Window;
use crate::launch::sweep::{BLOCK_WARPS, EDGE_ROWS};
use crate::machine::{Machine, blocks_for};
use crate::memory::region::{Region, default_of};

/// Columns of a lane, and of a strip.
const COLUMNS: usize = 32;
const STRIP: usize = 32 * COLUMNS;

/// Bytes of a link: of the totals of two queries, and a mark.
const LINK: u64 = 16;

/// By how much a proposal is lowered: this part of it ...
pub(crate) const MARGIN: f64 = 1.0 / 64.0;
/// ... and so many squares of a scaled point for each column of the query, for points are rounded too.
const FLOOR: f64 = 1.0 / (1 << 18) as f64;
/// The largest part that a lowered proposal may be of what it costs in truth, of all that are confirmed: half of the
/// margin is used up.
pub(crate) const MOST_EXCESS: f32 = 1.0 - 0.5 / 64.0;

/// Whether queries of this length fill lanes: up to one column a lane is shared with the next.
pub(crate) fn fills_lanes(m: usize) -> bool {
    let lanes = m.div_ceil(COLUMNS);
    m > COLUMNS && lanes * COLUMNS - m < lanes
}

/// What is known of a search: proposals, costs, and where paths start; kept between calls.
#[derive(Debug)]
pub(crate) struct Proposals<M: Machine> {
    costs: Region<M>,
    known: Region<M>,
    links: Region<M>,
    windows: Region<M>,
    excess: Region<M>,
    host_excess: Vec<f32>,
    stride: u64,
}

default_of!(Proposals<M: Machine> { costs, known, links, windows, excess, host_excess, stride });

/// A window and the ends in it that are to be confirmed: its last ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confirmed {
    pub(crate) window: Window,
    /// Task of the proposals.
    pub(crate) task: usize,
    /// First point of the window in its reference.
    pub(crate) begin: usize,
    /// The last so many rows are wanted.
    pub(crate) ends: u32,
}

/// What is known of an end, by its number on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Its cost was proposed.
    Proposed,
    /// It costs no less.
    Bound,
    /// The cost is that of a search in full precision, and the path starts here.
    Start(usize),
}

impl Known {
    pub(crate) fn of(number: usize) -> Self {
        match number {
            0 => Self::Proposed,
            number if number >= CARRIED as usize => Self::Bound,
            number => Self::Start(number - 1),
        }
    }
}

impl<M: Machine> Proposals<M> {
    pub(crate) fn bytes(&self) -> usize {
        let regions = [&self.costs, &self.known, &self.links, &self.windows, &self.excess];
        regions.iter().map(|region| region.bytes()).sum::<usize>()
            + self.host_excess.capacity() * size_of::<f32>()
    }

    /// Whether the proposals of a job fit the memory beside the windows that confirm them.
    pub(crate) fn fit(job: &Job, budget: &Budget) -> bool {
        let rows = u64::from(job.x.length).next_multiple_of(EDGE_ROWS as u64);
        let each = rows * (size_of::<f32>() + size_of::<u32>()) as u64;
        job.tasks * each + couples(job) * rows * LINK <= budget.edges / 2
    }

    /// Sweeps all pairs of a job in half precision; afterwards the proposals of all ends are here.
    pub(crate) fn propose(&mut self, machine: &M, job: &Job) -> Result<()> {
        let kernel = kernel(Role::Propose, "propose");
        let strips = (job.y.length as usize).div_ceil(STRIP) as u64;
        let mut p = job.params(LaunchBand::plain(BandLayout::Full));
        p.pairs.tasks = couples(job);
        p.strips.most_strips = strips as u32;
        p.strips.edge_stride = (job.x.length as usize).next_multiple_of(EDGE_ROWS) as u64;
        p.measure.parameters = [1.0 - MARGIN, FLOOR * f64::from(job.y.length), 0.0, 0.0];
        self.stride = p.strips.edge_stride;
        let ends = (job.tasks * self.stride) as usize;
        self.costs.reserve(machine, ends * size_of::<f32>())?;
        self.known.zeros(machine, ends * size_of::<u32>())?;
        // The ticket behind the links.
        let bytes = if strips > 1 { p.pairs.tasks * self.stride * LINK } else { LINK };
        p.strips.links = self.links.zeros(machine, bytes as usize + size_of::<u64>())?;
        p.strips.ticket = p.strips.links + bytes;
        p.strips.edges = self.costs.address();
        let warps_per_wave = u64::from(machine.properties().lanes / 32).max(1);
        let warps = p.pairs.tasks.next_multiple_of(warps_per_wave) * strips;
        let resident = u64::from(machine.resident_blocks(kernel)?.max(1));
        machine.launch(kernel, p.bytes(), warps.div_ceil(BLOCK_WARPS).min(resident) as u32)
    }

    /// The proposals as what hits are chosen from. A hit's start says what is known of it.
    pub(crate) fn candidates<'a>(&self, job: &Job, lengths: &'a [u32]) -> Candidates<'a> {
        Candidates {
            totals: self.costs.address(),
            starts: self.known.address(),
            stride: self.stride,
            tasks: job.tasks as usize,
            longest: job.x.length as usize,
            lengths,
        }
    }

    /// Takes the costs of windows that were swept in full precision; for each, the largest part that a proposal was of
    /// its cost.
    pub(crate) fn confirm(&mut self, machine: &M, swept: &Edges, windows: &[Confirmed]) -> Result<&[f32]> {
        let row = |each: &Confirmed| {
            let first = each.window.rows - each.ends;
            [each.task as u32, each.begin as u32, first, each.ends]
        };
        let table: Vec<u32> = windows.iter().flat_map(row).collect();
        self.excess.reserve(machine, windows.len() * size_of::<f32>())?;
        let p = params::Confirm {
            exact: swept.address,
            starts: swept.address + swept.part_stride * size_of::<f32>() as u64,
            windows: self.windows.hold(machine, &table)?,
            proposals: self.costs.address(),
            known: self.known.address(),
            excess: self.excess.address(),
            exact_stride: swept.stride,
            stride: self.stride,
            count: windows.len() as u64,
        };
        machine.launch(kernel(Role::Confirm, "confirm"), p.bytes(), blocks_for(p.count))?;
        self.excess.fetch(machine, &mut self.host_excess, windows.len())?;
        Ok(&self.host_excess)
    }
}

/// Twos of queries of each reference.
fn couples(job: &Job) -> u64 {
    u64::from(job.x.count) * u64::from(job.y.count).div_ceil(2)
}

fn kernel(role: Role, name: &str) -> &'static Kernel {
    catalog::other(role, name, "f32", false).expect("permutations.toml lists it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_share_one_column_at_most() {
        let filled: Vec<usize> = (1..3000).filter(|m| fills_lanes(*m)).collect();
        assert!(filled.iter().all(|m| m.div_ceil(32) * 32 - m < m.div_ceil(32)));
        assert!((962..3000).all(|m| filled.contains(&m)) && !fills_lanes(100) && fills_lanes(125));
    }

    #[test]
    fn what_is_known_of_an_end_is_a_number() {
        let of = [0, 1, 77, CARRIED as usize].map(Known::of);
        assert_eq!(of, [Known::Proposed, Known::Start(0), Known::Start(76), Known::Bound]);
    }
}
