//! What every call of a plan needs: the problem and its shaders, its band, the engine, and who watches.

use std::sync::Arc;

use dtw_core::{
    Observer, Pairing, PassResults, PathCounts, Problem, Result, SeriesBatch, SoftResult, Uncounted,
};
use dtw_plan::{Banding, Rows, keep_digits};

use crate::launch::engine::Engine;
use crate::launch::pass::Pass;
use crate::shaders::functor::Functor;

/// What the calls of a plan share.
pub(crate) struct Context {
    pub(crate) problem: Problem,
    pub(crate) functor: Functor,
    pub(crate) banding: Banding,
    pub(crate) engine: Engine,
    pub(crate) observer: Arc<dyn Observer>,
    /// What several passes give together.
    pub(crate) passes: PassResults<f32>,
}

impl Context {
    /// A pass over all channels of the pairs of a pairing, and the engine for it.
    pub(crate) fn pass(&mut self, pairing: Pairing) -> (Pass<'_>, &mut Engine) {
        let Self { problem, functor, banding, engine, observer, .. } = self;
        let pass = Pass {
            spec: problem.spec(),
            functor: *functor,
            excess: false,
            channel: None,
            pairing,
            kind: Rows::X,
            banding,
            observer: &**observer,
            adds: false,
        };
        (pass, engine)
    }

    /// Makes results of the values that a plain sweep gave, by a second sweep where it has lost digits.
    pub(crate) fn keep_digits(
        &mut self,
        soft: SoftResult,
        counts: &mut PathCounts,
        pairs: (Pairing, &SeriesBatch<'_, f32>, &SeriesBatch<'_, f32>),
        out: &mut [f32],
    ) -> Result<()> {
        let band = self.problem.spec().band.clone();
        let functor = Functor::excess(self.problem.spec());
        let uncounted = Uncounted(Arc::clone(&self.observer));
        keep_digits(soft, counts, &band, pairs, out, |pairing, x, y, excess| {
            let (mut pass, engine) = self.pass(pairing);
            (pass.functor, pass.excess, pass.observer) = (functor, true, &uncounted);
            engine.distances(&mut pass, x, y, excess)
        })
    }
}
