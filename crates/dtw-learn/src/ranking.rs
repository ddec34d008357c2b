//! The k nearest of many, as distances come.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use dtw_core::Scalar;

/// Distances that are looked at together: that none of them is near is one question.
const TOGETHER: usize = 16;

/// A candidate; the greatest is the one to drop first.
struct Candidate<T> {
    /// The distance, or the negated similarity; never −0, so that `total_cmp` sees ties.
    rank: f64,
    index: usize,
    distance: T,
}

impl<T> Ord for Candidate<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(self.index.cmp(&other.index))
    }
}
impl<T> PartialOrd for Candidate<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> PartialEq for Candidate<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for Candidate<T> {}

/// The `k` nearest candidates so far of each of some series; of equally near ones those of smaller indices.
pub(crate) struct Ranking<T> {
    k: usize,
    /// −1 where larger values are nearer.
    sign: T,
    best: Vec<BinaryHeap<Candidate<T>>>,
    /// No candidate of a larger rank is among the nearest of a series: infinite while these are fewer than `k`.
    bounds: Vec<T>,
}

impl<T: Scalar> Ranking<T> {
    /// Of so many series, before any candidate.
    pub(crate) fn new(k: usize, count: usize, is_similarity: bool) -> Self {
        let sign = T::from_f64(if is_similarity { -1.0 } else { 1.0 });
        let best = (0..count).map(|_| BinaryHeap::with_capacity(k)).collect();
        Self { k, sign, best, bounds: vec![T::INFINITY; count] }
    }

    /// Offers candidates, the rows, to series, the columns, in so many threads: `distances` are finite,
    /// `[rows, columns]`.
    pub(crate) fn offer_rows(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        distances: &[T],
        threads: usize,
    ) {
        let first = columns.start;
        self.share(columns.clone(), threads, |series, part| {
            let own = series.start - first..series.end - first;
            for (index, row) in rows.clone().zip(distances.chunks_exact(columns.len())) {
                part.offer_to_all(index, &row[own.clone()]);
            }
        });
    }

    /// Offers candidates, the columns, to series, the rows, as [`Ranking::offer_rows`] does.
    pub(crate) fn offer_columns(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        distances: &[T],
        threads: usize,
    ) {
        let first = rows.start;
        self.share(rows, threads, |series, part| {
            let own = distances[(series.start - first) * columns.len()..].chunks_exact(columns.len());
            for (at, row) in own.take(series.len()).enumerate() {
                part.offer_all(at, columns.start, row);
            }
        });
    }

    /// Cuts some series into a part for each thread, and calls `work` with them.
    fn share(
        &mut self,
        series: Range<usize>,
        threads: usize,
        work: impl Fn(Range<usize>, &mut Part<'_, T>) + Sync,
    ) {
        let (k, sign, each) = (self.k, self.sign, series.len().div_ceil(threads.max(1)).max(1));
        let best = self.best[series.clone()].chunks_mut(each);
        let parts = best.zip(self.bounds[series.clone()].chunks_mut(each)).enumerate();
        let mut parts = parts.map(|(at, (best, bounds))| {
            let start = series.start + at * each;
            (start..start + best.len(), Part { k, sign, best, bounds })
        });
        let own = parts.next();
        let work = &work;
        std::thread::scope(|scope| {
            for (series, mut part) in parts {
                scope.spawn(move || work(series, &mut part));
            }
            own.into_iter().for_each(|(series, mut part)| work(series, &mut part));
        });
    }

    /// The nearest of each series, `[series, k]`: their indices and distances.
    pub(crate) fn finish(self) -> (Vec<usize>, Vec<T>) {
        let count = self.k * self.best.len();
        let (mut indices, mut distances) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for candidate in self.best.into_iter().flat_map(BinaryHeap::into_sorted_vec) {
            indices.push(candidate.index);
            distances.push(candidate.distance);
        }
        (indices, distances)
    }
}

/// Some series of a ranking, counted from the first of them.
struct Part<'a, T> {
    k: usize,
    sign: T,
    best: &'a mut [BinaryHeap<Candidate<T>>],
    bounds: &'a mut [T],
}

