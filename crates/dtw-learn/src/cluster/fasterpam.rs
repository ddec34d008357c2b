//! FasterPAM: swapping medoids for other series while that lowers the loss.
//!
//! For every candidate `c`, one pass over the series gives the loss of replacing each of the k medoids by it:
//!
//! ```text
//! Δ(i, c) = Σ_{s: near(s) = i} second(s) − first(s)                        medoid i is taken away
//!         + Σ_s  first: d(c,s) < first(s)    d(c,s) − first(s),  and for i = near(s)  first(s) − second(s)
//!                else:  d(c,s) < second(s)                           for i = near(s)  d(c,s) − second(s)
//! ```
//!
//! The best `i` is swapped at once if Δ < 0. Schubert & Rousseeuw 2021, 10.1016/j.is.2021.101804, algorithm 3.
//! `first` and `second` are the dissimilarities to the nearest and second nearest medoid.

use dtw_core::Scalar;

/// A series' two nearest medoids, by position in the list of medoids.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    near: usize,
    first: f64,
    runner_up: usize,
    second: f64,
}

/// The medoids and what each series is nearest to.
pub(super) struct Search<'m, T> {
    /// `[candidate, series]`.
    matrix: &'m [T],
    n: usize,
    medoids: Vec<usize>,
    nearest: Vec<Nearest>,
    /// What taking each medoid away adds to the loss.
    removal: Vec<f64>,
}

impl<'m, T: Scalar> Search<'m, T> {
    /// From these medoids (different ones, at least one).
    pub(super) fn new(matrix: &'m [T], n: usize, medoids: Vec<usize>) -> Self {
        let mut search = Self { matrix, n, medoids, nearest: Vec::with_capacity(n), removal: Vec::new() };
        search.nearest = (0..n).map(|s| search.nearest_to(s)).collect();
        search.update_removal();
        search
    }

    /// PAM's BUILD: greedily the series that lowers the loss most; ties to the smaller index.
    pub(super) fn build(matrix: &'m [T], n: usize, clusters: usize) -> Vec<usize> {
        let mut medoids = Vec::with_capacity(clusters);
        let mut first: Option<Vec<f64>> = None;
        while medoids.len() < clusters {
            let mut best: Option<(f64, usize)> = None;
            for c in (0..n).filter(|c| !medoids.contains(c)) {
                let row = matrix[c * n..(c + 1) * n].iter().map(|d| d.to_f64());
                let loss: f64 = match &first {
                    None => row.sum(),
                    Some(first) => row.zip(first).map(|(d, first)| d.min(*first)).sum(),
                };
                if best.is_none_or(|(least, _)| loss < least) {
                    best = Some((loss, c));
                }
            }
            let Some((_, c)) = best else { break };
            let row = matrix[c * n..(c + 1) * n].iter().map(|d| d.to_f64());
            first = Some(match first {
                None => row.collect(),
                Some(first) => row.zip(first).map(|(d, first)| d.min(first)).collect(),
            });
            medoids.push(c);
        }
        medoids
    }

    fn d(&self, candidate: usize, s: usize) -> f64 {
        self.matrix[candidate * self.n + s].to_f64()
    }

    fn nearest_to(&self, s: usize) -> Nearest {
        let mut found = Nearest { near: 0, first: f64::INFINITY, runner_up: 0, second: f64::INFINITY };
        for (i, medoid) in self.medoids.iter().enumerate() {
            let d = self.d(*medoid, s);
            if d < found.first {
                (found.runner_up, found.second) = (found.near, found.first);
                (found.near, found.first) = (i, d);
            } else if d < found.second {
                (found.runner_up, found.second) = (i, d);
            }
        }
        found
    }

    fn update_removal(&mut self) {
        self.removal.clear();
        self.removal.resize(self.medoids.len(), 0.0);
        for nearest in &self.nearest {
            self.removal[nearest.near] += nearest.second - nearest.first;
        }
    }

    /// The change of loss of the best swap for candidate `c`, and the medoid it replaces.
    fn best_swap(&self, c: usize, change: &mut Vec<f64>) -> (f64, usize) {
        // With one medoid there is no second nearest: the candidate takes over everything.
        if self.medoids.len() == 1 {
            return ((0..self.n).map(|s| self.d(c, s) - self.nearest[s].first).sum(), 0);
        }
        change.clear();
        change.extend_from_slice(&self.removal);
        let mut shared = 0.0;
        for (s, nearest) in self.nearest.iter().enumerate() {
            let d = self.d(c, s);
            if d < nearest.first {
                shared += d - nearest.first;
                change[nearest.near] += nearest.first - nearest.second;
            } else if d < nearest.second {
                change[nearest.near] += d - nearest.second;
            }
        }
        let mut best = 0;
        for i in 1..change.len() {
            if change[i] < change[best] {
                best = i;
            }
        }
        (change[best] + shared, best)
    }

    /// Tries every series as a medoid, swapping at once what lowers the loss. Whether anything was swapped.
    pub(super) fn pass(&mut self) -> bool {
        let mut swapped = false;
        let mut change = Vec::with_capacity(self.medoids.len());
        let mut scale = self.scale();
        for c in 0..self.n {
            if self.medoids.contains(&c) {
                continue;
            }
            let (delta, i) = self.best_swap(c, &mut change);
            // Sums of n terms: a smaller gain may be rounding, and would be swapped back and forth.
            if delta < -1e-12 * scale {
                self.swap(i, c);
                scale = self.scale();
                swapped = true;
            }
        }
        swapped
    }

    /// The magnitude of the loss's terms.
    fn scale(&self) -> f64 {
        self.nearest.iter().map(|s| s.first.abs()).sum()
    }

    fn swap(&mut self, i: usize, c: usize) {
        self.medoids[i] = c;
        for s in 0..self.n {
            let d = self.d(c, s);
            let known = self.nearest[s];
            self.nearest[s] = if known.near == i || known.runner_up == i {
                self.nearest_to(s)
            } else if d < known.first {
                Nearest { near: i, first: d, runner_up: known.near, second: known.first }
            } else if d < known.second {
                Nearest { runner_up: i, second: d, ..known }
            } else {
                known
            };
        }
        self.update_removal();
    }

    /// Medoids in increasing order, each series' nearest among them, and the loss.
    pub(super) fn finish(mut self) -> (Vec<usize>, Vec<usize>, f64) {
        self.medoids.sort_unstable();
        let nearest: Vec<Nearest> = (0..self.n).map(|s| self.nearest_to(s)).collect();
        let labels = nearest.iter().map(|s| s.near).collect();
        let loss = nearest.iter().map(|s| s.first).sum();
        (self.medoids, labels, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_swap_what_is_kept_is_what_a_look_at_all_medoids_finds() {
        let (n, k) = (16, 4);
        // Different fractions in no order.
        let matrix: Vec<f64> = (0..n * n).map(|at| (at * 89 % 257) as f64 / 257.0).collect();
        let mut search = Search::new(&matrix, n, (0..k).collect());
        for c in k..n {
            search.swap(c * 7 % k, c);
            for (s, kept) in search.nearest.iter().enumerate() {
                let found = search.nearest_to(s);
                assert_eq!((kept.near, kept.first), (found.near, found.first), "series {s}");
                assert_eq!((kept.runner_up, kept.second), (found.runner_up, found.second), "series {s}");
            }
        }
    }
}
