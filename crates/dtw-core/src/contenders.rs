//! Which ends of a search cannot be among its `k` best hits, known while costs come in any order.
//!
//! An end is *worse* than another by cost, and with equal costs by place: the later one ([`crate::selection`]).
//!
//! **What is kept.** Up to `k` ends of known cost, any two of them more than `2r` apart, where `r` is the exclusion:
//! the contenders.
//!
//! **What that proves.** With `k` contenders, an end that is worse than the worst of them is not among the `k` best
//! hits, and without it the `k` best hits are the same. For a hit removes the ends at most `r` away, so no hit removes
//! two contenders. When `k − 1` hits have been taken, a contender is left, so the `k`-th hit is that one or a better
//! end. All of the `k` best hits are as good as the worst contender or better. Whether an end is a hit depends on
//! better ends only. So an end that is worse decides nothing about them, and its cost may as well be infinite. The
//! costs of ends above a threshold are no candidates at all.
//!
//! The proof holds for every set of contenders there has been, so the best level stays. Which ends are kept is a
//! choice: a new end takes the place of the one contender that is near and worse, or a free place, or that of the
//! worst.

use crate::bounds::above;
use crate::{Scalar, SearchOptions};

/// A cost and the place of its end, ordered by both.
type End<T> = (T, usize);

fn better<T: Scalar>(a: End<T>, b: End<T>) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// Ends of one query in one reference that bound what can still be a hit. Memory: `k` ends, at most [`MOST`].
#[derive(Debug)]
pub struct Contenders<T> {
    top_k: usize,
    /// Contenders are farther apart than this.
    apart: usize,
    threshold: f64,
    kept: Vec<End<T>>,
    /// Ends that are worse are not among the best.
    level: Option<End<T>>,
}

/// Most hits for which contenders are kept: each costs a look at all of them. For more, only a threshold prunes.
pub const MOST: usize = 1 << 10;

impl<T: Scalar> Contenders<T> {
    /// None yet, for a search with these options.
    pub fn new(options: &SearchOptions) -> Self {
        Self {
            top_k: options.top_k,
            apart: options.exclusion.saturating_mul(2),
            threshold: options.threshold.unwrap_or(f64::INFINITY),
            kept: Vec::new(),
            level: None,
        }
    }

    /// Tells of an end whose cost is known; each end once, in any order. O(k), O(1) for an end that is worse than known
    /// to matter.
    pub fn offer(&mut self, cost: T, end: usize) {
        let new = (cost, end);
        let matters = cost < T::INFINITY && cost.to_f64() <= self.threshold;
        if !matters || self.top_k == 0 || self.top_k > MOST || self.level.is_some_and(|l| !better(new, l)) {
            return;
        }
        let mut near = (0..self.kept.len()).filter(|k| self.kept[*k].1.abs_diff(end) <= self.apart);
        match (near.next(), near.next()) {
            (Some(one), None) if better(new, self.kept[one]) => self.kept[one] = new,
            (Some(_), _) => return,
            (None, _) => self.kept.push(new),
        }
        if self.kept.len() > self.top_k {
            let worst = self.worst();
            self.kept.swap_remove(worst);
        }
        if self.kept.len() == self.top_k {
            let level = self.kept[self.worst()];
            if self.level.is_none_or(|known| better(level, known)) {
                self.level = Some(level);
            }
        }
    }

    /// The contenders, the best first. Without exclusion and threshold these are the `k` best ends.
    pub fn best(mut self) -> Vec<(T, usize)> {
        self.kept.sort_by(|a, b| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1)));
        self.kept
    }

    fn worst(&self) -> usize {
        (1..self.kept.len())
            .fold(0, |worst, k| if better(self.kept[worst], self.kept[k]) { k } else { worst })
    }

    /// Ends from `first` on whose cost is at least this decide nothing. Infinite while nothing is known.
    pub fn bar(&self, first: usize) -> T {
        let bar = match self.level {
            _ if self.top_k == 0 => T::ZERO,
            None => T::INFINITY,
            Some((cost, end)) if end < first => cost,
            Some((cost, _)) => above(cost.to_f64()),
        };
        if self.threshold < 0.0 {
            return T::ZERO;
        }
        let above_threshold = above(self.threshold);
        if above_threshold < bar { above_threshold } else { bar }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Selection, search::Match};

    fn hits(costs: &[f64], options: &SearchOptions) -> Vec<Match<f64>> {
        let mut selection = Selection::new(options, 1 << 30);
        selection.offer(costs, |k| k).unwrap();
        selection.finish()
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn what_reaches_the_bar_decides_nothing() {
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut dropped, mut all) = (0, 0);
        for round in 0..20_000 {
            let length = 1 + random(80) as usize;
            let levels = [1, 2, 5, 1000][random(4) as usize];
            let costs: Vec<f64> = (0..length).map(|_| random(levels) as f64).collect();
            let options = SearchOptions {
                top_k: [0, 1, 2, 3, 10, 2000][random(6) as usize],
                exclusion: [0, 1, 3, 10, usize::MAX][random(5) as usize],
                threshold: [None, Some(-1.0), Some(0.0), Some(3.0)][random(4) as usize],
                ..SearchOptions::default()
            };
            // Blocks of ends; within a block, costs become known in any order.
            let mut contenders = Contenders::new(&options);
            let mut known = vec![f64::INFINITY; length];
            let block = 1 + random(20) as usize;
            for first in (0..length).step_by(block) {
                let mut ends: Vec<usize> = (first..(first + block).min(length)).collect();
                for k in 0..ends.len() {
                    let other = random(ends.len() as u64) as usize;
                    ends.swap(k, other);
                }
                for end in ends {
                    all += 1;
                    if costs[end] >= contenders.bar(first) {
                        dropped += 1;
                    } else {
                        known[end] = costs[end];
                        contenders.offer(costs[end], end);
                    }
                }
            }
            assert_eq!(
                hits(&known, &options),
                hits(&costs, &options),
                "round {round}: {costs:?}, {options:?}"
            );
        }
        assert!(dropped > all / 4, "{dropped} of {all}");
    }
}
