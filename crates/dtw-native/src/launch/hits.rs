//! The best ends of last columns, which a search needs besides its sweep. They are chosen on the device or on the host.

use std::ops::Range;

use dtw_core::{Match, Precision, Result, SearchOptions, Selection};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Kernel, Role, catalog};
use dtw_plan::Budget;

use crate::launch::candidates::{BestEnd, Candidates, Run};
use crate::launch::carried::Carried;
use crate::machine::blocks_for;
use crate::machine::{Buffer, Machine};
use crate::memory::bytes::{Number, bytes_mut};
use crate::memory::region::{Region, default_of};

/// Costs that are brought to the host at a time, where it chooses.
const HOST_ENDS: usize = 1 << 20;

/// How many hits, how far apart, and what they may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HitOptions {
    pub(crate) top_k: usize,
    pub(crate) exclusion: usize,
    pub(crate) threshold: f64,
    pub(crate) precision: Precision,
    /// Pairs that are searched.
    pub(crate) pairs: usize,
}

impl HitOptions {
    /// Most hits that are chosen on the device for each pair, where each one takes another look at all ends by a warp:
    /// the host looks at all pairs one after the other.
    const MOST_ON_DEVICE: usize = 32;

    /// Pairs of which a device looks at each in a warp of its own.
    const PAIRS_AT_ONCE: usize = 128;

    /// What the options say, of so many pairs, with references of up to `ends` ends.
    pub(crate) fn new(options: &SearchOptions, ends: usize, pairs: usize) -> Self {
        let threshold = options.threshold.unwrap_or(f64::INFINITY);
        let SearchOptions { top_k, exclusion, precision, .. } = *options;
        Self { top_k: top_k.min(ends), exclusion, threshold, precision, pairs }
    }

    /// Whether the host chooses.
    pub(crate) fn is_for_host(&self) -> bool {
        self.top_k > Self::MOST_ON_DEVICE * self.pairs.clamp(1, Self::PAIRS_AT_ONCE)
    }

    /// What the host needs to choose.
    pub(crate) fn selection<T: Number>(&self, budget: &Budget) -> Selection<T> {
        let Self { top_k, exclusion, threshold, .. } = *self;
        let threshold = threshold.is_finite().then_some(threshold);
        let options =
            SearchOptions::default().with_top_k(top_k).with_exclusion(exclusion).with_threshold(threshold);
        Selection::new(&options, budget.limit / 2).within(budget.limit)
    }
}

/// What hits need on the device and on the way back; kept between calls.
#[derive(Debug)]
pub(crate) struct Searcher<T: Number, M: Machine> {
    costs: Region<M>,
    found: Region<M>,
    counts: Region<M>,
    excluded: Region<M>,
    lengths: Region<M>,
    /// Costs of windows.
    pub(crate) totals: Region<M>,
    /// What goes from block to block.
    pub(crate) carried: Carried<M>,
    host_costs: Vec<T>,
    host_found: Vec<u32>,
    host_counts: Vec<u32>,
}

default_of!(Searcher<T: Number, M: Machine> { costs, found, counts, excluded, lengths, totals, carried, host_costs, host_found, host_counts });

