//! Values alone by a sweep in tiles (native/tiles), which keeps one row of their edges: Soft-DTW of several channels,
//! and of Euclidean and Manhattan costs.

use dtw_core::Result;
use dtw_kernels::params::{self, Params, TILE};
use dtw_kernels::{Kernel, Role, catalog};
use dtw_plan::Budget;

use crate::launch::job::Job;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::memory::region::Region;

/// Cells of a tile that a pair has to fill at least: below, the other sweeps compute fewer cells for nothing.
const LEAST_CELLS: usize = 1024;

/// Edges of a launch may take so much, however few pairs keep the device busy.
const ENOUGH_BYTES: u64 = 64 << 20;

/// A job that is swept in tiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiled {
    kernel: &'static Kernel,
    /// Rows and columns of tiles of the largest pair.
    down: u32,
    across: u32,
    bytes: PairBytes,
}

/// Bytes that a pair takes while it is under way.
#[derive(Debug, Clone, Copy)]
struct PairBytes {
    bottoms: u64,
    bases: u64,
    progress: u64,
}

impl PairBytes {
    fn of<T>(down: u32, across: u32) -> Self {
        Self {
            // Exponents and mantissas.
            bottoms: u64::from(across) * u64::from(2 * TILE) * size_of::<T>() as u64,
            bases: u64::from(across) * size_of::<f64>() as u64,
            progress: u64::from(down) * size_of::<u32>() as u64,
        }
    }

    fn sum(self) -> u64 {
        self.bottoms + self.bases + self.progress
    }
}

impl Tiled {
    /// A job of a functor that has such a kernel, if its pairs are large enough, or it has no other.
    pub(crate) fn of<T: Number>(job: &Job, budget: &Budget) -> Result<Option<Self>> {
        let Some(kernel) = kernel_of::<T>(job) else { return Ok(None) };
        let (down, across) = (job.x.length.div_ceil(TILE), job.y.length.div_ceil(TILE));
        let bytes = PairBytes::of::<T>(down, across);
        if bytes.sum() <= budget.edges {
            return Ok(Some(Self { kernel, down, across, bytes }));
        }
        if job.functor.in_tiles {
            return Err(budget.exceeded("the edges of a row of tiles", bytes.sum(), budget.edges));
        }
        Ok(None)
    }

    pub(crate) fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Launches the job, of which a sweep would be told `sweep`, on a device that runs `resident` blocks at once.
    pub(crate) fn launch<M: Machine>(
        &self,
        machine: &M,
        job: &Job,
        sweep: params::Sweep,
        resident: u64,
        [edges, progress]: [&mut Region<M>; 2],
        budget: &Budget,
    ) -> Result<()> {
        let Self { kernel, down, across, bytes } = *self;
        // More at once would not be faster, only take more memory.
        let enough = (ENOUGH_BYTES / bytes.sum()).max(resident);
        let most = (budget.edges / bytes.sum()).min(enough).min(job.tasks).max(1);
        // The bases of all pairs are behind all their edges, the ticket is before their progress.
        edges.reserve(machine, (most * (bytes.bottoms + bytes.bases)) as usize)?;
        let mut p = params::Soft {
            sweep,
            bottoms: edges.address(),
            bases: edges.address() + most * bytes.bottoms,
            down,
            across,
            ..params::Soft::default()
        };
        let (offsets, mut first) = (p.sweep.banding.range_offsets, 0);
        while first < job.tasks {
            let tasks = most.min(job.tasks - first);
            (p.sweep.pairs.first_task, p.sweep.pairs.tasks) = (job.first_task + first, tasks);
            p.sweep.banding.range_offsets = if offsets == 0 { 0 } else { offsets + first * 8 };
            let zeros = size_of::<u64>() as u64 + tasks * bytes.progress;
            p.sweep.strips.ticket = progress.zeros(machine, zeros as usize)?;
            p.progress = p.sweep.strips.ticket + size_of::<u64>() as u64;
            let blocks = resident.min(tasks * u64::from(down));
            machine.launch(kernel, p.bytes(), blocks as u32)?;
            first += tasks;
        }
        Ok(())
    }
}

/// The kernel in tiles for a job; `None`: another sweep is better, or the only one.
fn kernel_of<T: Number>(job: &Job) -> Option<&'static Kernel> {
    let many = job.channels > 1;
    let kernel = || catalog::other(Role::SoftForward, job.functor.key, T::DTYPE.name(), many);
    if job.functor.in_tiles {
        return Some(kernel().expect("permutations.toml lists it"));
    }
    let side = |length: u32| length.min(TILE) as usize;
    let is_large = side(job.x.length) * side(job.y.length) >= LEAST_CELLS;
    let is_plain = job.out != 0 && job.only.is_none() && !job.keeps_edges && !job.only_missing;
    (many && is_large && is_plain).then(kernel)?
}
