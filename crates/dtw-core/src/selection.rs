//! The hits of a search, chosen from costs that come block by block and are not kept.
//!
//! **What is chosen.** Ends are ordered by cost, and ends of equal cost by their place, the smaller first. `a` is
//! *better* than `b` if it comes before `b`. The best end that is left is a hit, and all ends at most `r` points away
//! from it are removed; this is repeated. So an end is a hit if and only if no better hit is within `r` of it. This
//! does not depend on `k`: the `k` best matches are the first `k` of all hits.
//!
//! **What need not be kept.** Three facts, each exact:
//!
//! 1. *Worse ends decide nothing.* Whether an end is a hit depends on better ones only. So whatever cannot be among the
//!    `k` best hits may go, and a threshold is a filter of the costs.
//! 2. *Rank.* When the `k`-th hit is taken, every better end has been removed. Each of the `k − 1` hits before it
//!    removed at most `2r + 1` ends, itself included. So the `k`-th hit is among the `(k − 1)(2r + 1) + 1` best ends of
//!    the whole reference, and of any part of the reference that holds it. Only so many best ends are kept. (If there
//!    are fewer than `k` hits, there are no more than `(k − 1)(2r + 1)` ends, and none is dropped.)
//! 3. *Deciding early.* The ends seen so far are walked through from the best to the worst. An end is *gone* if a hit
//!    is within `r` of it. Otherwise it is *doubtful* if an end within `r` of it is not yet seen, or if a better one
//!    within `r` is doubtful. Otherwise it is a hit. By induction, hits and gone ends are what they are in the whole
//!    reference. So a gone end can be dropped, and a hit needs only a place in the list of the `k` best. Only doubtful
//!    ends are kept: those near the last one seen, and runs of ever better costs that lead there.
//!
//! So a search for few hits keeps `O(k·r)` ends whatever the costs. A search for many hits keeps its hits and the
//! doubtful ends. It is refused with numbers if the costs fall for longer than the memory limit allows and `k·r` is as
//! large.
//!
//! O(1) for an end that is not among the best, O(log) amortised for the others.

use std::cmp::Ordering;

use crate::{Blocks, Error, Match, Result, Scalar, SearchOptions};

/// Fewest ends kept before they are looked through.
const LEAST: usize = 1 << 12;
/// Up to here the best by rank are kept, and nothing is decided before the end.
const FEW: usize = 1 << 16;
/// Bytes for one end while it is decided upon, with what that takes.
const END_BYTES: u64 = 64;

/// Chooses the hits of one query in one reference.
#[derive(Debug)]
pub struct Selection<T> {
    top_k: usize,
    exclusion: usize,
    threshold: f64,
    /// Costs that are not below it cannot be hits.
    below: T,
    /// Ends among which the best `top_k` hits are.
    rank: usize,
    /// Ends offered.
    seen: usize,
    /// Hits, whatever comes.
    hits: Vec<Match<T>>,
    /// Ends that may be hits, in order.
    open: Vec<Match<T>>,
    /// How many may be open until they are looked through.
    patience: usize,
    memory_limit_bytes: u64,
    /// The limit that the user knows, of which that is a part.
    whole_limit_bytes: u64,
}

/// Best first: by cost, then by end.
fn order<T: Scalar>(a: &Match<T>, b: &Match<T>) -> Ordering {
    a.distance.partial_cmp(&b.distance).unwrap_or(Ordering::Equal).then(a.end.cmp(&b.end))
}

impl<T: Scalar> Selection<T> {
    /// Chooses as `options` say, within about this much memory.
    pub fn new(options: &SearchOptions, memory_limit_bytes: u64) -> Self {
        let zone = options.exclusion.saturating_mul(2).saturating_add(1);
        let rank = options.top_k.saturating_sub(1).saturating_mul(zone).saturating_add(1);
        let most = usize::try_from(memory_limit_bytes / END_BYTES).unwrap_or(usize::MAX);
        let patience = if rank <= FEW { (2 * rank).max(LEAST) } else { 2 * FEW };
        Self {
            top_k: options.top_k,
            exclusion: options.exclusion,
            threshold: options.threshold.unwrap_or(f64::INFINITY),
            below: if options.top_k == 0 { -T::INFINITY } else { T::INFINITY },
            rank,
            seen: 0,
            hits: Vec::new(),
            open: Vec::new(),
            patience: patience.min(most.max(1)),
            memory_limit_bytes,
            whole_limit_bytes: memory_limit_bytes,
        }
    }

    /// A selection whose errors name a limit of which its own is a part.
    pub fn within(self, whole_limit_bytes: u64) -> Self {
        Self { whole_limit_bytes, ..self }
    }

