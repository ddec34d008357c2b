//! Which windows of a series a profile compares.

use dtw_core::WindowJoin;

/// Which windows a profile compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// Points of a window.
    pub window: usize,
    /// Points from the beginning of a window to that of the next one.
    pub step: usize,
    /// Whether each window is z-normalised, each channel by itself.
    pub is_normalized: bool,
    /// The exclusion zone: windows whose first points are at most so many points apart are not neighbours. Of two
    /// series it keeps motifs and discords apart, and nothing else. `None`: half of a window, rounded up.
    pub exclusion: Option<usize>,
}

impl ProfileOptions {
    /// All windows of so many points, z-normalised, with half of that as the exclusion zone.
    pub fn new(window: usize) -> Self {
        Self { window, step: 1, is_normalized: true, exclusion: None }
    }

    chosen! {
        /// These options with windows that begin so many points apart.
        with_step(step: usize);
        /// These options with windows that are z-normalised or not.
        with_normalization(is_normalized: bool);
        /// These options with this exclusion zone.
        with_exclusion(exclusion: Option<usize>);
    }

    /// The exclusion zone in points.
    pub fn exclusion_points(&self) -> usize {
        self.exclusion.unwrap_or(self.window.div_ceil(2))
    }

    /// The join of these windows, with the exclusion zone if they are all of one series.
    pub(super) fn join(&self, is_of_one: bool) -> WindowJoin {
        WindowJoin::new(self.window)
            .with_step(self.step)
            .with_normalization(self.is_normalized)
            .with_exclusion(is_of_one.then_some(self.exclusion_points()))
    }
}
