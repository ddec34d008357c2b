//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    Blocks, Error, Gradients, Match, Measure, Observer, Pairing, Path, PathCounts, Plan, Problem, Result,
    SearchOptions, Series, SeriesBatch, SoftResult, Unobserved,
};
use dtw_plan::Banding;

use crate::Machine;
use crate::bytes::Number;
use crate::engine::{Engine, Pass};
use crate::functor::Functor;
use crate::paths::Tracer;
use crate::resident::Layout;
use crate::search::Searcher;

/// A plan on a machine that runs the native kernels.
///
/// Device memory is made in the first call and kept; [`Plan::scratch_bytes`] says how much.
#[derive(Debug)]
pub struct NativePlan<T: Number, M: Machine> {
    pub(crate) problem: Problem,
    pub(crate) functor: Functor,
    pub(crate) banding: Banding,
    pub(crate) engine: Engine<T, M>,
    pub(crate) searcher: Searcher<T, M>,
    pub(crate) observer: Watch,
    pub(crate) tracer: Tracer<T, M>,
    pub(crate) resident: [Layout<M>; 2],
    /// Distances of series with themselves.
    pub(crate) own: [Vec<T>; 2],
    /// Of measures that sum over all paths.
    pub(crate) counts: PathCounts,
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
        let functor = Functor::of(spec).ok_or_else(|| no_kernels(machine.name(), spec.key()))?;
        let shape = problem.shape();
        let longest = spec.measure.swept_length(shape.max_length_x.max(shape.max_length_y));
        if longest > MOST_POINTS {
            return Err(Error::Unsupported {
                backend: machine.name(),
                what: format!(
                    "series of {longest} points: its kernels count up to {MOST_POINTS}; the cpu backend can"
                ),
            });
        }
        Ok(Self {
            banding: Banding::new(&spec.band, spec.anchor, longest),
            engine: Engine::new(machine, problem.memory_limit_bytes()),
            functor,
            problem: problem.clone(),
            searcher: Searcher::default(),
            tracer: Tracer::default(),
            resident: [Layout::default(), Layout::default()],
            observer: Watch(Arc::new(Unobserved)),
            own: [Vec::new(), Vec::new()],
            counts: PathCounts::default(),
        })
    }

    /// The machine that this plan computes on.
    pub fn machine(&self) -> &M {
        &self.engine.machine
    }

    pub(crate) fn unsupported(&self, what: String) -> Error {
        Error::Unsupported { backend: self.engine.machine.name(), what }
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
pub(crate) fn no_kernels(backend: &'static str, key: &str) -> Error {
    Error::Unsupported { backend, what: format!("{key}: there are no kernels for it; the cpu backend can") }
}

/// The error of gradients and alignments.
pub(crate) fn no_gradients(backend: &'static str, measure: &Measure) -> Error {
    let what = if measure.has_gradient() {
        format!("the gradient of {}: the cpu backend can", measure.key())
    } else {
        format!("a gradient of {}: only soft_dtw and soft_dtw_divergence have one", measure.key())
    };
    Error::Unsupported { backend, what }
}

impl<T: Number, M: Machine> Plan<T> for NativePlan<T, M> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        let own: usize = self.own.iter().map(|values| values.capacity() * size_of::<T>()).sum();
        let resident: usize = self.resident.iter().map(Layout::bytes).sum();
        (self.engine.bytes() + self.searcher.bytes() + self.tracer.bytes() + resident + own) as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.observer = Watch(observer);
    }

    fn distances(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, out: &mut [T]) -> Result<()> {
        self.problem.check_input(&x, &y)?;
        self.problem.check_output(out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let pairing = self.problem.pairing();
        if self.problem.is_subsequence() {
            return self.subsequence_distances(&x, &y, out);
        }
        if self.functor.sums_channels && x.channels() > 1 {
            for channel in 0..x.channels() {
                self.pass(pairing, Some(channel), &x, &y, out)?;
            }
            return Ok(());
        }
        let measure = &self.problem.spec().measure;
        match (SoftResult::of(measure), measure) {
            (Some(soft), Measure::SoftDtwDivergence { .. }) => self.divergence(soft, &x, &y, out),
            (Some(soft), _) => self.soft(soft, pairing, &x, &y, out),
            (None, _) => self.pass(pairing, None, &x, &y, out),
        }
    }

    fn gradients(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, _: Gradients<'_, T>) -> Result<()> {
        self.problem.check_input(&x, &y)?;
        Err(no_gradients(self.engine.machine.name(), &self.problem.spec().measure))
    }

    fn alignment(&mut self, _: Series<'_, T>, _: Series<'_, T>) -> Result<Vec<T>> {
        Err(no_gradients(self.engine.machine.name(), &self.problem.spec().measure))
    }

    fn paths(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>) -> Result<Vec<Path<T>>> {
        self.problem.check_input(&x, &y)?;
        self.all_paths(&x, &y)
    }

    fn matches(
        &mut self,
        queries: SeriesBatch<'_, T>,
        references: SeriesBatch<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        options.check(&self.problem)?;
        self.problem.check_input(&queries, &references)?;
        match options.normalized_window {
            None => self.subsequence_matches(&queries, &references, options),
            Some(length) => self.window_matches(&queries, &references, options, length),
        }
    }

    fn matches_in_blocks(
        &mut self,
        queries: SeriesBatch<'_, T>,
        reference: &mut dyn Blocks<T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        options.check(&self.problem)?;
        self.problem.check_queries(&queries, reference.channels())?;
        match options.normalized_window {
            Some(length) => self.window_matches_in_blocks(&queries, reference, options, length),
            None => self.subsequence_matches_in_blocks(&queries, reference, options),
        }
    }
}
