//! What a search for an average returns.

use dtw_core::Series;

/// An average and how it was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Barycenter<T> {
    /// The average, shape `[length, channels]`, row-major.
    pub center: Vec<T>,
    /// Values per point.
    pub channels: usize,
    /// The cost Σ w·d of the start and after each iteration. [`super::Optimizer::Adam`]'s may rise in between.
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
