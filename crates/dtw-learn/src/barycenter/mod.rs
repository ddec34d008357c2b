//! The average of a set of series under an elastic measure.
//!
//! ```text
//! center  =  argmin_c  Σ_s w_s · d(c, x_s)          c: [length, channels], its length fixed by the start
//! ```
//!
//! DTW is averaged by DBA ([`dba`]), Soft-DTW and its divergence by gradient descent ([`soft_barycenter`]);
//! [`barycenter`] takes whichever the measure calls for. Both find a local minimum that depends on the start.
//!
//! ```
//! use dtw_core::{SeriesBatch, Spec};
//! use dtw_learn::{BarycenterOptions, Context, barycenter};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! // One peak, early and late: their DTW average is that peak, not two half peaks.
//! let values = [0.0_f64, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0];
//! let x = SeriesBatch::equal(&values, 2, 4, 1)?;
//! let average = barycenter(&Context::new(&backend), &Spec::dtw(), x, &BarycenterOptions::default())?;
//! assert!(average.converged);
//! assert_eq!(average.center, [0.0, 2.0, 0.0, 0.0]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

mod dba;
mod descent;
mod members;
mod soft;
mod start;

use dtw_core::{Anchor, LocalCost, Measure, Result, Scalar, Series, SeriesBatch, Spec, bail_invalid};

use crate::Context;

pub use dba::dba;
pub(crate) use members::gather;
pub use soft::soft_barycenter;
pub use start::medoid;

/// Where the search for the average starts, which also fixes the average's length.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Start<'a, T> {
    /// The series of least total distance to all ([`medoid`]); costs a distance matrix.
    #[default]
    Medoid,
    /// The pointwise weighted mean; needs series of equal length.
    Mean,
    /// This series.
    Series(Series<'a, T>),
}

/// How a differentiable cost is minimised. DBA does not use it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Optimizer {
    /// L-BFGS with a line search for the weak Wolfe conditions; the cost decreases in every iteration. Liu & Nocedal
    /// 1989, 10.1007/BF01589116.
    Lbfgs {
        /// Corrections kept, at least 1.
        history: usize,
    },
    /// Adam: cheap steps of bounded length, not always downhill; the best centre seen is returned. Kingma & Ba 2015,
    /// arXiv 1412.6980.
    Adam {
        /// Step length in units of the values, above 0.
        learning_rate: f64,
    },
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::Lbfgs { history: 10 }
    }
}

/// How an average is sought.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BarycenterOptions<'a, T> {
    /// One weight per series, finite and ≥ 0, not all 0; `None` is all ones.
    pub weights: Option<&'a [f64]>,
    /// Where to start.
    pub start: Start<'a, T>,
    /// How to minimise where there is a gradient.
    pub optimizer: Optimizer,
    /// Most iterations; 0 returns the start with its cost.
    pub max_iterations: usize,
    /// Converged when an iteration lowers the cost by no more than this fraction of it; ≥ 0.
    pub tolerance: f64,
}

impl<T> Default for BarycenterOptions<'_, T> {
    fn default() -> Self {
        Self {
            weights: None,
            start: Start::Medoid,
            optimizer: Optimizer::default(),
            max_iterations: 100,
            tolerance: 1e-6,
        }
    }
}

impl<'a, T> BarycenterOptions<'a, T> {
    /// Options with one weight per series.
    #[must_use]
    pub fn with_weights(mut self, weights: Option<&'a [f64]>) -> Self {
        self.weights = weights;
        self
    }

    /// Options with this start.
    #[must_use]
    pub fn with_start(mut self, start: Start<'a, T>) -> Self {
        self.start = start;
        self
    }

    /// Options with this way to minimise.
    #[must_use]
    pub fn with_optimizer(mut self, optimizer: Optimizer) -> Self {
        self.optimizer = optimizer;
        self
    }

    /// Options with at most this many iterations.
    #[must_use]
    pub fn with_max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Options that stop when an iteration lowers the cost by no more than this fraction.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
}

