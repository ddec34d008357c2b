//! What a plan keeps between calls, and one pass over it.

use std::sync::Arc;

use dtw_core::{Error, Observer, Pairing, PassResults, Problem, Result, SeriesBatch, Spec, Unobserved};
use dtw_kernels::SweepKind;
use dtw_plan::Banding;

use crate::engine::{Engine, Pass};
use crate::launch::bounds::Bounds;
use crate::launch::combine::Combined;
use crate::launch::differentiate::Differentiator;
use crate::launch::functor::Functor;
use crate::launch::hits::Searcher;
use crate::launch::propose::Proposals;
use crate::launch::trace::Tracer;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::device_batch::{OwnedLayout, Strided};
use crate::series::layout_tables::LayoutTables;
use crate::series::packing::Packer;

/// A plan on a machine that runs the native kernels.
///
/// Device memory is made in the first call and kept; [`dtw_core::Plan::scratch_bytes`] says how much.
#[derive(Debug)]
pub struct NativePlan<T: Number, M: Machine> {
    pub(crate) problem: Problem,
    pub(crate) functor: Functor,
    pub(crate) banding: Banding,
    pub(crate) engine: Engine<T, M>,
    pub(crate) searcher: Searcher<T, M>,
    pub(crate) bounds: Bounds<T, M>,
    pub(crate) observer: Watch,
    pub(crate) tracer: Tracer<T, M>,
    pub(crate) differentiator: Differentiator<T, M>,
    pub(crate) layouts: [LayoutTables<M>; 2],
    /// What results are combined of, pass by pass.
    pub(crate) passes: PassResults<T>,
    pub(crate) combined: Combined<M>,
    /// Tables of the layouts of x and y, each compared with itself.
    pub(crate) own_layouts: [[LayoutTables<M>; 2]; 2],
    pub(crate) packer: Packer<M>,
    /// What the last call in the caller's memory takes, of each kind.
    pub(crate) scratch_sizes: [Option<ScratchSize>; 4],
}

/// Bytes of scratch that a call takes on series of these layouts.
#[derive(Debug)]
pub(crate) struct ScratchSize {
    pub(crate) layouts: [OwnedLayout; 2],
    pub(crate) has_times: bool,
    pub(crate) strided: [Option<Strided>; 2],
    pub(crate) bytes: usize,
}

/// An observer that can be printed.
pub(crate) struct Watch(pub(crate) Arc<dyn Observer>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// A plan on this machine's queue.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a measure without kernels or series that are too long for them.
    pub fn new(machine: M, problem: &Problem) -> Result<Self> {
        let spec = problem.spec();
        let functor = Functor::of(spec).ok_or_else(|| no_kernels(machine.name(), spec))?;
        let shape = problem.shape();
        let longest = spec.measure.swept_length(shape.max_length_x.max(shape.max_length_y));
        if longest > MOST_POINTS {
            let what = format!("series of {longest} points: its kernels count up to {MOST_POINTS}");
            return Err(Error::left_to_cpu(machine.name(), what));
        }
        Ok(Self {
            banding: Banding::new(&spec.band, spec.anchor, longest),
            engine: Engine::new(machine, problem.memory_limit_bytes()),
            functor,
            problem: problem.clone(),
            searcher: Searcher::default(),
            bounds: Bounds::default(),
            tracer: Tracer::default(),
            differentiator: Differentiator::default(),
            layouts: [LayoutTables::default(), LayoutTables::default()],
            observer: Watch(Arc::new(Unobserved)),
            passes: PassResults::default(),
            combined: Combined::default(),
            own_layouts: std::array::from_fn(|_| std::array::from_fn(|_| LayoutTables::default())),
            packer: Packer::default(),
            scratch_sizes: [const { None }; 4],
        })
    }

    /// Computes distances and matches by this kind of sweep, and refuses what it cannot do; `None`: by the fastest.
    #[must_use]
    pub fn forcing(mut self, kind: Option<SweepKind>) -> Self {
        self.engine.sweeper.forced = kind;
        self
    }

    /// Searches in stretches, and by proposals where half precision is asked for, also where that is not worth it: as
    /// large searches are done.
    #[must_use]
    pub fn eager(mut self, is_eager: bool) -> Self {
        self.engine.sweeper.is_eager = is_eager;
        self
    }

    /// Begins a call that is no search by whole references: memory that one of these took beyond the usual shares is
    /// given back.
    pub(crate) fn begin(&mut self) {
        let Engine { sweeper, budget, .. } = &mut self.engine;
        sweeper.begin();
        sweeper.shrink(budget.edges + budget.tables);
        self.searcher.carried.proposals = Proposals::default();
    }

    /// The machine that this plan computes on.
    pub fn machine(&self) -> &M {
        &self.engine.machine
    }

    pub(crate) fn unsupported(&self, what: String) -> Error {
        Error::Unsupported { backend: self.engine.machine.name(), what, remedies: &[] }
    }

    /// One pass over the pairs of `pairing`.
    pub(crate) fn pass(
        &mut self,
        pairing: Pairing,
        channel: Option<usize>,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let mut pass = Pass {
            functor: self.functor,
            channel,
            pairing,
            banding: &mut self.banding,
            observer: &*self.observer.0,
            adds: channel.is_some_and(|k| k > 0),
        };
        self.engine.distances(&mut pass, x, y, out)
    }
}

/// Longest series: kernels count rows and columns together in 32 bits.
pub(crate) const MOST_POINTS: usize = (u32::MAX / 2 - 4096) as usize;

/// The error of a measure without kernels.
pub(crate) fn no_kernels(backend: &'static str, spec: &Spec) -> Error {
    Error::left_to_cpu(backend, format!("{}: there are no kernels for it", spec.key()))
}
