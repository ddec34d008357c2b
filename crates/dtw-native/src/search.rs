//! Finding queries in references: a sweep that keeps its last column, then the best ends of that.
//!
//! The kernel's rows are the reference and its columns the query, so that the last column holds, for every point of the
//! reference, the cost of the best match that ends there.

use dtw_core::{Match, Observer, Pairing, Result, SeriesBatch};
use dtw_plan::{Banding, Form, Order, Rect, RowRange, Rows, chunks, launch_tasks, tiles};

use crate::Machine;
use crate::bytes::Number;
use crate::engine::{Engine, stop_if_cancelled};
use crate::functor::Functor;
use crate::hits::{Candidates, Searcher, Wanted};
use crate::side::{Bring, Preparation};
use crate::sweep::{Job, Sweeper};

/// A search over all pairs of a pairing.
pub(crate) struct Search<'a, T: Number, M: Machine> {
    pub(crate) engine: &'a mut Engine<T, M>,
    pub(crate) searcher: &'a mut Searcher<T, M>,
    pub(crate) banding: &'a mut Banding,
    pub(crate) functor: Functor,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) wanted: Wanted,
    pub(crate) references: Order,
    pub(crate) queries: Order,
}

impl<T: Number, M: Machine> Search<'_, T, M> {
    /// Calls `each` with query, reference and hits of every pair.
    pub(crate) fn run(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let usual = self.engine.budget;
        if self.banding.form() == Form::Full {
            // Without a band there are no tables, and the last column is as long as the reference.
            self.engine.budget = usual.without_tables();
        }
        let done = self.run_within(pairing, queries, references, each);
        self.engine.budget = usual;
        done
    }

    fn run_within(
        &mut self,
        pairing: Pairing,
        queries: &SeriesBatch<'_, T>,
        references: &SeriesBatch<'_, T>,
        mut each: impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        self.banding.check(pairing, &self.references, &self.queries, Rows::Y)?;
        let preparation = Preparation::plain(self.functor, queries.channels());
        let chunks = self.chunks(pairing, &preparation)?;
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

    /// Whether whole references fit the memory, with their last columns and hits.
    pub(crate) fn fits(&mut self, pairing: Pairing, channels: usize) -> bool {
        let usual = self.engine.budget;
        self.engine.budget = usual.without_tables();
        let preparation = Preparation::plain(self.functor, channels);
        let whole = Rect { rows: 0..self.references.len(), columns: 0..self.queries.len(), pairing };
        let fits = preparation.staged_bytes::<T>(self.references.longest(whole.rows.clone()))
            <= usual.staging
            && self.chunks(pairing, &preparation).is_ok()
            && self.tile_size(&whole).is_ok();
        self.engine.budget = usual;
        fits
    }

    fn chunks(&self, pairing: Pairing, preparation: &Preparation) -> Result<Vec<Rect>> {
        let bytes = |order: &Order, k: usize| preparation.bytes::<T>(order.length(k));
        chunks(
            pairing,
            (self.references.len(), self.queries.len()),
            &self.engine.budget,
            |k| bytes(&self.references, k),
            |k| bytes(&self.queries, k),
        )
    }

    /// Most tasks whose edges and hits fit, and most that one launch should take.
    fn tile_size(&mut self, chunk: &Rect) -> Result<(u64, u64)> {
        let n = self.references.longest(chunk.rows.clone());
        let m = self.queries.longest(chunk.columns.clone());
        let budget = &self.engine.budget;
        let edge = Sweeper::<M>::kept_bytes::<T>(&self.functor, n, m, budget);
        if edge > budget.edges {
            return Err(budget.exceeded(
                "the last column of a search (the backend cpu needs none)",
                edge,
                budget.edges,
            ));
        }
        let on_device = if self.wanted.is_for_host() { 1 } else { self.wanted.top_k };
        let hits = Searcher::<T, M>::task_bytes(on_device, n.next_multiple_of(32));
        if hits > budget.tile {
            return Err(budget.exceeded("the matches of a pair", hits, budget.tile));
        }
        let mut tasks = launch_tasks(n as u64 * m as u64, self.engine.sweeper.multiprocessors);
        let ranges = budget.tables / size_of::<RowRange>() as u64;
        if self.banding.most_ranges(&self.references, &self.queries) > ranges {
            tasks = tasks.min((ranges / n.max(1) as u64).max(1));
        }
        Ok(((budget.edges / edge).min(budget.tile / hits), tasks))
    }

    fn tile(
        &mut self,
        tile: &Rect,
        channels: usize,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
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
            only_missing: false,
            last_row: 0,
        };
        let band = sweeper.band(self.banding, tile, &self.references, &self.queries, Rows::Y)?;
        let edges = sweeper.launch::<T>(&job, band, budget)?.expect("a search keeps its edges");
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
        if self.banding.form() != Form::Full || self.wanted.is_for_host() {
            return self.on_host(tile, &candidates, each);
        }
        self.searcher.find(machine, &candidates, self.wanted)?;
        for (k, (r, q)) in tile.pairs().enumerate() {
            each(q, r, self.searcher.hits(k, self.wanted).collect());
        }
        Ok(())
    }

    /// Chosen here: many hits; and in a band, where only the ends that the query's last row allows count.
    fn on_host(
        &mut self,
        tile: &Rect,
        candidates: &Candidates<'_>,
        each: &mut impl FnMut(usize, usize, Vec<Match<T>>),
    ) -> Result<()> {
        let Engine { sweeper, machine, budget, .. } = &*self.engine;
        let buffer = sweeper.edges().buffer().expect("a search keeps its edges");
        for (k, (r, q)) in tile.pairs().enumerate() {
            let (n, m) = (self.queries.length(q), self.references.length(r));
            let allowed =
                if self.banding.form() == Form::Full { 0..m } else { self.banding.ranges(n, m)?.row(n - 1) };
            let hits = Searcher::hits_on_host(machine, budget, candidates, buffer, k, allowed, self.wanted)?;
            each(q, r, hits);
        }
        Ok(())
    }
}
