//! Calls that do not wait: for a browser, where the one thread that could wait is the one that gets the results.

use std::sync::Arc;

use dtw_core::{
    Compute as _, Dtype, Error, Match, Observer, Problem, Result, SearchOptions, SeriesBatch, SoftResult,
};

use crate::gpu::failure::{NAME, unsupported};
use crate::plans::plan::WgpuPlan;

/// Computes distances and searches again and again, in memory of the device that it keeps. Its calls are those of
/// [`Plan`](dtw_core::Plan); what they give is the same, bit by bit.
///
/// Outside of a browser a future is ready when it is first polled, and the poll waits for the device.
#[derive(Debug)]
pub struct AsyncPlan(WgpuPlan);

impl AsyncPlan {
    pub(crate) fn new(plan: WgpuPlan) -> Result<Self> {
        let measure = &plan.context.problem.spec().measure;
        if SoftResult::of(measure).is_some() {
            return Err(Error::left_to_cpu(NAME, format!("{} in calls that do not wait", measure.key())));
        }
        Ok(Self(plan))
    }

    /// What is computed.
    pub fn problem(&self) -> &Problem {
        &self.0.context.problem
    }

    /// Is told of cells while a call runs, and may stop it.
    pub fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.0.observe(observer);
    }

    /// Distances into `out`, row after row, as [`Plan::distances`](dtw_core::Plan::distances).
    ///
    /// # Errors
    /// What [`Plan::distances`](dtw_core::Plan::distances) returns; [`Error::Unsupported`] for the problem of a search,
    /// which has [`AsyncPlan::matches`].
    pub async fn distances(
        &mut self,
        x: SeriesBatch<'_, f32>,
        y: SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let context = &mut self.0.context;
        context.problem.check_input(&x, &y)?;
        context.problem.check_output(out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        if context.problem.is_subsequence() {
            return Err(unsupported("distances of a search in calls that do not wait: ask for matches"));
        }
        for part in context.problem.passes() {
            let (mut pass, engine) = context.pass(part.pairing);
            (pass.channel, pass.adds) = (part.channel, part.adds());
            engine.distances_async(&mut pass, &x, &y, out).await?;
        }
        Ok(())
    }

    /// The best matches of every query in every reference, as [`Plan::matches`](dtw_core::Plan::matches).
    ///
    /// # Errors
    /// What [`Plan::matches`](dtw_core::Plan::matches) returns; [`Error::Unsupported`] for z-normalised windows, and
    /// for
    /// a reference that would have to be searched in blocks.
    pub async fn matches(
        &mut self,
        queries: SeriesBatch<'_, f32>,
        references: SeriesBatch<'_, f32>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        options.check(&self.0.context.problem)?;
        options.check_precision(Dtype::F32, false)?;
        self.0.context.problem.check_input(&queries, &references)?;
        if options.normalized_window.is_some() {
            return Err(Error::left_to_cpu(NAME, "z-normalised windows in calls that do not wait"));
        }
        {
            let WgpuPlan { context, searcher, .. } = &mut self.0;
            searcher.matches_async(context, &queries, &references, options).await
        }
    }
}
