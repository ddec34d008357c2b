//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    CheckedBatches, CheckedBlocks, Compute, Gradients, Match, Observer, Path, Problem, Result, SearchOptions,
    SeriesBatch, SoftResult,
};

use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::layout_tables::LayoutTables;
use crate::series::source::Source;
use crate::state::{NativePlan, Watch};

impl<T: Number, M: Machine> Compute<T> for NativePlan<T, M> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        let layouts = self.layouts.iter().chain(self.own_layouts.iter().flatten());
        let layouts = layouts.map(LayoutTables::bytes).sum::<usize>();
        let others = self.searcher.bytes()
            + self.bounds.bytes()
            + self.tracer.bytes()
            + self.differentiator.bytes()
            + self.combined.bytes()
            + self.packer.bytes();
        (self.engine.bytes() + others + layouts + self.passes.bytes()) as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.engine.sweeper.explains = observer.explains().then(|| Arc::clone(&observer));
        self.observer = Watch(observer);
    }

    fn is_usable(&self) -> bool {
        !self.engine.machine.is_lost()
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        if self.problem.is_subsequence() {
            self.engine.sweeper.begin();
            return self.subsequence_distances(&x, &y, out);
        }
        self.begin();
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
                    Some(soft) => self.soft(soft, pass.pairing, x, y, out, counts),
                    None => self.pass(pass.pairing, pass.channel, x, y, out),
                },
            );
        self.passes = results;
        done
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()> {
        self.all_gradients(&pairs.x, &pairs.y, out)
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>> {
        self.expected_alignment(&pair.x, &pair.y)
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>> {
        self.begin();
        self.paths_of(Source::Host(&pairs.x), Source::Host(&pairs.y))
    }

    fn proposes(&self) -> bool {
        true
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let (queries, references) = (Source::Host(&searched.x), Source::Host(&searched.y));
        match options.normalized_window {
            None => {
                self.engine.sweeper.begin();
                self.subsequence_matches(queries, references, options)
            }
            Some(length) => self.window_matches(queries, references, options, length),
        }
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        self.begin();
        match options.normalized_window {
            Some(length) => self.window_matches_in_blocks(queries, reference, options, length),
            None => self.subsequence_matches_in_blocks(queries, reference, options),
        }
    }
}
