//! Where distances are computed: a backend, a memory limit and an observer, handed to every algorithm of this crate.

use std::sync::Arc;

use dtw_core::{
    Backend, Error, Observer, Plan, Problem, Result, Scalar, SeriesBatch, Unobserved, WeightedTotal,
};

/// A backend with the memory its calls may use and whoever watches them. Cheap to clone.
#[derive(Clone)]
pub struct Context<'b, T: Scalar> {
    backend: &'b dyn Backend<T>,
    memory_limit_bytes: u64,
    observer: Arc<dyn Observer>,
}

impl<T: Scalar> std::fmt::Debug for Context<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("backend", &self.backend)
            .field("memory_limit_bytes", &self.memory_limit_bytes)
            .finish_non_exhaustive()
    }
}

impl<'b, T: Scalar> Context<'b, T> {
    /// This backend with [`Problem::DEFAULT_MEMORY_LIMIT_BYTES`], unobserved.
    pub fn new(backend: &'b dyn Backend<T>) -> Self {
        Self {
            backend,
            memory_limit_bytes: Problem::DEFAULT_MEMORY_LIMIT_BYTES,
            observer: Arc::new(Unobserved),
        }
    }

    /// This context with this limit on working memory: tiles, copies of centres and the backend's scratch, but not the
    /// input and not what a call returns.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit_bytes = bytes;
        self
    }

    /// This context, watched: the observer hears of every cell swept and is asked between steps whether to stop.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// The backend.
    pub fn backend(&self) -> &'b dyn Backend<T> {
        self.backend
    }
    /// Bytes of working memory a call may use.
    pub fn memory_limit_bytes(&self) -> u64 {
        self.memory_limit_bytes
    }
    /// Who watches.
    pub fn observer(&self) -> &Arc<dyn Observer> {
        &self.observer
    }

    /// A plan that the observer watches, allowed what the memory limit leaves after `reserved_bytes`.
    pub(crate) fn plan(&self, problem: Problem, reserved_bytes: u64) -> Result<Box<dyn Plan<T>>> {
        let left = self.memory_limit_bytes.saturating_sub(reserved_bytes);
        let mut plan = self.backend.plan(&problem.with_memory_limit(left))?;
        plan.observe(Arc::clone(&self.observer));
        Ok(plan)
    }

    /// What [`Backend::weighted_total`] makes within the memory limit, watched.
    pub(crate) fn weighted_total(
        &self,
        problem: Problem,
        series: SeriesBatch<'_, T>,
        weights: &[f64],
    ) -> Result<Option<Box<dyn WeightedTotal<T>>>> {
        let problem = problem.with_memory_limit(self.memory_limit_bytes);
        let mut total = self.backend.weighted_total(&problem, series, weights)?;
        if let Some(total) = &mut total {
            total.observe(Arc::clone(&self.observer));
        }
        Ok(total)
    }

    /// [`Error::Cancelled`] when the observer wants to stop.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}
