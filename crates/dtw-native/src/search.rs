//! Finding queries in references: a sweep that keeps its last column, then the best ends of that.
//!
//! The kernel's rows are the reference and its columns the query, so that the last column holds, for every point of the
//! reference, the cost of the best match that ends there.

use dtw_core::{Match, Observer, Pairing, Result, SearchOptions, SeriesBatch};
use dtw_kernels::params::{self, Params};

use crate::banding::{Banding, Form, Rows};
use crate::budget::{chunks, launch_tasks, tiles};
use crate::bytes::{Number, bytes_mut};
use crate::engine::{Engine, stop_if_cancelled};
use crate::functor::Functor;
use crate::order::{Order, Rect};
use crate::plan::NativePlan;
use crate::scratch::Region;
use crate::side::{Bring, Preparation, blocks_for};
use crate::sweep::{Edges, Job, Sweeper, best_kernel};
use crate::{Buffer, Machine};

/// How many hits, and how far apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) top_k: usize,
    pub(crate) exclusion: usize,
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
    host_costs: Vec<T>,
    host_found: Vec<u32>,
    host_counts: Vec<u32>,
}

impl<T: Number, M: Machine> Default for Searcher<T, M> {
    fn default() -> Self {
        Self {
            costs: Region::default(),
            found: Region::default(),
            counts: Region::default(),
            excluded: Region::default(),
            lengths: Region::default(),
            totals: Region::default(),
            host_costs: Vec::new(),
            host_found: Vec::new(),
            host_counts: Vec::new(),
        }
    }
}

/// Where candidates are: a cost for every end, task after task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates<'a> {
    pub(crate) totals: u64,
    /// 0: none.
    pub(crate) starts: u64,
    pub(crate) stride: u64,
    pub(crate) tasks: usize,
    pub(crate) longest: usize,
    /// Ends of each task; empty: all `longest`.
    pub(crate) lengths: &'a [u32],
}

impl<T: Number, M: Machine> Searcher<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.costs, &self.found, &self.counts, &self.excluded, &self.lengths, &self.totals]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.host_costs.capacity() * size_of::<T>()
            + (self.host_found.capacity() + self.host_counts.capacity()) * size_of::<u32>()
    }

    /// Bytes that the hits of one task take.
    pub(crate) fn task_bytes(top_k: usize, longest: usize) -> u64 {
        let hit = (size_of::<T>() + 2 * size_of::<u32>()) as u64;
        let excluded = if top_k > 1 { (longest.div_ceil(32) * size_of::<u32>()) as u64 } else { 0 };
        top_k as u64 * hit + 2 * size_of::<u32>() as u64 + excluded
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

    /// Finds the best ends of every task; [`Searcher::hits`] then has them.
    pub(crate) fn find(&mut self, machine: &M, candidates: &Candidates<'_>, wanted: Wanted) -> Result<()> {
        let Wanted { top_k, exclusion } = wanted;
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
        fetch(machine, &self.costs, &mut self.host_costs, hits)?;
        fetch(machine, &self.found, &mut self.host_found, 2 * hits)?;
        fetch(machine, &self.counts, &mut self.host_counts, tasks)
    }

    /// The hits of task `k`: cost, start, end.
    pub(crate) fn hits(&self, k: usize, top_k: usize) -> impl Iterator<Item = (T, usize, usize)> + '_ {
        (0..self.host_counts[k] as usize).map(move |hit| {
            let at = k * top_k + hit;
            let (start, end) = (self.host_found[2 * at], self.host_found[2 * at + 1]);
            (self.host_costs[at], start as usize, end as usize)
        })
    }
}

/// Downloads `count` numbers.
fn fetch<M: Machine, V: crate::bytes::Plain + Default>(
    machine: &M,
    from: &Region<M>,
    to: &mut Vec<V>,
    count: usize,
) -> Result<()> {
    to.clear();
    to.resize(count, V::default());
    machine.download(from.buffer().expect("reserved before"), 0, bytes_mut(to))
}

/// The best ends by repeated argmin: equal costs by smaller end, ends within `exclusion` of a hit's end left out.
fn top_k<T: Number>(mut costs: Vec<T>, wanted: Wanted) -> Vec<(T, usize)> {
    let mut hits = Vec::new();
    while hits.len() < wanted.top_k {
        let best = (0..costs.len()).fold(None, |best: Option<usize>, k| match best {
            Some(b) if costs[b] <= costs[k] => best,
            _ if costs[k] < T::INFINITY => Some(k),
            _ => best,
        });
        let Some(best) = best else { break };
        hits.push((costs[best], best));
        let from = best.saturating_sub(wanted.exclusion);
        let to = best.saturating_add(wanted.exclusion).min(costs.len() - 1);
        costs[from..=to].fill(T::INFINITY);
    }
    hits
}