impl<T: Scalar> Part<'_, T> {
    /// Offers a candidate to all series.
    fn offer_to_all(&mut self, index: usize, distances: &[T]) {
        for (at, near) in distances.chunks(TOGETHER).enumerate() {
            let series = at * TOGETHER..at * TOGETHER + near.len();
            let bounds = &self.bounds[series.clone()];
            let is_near = |some, (distance, bound): (&T, &T)| some | (self.sign * *distance <= *bound);
            if near.iter().zip(bounds).fold(false, is_near) {
                series.zip(near).for_each(|(series, distance)| self.offer(series, index, *distance));
            }
        }
    }

    /// Offers the candidates from `first` on to a series.
    fn offer_all(&mut self, series: usize, first: usize, distances: &[T]) {
        for (at, near) in distances.chunks(TOGETHER).enumerate() {
            let bound = self.bounds[series];
            if near.iter().fold(false, |some, distance| some | (self.sign * *distance <= bound)) {
                let indices = first + at * TOGETHER..;
                indices.zip(near).for_each(|(index, distance)| self.offer(series, index, *distance));
            }
        }
    }

    fn offer(&mut self, series: usize, index: usize, distance: T) {
        let rank = self.sign * distance;
        if rank > self.bounds[series] {
            return;
        }
        let best = &mut self.best[series];
        let candidate = Candidate { rank: rank.to_f64() + 0.0, index, distance };
        if best.len() < self.k {
            best.push(candidate);
        } else if let Some(mut worst) = best.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
        if let Some(worst) = best.peek().filter(|_| best.len() == self.k) {
            self.bounds[series] = self.sign * worst.distance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However candidates are offered, the nearest are those of a sorted list.
    #[test]
    fn the_nearest_are_the_first_of_a_sorted_list() {
        let (count, candidates) = (37, 50);
        // Many are equal; 0 has both signs.
        let distance = |i: usize, j: usize| {
            let value = ((i * 7 + j * 13) % 11) as f64;
            if (i + j).is_multiple_of(3) { -value } else { value }
        };
        for is_similarity in [false, true] {
            for k in [1, 3, 17, candidates] {
                let expected: Vec<usize> = (0..count)
                    .flat_map(|j| {
                        let rank = |i: usize| if is_similarity { -distance(i, j) } else { distance(i, j) };
                        let mut all: Vec<usize> = (0..candidates).collect();
                        all.sort_by(|a, b| rank(*a).partial_cmp(&rank(*b)).unwrap());
                        all.truncate(k);
                        all
                    })
                    .collect();
                let all: Vec<f64> =
                    (0..candidates).flat_map(|i| (0..count).map(move |j| distance(i, j))).collect();
                let turned: Vec<f64> =
                    (0..count).flat_map(|j| (0..candidates).map(move |i| distance(i, j))).collect();
                let mut by_candidate = Ranking::new(k, count, is_similarity);
                by_candidate.offer_rows(20..candidates, 0..count, &all[20 * count..], 3);
                by_candidate.offer_rows(0..20, 0..count, &all[..20 * count], 1);
                let mut by_series = Ranking::new(k, count, is_similarity);
                by_series.offer_columns(11..count, 0..candidates, &turned[11 * candidates..], 4);
                by_series.offer_columns(0..11, 0..candidates, &turned[..11 * candidates], 100);
                for ranking in [by_candidate, by_series] {
                    let (indices, distances) = ranking.finish();
                    assert_eq!(indices, expected, "{k} {is_similarity}");
                    for (place, index) in indices.iter().enumerate() {
                        assert_eq!(distances[place], distance(*index, place / k));
                    }
                }
            }
        }
    }
}
