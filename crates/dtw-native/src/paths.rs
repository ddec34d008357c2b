//! Warping paths of zipped pairs, within a memory limit.

use dtw_core::{Pairing, Path, Result, SearchOptions, SeriesBatch, Unobserved, bail_invalid};
use dtw_kernels::Kernel;
use dtw_plan::{Budget, Order, Rect, Rows, chunks, launch_tasks, tiles};

use crate::Machine;
use crate::bytes::Number;
use crate::engine::stop_if_cancelled;
use crate::hits::Wanted;
use crate::side::{Bring, Preparation};
use crate::state::NativePlan;
use crate::sweep::Job;
use crate::trace::{Size, trace_kernel};

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Best paths of zipped pairs.
    pub(crate) fn all_paths(
        &mut self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<Vec<Path<T>>> {
        if x.len() != y.len() {
            bail_invalid!("paths are found for zipped pairs: x has {} series, y has {}", x.len(), y.len());
        }
        if x.is_empty() {
            return Ok(Vec::new());
        }
        if !self.problem.is_subsequence() {
            return self.traced(x, y, Rows::X, None);
        }
        // The kernel's rows are the reference; where its path ends is found first.
        let mut ends = vec![(0, T::INFINITY); x.len()];
        let observer = std::mem::replace(&mut self.observer.0, std::sync::Arc::new(Unobserved));
        let wanted = Wanted::new(&SearchOptions::default(), y.max_length());
        let mut search = self.search(x, y, wanted);
        search.functor = search.functor.without_starts();
        let found = search.run(Pairing::Zipped, x, y, |q, _, hits| {
            ends[q] = hits.first().map_or((y.length(q) - 1, T::INFINITY), |hit| (hit.end, hit.distance));
        });
        self.observer.0 = observer;
        found?;
        self.traced(y, x, Rows::Y, Some(&ends))
    }

    /// Paths of pairs whose kernel rows are `rows`; `ends` has the last row of each and the path's cost.
    fn traced(
        &mut self,
        rows: &SeriesBatch<'_, T>,
        columns: &SeriesBatch<'_, T>,
        kind: Rows,
        ends: Option<&[(usize, T)]>,
    ) -> Result<Vec<Path<T>>> {
        let many = rows.channels() > 1;
        let kernel = trace_kernel::<T>(self.functor.key, many).ok_or_else(|| {
            self.unsupported(format!("a path of {}: the cpu backend can", self.functor.key))
        })?;
        let dropped = self.functor.preparation.dropped();
        let (order_x, order_y) = Order::of(Pairing::Zipped, rows, columns, dropped);
        self.banding.check(Pairing::Zipped, &order_x, &order_y, kind)?;
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        self.engine.sweeper.weigh::<T>(&self.functor, longest)?;
        let preparation = Preparation {
            functor: self.functor,
            channels: rows.channels(),
            channel: None,
            normalize: false,
            times: rows.has_times(),
        };
        // Edges and choices take most of the memory here.
        let limit = self.problem.memory_limit_bytes();
        let budget = Budget { sides: limit / 8, ..Budget::of(limit) };
        let share = limit - budget.sides - budget.staging;
        let mut paths = vec![Path { distance: T::ZERO, points: Vec::new() }; rows.len()];
        let bytes = |order: &Order, k: usize| preparation.bytes::<T>(order.length(k));
        let chunks = chunks(
            Pairing::Zipped,
            (order_x.len(), order_y.len()),
            &budget,
            |k| bytes(&order_x, k),
            |k| bytes(&order_y, k),
        )?;
        for chunk in &chunks {
            stop_if_cancelled(&*self.observer.0)?;
            let engine = &mut self.engine;
            let (machine, staging) = (&engine.machine, &mut engine.staging);
            let series = Bring { batch: rows, order: &order_x, places: &chunk.rows };
            engine.x.load(machine, staging, &budget, &preparation, series)?;
            let series = Bring { batch: columns, order: &order_y, places: &chunk.columns };
            engine.y.load(machine, staging, &budget, &preparation, series)?;
            let size = self.size_of(chunk, &order_x, &order_y);
            if size.bytes::<T>() > share {
                return Err(budget.exceeded("the warping path of one pair", size.bytes::<T>(), share));
            }
            let cells = size.n as u64 * size.m as u64;
            let tasks = launch_tasks(cells, self.engine.sweeper.multiprocessors);
            for tile in tiles(chunk, share / size.bytes::<T>(), tasks) {
                stop_if_cancelled(&*self.observer.0)?;
                self.trace_tile(&tile, kernel, &order_x, &order_y, kind, ends)?;
                let size = self.size_of(&tile, &order_x, &order_y);
                for (k, place) in tile.rows.clone().enumerate() {
                    let s = order_x.series(place);
                    let points = self.tracer.path(k, size);
                    paths[s] = Path {
                        distance: ends.map_or(self.tracer.distances[k], |ends| ends[s].1),
                        points: match kind {
                            Rows::X => points.collect(),
                            Rows::Y => points.map(|(i, j)| (j, i)).collect(),
                        },
                    };
                }
                let cells = self.banding.cells_of(&tile, &order_x, &order_y, kind)?;
                self.observer.0.advance(cells);
            }
        }
        Ok(paths)
    }

    fn size_of(&self, rect: &Rect, order_x: &Order, order_y: &Order) -> Size {
        Size {
            n: order_x.longest(rect.rows.clone()),
            m: order_y.longest(rect.columns.clone()),
            parts: self.functor.parts,
        }
    }

    fn trace_tile(
        &mut self,
        tile: &Rect,
        kernel: &'static Kernel,
        order_x: &Order,
        order_y: &Order,
        kind: Rows,
        ends: Option<&[(usize, T)]>,
    ) -> Result<()> {
        let size = self.size_of(tile, order_x, order_y);
        let job = Job {
            functor: self.functor,
            channels: self.problem.shape().channels,
            x: self.engine.x.part(order_x, &tile.rows),
            y: self.engine.y.part(order_y, &tile.columns),
            pairing: Pairing::Zipped,
            tasks: tile.tasks(),
            out: 0,
            out_stride: 0,
            cells: size.n as u64 * size.m as u64,
            keeps_edges: false,
            only_missing: false,
            last_row: 0,
        };
        let band = self.engine.sweeper.band(&mut self.banding, tile, order_x, order_y, kind)?;
        self.tracer.host_state.clear();
        for place in tile.rows.clone() {
            let last = ends.map_or(order_x.length(place), |ends| ends[order_x.series(place)].0 + 1);
            self.tracer.host_state.extend([last as u32, order_y.length(place) as u32, 0, 0]);
        }
        let observer = &*self.observer.0;
        self.tracer.trace(&self.engine, kernel, &job, band, size, || stop_if_cancelled(observer))
    }
}
