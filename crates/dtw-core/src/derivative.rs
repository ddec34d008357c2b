//! The Keogh–Pazzani derivative: `((xᵢ − xᵢ₋₁) + (xᵢ₊₁ − xᵢ₋₁)/2) / 2`, which drops both ends.
//!
//! Keogh & Pazzani 2001, 10.1137/1.9781611972719.1.

use crate::measure::Preparation;
use crate::{Scalar, SeriesBatch};

/// Derivatives of a batch: the values and the offsets in points.
#[derive(Debug, Clone)]
pub struct Derivatives<T> {
    values: Vec<T>,
    offsets: Vec<usize>,
    channels: usize,
}

impl<T: Scalar> Derivatives<T> {
    /// Derives every series of `batch`, each of which needs at least 3 points. O(total points) time and memory.
    ///
    /// # Panics
    /// When a series has fewer than 3 points; [`crate::Problem`] checks this first.
    pub fn of(batch: &SeriesBatch<'_, T>) -> Self {
        let channels = batch.channels();
        let mut values = Vec::with_capacity(batch.values().len());
        let mut offsets = vec![0];
        let half = T::from_f64(0.5);
        for series in batch.iter() {
            assert!(series.len() >= 3, "a derivative needs 3 points");
            for i in 1..series.len() - 1 {
                for k in 0..channels {
                    let (before, here, after) =
                        (series.point(i - 1)[k], series.point(i)[k], series.point(i + 1)[k]);
                    values.push(((here - before) + (after - before) * half) * half);
                }
            }
            offsets.push(values.len() / channels);
        }
        Self { values, offsets, channels }
    }

    /// The derivatives of both sides, where this is the preparation.
    ///
    /// # Panics
    /// As [`Self::of`].
    pub fn wanted(
        preparation: Preparation,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Option<(Self, Self)> {
        match preparation {
            Preparation::None => None,
            Preparation::Derivative => Some((Self::of(x), Self::of(y))),
        }
    }

    /// The derivatives as a batch.
    pub fn batch(&self) -> SeriesBatch<'_, T> {
        SeriesBatch::ragged(&self.values, &self.offsets, self.channels)
            .expect("offsets were built from the values")
    }
}
