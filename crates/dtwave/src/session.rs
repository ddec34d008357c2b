//! A session: what to compute, where, and within which memory; and the short calls for the common jobs.

use std::sync::Arc;

use dtw_core::{
    CostMatrix, Error, Explainer, Explanation, Gradients, Observer, Pairing, Path, Plan, Problem, Result,
    SeriesBatch, Shape, Spec, Task,
};
use ndarray::Array2;

use crate::plans::{Boxed, Plans};
use crate::{AsBatch, AsSeries, Device, Float};

/// A spec on a device. Make one, then call it as often as you like, from as many threads as you like.
///
/// A session keeps its plans, by the shape of what was computed, so that calls of one shape in a loop cost little more
/// than the computation. It keeps at most eight, the latest used, that hold at most 1/64 of the memory limit and 16 MiB
/// between calls, all together and beside the limit; a plan that holds more is dropped after its call. Memory for
/// transfers to and from a GPU and tables of path counts are not part of these sums.
/// [`Session::clear`] drops all. Clones share them.
///
/// ```
/// use dtwave::{Band, Session, Spec};
/// let session = Session::new(Spec::dtw().with_band(Band::sakoe_chiba(1)));
/// let path = session.align(&[0.0, 1.0, 5.0], &[0.0, 5.0, 5.0])?;
/// assert_eq!(path.points, [(0, 0), (1, 0), (2, 1), (2, 2)]);
/// # Ok::<(), dtwave::Error>(())
/// ```
#[derive(Clone)]
pub struct Session {
    spec: Spec,
    device: Option<Device>,
    memory_limit_bytes: u64,
    observer: Option<Arc<dyn Observer>>,
    cutoff: Option<f64>,
    /// All of them report to the observer, and are of the device.
    plans: Arc<Plans>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("spec", &self.spec)
            .field("device", &self.device)
            .field("memory_limit_bytes", &self.memory_limit_bytes)
            .finish_non_exhaustive()
    }
}

/// Values and gradients of zipped pairs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GradientResult<T> {
    /// One per pair.
    pub distances: Vec<T>,
    /// Laid out as the values of x.
    pub grad_x: Vec<T>,
    /// Laid out as the values of y.
    pub grad_y: Vec<T>,
}

impl Session {
    /// A session of this spec on the automatically chosen device, with 1 GiB of scratch memory.
    pub fn new(spec: Spec) -> Self {
        Self {
            spec,
            device: None,
            memory_limit_bytes: Problem::DEFAULT_MEMORY_LIMIT_BYTES,
            observer: None,
            cutoff: None,
            plans: Arc::default(),
        }
    }

    /// The session of a call without one: its plans are the process's.
    pub(crate) fn of_process(spec: Spec) -> Self {
        Self { plans: Plans::of_process(), ..Self::new(spec) }
    }

    /// On this device.
    #[must_use]
    pub fn on(mut self, device: Device) -> Self {
        self.device = Some(device);
        self.plans = Arc::default();
        self
    }

