//! How an average is sought: its weights, where the search starts, and how the cost is minimised.

use dtw_core::Series;

/// Series of which [`Start::Medoid`] is the medoid, unless told: some 33 thousand sweeps, few beside the averaging of
/// as many series as there may be.
pub(super) const SAMPLE_SIZE: usize = 256;

/// Where the search for the average starts, which also fixes the average's length.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Start<'a, T> {
    /// The series of least total distance to all ([`super::medoid`]). Of more than [`BarycenterOptions::sample_size`]
    /// series, the medoid of so many of them, drawn at random.
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
    /// Of how many series, at most, [`Start::Medoid`] is the medoid; at least 1. Of more, so many are drawn without
    /// repetition, with probabilities in proportion to their weights. `usize::MAX` for the medoid of all.
    pub sample_size: usize,
    /// Seed of that draw (ChaCha8).
    pub seed: u64,
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
            sample_size: SAMPLE_SIZE,
            seed: 0,
            optimizer: Optimizer::default(),
            max_iterations: 100,
            tolerance: 1e-6,
        }
    }
}

impl<'a, T> BarycenterOptions<'a, T> {
    chosen! {
        /// Options with one weight per series.
        with_weights(weights: Option<&'a [f64]>);
        /// Options with this start.
        with_start(start: Start<'a, T>);
        /// Options whose starting medoid is of at most so many series.
        with_sample_size(sample_size: usize);
        /// Options with this seed of the draw of those series.
        with_seed(seed: u64);
        /// Options with this way to minimise.
        with_optimizer(optimizer: Optimizer);
        /// Options with at most this many iterations.
        with_max_iterations(max_iterations: usize);
        /// Options that stop when an iteration lowers the cost by no more than this fraction.
        with_tolerance(tolerance: f64);
    }
}
