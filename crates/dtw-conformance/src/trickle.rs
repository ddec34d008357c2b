//! A reference that comes a few points at a time, for tests of what reads block by block.

use dtw_core::{Blocks, Match, Result, Scalar, Series};

/// Values handed out at most so many points at a time, however many are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Trickle<'a, T> {
    /// What is left, row-major.
    pub values: &'a [T],
    /// Values per point.
    pub channels: usize,
    /// Most points at a time.
    pub most: usize,
}

impl<'a, T> Trickle<'a, T> {
    /// At most a third of a series at a time.
    pub fn thirds(series: Series<'a, T>) -> Self {
        Self { values: series.values, channels: series.channels, most: series.len().div_ceil(3) }
    }
}

impl<T: Scalar> Blocks<T> for Trickle<'_, T> {
    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> Result<()> {
        let (now, rest) = self.values.split_at(self.values.len().min(points.min(self.most) * self.channels));
        block.extend_from_slice(now);
        self.values = rest;
        Ok(())
    }
}

/// A stream that is followed: it keeps what it is told.
#[derive(Debug)]
pub struct Followed<'a, T> {
    /// The points.
    pub points: Trickle<'a, T>,
    /// Hits of each query, as they were told.
    pub told: Vec<Vec<Match<T>>>,
}

impl<T: Scalar> Blocks<T> for Followed<'_, T> {
    fn channels(&self) -> usize {
        self.points.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> Result<()> {
        self.points.read(points, block)
    }

    fn is_followed(&self) -> bool {
        true
    }

    fn settled(&mut self, query: usize, hits: &[Match<T>]) -> Result<()> {
        self.told[query].extend_from_slice(hits);
        Ok(())
    }
}
