//! Launching the sweeps of Soft-DTW in tiles: one forward, which keeps the edges of tiles, and one backward
//! (native/tiles).

use dtw_core::Result;
use dtw_kernels::params::{self, Params, TILE};
use dtw_kernels::{Kernel, Role, catalog};

use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};

/// Rows and columns of a tile.
const TILE_POINTS: usize = TILE as usize;

/// Numbers of an edge of a tile: exponents and mantissas.
const EDGE_NUMBERS: usize = 2 * TILE_POINTS;

/// The kernels of both directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernels {
    forward: &'static Kernel,
    backward: &'static Kernel,
}

impl Kernels {
    /// The kernels of a functor, if there are any.
    pub(crate) fn of<T: Number>(key: &str, many: bool) -> Option<Self> {
        let kernel = |pass| catalog::other(pass, key, T::DTYPE.name(), many);
        Some(Self { forward: kernel(Role::SoftForward)?, backward: kernel(Role::SoftBackward)? })
    }
}

/// What gradients need on the device besides the series; kept between calls.
#[derive(Debug)]
pub(crate) struct Differentiator<T, M: Machine> {
    bottoms: Region<M>,
    rights: Region<M>,
    bases: Region<M>,
    flags: Region<M>,
    inflow: Region<M>,
    pub(crate) values: Region<M>,
    pub(crate) upstream: Region<M>,
    pub(crate) alignment: Region<M>,
    /// To x and to y.
    pub(crate) gradients: [Region<M>; 2],
    pub(crate) host: Vec<T>,
}

default_of!(Differentiator<T, M: Machine> { bottoms, rights, bases, flags, inflow, values, upstream, alignment, gradients, host });

/// Tiles of the largest pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiles {
    strips: usize,
    columns: usize,
}

/// Bytes of two tickets, before the flags.
const TICKET_BYTES: usize = 2 * size_of::<u64>();

impl Tiles {
    pub(crate) fn of(n: usize, m: usize) -> Self {
        Self { strips: n.div_ceil(TILE_POINTS), columns: m.div_ceil(TILE_POINTS) }
    }

    /// Bytes of the edges in one direction.
    fn edge_bytes<T>(self) -> usize {
        self.strips * self.columns * EDGE_NUMBERS * size_of::<T>()
    }

    fn base_bytes(self) -> usize {
        self.strips * self.columns * size_of::<f64>()
    }

    fn inflow_bytes<T>(self) -> usize {
        self.columns * TILE_POINTS * size_of::<T>()
    }

    /// Bytes of one kind of flags.
    fn flag_bytes(self) -> usize {
        self.strips * size_of::<u32>()
    }

    /// Bytes of a task of which the value alone is wanted: one row of edges serves all strips.
    pub(crate) fn value_bytes<T>(self) -> u64 {
        let row = Self { strips: 1, ..self };
        (row.edge_bytes::<T>() + row.base_bytes() + self.flag_bytes()) as u64
    }

    /// Bytes of a task, without its series and gradients.
    pub(crate) fn bytes<T>(self) -> u64 {
        let edges = 2 * self.edge_bytes::<T>() + self.base_bytes();
        (edges + self.inflow_bytes::<T>() + 3 * self.flag_bytes() + 2 * size_of::<T>()) as u64
    }
}

impl<T: Number, M: Machine> Differentiator<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        let regions = [
            &self.bottoms,
            &self.rights,
            &self.bases,
            &self.flags,
            &self.inflow,
            &self.values,
            &self.upstream,
            &self.alignment,
        ];
        let device = regions.into_iter().chain(&self.gradients).map(Region::bytes).sum::<usize>();
        device + self.host.capacity() * size_of::<T>()
    }

    /// Launches both sweeps of a job. Addresses of results are in `p`.
    pub(crate) fn launch(
        &mut self,
        machine: &M,
        kernels: Kernels,
        mut p: params::Soft,
        tiles: Tiles,
    ) -> Result<()> {
        let tasks = p.sweep.pairs.tasks as usize;
        let flags = tasks * tiles.flag_bytes();
        self.bottoms.reserve(machine, tasks * tiles.edge_bytes::<T>())?;
        self.rights.reserve(machine, tasks * tiles.edge_bytes::<T>())?;
        self.bases.reserve(machine, tasks * tiles.base_bytes())?;
        self.inflow.reserve(machine, tasks * tiles.inflow_bytes::<T>())?;
        let zeros = self.flags.zeros(machine, TICKET_BYTES + 3 * flags)?;
        let [forward, passed, added] = [0, 1, 2].map(|k| zeros + (TICKET_BYTES + k * flags) as u64);
        p.bottoms = self.bottoms.address();
        p.rights = self.rights.address();
        p.bases = self.bases.address();
        p.inflow = self.inflow.address();
        (p.down, p.across) = (tiles.strips as u32, tiles.columns as u32);
        (p.progress, p.sweep.strips.ticket) = (forward, zeros);
        let all = tasks * tiles.strips * tiles.columns;
        machine.launch(kernels.forward, p.bytes(), blocks_of(machine, kernels.forward, all)?)?;
        (p.progress, p.added, p.sweep.strips.ticket) = (passed, added, zeros + size_of::<u64>() as u64);
        p.sweep.pairs.out = 0;
        machine.launch(kernels.backward, p.bytes(), blocks_of(machine, kernels.backward, all)?)
    }

    /// Launches the forward sweep of a job alone, for its values.
    pub(crate) fn launch_values(
        &mut self,
        machine: &M,
        kernels: Kernels,
        mut p: params::Soft,
        tiles: Tiles,
    ) -> Result<()> {
        let tasks = p.sweep.pairs.tasks as usize;
        let row = Tiles { strips: 1, ..tiles };
        self.bottoms.reserve(machine, tasks * row.edge_bytes::<T>())?;
        self.bases.reserve(machine, tasks * row.base_bytes())?;
        let zeros = self.flags.zeros(machine, TICKET_BYTES + tasks * tiles.flag_bytes())?;
        (p.bottoms, p.rights, p.bases) = (self.bottoms.address(), 0, self.bases.address());
        (p.down, p.across) = (tiles.strips as u32, tiles.columns as u32);
        (p.progress, p.sweep.strips.ticket) = (zeros + TICKET_BYTES as u64, zeros);
        machine.launch(kernels.forward, p.bytes(), blocks_of(machine, kernels.forward, tasks * tiles.strips)?)
    }
}

/// Blocks that are busy with so many tickets.
fn blocks_of<M: Machine>(machine: &M, kernel: &Kernel, tickets: usize) -> Result<u32> {
    let tickets = u32::try_from(tickets).unwrap_or(u32::MAX);
    Ok(machine.resident_blocks(kernel)?.min(tickets).max(1))
}
