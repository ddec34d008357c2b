//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    CheckedBatches, CheckedBlocks, Compute, Error, Gradients, Match, Observer, Pairing, Pass as Sweep,
    PassResults, Path, PathCounts, Problem, Result, SearchOptions, SeriesBatch, SoftResult, Spec, Uncounted,
    Unobserved,
};
use dtw_plan::{Banding, keep_digits};

use crate::NAME;
use crate::engine::{Engine, Pass, Region};
use crate::functor::Functor;
use crate::gpu::Gpu;
use crate::gradients::Differentiator;
use crate::pace::Pace;
use crate::paths::Tracer;
use crate::search::Searcher;

/// A plan on a device. Memory of the device is made in the first call and kept.
pub(crate) struct WgpuPlan {
    pub(crate) problem: Problem,
    pub(crate) functor: Functor,
    pub(crate) banding: Banding,
    pub(crate) engine: Engine,
    pub(crate) searcher: Searcher,
    pub(crate) tracer: Tracer,
    /// The points of a reference whose windows are searched.
    pub(crate) points: Region,
    pub(crate) differentiator: Differentiator,
    pub(crate) observer: Arc<dyn Observer>,
    /// What several passes give together.
    pub(crate) passes: PassResults<f32>,
}

impl std::fmt::Debug for WgpuPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgpuPlan").field("problem", &self.problem).finish_non_exhaustive()
    }
}

/// Longest series: shaders count rows and columns together in 32 bits.
const MOST_POINTS: usize = 1 << 30;

impl WgpuPlan {
    pub(crate) fn new(gpu: Gpu, pace: Arc<Pace>, problem: &Problem) -> Result<Self> {
        let (spec, shape) = (problem.spec(), problem.shape());
        let longest = spec.measure.swept_length(shape.max_length_x.max(shape.max_length_y));
        if longest > MOST_POINTS {
            return Err(Error::Unsupported {
                backend: NAME,
                what: format!(
                    "series of {longest} points: it counts up to {MOST_POINTS}; the cpu backend can"
                ),
            });
        }
        let functor = Functor::of(spec).ok_or_else(|| no_shaders(spec))?;
        if !functor.parameters.iter().all(|number| number.is_finite()) {
            return Err(Error::Unsupported {
                backend: NAME,
                what: format!(
                    "a parameter beyond f32, {:?}; the cpu backend computes it in f64",
                    spec.measure
                ),
            });
        }
        Ok(Self {
            banding: Banding::new(&spec.band, spec.anchor, longest),
            engine: Engine::new(gpu, pace, problem.memory_limit_bytes()),
            functor,
            problem: problem.clone(),
            searcher: Searcher::default(),
            tracer: Tracer::default(),
            points: Region::default(),
            differentiator: Differentiator::default(),
            observer: Arc::new(Unobserved),
            passes: PassResults::default(),
        })
    }

    /// One pass over the pairs of a pairing.
    fn pass(
        &mut self,
        pass: Sweep,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let mut pass = Pass {
            spec: self.problem.spec(),
            functor: self.functor,
            excess: false,
            channel: pass.channel,
            pairing: pass.pairing,
            banding: &mut self.banding,
            observer: &*self.observer,
            adds: pass.adds(),
        };
        self.engine.distances(&mut pass, x, y, out)
    }

    /// Results of one pairing of a measure that sums over all paths; of a divergence, the excess of Soft-DTW.
    fn soft(
        &mut self,
        soft: SoftResult,
        pass: Sweep,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
        counts: &mut PathCounts,
    ) -> Result<()> {
        self.pass(pass, x, y, out)?;
        self.keep_digits(soft, counts, (pass.pairing, x, y), out)
    }

    /// Makes results of the values that a plain sweep gave, by a second sweep where it has lost digits.
    pub(crate) fn keep_digits(
        &mut self,
        soft: SoftResult,
        counts: &mut PathCounts,
        pairs: (Pairing, &SeriesBatch<'_, f32>, &SeriesBatch<'_, f32>),
        out: &mut [f32],
    ) -> Result<()> {
        let Self { problem, banding, engine, observer, .. } = self;
        let spec = problem.spec();
        let functor = Functor::excess(&spec.measure);
        let uncounted = Uncounted(Arc::clone(observer));
        keep_digits(soft, counts, &spec.band, pairs, out, |pairing, x, y, excess| {
            let mut pass = Pass {
                spec,
                functor,
                excess: true,
                channel: None,
                pairing,
                banding: &mut *banding,
                observer: &uncounted,
                adds: false,
            };
            engine.distances(&mut pass, x, y, excess)
        })
    }
}

/// The error of a measure without shaders.
pub(crate) fn no_shaders(spec: &Spec) -> Error {
    let what = format!("{}: there are no shaders for it; the cpu backend can", spec.key());
    Error::Unsupported { backend: NAME, what }
}

impl Compute<f32> for WgpuPlan {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        self.engine.bytes()
            + self.searcher.bytes()
            + self.tracer.bytes()
            + self.points.bytes()
            + self.differentiator.bytes()
            + self.passes.bytes() as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.observer = observer;
    }

    fn is_usable(&self) -> bool {
        !self.engine.gpu.is_lost()
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, f32>, out: &mut [f32]) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        if self.problem.is_subsequence() {
            return self.subsequence_distances(&x, &y, out);
        }
        let problem = self.problem.clone();
        let soft = SoftResult::of(&problem.spec().measure);
        let mut results = std::mem::take(&mut self.passes);
        let done =
            results.distances(
                &problem,
                problem.pairing(),
                &x,
                &y,
                out,
                |pass, x, y, out, counts| match soft {
                    Some(soft) => self.soft(soft, pass, x, y, out, counts),
                    None => self.pass(pass, x, y, out),
                },
            );
        self.passes = results;
        done
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, f32>, out: Gradients<'_, f32>) -> Result<()> {
        self.all_gradients(&pairs.x, &pairs.y, out)
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, f32>) -> Result<Vec<f32>> {
        self.expected_alignment(&pair.x, &pair.y)
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, f32>) -> Result<Vec<Path<f32>>> {
        self.paths_of(&pairs.x, &pairs.y)
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let CheckedBatches { x: queries, y: references, .. } = searched;
        match options.normalized_window {
            None => self.subsequence_matches(&queries, &references, options),
            Some(length) => self.window_matches(&queries, &references, options, length),
        }
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, f32>,
        reference: &mut CheckedBlocks<'_, f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        match options.normalized_window {
            Some(length) => self.window_matches_in_blocks(queries, reference, options, length),
            None => self.subsequence_matches_in_blocks(queries, reference, options),
        }
    }
}