    /// Offers the costs of the next ends, in order. `start(k)` is where the match that costs `costs[k]` starts; it is
    /// asked for few of them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when more ends may still be hits than the memory limit has room for.
    pub fn offer(&mut self, costs: &[T], start: impl Fn(usize) -> usize) -> Result<()> {
        let first = self.seen;
        for (k, cost) in costs.iter().enumerate() {
            if *cost < self.below && cost.to_f64() <= self.threshold {
                self.open.push(Match { distance: *cost, start: start(k), end: first + k });
                if self.open.len() >= self.patience {
                    self.seen = first + k + 1;
                    self.look_through()?;
                }
            }
        }
        self.seen = first + costs.len();
        Ok(())
    }

    /// Ends offered or passed over so far.
    pub const fn seen(&self) -> usize {
        self.seen
    }

    /// Passes over the next ends, none of which can be a hit.
    pub const fn skip(&mut self, ends: usize) {
        self.seen += ends;
    }

    /// Takes the hits that nothing which may be offered can change, in the order of their ends.
    pub fn settled(&mut self) -> Vec<Match<T>> {
        self.decide(false);
        let mut hits = std::mem::take(&mut self.hits);
        hits.sort_unstable_by_key(|hit| hit.end);
        hits
    }

    /// Tells a followed stream what is settled of a query, of windows of this many points; of matches of any length 1.
    ///
    /// # Errors
    /// As [`Blocks::settled`].
    pub fn tell(
        &mut self,
        stream: &mut (impl Blocks<T> + ?Sized),
        query: usize,
        window: usize,
    ) -> Result<()> {
        let mut hits = self.settled();
        hits.iter_mut().for_each(|hit| hit.end += window - 1);
        if hits.is_empty() { Ok(()) } else { stream.settled(query, &hits) }
    }

    /// The hits, best first.
    pub fn finish(mut self) -> Vec<Match<T>> {
        self.decide(true);
        self.keep_best_hits();
        self.hits.sort_unstable_by(order);
        self.hits
    }

    /// Drops what cannot be a hit.
    fn look_through(&mut self) -> Result<()> {
        if self.open.len() > self.rank {
            let (_, worst, _) = self.open.select_nth_unstable_by(self.rank - 1, order);
            // Later ends of the same cost are worse.
            self.below = worst.distance;
            self.open.truncate(self.rank);
        }
        let most = usize::try_from(self.memory_limit_bytes / END_BYTES).unwrap_or(usize::MAX);
        if self.rank > FEW || self.open.len() >= most / 2 {
            self.decide(false);
            if self.hits.len() / 2 >= self.top_k {
                self.keep_best_hits();
            }
        }
        let held = self.open.len() + self.hits.len();
        if held > most / 2 {
            return Err(Error::OutOfMemory {
                what: format!(
                    "choosing {} matches at least {} points apart",
                    self.top_k,
                    self.exclusion.saturating_add(1)
                ),
                requested_bytes: self.of_whole((4 * held as u64).saturating_mul(END_BYTES)),
                available_bytes: self.whole_limit_bytes,
            });
        }
        self.patience = self.patience.max(2 * self.open.len()).min(most - self.hits.len());
        Ok(())
    }

    /// How large the whole limit has to be for its part to be as large as this.
    fn of_whole(&self, part_bytes: u64) -> u64 {
        let own = u128::from(self.memory_limit_bytes.max(1));
        let whole = (u128::from(part_bytes) * u128::from(self.whole_limit_bytes)).div_ceil(own);
        u64::try_from(whole).unwrap_or(u64::MAX)
    }

    /// Keeps the best hits, and lets nothing in that is worse.
    fn keep_best_hits(&mut self) {
        if self.hits.len() > self.top_k {
            let (_, worst, _) = self.hits.select_nth_unstable_by(self.top_k - 1, order);
            if worst.distance < self.below {
                self.below = worst.distance;
            }
            self.hits.truncate(self.top_k);
        }
    }