/// A search over all pairs of a pairing.
pub(crate) struct Search<'a, T: Number, M: Machine> {
    engine: &'a mut Engine<T, M>,
    searcher: &'a mut Searcher<T, M>,
    banding: &'a mut Banding,
    pub(crate) functor: Functor,
    observer: &'a dyn Observer,
    wanted: Wanted,
    references: Order,
    queries: Order,
}

impl<T: Number, M: Machine> Search<'_, T, M> {
    /// Calls `each` with query, reference and hits of every pair.
    pub(crate) fn run(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        mut each: impl FnMut(usize, usize, &[(T, usize, usize)]),
    ) -> Result<()> {
        self.banding.check(pairing, &self.references, &self.queries, Rows::Y)?;
        let preparation = Preparation {
            functor: self.functor,
            channels: queries.channels(),
            channel: None,
            normalize: false,
            times: false,
        };
        let counts = (self.references.len(), self.queries.len());
        let bytes = |order: &Order, k: usize| preparation.bytes::<T>(order.length(k));
        let chunks = chunks(
            pairing,
            counts,
            &self.engine.budget,
            |k| bytes(&self.references, k),
            |k| bytes(&self.queries, k),
        )?;
        let (mut here_x, mut here_y) = (0..0, 0..0);
        for chunk in &chunks {
            stop_if_cancelled(self.observer)?;
            let Engine { machine, staging, budget, x, y, .. } = &mut *self.engine;
            if here_x != chunk.rows {
                let series = Bring { batch: references, order: &self.references, places: &chunk.rows };
                x.load(machine, staging, budget, &preparation, series)?;
                here_x = chunk.rows.clone();
            }
            if here_y != chunk.columns {
                let series = Bring { batch: queries, order: &self.queries, places: &chunk.columns };
                y.load(machine, staging, budget, &preparation, series)?;
                here_y = chunk.columns.clone();
            }
            let (outputs, tasks) = self.tile_size(chunk)?;
            for tile in tiles(chunk, outputs, tasks) {
                stop_if_cancelled(self.observer)?;
                self.tile(&tile, queries.channels(), &mut each)?;
                let cells = self.banding.cells_of(&tile, &self.references, &self.queries, Rows::Y)?;
                self.observer.advance(cells);
            }
        }
        Ok(())
    }

    /// Most tasks whose edges and hits fit, and most that one launch should take.
    fn tile_size(&mut self, chunk: &Rect) -> Result<(u64, u64)> {
        let n = self.references.longest(chunk.rows.clone());
        let m = self.queries.longest(chunk.columns.clone());
        let budget = &self.engine.budget;
        let edge = Sweeper::<M>::kept_bytes::<T>(&self.functor, n, m, budget);
        if edge > budget.edges {
            return Err(budget.exceeded("the last column of a search", edge, budget.edges));
        }
        let hits = Searcher::<T, M>::task_bytes(self.wanted.top_k, n.next_multiple_of(32));
        if hits > budget.tile {
            return Err(budget.exceeded("the matches of a pair", hits, budget.tile));
        }
        let mut tasks = launch_tasks(n as u64 * m as u64, self.engine.sweeper.multiprocessors);
        let ranges = budget.tables / size_of::<params::Range>() as u64;
        if self.banding.most_ranges(&self.references, &self.queries) > ranges {
            tasks = tasks.min((ranges / n.max(1) as u64).max(1));
        }
        Ok(((budget.edges / edge).min(budget.tile / hits), tasks))
    }

    fn tile(
        &mut self,
        tile: &Rect,
        channels: usize,
        each: &mut impl FnMut(usize, usize, &[(T, usize, usize)]),
    ) -> Result<()> {
        let Engine { budget, x, y, sweeper, machine, .. } = &mut *self.engine;
        let (n, m) = (self.references.longest(tile.rows.clone()), self.queries.longest(tile.columns.clone()));
        let job = Job {
            functor: self.functor,
            channels,
            x: x.part(&self.references, &tile.rows),
            y: y.part(&self.queries, &tile.columns),
            pairing: tile.pairing,
            tasks: tile.tasks(),
            out: 0,
            out_stride: 0,
            cells: n as u64 * m as u64,
            keeps_edges: true,
        };
        let band = sweeper.band(self.banding, tile, &self.references, &self.queries, Rows::Y)?;
        let edges = sweeper.launch::<T>(&job, band, budget)?.expect("a search keeps its edges");
        if self.banding.form() != Form::Full {
            return self.banded(tile, edges, each);
        }
        let lengths: Vec<u32> = if self.references.is_equal_length() {
            Vec::new()
        } else {
            tile.pairs().map(|(r, _)| self.references.length(r) as u32).collect()
        };
        let candidates = Candidates {
            totals: edges.address,
            starts: if self.functor.parts == 1 {
                0
            } else {
                edges.address + edges.part_stride * size_of::<T>() as u64
            },
            stride: edges.stride,
            tasks: tile.tasks() as usize,
            longest: n,
            lengths: &lengths,
        };
        self.searcher.find(machine, &candidates, self.wanted)?;
        let mut hits = Vec::new();
        for (k, (r, q)) in tile.pairs().enumerate() {
            hits.clear();
            hits.extend(self.searcher.hits(k, self.wanted.top_k));
            each(q, r, &hits);
        }
        Ok(())
    }

    /// In a band, only the ends that the query's last row allows count; they are looked through here.
    fn banded(
        &mut self,
        tile: &Rect,
        edges: Edges,
        each: &mut impl FnMut(usize, usize, &[(T, usize, usize)]),
    ) -> Result<()> {
        let Engine { sweeper, machine, .. } = &*self.engine;
        let buffer = sweeper.edges().buffer().expect("a search keeps its edges");
        let base = (edges.address - buffer.address()) as usize;
        for (k, (r, q)) in tile.pairs().enumerate() {
            let (n, m) = (self.queries.length(q), self.references.length(r));
            let allowed = self.banding.ranges(n, m)?.row(n - 1);
            let at = base + (k as u64 * edges.stride) as usize * size_of::<T>();
            let mut totals = vec![T::ZERO; m];
            machine.download(buffer, at, bytes_mut(&mut totals))?;
            let mut starts = vec![0_u32; m];
            if self.functor.parts > 1 {
                let part = edges.part_stride as usize * size_of::<T>();
                machine.download(buffer, at + part, bytes_mut(&mut starts))?;
            }
            for (j, total) in totals.iter_mut().enumerate() {
                if !allowed.contains(&j) {
                    *total = T::INFINITY;
                }
            }
            let hits: Vec<_> = top_k(totals, self.wanted)
                .into_iter()
                .map(|(cost, end)| (cost, starts[end] as usize, end))
                .collect();
            each(q, r, &hits);
        }
        Ok(())
    }
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// A search, to be run.
    pub(crate) fn search<'a>(
        &'a mut self,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        wanted: Wanted,
    ) -> Search<'a, T, M> {
        Search {
            engine: &mut self.engine,
            searcher: &mut self.searcher,
            banding: &mut self.banding,
            functor: self.functor,
            observer: &*self.observer.0,
            wanted: Wanted { top_k: wanted.top_k.min(references.max_length()), ..wanted },
            references: Order::given(references, 0),
            queries: Order::given(queries, 0),
        }
    }

    /// The cost of the best match of every pair.
    pub(crate) fn subsequence_distances(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        out: &mut [T],
    ) -> Result<()> {
        let pairing = self.problem.pairing();
        let columns = references.len();
        let mut search = self.search(queries, references, Wanted { top_k: 1, exclusion: 0 });
        search.functor = search.functor.without_starts();
        search.run(pairing, queries, references, |q, r, hits| {
            let at = if pairing == Pairing::Zipped { q } else { q * columns + r };
            out[at] = hits.first().map_or(T::INFINITY, |hit| hit.0);
        })
    }

    /// The best matches of every query in every reference, in that order.
    pub(crate) fn subsequence_matches(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        let wanted = Wanted { top_k: options.top_k, exclusion: options.exclusion };
        if wanted.top_k == 0 || matches.is_empty() {
            return Ok(matches);
        }
        let columns = references.len();
        let mut search = self.search(queries, references, wanted);
        search.run(Pairing::Cross, queries, references, |q, r, hits| {
            let hits = hits.iter().map(|&(distance, start, end)| Match { distance, start, end });
            matches[q * columns + r] = hits.collect();
        })?;
        Ok(matches)
    }
}
