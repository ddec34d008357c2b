//! Tracing a tile. A sweep keeps the edges between strips. Then each strip, from the last to the first, is swept once
//! more with its arrivals recorded, and the walk goes through them (native/passes/trace.cuh).

use dtw_core::Result;
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Kernel, Role, catalog};

use crate::machine::blocks_for;
use crate::machine::{BLOCK_THREADS, Machine};
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};

/// Columns of a strip.
const STRIP_COLUMNS: usize = params::TRACE_COLUMNS as usize;

/// Words of arrivals that a row of a strip has: two bits a cell.
const ROW_WORDS: usize = STRIP_COLUMNS / 16;

/// Rows of an edge are a multiple of this.
const EDGE_ROWS: usize = 32;

/// What walks need on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Tracer<T, M: Machine> {
    out: Region<M>,
    edges: Region<M>,
    progress: Region<M>,
    ticket: Region<M>,
    arrivals: Region<M>,
    points: Region<M>,
    state: Region<M>,
    /// The distances of the last tile, task by task.
    pub(crate) distances: Vec<T>,
    host_points: Vec<u32>,
    /// Row, column, steps and whether it is done, for each task.
    pub(crate) host_state: Vec<u32>,
}

default_of!(Tracer<T, M: Machine> { out, edges, progress, ticket, arrivals, points, state, distances, host_points, host_state });

/// The size of the largest pair of a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) parts: usize,
}

impl Size {
    fn strips(self) -> usize {
        self.m.div_ceil(STRIP_COLUMNS)
    }
    fn edge_rows(self) -> usize {
        self.n.next_multiple_of(EDGE_ROWS)
    }
    /// Numbers in the edges of a task.
    fn edges(self) -> usize {
        self.strips() * self.edge_rows() * self.parts
    }
    /// Most points of a path.
    fn points(self) -> usize {
        self.n + self.m
    }
    /// Bytes of a task, without its series.
    pub(crate) fn bytes<T>(self) -> u64 {
        let words = ROW_WORDS * self.n + 2 * self.points() + self.strips() + 4;
        ((self.edges() + 1) * size_of::<T>() + words * size_of::<u32>()) as u64
    }
}

/// The tracing kernel of a functor.
pub(crate) fn trace_kernel<T: Number>(key: &str, many: bool) -> Option<&'static Kernel> {
    catalog::other(Role::Trace, key, T::DTYPE.name(), many)
}

impl<T: Number, M: Machine> Tracer<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.out, &self.edges, &self.progress, &self.ticket, &self.arrivals, &self.points, &self.state]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.distances.capacity() * size_of::<T>()
            + (self.host_points.capacity() + self.host_state.capacity()) * size_of::<u32>()
    }

    /// Traces the tasks of a launch, of which a sweep is told `p`; paths and distances are then on the host.
    /// `self.host_state` holds where they end.
    pub(crate) fn trace(
        &mut self,
        machine: &M,
        kernel: &'static Kernel,
        mut p: params::Sweep,
        size: Size,
        is_cancelled: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let tasks = p.pairs.tasks as usize;
        let (strips, words) = (size.strips(), ROW_WORDS * size.n);
        self.out.reserve(machine, tasks * size_of::<T>())?;
        self.edges.reserve(machine, tasks * size.edges() * size_of::<T>())?;
        self.arrivals.reserve(machine, tasks * words * size_of::<u32>())?;
        self.points.reserve(machine, tasks * size.points() * 2 * size_of::<u32>())?;
        p.pairs.out = self.out.address();
        p.banding.spread = 1;
        p.strips = params::Strips {
            edges: self.edges.address(),
            edge_stride: size.edge_rows() as u64,
            edge_part_stride: (tasks * strips * size.edge_rows()) as u64,
            progress: self.progress.zeros(machine, tasks * strips * size_of::<u32>())?,
            ticket: self.ticket.zeros(machine, size_of::<u64>())?,
            most_strips: strips as u32,
            keep_edges: 1,
            ..p.strips
        };
        p.trace = params::Trace {
            arrivals: self.arrivals.address(),
            arrival_stride: words as u64,
            ..params::Trace::default()
        };
        let resident = machine.resident_blocks(kernel)?.max(1);
        machine.launch(kernel, p.bytes(), resident.min(blocks_for((tasks * strips) as u64)))?;
        let mut walk = params::Walk {
            arrivals: p.trace.arrivals,
            points: self.points.address(),
            state: self.state.hold(machine, &self.host_state)?,
            path_stride: size.points() as u64,
            arrival_stride: words as u64,
            tasks: p.pairs.tasks,
            ..params::Walk::default()
        };
        let walker = catalog::other(Role::Walk, "walk", "", false).expect("permutations.toml lists it");
        (p.pairs.out, p.strips.keep_edges) = (0, 0);
        for strip in (0..strips as u32).rev() {
            is_cancelled()?;
            self.ticket.zeros(machine, size_of::<u64>())?;
            (p.strips.only_strip, walk.strip) = (strip, strip);
            machine.launch(kernel, p.bytes(), resident.min(blocks_for(tasks as u64)))?;
            machine.launch(walker, walk.bytes(), p.pairs.tasks.div_ceil(u64::from(BLOCK_THREADS)) as u32)?;
        }
        self.out.fetch(machine, &mut self.distances, tasks)?;
        self.state.fetch(machine, &mut self.host_state, 4 * tasks)?;
        self.points.fetch(machine, &mut self.host_points, 2 * tasks * size.points())
    }

    /// The path of task `k` from its first point to its last, as (row, column).
    pub(crate) fn path(&self, k: usize, size: Size) -> impl Iterator<Item = (usize, usize)> + '_ {
        let steps = self.host_state[4 * k + 2] as usize;
        let first = k * size.points();
        (first..first + steps)
            .rev()
            .map(|at| (self.host_points[2 * at] as usize, self.host_points[2 * at + 1] as usize))
    }
}
