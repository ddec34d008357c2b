//! The plan: what a call becomes, pass by pass.

use std::sync::Arc;

use dtw_core::{
    Blocks, Gradients, Match, Observer, Path, Plan, Problem, Result, SearchOptions, Series, SeriesBatch,
    SoftResult, Task, bail_invalid,
};

use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::layout_tables::LayoutTables;
use crate::series::source::Source;
use crate::state::{NativePlan, Watch};

impl<T: Number, M: Machine> Plan<T> for NativePlan<T, M> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        let layouts = self.layouts.iter().chain(self.own_layouts.iter().flatten());
        let layouts = layouts.map(LayoutTables::bytes).sum::<usize>();
        let others = self.searcher.bytes()
            + self.tracer.bytes()
            + self.differentiator.bytes()
            + self.combined.bytes()
            + self.packer.bytes();
        (self.engine.bytes() + others + layouts + self.passes.bytes()) as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.observer = Watch(observer);
    }

    fn is_usable(&self) -> bool {
        !self.engine.machine.is_lost()
    }

    fn distances(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, out: &mut [T]) -> Result<()> {
        self.problem.check_input(&x, &y)?;
        self.problem.check_output(out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        self.engine.sweeper.begin();
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
                    Some(soft) => self.soft(soft, pass.pairing, x, y, out, counts),
                    None => self.pass(pass.pairing, pass.channel, x, y, out),
                },
            );
        self.passes = results;
        done
    }

    fn gradients(
        &mut self,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        out: Gradients<'_, T>,
    ) -> Result<()> {
        self.problem.admits(Task::Gradients)?;
        self.problem.check_input(&x, &y)?;
        self.all_gradients(&x, &y, out)
    }

    fn alignment(&mut self, x: Series<'_, T>, y: Series<'_, T>) -> Result<Vec<T>> {
        self.problem.admits(Task::Alignment)?;
        let (x, y) = (SeriesBatch::single(x), SeriesBatch::single(y));
        for (name, batch) in [("x", &x), ("y", &y)] {
            batch.check(name)?;
        }
        if x.channels() != y.channels() {
            bail_invalid!("x has {} channels, y has {}: they must be equal", x.channels(), y.channels());
        }
        self.expected_alignment(&x, &y)
    }

    fn paths(&mut self, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>) -> Result<Vec<Path<T>>> {
        self.problem.admits(Task::Paths)?;
        self.problem.check_input(&x, &y)?;
        self.engine.sweeper.begin();
        self.paths_of(Source::Host(&x), Source::Host(&y))
    }

    fn matches(
        &mut self,
        queries: SeriesBatch<'_, T>,
        references: SeriesBatch<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        options.check(&self.problem)?;
        self.problem.check_input(&queries, &references)?;
        self.engine.sweeper.begin();
        match options.normalized_window {
            None => self.subsequence_matches(Source::Host(&queries), Source::Host(&references), options),
            Some(length) => {
                self.window_matches(Source::Host(&queries), Source::Host(&references), options, length)
            }
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
        self.engine.sweeper.begin();
        match options.normalized_window {
            Some(length) => self.window_matches_in_blocks(&queries, reference, options, length),
            None => self.subsequence_matches_in_blocks(&queries, reference, options),
        }
    }
}