impl<T: Number, M: Machine> Searcher<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.costs, &self.found, &self.counts, &self.excluded, &self.lengths, &self.totals]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.carried.bytes()
            + self.host_costs.capacity() * size_of::<T>()
            + (self.host_found.capacity() + self.host_counts.capacity()) * size_of::<u32>()
    }

    /// Bytes that the hits of one task take.
    pub(crate) fn task_bytes(top_k: usize, longest: usize) -> u64 {
        let hit = (size_of::<T>() + 2 * size_of::<u32>()) as u64;
        let excluded = if top_k > 1 { (longest.div_ceil(32) * size_of::<u32>()) as u64 } else { 0 };
        top_k as u64 * hit + 2 * size_of::<u32>() as u64 + excluded
    }

    /// Estimated cycles in which the hits of so many tasks are chosen on the device, of columns that are at most so
    /// long: a warp takes 0.18 ms for 100,000 ends, and many are under way at once. None where the host chooses, of
    /// whatever was swept.
    pub(crate) fn cycles(wanted: HitOptions, tasks: u64, longest: usize) -> f64 {
        if wanted.is_for_host() {
            return 0.0;
        }
        let at_once = 2000.0;
        wanted.top_k as f64 * longest as f64 * 3.6 * (tasks as f64 / at_once).max(1.0)
    }

    /// Finds the cost of the best end of every task, without telling the host: `costs[task]`.
    /// `lengths` are those of the tasks, on the device; 0: all `longest`.
    pub(crate) fn best(machine: &M, candidates: &Candidates<'_>, lengths: u64, costs: u64) -> Result<()> {
        let p = params::Best {
            totals: candidates.totals,
            lengths,
            costs,
            stride: candidates.stride,
            tasks: candidates.tasks as u64,
            length: candidates.longest as u32,
            top_k: 1,
            ..params::Best::default()
        };
        machine.launch(best_kernel::<T>(), p.bytes(), blocks_for(p.tasks))
    }

    /// The best end of each column of some runs; infinite where there is none.
    pub(crate) fn best_in_runs(&mut self, machine: &M, runs: &[Run], stride: u64) -> Result<Vec<BestEnd<T>>> {
        // Starts lie in slots as wide as a number, which the kernel's one stride says for the first column only.
        let at_once = |run: &Run| run.starts == 0 || size_of::<T>() == size_of::<u32>();
        let number = size_of::<T>() as u64;
        let single = |run: &Run, k: usize| Run {
            totals: run.totals + k as u64 * stride * number,
            starts: run.starts + k as u64 * stride * number,
            columns: 1,
            ..*run
        };
        let pieces = |run: &Run| match at_once(run) {
            true => vec![*run],
            false => (0..run.columns).map(|k| single(run, k)).collect(),
        };
        let runs: Vec<Run> = runs.iter().flat_map(pieces).collect();
        let columns: usize = runs.iter().map(|run| run.columns).sum();
        self.costs.reserve(machine, columns * size_of::<T>())?;
        self.found.reserve(machine, columns * 2 * size_of::<u32>())?;
        let mut first = 0;
        for run in &runs {
            let p = params::Best {
                totals: run.totals,
                starts: run.starts,
                costs: self.costs.address() + (first * size_of::<T>()) as u64,
                found: self.found.address() + (first * 2 * size_of::<u32>()) as u64,
                stride,
                tasks: run.columns as u64,
                length: run.ends as u32,
                top_k: 1,
                ..params::Best::default()
            };
            machine.launch(best_kernel::<T>(), p.bytes(), blocks_for(p.tasks))?;
            first += run.columns;
        }
        self.costs.fetch(machine, &mut self.host_costs, columns)?;
        self.found.fetch(machine, &mut self.host_found, 2 * columns)?;
        let best = |k: usize| BestEnd {
            distance: self.host_costs[k],
            start: self.host_found[2 * k],
            at: self.host_found[2 * k + 1],
        };
        Ok((0..columns).map(best).collect())
    }

    /// Finds the best ends of every task; [`Searcher::hits`] then has them.
    pub(crate) fn find(
        &mut self,
        machine: &M,
        candidates: &Candidates<'_>,
        wanted: HitOptions,
    ) -> Result<()> {
        let HitOptions { top_k, exclusion, .. } = wanted;
        let (tasks, hits) = (candidates.tasks, candidates.tasks * top_k);
        self.costs.reserve(machine, hits * size_of::<T>())?;
        self.found.reserve(machine, hits * 2 * size_of::<u32>())?;
        self.counts.reserve(machine, tasks * size_of::<u32>())?;
        let words = candidates.stride.div_ceil(32);
        let excluded = if top_k > 1 {
            self.excluded.zeros(machine, tasks * words as usize * size_of::<u32>())?
        } else {
            0
        };
        let lengths =
            if candidates.lengths.is_empty() { 0 } else { self.lengths.hold(machine, candidates.lengths)? };
        let whole = params::Best {
            totals: candidates.totals,
            starts: candidates.starts,
            lengths,
            costs: self.costs.address(),
            found: self.found.address(),
            counts: self.counts.address(),
            excluded,
            stride: candidates.stride,
            tasks: tasks as u64,
            length: candidates.longest as u32,
            top_k: top_k as u32,
            exclusion: exclusion as u64,
        };
        let kernel = best_kernel::<T>();
        if candidates.starts == 0 || size_of::<T>() == size_of::<u32>() {
            machine.launch(kernel, whole.bytes(), blocks_for(tasks as u64))?;
        } else {
            // Starts lie in slots as wide as a number, which the kernel's one stride says for the first task only.
            for k in 0..tasks as u64 {
                let step = |address: u64, bytes: u64| if address == 0 { 0 } else { address + k * bytes };
                let (number, hits) = (size_of::<T>() as u64, top_k as u64);
                let one = params::Best {
                    totals: step(whole.totals, whole.stride * number),
                    starts: step(whole.starts, whole.stride * number),
                    lengths: step(whole.lengths, 4),
                    costs: step(whole.costs, hits * number),
                    found: step(whole.found, hits * 8),
                    counts: step(whole.counts, 4),
                    excluded: step(whole.excluded, words * 4),
                    tasks: 1,
                    ..whole
                };
                machine.launch(kernel, one.bytes(), 1)?;
            }
        }
        self.costs.fetch(machine, &mut self.host_costs, hits)?;
        self.found.fetch(machine, &mut self.host_found, 2 * hits)?;
        self.counts.fetch(machine, &mut self.host_counts, tasks)
    }

    /// The hits of task `k`. They come best first, so that those below a threshold come before the others.
    pub(crate) fn hits(&self, k: usize, wanted: HitOptions) -> impl Iterator<Item = Match<T>> + '_ {
        let hits = (0..self.host_counts[k] as usize).map(move |hit| {
            let at = k * wanted.top_k + hit;
            let (start, end) = (self.host_found[2 * at] as usize, self.host_found[2 * at + 1] as usize);
            Match { distance: self.host_costs[at], start, end }
        });
        hits.take_while(move |hit| hit.distance.to_f64() <= wanted.threshold)
    }

    /// Chooses the hits of task `k` on the host, among `allowed` ends; its costs come a block at a time.
    pub(crate) fn hits_on_host(
        machine: &M,
        budget: &Budget,
        candidates: &Candidates<'_>,
        from: &M::Buffer,
        k: usize,
        allowed: Range<usize>,
        wanted: HitOptions,
    ) -> Result<Vec<Match<T>>> {
        let mut selection = wanted.selection::<T>(budget);
        let task = k as u64 * candidates.stride * size_of::<T>() as u64;
        let at = |address: u64, end: usize| (address + task - from.address()) as usize + end * size_of::<T>();
        let (mut totals, mut starts) = (Vec::new(), Vec::new());
        for first in allowed.clone().step_by(HOST_ENDS) {
            let count = HOST_ENDS.min(allowed.end - first);
            totals.resize(count, T::ZERO);
            machine.download(from, at(candidates.totals, first), bytes_mut(&mut totals))?;
            if candidates.starts > 0 {
                // Starts lie in slots as wide as a number, one after the other.
                starts.resize(count, 0_u32);
                let slot = (candidates.starts + task - from.address()) as usize;
                machine.download(from, slot + first * size_of::<u32>(), bytes_mut(&mut starts))?;
            }
            selection.offer(&totals, |j| starts.get(j).map_or(0, |start| *start as usize))?;
        }
        let ahead = |hit: Match<T>| Match { end: allowed.start + hit.end, ..hit };
        Ok(selection.finish().into_iter().map(ahead).collect())
    }
}

/// The kernel that finds the best ends.
fn best_kernel<T: Number>() -> &'static Kernel {
    catalog::other(Role::Best, "best", T::DTYPE.name(), false).expect("permutations.toml lists it")
}
