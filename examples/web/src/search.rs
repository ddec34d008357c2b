//! Searches of one query in one reference: by WebGPU, or by the processor in WebAssembly.

use dtw_core::{
    Backend, LocalCost, Match, Pairing, Path, Plan, Problem, Result, SearchOptions, Series, SeriesBatch,
    Shape, Spec,
};
use dtw_cpu::CpuBackend;
use dtw_wgpu::{AsyncPlan, WgpuBackend};

/// What is searched: subsequence DTW with squared differences.
const SEARCH: Spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);

/// The visitor's GPU, and what it keeps between searches.
pub(crate) struct Gpu {
    pub(crate) backend: WgpuBackend,
    plan: Option<(Shape, AsyncPlan)>,
}

impl Gpu {
    pub(crate) fn new(backend: WgpuBackend) -> Self {
        Self { backend, plan: None }
    }

    /// The best matches.
    pub(crate) async fn search(
        &mut self,
        query: &[f32],
        reference: &[f32],
        options: &SearchOptions,
    ) -> Result<Vec<Match<f32>>> {
        let (query, reference) = (single(query), single(reference));
        let shape = Shape::of(&query, &reference);
        let plan = match &mut self.plan {
            Some((known, plan)) if *known == shape => plan,
            plan => {
                let problem = Problem::new(SEARCH, Pairing::Cross, shape)?;
                &mut plan.insert((shape, self.backend.plan_async(&problem)?)).1
            }
        };
        Ok(plan.matches(query, reference, options).await?.swap_remove(0))
    }
}

/// A number of matches, with as many samples around each excluded.
pub(crate) fn options(count: usize, exclusion: usize) -> SearchOptions {
    SearchOptions::default().with_top_k(count).with_exclusion(exclusion)
}

/// The best matches, by the processor.
pub(crate) fn by_processor(
    query: &[f32],
    reference: &[f32],
    options: &SearchOptions,
) -> Result<Vec<Match<f32>>> {
    let (query, reference) = (single(query), single(reference));
    let problem = Problem::of(SEARCH, Pairing::Cross, &query, &reference)?;
    Ok(processors_plan(&problem)?.matches(query, reference, options)?.swap_remove(0))
}

/// The best path between two series.
pub(crate) fn path(x: &[f32], y: &[f32]) -> Result<Path<f32>> {
    let (x, y) = (single(x), single(y));
    let problem = Problem::of(Spec::dtw(), Pairing::Zipped, &x, &y)?;
    Ok(processors_plan(&problem)?.paths(x, y)?.swap_remove(0))
}

/// A plan of the processor.
pub(crate) fn processors_plan(problem: &Problem) -> Result<Box<dyn Plan<f32>>> {
    CpuBackend::new().plan(problem)
}

/// A batch of one series of one channel.
fn single(values: &[f32]) -> SeriesBatch<'_, f32> {
    SeriesBatch::single(Series::univariate(values))
}
