//! Windows of a long series and those of another, or of the same one: which of them are compared.

use std::ops::Range;

use crate::normalize::z_normalize;
use crate::{Result, Scalar, Series, bail_invalid};

/// The windows of a join: `length` points each, the first from point 0 on, the next one `step` points later, as long as
/// they fit. A window is named by its first point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowJoin {
    /// Points of a window, at least 1.
    pub length: usize,
    /// Points from the beginning of a window to that of the next one, at least 1.
    pub step: usize,
    /// Whether each window is z-normalised, each channel by itself: `(x − mean) / σ`, zeros where all its values are
    /// equal ([`crate::normalize`]).
    pub is_normalized: bool,
    /// Windows whose first points are at most so far apart are no neighbours: the exclusion zone of a series joined
    /// with itself. `None`: all are, as of two series.
    pub exclusion: Option<usize>,
}

/// The nearest window, by its first point, and its distance; nothing where there is no neighbour.
pub type NearestWindow<T> = Option<(usize, T)>;

impl WindowJoin {
    /// All z-normalised windows of so many points, without an exclusion zone.
    pub fn new(length: usize) -> Self {
        Self { length, step: 1, is_normalized: true, exclusion: None }
    }

    /// This join with windows that begin so many points apart.
    #[must_use]
    pub fn with_step(mut self, step: usize) -> Self {
        self.step = step;
        self
    }

    /// This join with windows that are z-normalised or not.
    #[must_use]
    pub fn with_normalization(mut self, is_normalized: bool) -> Self {
        self.is_normalized = is_normalized;
        self
    }

    /// This join with an exclusion zone, or without.
    #[must_use]
    pub fn with_exclusion(mut self, exclusion: Option<usize>) -> Self {
        self.exclusion = exclusion;
        self
    }

    /// Windows of a series of so many points.
    pub fn count(&self, points: usize) -> usize {
        if points < self.length { 0 } else { (points - self.length) / self.step + 1 }
    }

    /// Whether the windows that begin at these points are too near to be neighbours.
    pub fn excludes(&self, first: usize, second: usize) -> bool {
        self.exclusion.is_some_and(|exclusion| first.abs_diff(second) <= exclusion)
    }

    /// Appends these windows of a series, by their numbers, to `out`: `[windows, length, channels]`, z-normalised if
    /// the join says so. O(windows · length) time.
    pub fn append<T: Scalar>(&self, series: Series<'_, T>, some: Range<usize>, out: &mut Vec<T>) {
        let channels = series.channels;
        for window in some {
            let (start, begun) = (window * self.step * channels, out.len());
            out.extend_from_slice(&series.values[start..start + self.length * channels]);
            if self.is_normalized {
                z_normalize(&mut out[begun..], channels);
            }
        }
    }

    /// Checks the join against the series, which errors call `name`.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for windows or steps of no points, a series without a window, and one with timestamps:
    /// the points of a window count from 1.
    pub fn check<T>(&self, series: &Series<'_, T>, name: &str) -> Result<()> {
        if self.length == 0 || self.step == 0 {
            bail_invalid!(
                "windows need at least one point, and steps between them too: got windows of {} and steps of {}",
                self.length,
                self.step
            );
        }
        if series.len() < self.length {
            bail_invalid!("{name} has {} points, fewer than a window of {}", series.len(), self.length);
        }
        if series.times.is_some() {
            bail_invalid!(
                "{name} has timestamps: the points of a window are counted, and their times unknown"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_and_taken_as_they_fit() {
        let join = WindowJoin::new(3).with_step(2).with_normalization(false);
        for (points, count) in [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3)] {
            assert_eq!(join.count(points), count, "{points}");
        }
        let values: Vec<f64> = (0..14).map(f64::from).collect();
        let series = Series { values: &values, channels: 2, times: None };
        let mut out = Vec::new();
        join.append(series, 1..3, &mut out);
        let expected: Vec<f64> = (4..10).chain(8..14).map(f64::from).collect();
        assert_eq!(out, expected);
        out.clear();
        join.with_normalization(true).append(series, 2..3, &mut out);
        let far = 1.5_f64.sqrt();
        for (value, expected) in out.iter().zip([-far, -far, 0.0, 0.0, far, far]) {
            assert!((value - expected).abs() < 1e-15, "{out:?}");
        }
    }

    #[test]
    fn a_zone_has_both_its_ends() {
        let join = WindowJoin::new(4).with_exclusion(Some(2));
        assert!(join.excludes(7, 5) && join.excludes(5, 7) && !join.excludes(5, 8));
        assert!(!join.with_exclusion(None).excludes(5, 5));
    }

    #[test]
    fn what_has_no_windows_is_refused() {
        let said = |join: WindowJoin, series: Series<'_, f64>| {
            join.check(&series, "the series").unwrap_err().to_string()
        };
        let series = Series::univariate(&[1.0, 2.0, 3.0]);
        assert!(said(WindowJoin::new(0), series).contains("windows of 0 and steps of 1"));
        assert!(said(WindowJoin::new(2).with_step(0), series).contains("steps of 0"));
        let error = said(WindowJoin::new(4), series);
        assert!(error.contains("the series has 3 points, fewer than a window of 4"), "{error}");
        let timed = Series { times: Some(&[1.0, 2.0, 4.0]), ..series };
        assert!(said(WindowJoin::new(2), timed).contains("timestamps"));
        assert!(WindowJoin::new(3).check(&series, "the series").is_ok());
    }
}