    /// Moves hits from the open ends, and drops those that are gone. `whole`: no more ends come.
    fn decide(&mut self, whole: bool) {
        let Self { exclusion, seen, ref mut open, ref mut hits, .. } = *self;
        open.sort_unstable_by_key(|end| end.end);
        let near = |a: &Match<T>, b: &Match<T>| a.end.abs_diff(b.end) <= exclusion;
        let mut ranked: Vec<usize> = (0..open.len()).collect();
        ranked.sort_unstable_by(|a, b| order(&open[*a], &open[*b]));
        let mut gone = vec![false; open.len()];
        let mut doubtful = Doubtful::new(open.len());
        for k in ranked {
            if gone[k] {
                continue;
            }
            let here = open[k];
            let comes = !whole && here.end.saturating_add(exclusion) >= seen;
            if comes || doubtful.is(k) {
                let first = open.partition_point(|other| other.end < here.end && !near(other, &here));
                let last = open.partition_point(|other| other.end <= here.end || near(other, &here));
                doubtful.spread(first..last);
                continue;
            }
            hits.push(here);
            // An end is near two hits at most, so this is O(1) for each.
            let after = (k..open.len()).take_while(|i| near(&open[*i], &here));
            let before = (0..k).rev().take_while(|i| near(&open[*i], &here));
            after.chain(before).for_each(|i| gone[i] = true);
        }
        let mut k = 0;
        open.retain(|_| {
            k += 1;
            !gone[k - 1]
        });
    }
}

/// Which ends are doubtful; marking a stretch skips what is marked already.
struct Doubtful {
    /// Towards the next end from here on that is not doubtful.
    next: Vec<usize>,
}

impl Doubtful {
    fn new(ends: usize) -> Self {
        Self { next: (0..=ends).collect() }
    }

    fn is(&self, k: usize) -> bool {
        self.next[k] != k
    }

    fn free_from(&mut self, mut k: usize) -> usize {
        while self.next[k] != k {
            self.next[k] = self.next[self.next[k]];
            k = self.next[k];
        }
        k
    }

