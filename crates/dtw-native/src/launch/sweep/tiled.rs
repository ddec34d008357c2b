//! Values alone by a sweep in tiles (native/tiles), which keeps one row of their edges: Soft-DTW of several channels,
//! and of Euclidean and Manhattan costs.

use dtw_core::Result;
use dtw_kernels::params::{self, Params, TILE};
use dtw_kernels::{Kernel, Pass, catalog};
use dtw_plan::Budget;

use super::{Job, LaunchBand, Sweeper};
use crate::machine::Machine;
use crate::memory::bytes::Number;

/// Cells of a tile that a pair has to fill at least: below, the other sweeps compute fewer cells for nothing.
const LEAST_CELLS: usize = 1024;

/// Edges of a launch may take so much, however few pairs keep the device busy.
const ENOUGH_BYTES: u64 = 64 << 20;

/// Bytes that a task takes while it is under way.
#[derive(Debug, Clone, Copy)]
struct Room {
    bottoms: u64,
    bases: u64,
    progress: u64,
}

impl Room {
    fn of<T>(down: u32, across: u32) -> Self {
        Self {
            // Exponents and mantissas.
            bottoms: u64::from(across) * u64::from(2 * TILE) * size_of::<T>() as u64,
            bases: u64::from(across) * size_of::<f64>() as u64,
            progress: u64::from(down) * size_of::<u32>() as u64,
        }
    }

    fn bytes(self) -> u64 {
        self.bottoms + self.bases + self.progress
    }
}

impl<M: Machine> Sweeper<M> {
    /// Launches a job of a functor that has such a kernel, if its pairs are large enough, or it has no other; whether
    /// it did.
    pub(super) fn launch_tiled<T: Number>(
        &mut self,
        job: &Job,
        band: LaunchBand,
        budget: &Budget,
    ) -> Result<bool> {
        let Some(kernel) = tiled::<T>(job) else { return Ok(false) };
        let (down, across) = (job.x.length.div_ceil(TILE), job.y.length.div_ceil(TILE));
        let room = Room::of::<T>(down, across);
        if room.bytes() > budget.edges {
            if job.functor.in_tiles {
                return Err(budget.exceeded("the edges of a row of tiles", room.bytes(), budget.edges));
            }
            return Ok(false);
        }
        let resident = self.resident_blocks(kernel)?;
        // More at once would not be faster, only take more memory.
        let enough = (ENOUGH_BYTES / room.bytes()).max(resident);
        let most = (budget.edges / room.bytes()).min(enough).min(job.tasks).max(1);
        // The bases of all tasks are behind all their edges, the ticket is before their progress.
        self.edges.reserve(&self.machine, (most * (room.bottoms + room.bases)) as usize)?;
        let mut p = params::Soft {
            sweep: self.params(job, band),
            bottoms: self.edges.address(),
            bases: self.edges.address() + most * room.bottoms,
            down,
            across,
            ..params::Soft::default()
        };
        let (offsets, mut first) = (p.sweep.grid.range_offsets, 0);
        while first < job.tasks {
            let tasks = most.min(job.tasks - first);
            (p.sweep.pairs.first_task, p.sweep.pairs.tasks) = (job.first_task + first, tasks);
            p.sweep.grid.range_offsets = if offsets == 0 { 0 } else { offsets + first * 8 };
            let bytes = size_of::<u64>() as u64 + tasks * room.progress;
            p.sweep.strips.ticket = self.progress.zeros(&self.machine, bytes as usize)?;
            p.progress = p.sweep.strips.ticket + size_of::<u64>() as u64;
            let blocks = resident.min(tasks * u64::from(down));
            self.machine.launch(kernel, p.bytes(), blocks as u32)?;
            first += tasks;
        }
        Ok(true)
    }
}

/// The kernel in tiles for a job; `None`: another sweep is better, or the only one.
fn tiled<T: Number>(job: &Job) -> Option<&'static Kernel> {
    let many = job.channels > 1;
    let kernel = || catalog::other(Pass::SoftForward, job.functor.key, T::DTYPE.name(), many);
    if job.functor.in_tiles {
        return Some(kernel().expect("permutations.toml lists it"));
    }
    let side = |length: u32| length.min(TILE) as usize;
    let is_large = side(job.x.length) * side(job.y.length) >= LEAST_CELLS;
    let is_plain = job.out != 0 && job.last_row == 0 && !job.keeps_edges && !job.only_missing;
    (many && is_large && is_plain).then(kernel)?
}
