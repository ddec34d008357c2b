//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    CheckedBatches, CheckedBlocks, Compute, Error, Gradients, Match, Observer, Pass as Part, PassResults,
    Path, PathCounts, Problem, Result, SearchOptions, SeriesBatch, SoftResult, Spec, Unobserved,
};
use dtw_plan::Banding;

use crate::calls::context::Context;
use crate::calls::gradients::Differentiator;
use crate::calls::paths::Tracer;
use crate::calls::search::Searcher;
use crate::calls::windows::{window_matches, window_matches_in_blocks};
use crate::gpu::device::Gpu;
use crate::gpu::failure::NAME;
use crate::launch::engine::Engine;
use crate::launch::speed::Speed;
use crate::memory::region::Region;
use crate::shaders::functor::Functor;

/// A plan on a device. Memory of the device is made in the first call and kept.
pub(crate) struct WgpuPlan {
    pub(crate) context: Context,
    pub(crate) searcher: Searcher,
    pub(crate) tracer: Tracer,
    /// The points of a reference whose windows are searched.
    pub(crate) points: Region,
    pub(crate) differentiator: Differentiator,
}

impl std::fmt::Debug for WgpuPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WgpuPlan").field("problem", &self.context.problem).finish_non_exhaustive()
    }
}

/// Longest series: shaders count rows and columns together in 32 bits.
const MOST_POINTS: usize = 1 << 30;

impl WgpuPlan {
    pub(crate) fn new(gpu: Gpu, speed: Arc<Speed>, problem: &Problem) -> Result<Self> {
        let (spec, shape) = (problem.spec(), problem.shape());
        let longest = spec.measure.swept_length(shape.max_length_x.max(shape.max_length_y));
        if longest > MOST_POINTS {
            return Err(Error::left_to_cpu(
                NAME,
                format!("series of {longest} points: it counts up to {MOST_POINTS}"),
            ));
        }
        let functor = Functor::of(spec).ok_or_else(|| no_shaders(spec))?;
        if !functor.parameters.iter().all(|number| number.is_finite()) {
            return Err(Error::left_to_cpu(NAME, format!("a parameter beyond f32, {:?}", spec.measure)));
        }
        let context = Context {
            banding: Banding::new(&spec.band, spec.anchor, longest),
            engine: Engine::new(gpu, speed, problem.memory_limit_bytes()),
            functor,
            problem: problem.clone(),
            observer: Arc::new(Unobserved),
            passes: PassResults::default(),
        };
        Ok(Self {
            context,
            searcher: Searcher::default(),
            tracer: Tracer::default(),
            points: Region::default(),
            differentiator: Differentiator::default(),
        })
    }
}

impl Context {
    /// One pass over the pairs of a pairing. Of a measure that sums over all paths it gives results; of a divergence,
    /// the excess of Soft-DTW.
    fn part(
        &mut self,
        part: Part,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
        counts: &mut PathCounts,
    ) -> Result<()> {
        let (mut pass, engine) = self.pass(part.pairing);
        (pass.channel, pass.adds) = (part.channel, part.adds());
        engine.distances(&mut pass, x, y, out)?;
        match SoftResult::of(&self.problem.spec().measure) {
            Some(soft) => self.keep_digits(soft, counts, (part.pairing, x, y), out),
            None => Ok(()),
        }
    }
}

/// The error of a measure without shaders.
pub(crate) fn no_shaders(spec: &Spec) -> Error {
    Error::left_to_cpu(NAME, format!("{}: there are no shaders for it", spec.key()))
}

impl Compute<f32> for WgpuPlan {
    fn problem(&self) -> &Problem {
        &self.context.problem
    }

    fn scratch_bytes(&self) -> u64 {
        self.context.engine.bytes()
            + self.searcher.bytes()
            + self.tracer.bytes()
            + self.points.bytes()
            + self.differentiator.bytes()
            + self.context.passes.bytes() as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.context.observer = observer;
    }

    fn is_usable(&self) -> bool {
        !self.context.engine.gpu.is_lost()
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, f32>, out: &mut [f32]) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        let Self { context, searcher, .. } = self;
        if context.problem.is_subsequence() {
            return searcher.distances(context, &x, &y, out);
        }
        let problem = context.problem.clone();
        let mut results = std::mem::take(&mut context.passes);
        let done = results.distances(&problem, problem.pairing(), &x, &y, out, |part, x, y, out, counts| {
            context.part(part, x, y, out, counts)
        });
        context.passes = results;
        done
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, f32>, out: Gradients<'_, f32>) -> Result<()> {
        self.differentiator.gradients(&mut self.context, &pairs.x, &pairs.y, out)
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, f32>) -> Result<Vec<f32>> {
        self.differentiator.alignment(&mut self.context, &pair.x, &pair.y)
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, f32>) -> Result<Vec<Path<f32>>> {
        self.tracer.paths(&mut self.context, &mut self.searcher, &pairs.x, &pairs.y)
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let Self { context, points, searcher, .. } = self;
        let CheckedBatches { x: queries, y: references, .. } = searched;
        match options.normalized_window {
            None => searcher.matches(context, &queries, &references, options),
            Some(length) => window_matches(context, points, &queries, &references, options, length),
        }
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, f32>,
        reference: &mut CheckedBlocks<'_, f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let Self { context, points, searcher, .. } = self;
        match options.normalized_window {
            Some(length) => window_matches_in_blocks(context, points, queries, reference, options, length),
            None => searcher.matches_in_blocks(context, queries, reference, options),
        }
    }
}
