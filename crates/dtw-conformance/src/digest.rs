//! One number for all results of a run: two builds that compute the same bits have the same digest.
//!
//! A [`Digesting`] backend passes every call on to another one and takes the bits of what comes back, in the order of
//! the calls. What the backend refused or was told to stop counts as well, but not its words. The shape of memory held
//! and the cells reported as progress do not count.

use std::sync::{Arc, Mutex, PoisonError};

use dtw_core::{
    Backend, CheckedBatches, CheckedBlocks, Compute, Gradients, Match, Observer, Path, Plan, Problem, Result,
    SearchOptions, SeriesBatch, Task,
};
use xxhash_rust::xxh3::Xxh3;

use crate::batch::Element;

/// The digest so far.
#[derive(Clone, Default)]
pub struct Digest(Arc<Mutex<Xxh3>>);

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.lock().digest())
    }
}

impl Digest {
    fn lock(&self) -> std::sync::MutexGuard<'_, Xxh3> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts anew.
    pub fn reset(&self) {
        self.lock().reset();
    }

    fn take(&self, words: impl IntoIterator<Item = u64>) {
        let mut hash = self.lock();
        words.into_iter().for_each(|word| hash.update(&word.to_le_bytes()));
    }

    fn values<T: Element>(&self, values: &[T]) {
        self.take(values.iter().map(|value| value.wide().to_bits()));
    }

    /// Passes a result on, after taking whether it is one and, by `words`, what is in it.
    fn result<R>(&self, result: Result<R>, words: impl FnOnce(&R)) -> Result<R> {
        self.take([u64::from(result.is_ok())]);
        if let Ok(result) = &result {
            words(result);
        }
        result
    }
}

/// A backend whose results go into a digest.
#[derive(Debug)]
pub struct Digesting<'a, T: Element> {
    /// What computes.
    pub backend: &'a dyn Backend<T>,
    /// Where the results go.
    pub digest: Digest,
}

impl<T: Element> Backend<T> for Digesting<'_, T> {
    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        self.digest.result(self.backend.supports(problem, task), |()| {})
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        let plan = self.digest.result(self.backend.plan(problem), |_| {})?;
        Ok(Box::new(DigestingPlan { plan, digest: self.digest.clone() }))
    }
}

struct DigestingPlan<T: Element> {
    plan: Box<dyn Plan<T>>,
    digest: Digest,
}

impl<T: Element> DigestingPlan<T> {
    fn found(&self, found: Result<Vec<Vec<Match<T>>>>) -> Result<Vec<Vec<Match<T>>>> {
        self.digest.result(found, |found| {
            for hits in found {
                self.digest.take([hits.len() as u64]);
                for hit in hits {
                    self.digest.take([hit.start as u64, hit.end as u64]);
                    self.digest.values(&[hit.distance]);
                }
            }
        })
    }
}

impl<T: Element> Compute<T> for DigestingPlan<T> {
    fn problem(&self) -> &Problem {
        self.plan.problem()
    }

    fn scratch_bytes(&self) -> u64 {
        self.plan.scratch_bytes()
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.plan.observe(observer);
    }

    /// The plan behind it says so.
    fn proposes(&self) -> bool {
        true
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()> {
        let done = self.plan.distances(pairs.x, pairs.y, out);
        self.digest.result(done, |()| self.digest.values(out))
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()> {
        let Gradients { upstream, distances, grad_x, grad_y } = out;
        let own =
            Gradients { upstream, distances: &mut *distances, grad_x: &mut *grad_x, grad_y: &mut *grad_y };
        let done = self.plan.gradients(pairs.x, pairs.y, own);
        self.digest.result(done, |()| {
            for values in [distances, grad_x, grad_y] {
                self.digest.values(values);
            }
        })
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>> {
        let (x, y) = (pair.x.get(0), pair.y.get(0));
        self.digest.result(self.plan.alignment(x, y), |values| self.digest.values(values))
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>> {
        self.digest.result(self.plan.paths(pairs.x, pairs.y), |paths| {
            for path in paths {
                self.digest.values(&[path.distance]);
                self.digest.take([path.points.len() as u64]);
                self.digest.take(path.points.iter().flat_map(|(i, j)| [*i as u64, *j as u64]));
            }
        })
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let found = self.plan.matches(searched.x, searched.y, options);
        self.found(found)
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let found = self.plan.matches_in_blocks(*queries, reference, options);
        self.found(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_bits_and_order() {
        let of = |values: &[f64]| {
            let digest = Digest::default();
            digest.values(values);
            digest.to_string()
        };
        let all = [[1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [-0.0, 1.0], [1.0, 2.0 + f64::EPSILON * 2.0]]
            .map(|v| of(&v));
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(of(&[1.0, 2.0]), all[0]);
        let digest = Digest::default();
        digest.values(&[3.0]);
        digest.reset();
        assert_eq!(digest.to_string(), of(&[]));
    }
}