    fn spread(&mut self, stretch: std::ops::Range<usize>) {
        let mut k = self.free_from(stretch.start);
        while k < stretch.end {
            self.next[k] = k + 1;
            k = self.free_from(k + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: the whole row is kept, and searched again for every hit.
    fn whole_row(costs: &[f64], options: &SearchOptions) -> Vec<usize> {
        let mut left: Vec<usize> = (0..costs.len())
            .filter(|e| costs[*e] < f64::INFINITY && costs[*e] <= options.threshold.unwrap_or(f64::INFINITY))
            .collect();
        let mut hits = Vec::new();
        while hits.len() < options.top_k {
            let Some(best) = left.iter().copied().reduce(|a, b| if costs[b] < costs[a] { b } else { a })
            else {
                break;
            };
            hits.push(best);
            left.retain(|e| e.abs_diff(best) > options.exclusion);
        }
        hits
    }

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 33
    }

    /// Costs of some kind: ties, plateaus, falling and rising runs, saws, gaps of infinity.
    fn costs(kind: u64, length: usize, state: &mut u64) -> Vec<f64> {
        let mut level = 1000.0;
        (0..length)
            .map(|e| match kind {
                0 => random(state) as f64,
                1 => (random(state) % 3) as f64,
                2 => 7.0,
                3 => (length - e) as f64,
                4 => e as f64,
                5 => {
                    level += (random(state) % 3) as f64 - 1.0;
                    level
                }
                6 => (e % 17) as f64,
                7 => ((length - e) / 5) as f64 + (random(state) % 2) as f64,
                _ if random(state).is_multiple_of(3) => f64::INFINITY,
                _ => (random(state) % 50) as f64,
            })
            .collect()
    }

    fn selection(options: &SearchOptions, patience: Option<usize>) -> Selection<f64> {
        let mut selection = Selection::new(options, 1 << 30);
        if let Some(patience) = patience {
            selection.patience = patience;
        }
        selection
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn hits_are_those_of_the_whole_row() {
        let mut state = 1;
        let mut checked = 0;
        for kind in 0..9 {
            for length in [1, 2, 7, 40, 300] {
                let costs = costs(kind, length, &mut state);
                for exclusion in [0, 1, 2, 5, 40, usize::MAX] {
                    for top_k in [0, 1, 2, 3, 10, 1000, usize::MAX] {
                        for threshold in [None, Some(0.0), Some(20.0)] {
                            let options =
                                SearchOptions { top_k, exclusion, threshold, ..SearchOptions::default() };
                            let expected = whole_row(&costs, &options);
                            for patience in [None, Some(1), Some(3), Some(20)] {
                                let mut found = selection(&options, patience);
                                for (b, block) in costs.chunks(13).enumerate() {
                                    found.offer(block, |k| 13 * b + k).unwrap();
                                }
                                let found = found.finish();
                                let ends: Vec<usize> = found.iter().map(|hit| hit.end).collect();
                                assert_eq!(ends, expected, "kind {kind}, {length} ends, {options:?}");
                                assert!(found.iter().all(|h| h.start == h.end && h.distance == costs[h.end]));
                                checked += 1;
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(checked, 9 * 5 * 6 * 7 * 3 * 4);
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn deciding_early_changes_nothing() {
        // With a rank beyond `FEW` ends are decided as soon as the patience is spent.
        let mut state = 2;
        for kind in 0..9 {
            let costs = costs(kind, 2000, &mut state);
            for (top_k, exclusion) in [(usize::MAX, 3), (30_000, 1), (200_000, 0), (5000, 30)] {
                let options = SearchOptions { top_k, exclusion, ..SearchOptions::default() };
                let mut found = selection(&options, Some(16));
                found.offer(&costs, |k| k).unwrap();
                let ends: Vec<usize> = found.finish().iter().map(|hit| hit.end).collect();
                assert_eq!(ends, whole_row(&costs, &options), "kind {kind}, {options:?}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn settled_hits_are_told_once_and_as_soon_as_they_are() {
        let mut state = 5;
        for kind in 0..9 {
            let costs = costs(kind, 300, &mut state);
            for exclusion in [0, 2, 17] {
                let options = SearchOptions { top_k: usize::MAX, exclusion, ..SearchOptions::default() };
                let mut found = selection(&options, None);
                let mut told: Vec<usize> = Vec::new();
                for (b, block) in costs.chunks(7).enumerate() {
                    found.offer(block, |k| 7 * b + k).unwrap();
                    told.extend(found.settled().iter().map(|hit| hit.end));
                    // The best of all is one as soon as what is near it is there.
                    let best = whole_row(&costs, &options)[0];
                    assert!(best + exclusion >= found.seen() || told.contains(&best), "{told:?}");
                }
                assert!(told.is_sorted(), "{told:?}");
                told.extend(found.finish().iter().map(|hit| hit.end));
                told.sort_unstable();
                let mut expected = whole_row(&costs, &options);
                expected.sort_unstable();
                assert_eq!(told, expected, "kind {kind}, {exclusion}");
            }
        }
        let options = SearchOptions { top_k: usize::MAX, exclusion: 2, ..SearchOptions::default() };
        let mut found = selection(&options, None);
        let mut when = [5.0, 1.0, 5.0, 5.0].map(|cost| {
            found.offer(&[cost], |_| 0).unwrap();
            found.settled().len()
        });
        assert_eq!(when, [0, 0, 0, 1]);
        when = [5.0, 5.0, 0.0, 5.0].map(|cost| {
            found.offer(&[cost], |_| 0).unwrap();
            found.settled().len()
        });
        assert_eq!(when, [0, 0, 0, 0], "ends 4 and 5 depend on the one at 6");
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn few_ends_are_kept_of_many() {
        let mut state = 3;
        for (kind, top_k, exclusion, most) in [
            (0, 5, 250, 8192),
            (1, 5, 250, 8192),
            (3, 5, 250, 8192),
            (0, usize::MAX, 100, 1 << 18),
            (2, usize::MAX, 100, 1 << 18),
            (5, usize::MAX, 100, 1 << 18),
        ] {
            let costs = costs(kind, 1 << 20, &mut state);
            let options = SearchOptions { top_k, exclusion, ..SearchOptions::default() };
            let mut found = selection(&options, None);
            for block in costs.chunks(1 << 12) {
                found.offer(block, |k| k).unwrap();
                assert!(found.open.len() <= most, "kind {kind}, {options:?}: {}", found.open.len());
            }
            assert!(found.finish().len() <= top_k);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn what_memory_cannot_hold_is_refused() {
        let mut state = 4;
        let falling = costs(3, 1 << 16, &mut state);
        let options = SearchOptions { top_k: usize::MAX, exclusion: 1, ..SearchOptions::default() };
        let error = Selection::new(&options, 1 << 16).offer(&falling, |k| k).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { available_bytes: 65536, .. }), "{error}");
        // A part of a limit: what is named is the whole, and it suffices.
        let part = |whole: u64| Selection::new(&options, whole / 8).within(whole).offer(&falling, |k| k);
        let Err(Error::OutOfMemory { requested_bytes, available_bytes, .. }) = part(1 << 19) else {
            panic!("{options:?} fits")
        };
        assert_eq!(available_bytes, 1 << 19);
        let mut enough = requested_bytes;
        while let Err(Error::OutOfMemory { requested_bytes, .. }) = part(enough) {
            assert!(requested_bytes > enough, "{requested_bytes} of {enough} bytes");
            enough = requested_bytes;
        }
        assert!(part(enough).is_ok());
        // Equal costs with few hits, or as many hits of costs that rise, are no matter.
        let few = SearchOptions { top_k: 3, ..options };
        let mut found = Selection::new(&few, 1 << 16);
        found.offer(&falling, |k| k).unwrap();
        let ends: Vec<usize> = found.finish().iter().map(|hit| hit.end).collect();
        assert_eq!(ends, [65535, 65533, 65531]);
    }
}
