//! A profile, and what stands out in it: motifs and discords.

use dtw_core::{NearestWindow, Scalar};

use super::options::ProfileOptions;

/// For each window of a series its distance to the nearest one, and where that begins.
///
/// A window without a neighbour (all others are in its exclusion zone) has an infinite distance and no place.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile<T> {
    window: usize,
    step: usize,
    exclusion: usize,
    is_join: bool,
    distances: Vec<T>,
    places: Vec<Option<usize>>,
}

/// Two windows that are near to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motif<T> {
    /// The first point of a window of the series.
    pub first: usize,
    /// The first point of the nearest window, of the same series or of the other one.
    pub second: usize,
    /// Their distance.
    pub distance: T,
}

/// A window that is far from its nearest one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discord<T> {
    /// Its first point.
    pub start: usize,
    /// The first point of the nearest window.
    pub nearest: usize,
    /// Their distance.
    pub distance: T,
}

impl<T: Scalar> Profile<T> {
    pub(super) fn new(options: &ProfileOptions, is_join: bool, nearest: Vec<NearestWindow<T>>) -> Self {
        Self {
            window: options.window,
            step: options.step,
            exclusion: options.exclusion_points(),
            is_join,
            distances: nearest.iter().map(|found| found.map_or(T::INFINITY, |found| found.1)).collect(),
            places: nearest.into_iter().map(|found| found.map(|found| found.0)).collect(),
        }
    }

    /// Windows.
    pub fn len(&self) -> usize {
        self.distances.len()
    }

    /// No windows.
    pub fn is_empty(&self) -> bool {
        self.distances.is_empty()
    }

    /// Points of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Points from the beginning of a window to that of the next one: window `w` begins at point `w · step`.
    pub fn step(&self) -> usize {
        self.step
    }

    /// The exclusion zone in points.
    pub fn exclusion(&self) -> usize {
        self.exclusion
    }

    /// Whether the neighbours are windows of another series.
    pub fn is_join(&self) -> bool {
        self.is_join
    }

    /// The distance of each window to its nearest one; infinite where there is none.
    pub fn distances(&self) -> &[T] {
        &self.distances
    }

    /// The first point of the window nearest to each; nothing where there is none.
    pub fn places(&self) -> &[Option<usize>] {
        &self.places
    }

    /// The first points of windows that have a neighbour, with its first point and the distance, in this order.
    fn ranked(&self, mut rank: impl FnMut(f64) -> f64) -> Vec<(usize, usize, T)> {
        let found = self.places.iter().zip(&self.distances).enumerate();
        let mut found: Vec<_> = found
            .filter_map(|(w, (place, distance))| place.map(|place| (w * self.step, place, *distance)))
            .collect();
        // Zero has two signs, which are equal.
        found.sort_by(|a, b| {
            let (a_rank, b_rank) = (rank(a.2.to_f64()) + 0.0, rank(b.2.to_f64()) + 0.0);
            a_rank.total_cmp(&b_rank).then(a.0.cmp(&b.0))
        });
        found
    }

    /// The `k` best motifs, the closest first; fewer where there are no more.
    ///
    /// Candidates are the pairs of each window and its nearest one. The closest is taken, of equally close ones the one
    /// whose window of the series begins first. Then the next one follows that does not overlap those taken: both of
    /// its windows begin more than the exclusion zone away from every window of them. Of one series, all four windows
    /// are compared; of two, those of the same series. The first motif is so the closest pair of windows that there is.
    /// O(n log n + n·k) time.
    pub fn motifs(&self, k: usize) -> Vec<Motif<T>> {
        let mut motifs: Vec<Motif<T>> = Vec::new();
        let is_near = |a: usize, b: usize| a.abs_diff(b) <= self.exclusion;
        for (first, second, distance) in self.ranked(|distance| distance) {
            if motifs.len() == k {
                break;
            }
            let overlaps = motifs.iter().any(|taken| {
                let own = is_near(first, taken.first) || is_near(second, taken.second);
                own || (!self.is_join && (is_near(first, taken.second) || is_near(second, taken.first)))
            });
            if !overlaps {
                motifs.push(Motif { first, second, distance });
            }
        }
        motifs
    }

    /// The `k` best discords, the farthest first; fewer where there are no more.
    ///
    /// The window whose nearest one is farthest is taken, of equally far ones the first. Then the next one follows that
    /// begins more than the exclusion zone away from those taken. Windows without a neighbour are no discords.
    /// O(n log n + n·k) time.
    pub fn discords(&self, k: usize) -> Vec<Discord<T>> {
        let mut discords: Vec<Discord<T>> = Vec::new();
        for (start, nearest, distance) in self.ranked(|distance| -distance) {
            if discords.len() == k {
                break;
            }
            if discords.iter().all(|taken| taken.start.abs_diff(start) > self.exclusion) {
                discords.push(Discord { start, nearest, distance });
            }
        }
        discords
    }
}
