//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    Blocks, Error, Gradients, Match, Measure, Observer, Path, Plan, Problem, Result, SearchOptions, Series,
    SeriesBatch, SoftResult,
};

use crate::Machine;
use crate::bytes::Number;
use crate::layout::Layout;
use crate::state::{NativePlan, Watch};

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
