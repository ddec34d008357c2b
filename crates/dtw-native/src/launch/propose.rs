//! Proposals of a search in half precision, and their confirmation: launches of native/sweeps/propose.cuh and
//! native/passes/confirm.cuh.

use dtw_core::Result;
use dtw_kernels::params::{self, CARRIED, Params};
use dtw_kernels::{Kernel, Role, SweepKind, catalog};
use dtw_plan::{BandLayout, Budget};

use crate::launch::candidates::Candidates;
use crate::launch::choose::Hardware;
use crate::launch::job::{Edges, Job, LaunchBand};
use crate::launch::locate::Window;
use crate::launch::sweep::{BLOCK_WARPS, EDGE_ROWS};
use crate::machine::{Machine, blocks_for};
use crate::memory::region::{Region, default_of};

/// Columns of a lane, and of a strip.
const COLUMNS: usize = 32;
const STRIP: usize = 32 * COLUMNS;

/// Bytes of a link: of the totals of two queries, with a mark in their last bits.
const LINK: u64 = 8;

/// Most strips: marks tell so many apart.
const MOST_STRIPS: usize = (1 << 16) - 1;

/// The part of the memory for last columns that proposals may take; the rest is of the windows that confirm them.
const SHARE: (u64, u64) = (7, 8);

/// What a cell of two queries costs, in cells of the wide sweep of floats: its time over that of the wide sweep, as
/// 512 queries of 2,000 points take both on an H200.
const CELLS: f64 = 1.49;

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

    /// Whether halves can propose for such a job.
    pub(crate) fn can(job: &Job, budget: &Budget) -> bool {
        let (n, m) = (job.x.length as usize, job.y.length as usize);
        fills_lanes(m)
            && m.div_ceil(STRIP) <= MOST_STRIPS
            && bytes_of(job.tasks, couples(job), (n, m)) <= share(budget)
    }

    /// Estimated cycles of the proposals of a job, in those of [`choose`](crate::launch::choose).
    pub(crate) fn cycles(job: &Job, hardware: &Hardware) -> f64 {
        estimate((job.x.length as usize, job.y.length as usize), couples(job), hardware)
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

/// Most tasks, of so many queries in each reference and of references and queries that are at most so long, whose
/// proposals fit the memory beside the windows that confirm them.
pub(crate) fn most_tasks(queries: usize, lengths: (usize, usize), budget: &Budget) -> u64 {
    let (queries, share) = (queries as u64, share(budget));
    let of_reference = bytes_of(queries, queries.div_ceil(2), lengths).max(1);
    match share / of_reference {
        0 => share / bytes_of(2, 1, lengths).max(1) * 2,
        references => references * queries,
    }
}

/// Bytes that proposals may take.
pub(crate) fn share(budget: &Budget) -> u64 {
    budget.edges / SHARE.1 * SHARE.0
}

/// Bytes of the proposals of so many tasks in so many couples.
fn bytes_of(tasks: u64, couples: u64, (n, m): (usize, usize)) -> u64 {
    let rows = n.next_multiple_of(EDGE_ROWS) as u64;
    let links = if m > STRIP { couples * LINK } else { 0 };
    rows * (tasks * (size_of::<f32>() + size_of::<u32>()) as u64 + links)
}

/// Estimated cycles of so many couples. A warp may be alone with its scheduler.
fn estimate((n, m): (usize, usize), couples: u64, hardware: &Hardware) -> f64 {
    let is_alike = |kernel: &&Kernel| kernel.is(SweepKind::Wide) && kernel.columns as usize == COLUMNS;
    let Some(wide) = catalog::sweeps("open_dtw", "f32", false).find(is_alike) else { return f64::INFINITY };
    let cell = CELLS * hardware.tuning.costs(wide, false, 1).cell;
    let strips = m.div_ceil(STRIP) as f64;
    let warps = couples as f64 * strips * 32.0 / f64::from(hardware.lanes.max(1));
    let schedulers = hardware.tuning.schedulers * f64::from(hardware.multiprocessors.max(1));
    // A lane follows the one to its left by eight rows.
    let rows = n as f64 + strips * 8.0 * 32.0;
    rows * COLUMNS as f64 * cell * (warps / schedulers).max(1.0)
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
    use crate::launch::choose::tests::{H200, demand};
    use crate::launch::choose::{Demand, choose, cycles};

    #[test]
    fn lanes_share_one_column_at_most() {
        let filled: Vec<usize> = (1..3000).filter(|m| fills_lanes(*m)).collect();
        assert!(filled.iter().all(|m| m.div_ceil(32) * 32 - m < m.div_ceil(32)));
        assert!((962..3000).all(|m| filled.contains(&m)) && !fills_lanes(100) && fills_lanes(125));
    }

    /// 512 queries of 2,000 points in 100,000 took 9.6 ms in halves and 13.6 ms in floats on an H200.
    #[test]
    fn proposals_are_estimated_at_the_measured_part_of_a_wide_sweep() {
        let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, 2000, 512) };
        let floats = cycles(&choose(&search, &H200, |_| true).unwrap(), &search, &H200);
        let halves = estimate((100_000, 2000), 256, &H200);
        assert!((halves / floats * 13.6 / 9.6 - 1.0).abs() < 0.02, "{halves} of {floats}");
        // A query alone takes as long as two for each scheduler.
        assert!(estimate((100_000, 2000), 1, &H200) > 0.9 * halves);
    }

    /// References of one query each have a couple for each: of as many tasks, twice the links.
    #[test]
    fn tasks_that_fit_have_room() {
        let budget = Budget { edges: 80_000_000, ..Budget::of(1 << 30) };
        for (queries, lengths) in
            [(1, (20_000, 1100)), (3, (20_000, 1100)), (700, (20_000, 1000)), (9, (64, 96))]
        {
            let most = most_tasks(queries, lengths, &budget);
            let references = most / queries as u64;
            let (tasks, couples) = match references {
                0 => (most, most.div_ceil(2)),
                _ => (most, references * (queries as u64).div_ceil(2)),
            };
            let share = super::share(&budget);
            assert!(most > 0 && bytes_of(tasks, couples, lengths) <= share, "{queries} {lengths:?}: {most}");
            assert!(2 * bytes_of(tasks, couples, lengths) > share, "{queries} {lengths:?}: {most}");
        }
    }

    #[test]
    fn what_is_known_of_an_end_is_a_number() {
        let of = [0, 1, 77, CARRIED as usize].map(Known::of);
        assert_eq!(of, [Known::Proposed, Known::Start(0), Known::Start(76), Known::Bound]);
    }
}