/// An average and how it was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Barycenter<T> {
    /// The average, shape `[length, channels]`, row-major.
    pub center: Vec<T>,
    /// Values per point.
    pub channels: usize,
    /// The cost Σ w·d of the start and after each iteration. [`Optimizer::Adam`]'s may rise in between.
    pub costs: Vec<f64>,
    /// Whether the cost stopped falling (within the tolerance) before the iterations ran out.
    pub converged: bool,
}

impl<T> Barycenter<T> {
    /// Points of the average.
    pub fn len(&self) -> usize {
        self.center.len() / self.channels
    }
    /// No points; never so for a result of this crate.
    pub fn is_empty(&self) -> bool {
        self.center.is_empty()
    }
    /// The average as a series.
    pub fn series(&self) -> Series<'_, T> {
        Series { values: &self.center, channels: self.channels, times: None }
    }
    /// The cost of [`Barycenter::center`]: the least in the history.
    pub fn cost(&self) -> f64 {
        self.costs.iter().copied().fold(f64::INFINITY, f64::min)
    }
    /// Iterations done.
    pub fn iterations(&self) -> usize {
        self.costs.len() - 1
    }
}

/// The average under the spec's measure: [`dba`] for DTW, [`soft_barycenter`] for Soft-DTW and its divergence.
///
/// `x`: series of any lengths with the same channels. Cost: as those two.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for other measures; otherwise as those two.
pub fn barycenter<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &BarycenterOptions<'_, T>,
) -> Result<Barycenter<T>> {
    check_averageable(spec)?;
    if spec.measure.has_gradient() {
        soft_barycenter(context, spec, x, options)
    } else {
        dba(context, spec, x, options)
    }
}

/// Whether [`barycenter`] is defined for the spec.
pub(crate) fn check_averageable(spec: &Spec) -> Result<()> {
    if spec.anchor == Anchor::Subsequence {
        bail_invalid!("an average needs both ends of the series matched: use the global anchor");
    }
    match spec.measure {
        Measure::SoftDtw { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::SoftDtwDivergence { cost: LocalCost::SquaredEuclidean, .. }
        | Measure::Dtw { cost: LocalCost::SquaredEuclidean } => Ok(()),
        Measure::Dtw { cost } => bail_invalid!(
            "an average under dtw needs the squared Euclidean cost, which a mean minimises; got {cost:?}"
        ),
        Measure::SoftDtw { cost, .. } | Measure::SoftDtwDivergence { cost, .. } => bail_invalid!(
            "an average under {} needs the squared Euclidean cost, whose slope has no jumps; got {cost:?}",
            spec.measure.key()
        ),
        _ => bail_invalid!(
            "an average is defined under dtw, soft_dtw and soft_dtw_divergence; got {}",
            spec.measure.key()
        ),
    }
}

/// Checks that the series have no timestamps, which none of these measures uses.
pub(crate) fn check_untimed<T>(x: &SeriesBatch<'_, T>) -> Result<()> {
    if x.has_times() {
        bail_invalid!("timestamps are used by twed only, which has no average: leave them out");
    }
    Ok(())
}

/// The unit below which a change of the mean cost per unit of weight is no change: γ where the cost is one of Soft-DTW,
/// which may be 0 anywhere. Distances that are 0 for equal series need none.
pub(crate) fn cost_floor(spec: &Spec) -> f64 {
    match spec.measure {
        Measure::SoftDtw { gamma, .. } => gamma,
        _ => 0.0,
    }
}

/// Checks a sum of weighted distances.
pub(crate) fn check_cost(what: &str, cost: f64) -> Result<()> {
    if cost.is_finite() { Ok(()) } else { bail_invalid!("{what} is {cost}: scale or normalise the data") }
}

/// Checks a tolerance.
pub(crate) fn check_tolerance(tolerance: f64) -> Result<()> {
    if tolerance.is_finite() && tolerance >= 0.0 {
        Ok(())
    } else {
        bail_invalid!("the tolerance must be a finite number >= 0, got {tolerance}")
    }
}