    /// With this much scratch memory; also the size of a tile of a streamed matrix.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit_bytes = bytes;
        self.plans = Arc::default();
        self
    }

    /// Reporting progress to, and taking cancellation from, this observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self.plans = Arc::default();
        self
    }

    /// With distances up to this cutoff alone: [`distance`](Self::distance), [`pairwise`](Self::pairwise),
    /// [`cross`](Self::cross), [`zipped`](Self::zipped), [`distances_into`](Self::distances_into) and
    /// [`tiled`](Self::tiled) give infinity for a larger one, and the same bits for all others
    /// ([`Plan::distances_within`]). Calls with a similarity, or with a cutoff that is no number, are errors then.
    #[must_use]
    pub fn cutoff(mut self, cutoff: Option<f64>) -> Self {
        self.cutoff = cutoff;
        self
    }

    /// This session for another spec. The two share their plans, as clones do.
    #[must_use]
    pub fn with_spec(&self, spec: Spec) -> Self {
        Self { spec, ..self.clone() }
    }

    /// Drops the plans that are kept, with their memory. The next call makes its own.
    pub fn clear(&self) {
        self.plans.clear();
    }

    /// What is computed.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The device that calls run on.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the build has no backend.
    pub fn device(&self) -> Result<Device> {
        match &self.device {
            Some(device) => Ok(device.clone()),
            None => Device::auto(),
        }
    }

    pub(crate) fn problem(&self, pairing: Pairing, shape: Shape) -> Result<Problem> {
        Ok(Problem::new(self.spec.clone(), pairing, shape)?.with_memory_limit(self.memory_limit_bytes))
    }

    /// A plan that waits, or a new one.
    pub(crate) fn plan<T: Float>(&self, problem: &Problem) -> Result<Boxed<T>> {
        if let Some(plan) = self.plans.take(problem) {
            return Ok(plan);
        }
        let mut plan = self.device()?.backend::<T>().plan(problem)?;
        if let Some(observer) = &self.observer {
            plan.observe(Arc::clone(observer));
        }
        Ok(Box::new(plan))
    }

    /// Lets a plan wait for its next call.
    pub(crate) fn keep<T: Float>(&self, plan: Boxed<T>) {
        self.plans.keep(plan);
    }

    pub(crate) fn memory_limit_bytes(&self) -> u64 {
        self.memory_limit_bytes
    }

    /// Tells the observer of a device that others go on without.
    pub(crate) fn lost(&self, device: &str, why: &Error) {
        self.observer.iter().for_each(|observer| observer.lost(device, why));
    }

    /// Calls `work` with a plan for these batches, and keeps the plan unless it failed.
    pub(crate) fn with_plan<T: Float, R>(
        &self,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        work: impl FnOnce(&mut dyn Plan<T>) -> Result<R>,
    ) -> Result<R> {
        let mut plan = self.plan(&self.problem(pairing, Shape::of(x, y))?)?;
        let done = work(&mut **plan);
        self.computed(&**plan);
        match &done {
            Ok(_) => self.plans.keep(plan),
            // What else waits may be of a device that was lost.
            Err(Error::Backend { .. }) => self.plans.clear(),
            Err(_) => {}
        }
        done
    }

    /// Distances, up to the cutoff if there is one.
    pub(crate) fn compute<T: Float>(
        &self,
        plan: &mut dyn Plan<T>,
        x: SeriesBatch<'_, T>,
        y: SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        match self.cutoff {
            None => plan.distances(x, y, out),
            Some(cutoff) => plan.distances_within(x, y, cutoff, out),
        }
    }

    /// Tells the observer of a plan that has computed.
    pub(crate) fn computed<T: Float>(&self, plan: &dyn Plan<T>) {
        if let Some(observer) = &self.observer {
            observer.computed(plan.scratch_bytes(), plan.problem().memory_limit_bytes());
        }
    }

    /// What `work` returns of this session, and how it was computed: by which kernels and why, in how many launches,
    /// how much memory and how many cells a second. Plans are made anew.
    pub fn explain<R>(&self, work: impl FnOnce(&Self) -> R) -> (R, Explanation) {
        let explainer = Arc::new(Explainer::before(self.observer.clone()));
        let observed = Self { plans: Arc::default(), ..self.clone() }.observer(Arc::clone(&explainer) as _);
        let start = std::time::Instant::now();
        let done = work(&observed);
        let seconds = Some(start.elapsed().as_secs_f64());
        (done, Explanation { seconds, ..explainer.explanation() })
    }

    /// Distance of two series.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters.
    pub fn distance<T: Float>(
        &self,
        x: &(impl AsSeries<T> + ?Sized),
        y: &(impl AsSeries<T> + ?Sized),
    ) -> Result<T> {
        let (x, y) = (x.as_series(), y.as_series());
        let (x, y) = (SeriesBatch::single(x.series()), SeriesBatch::single(y.series()));
        let mut out = [T::ZERO];
        self.with_plan(Pairing::Zipped, &x, &y, |plan| self.compute(plan, x, y, &mut out))?;
        Ok(out[0])
    }

    /// Distances of every series with every other: shape `[n, n]`, symmetric, half of it computed.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters; [`Error::MemoryRefused`] where the system has no room for the
    /// matrix: [`tiled`](Self::tiled) gives it in parts.
    pub fn pairwise<T: Float>(&self, x: &(impl AsBatch<T> + ?Sized)) -> Result<Array2<T>> {
        let x = x.as_batch()?;
        let x = x.batch();
        self.matrix(Pairing::SelfSymmetric, &x, &x)
    }

    /// Distances of every series of `x` with every series of `y`: shape `[n_x, n_y]`.
    ///
    /// # Errors
    /// As [`pairwise`](Self::pairwise).
    pub fn cross<T: Float>(
        &self,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
    ) -> Result<Array2<T>> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        self.matrix(Pairing::Cross, &x.batch(), &y.batch())
    }

    fn matrix<T: Float>(
        &self,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<Array2<T>> {
        let shape = (x.len(), y.len());
        let count = shape.0.saturating_mul(shape.1);
        // Asked for first: where there is no room, `vec!` ends the process. Its pages come when they are written.
        let what = || format!("the {} x {} distance matrix", shape.0, shape.1);
        dtw_core::reserved::<T>(count, what).map(drop)?;
        let mut values = vec![T::ZERO; count];
        self.distances_into(pairing, x, y, &mut values)?;
        Array2::from_shape_vec(shape, values).map_err(|error| Error::invalid(error.to_string()))
    }

    /// Distances into memory of the caller's, as many and in the order that `pairing` says ([`Pairing`]): what
    /// [`pairwise`](Self::pairwise), [`cross`](Self::cross) and [`zipped`](Self::zipped) return.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and where `out` has another length. Its values mean nothing
    /// then.
    pub fn distances_into<T: Float>(
        &self,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        self.with_plan(pairing, x, y, |plan| self.compute(plan, *x, *y, out))
    }

    /// Distances of the s-th series of `x` with the s-th of `y`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters.
    pub fn zipped<T: Float>(
        &self,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
    ) -> Result<Vec<T>> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        let (x, y) = (x.batch(), y.batch());
        let mut out = vec![T::ZERO; x.len()];
        self.distances_into(Pairing::Zipped, &x, &y, &mut out)?;
        Ok(out)
    }

    /// Whether the device computes distances of these batches; to be asked before results have a place.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it does not, with a backend that does; [`Error::Invalid`] for what no device computes.
    pub fn supports<T: Float>(
        &self,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<()> {
        let problem = self.problem(pairing, Shape::of(x, y))?;
        self.device()?.backend::<T>().supports(&problem, Task::Distances)
    }

    /// Values and gradients of zipped pairs (Soft-DTW and its divergence). `upstream` is one factor per pair.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and for measures without a gradient; [`Error::Unsupported`]
    /// where the device cannot.
    pub fn gradients<T: Float>(
        &self,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
        upstream: Option<&[T]>,
    ) -> Result<GradientResult<T>> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        let (x, y) = (x.batch(), y.batch());
        let mut result = GradientResult {
            distances: vec![T::ZERO; x.len()],
            grad_x: vec![T::ZERO; x.values().len()],
            grad_y: vec![T::ZERO; y.values().len()],
        };
        let out = Gradients {
            upstream,
            distances: &mut result.distances,
            grad_x: &mut result.grad_x,
            grad_y: &mut result.grad_y,
        };
        self.with_plan(Pairing::Zipped, &x, &y, |plan| plan.gradients(x, y, out))?;
        Ok(result)
    }

    /// Accumulated costs of two series, `[n, m]`: entry `(i, j)` is the value of the points up to `i` and up to `j`,
    /// the last one the distance, and (but of LCSS) infinite outside the band ([`CostMatrix`]). On the CPU, whatever
    /// the device: O(n·m) time and memory, one thread.
    ///
    /// ```
    /// use dtwave::{Session, Spec};
    /// let grid = Session::new(Spec::dtw()).cost_matrix(&[0.0, 1.0, 3.0], &[0.0, 3.0])?;
    /// assert_eq!(grid, ndarray::array![[0.0, 9.0], [1.0, 4.0], [10.0, 1.0]]);
    /// # Ok::<(), dtwave::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and for the Soft-DTW divergence, which is made of three grids;
    /// [`Error::MemoryRefused`] where the system has no room.
    pub fn cost_matrix<T: Float>(
        &self,
        x: &(impl AsSeries<T> + ?Sized),
        y: &(impl AsSeries<T> + ?Sized),
    ) -> Result<Array2<T>> {
        let (x, y) = (x.as_series(), y.as_series());
        let CostMatrix { values, shape } = CostMatrix::new(&self.spec, x.series(), y.series())?;
        Array2::from_shape_vec(shape, values).map_err(|error| Error::invalid(error.to_string()))
    }

    /// The best warping path of two series.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and for measures without a path.
    pub fn align<T: Float>(
        &self,
        x: &(impl AsSeries<T> + ?Sized),
        y: &(impl AsSeries<T> + ?Sized),
    ) -> Result<Path<T>> {
        let (x, y) = (x.as_series(), y.as_series());
        let (x, y) = (SeriesBatch::single(x.series()), SeriesBatch::single(y.series()));
        let mut paths = self.with_plan(Pairing::Zipped, &x, &y, |plan| plan.paths(x, y))?;
        paths.pop().ok_or_else(|| Error::invalid("one pair has one path"))
    }

    /// The best warping paths of the s-th series of `x` with the s-th of `y`; several pairs use several threads.
    ///
    /// # Errors
    /// As [`align`](Self::align).
    pub fn align_all<T: Float>(
        &self,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
    ) -> Result<Vec<Path<T>>> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        let (x, y) = (x.batch(), y.batch());
        self.with_plan(Pairing::Zipped, &x, &y, |plan| plan.paths(x, y))
    }

    /// The expected alignment `E = ∂value/∂cost` of Soft-DTW: shape `[n, m]`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and for other measures; [`Error::Unsupported`] where the device
    /// cannot.
    pub fn expected_alignment<T: Float>(
        &self,
        x: &(impl AsSeries<T> + ?Sized),
        y: &(impl AsSeries<T> + ?Sized),
    ) -> Result<Array2<T>> {
        let (x, y) = (x.as_series(), y.as_series());
        let (x, y) = (x.series(), y.series());
        let (batch_x, batch_y) = (SeriesBatch::single(x), SeriesBatch::single(y));
        let values = self.with_plan(Pairing::Zipped, &batch_x, &batch_y, |plan| plan.alignment(x, y))?;
        Array2::from_shape_vec((x.len(), y.len()), values).map_err(|e| Error::invalid(e.to_string()))
    }
}
