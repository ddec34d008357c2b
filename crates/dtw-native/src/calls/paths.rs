//! Warping paths of zipped pairs, within a memory limit.

use std::ops::Range;

use dtw_core::{Error, Pairing, Path, Result, SearchOptions, Unobserved};
use dtw_kernels::Kernel;
use dtw_plan::{
    Axis, Budget, Order, Pairs, Rect, Rows, TileDevice, each_tile, launch_tasks, stop_if_cancelled, tiles,
};

use crate::engine::Engine;
use crate::launch::hits::HitOptions;
use crate::launch::job::Job;
use crate::launch::trace::{Size, Tracer, trace_kernel};
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::prepared::Preparation;
use crate::series::source::{SideSource, Source};
use crate::state::NativePlan;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Best paths of zipped pairs, at least one.
    pub(crate) fn paths_of(&mut self, x: Source<'_, T>, y: Source<'_, T>) -> Result<Vec<Path<T>>> {
        if !self.problem.is_subsequence() {
            return self.traced(x, y, Rows::X, None);
        }
        // The kernel's rows are the reference; where its path ends is found first.
        let mut ends = vec![(0, T::INFINITY); x.len()];
        let observer = std::mem::replace(&mut self.observer.0, std::sync::Arc::new(Unobserved));
        let (wanted, lengths) =
            (HitOptions::new(&SearchOptions::default(), y.longest(), y.len()), y.order(0));
        let mut search = self.search(x, y, wanted);
        search.functor = search.functor.without_starts();
        let found = search.run(Pairing::Zipped, |q, _, hits| {
            ends[q] =
                hits.first().map_or((lengths.length(q) - 1, T::INFINITY), |hit| (hit.end, hit.distance));
        });
        self.observer.0 = observer;
        found?;
        self.traced(y, x, Rows::Y, Some(&ends))
    }

    /// Paths of pairs whose kernel rows are `rows`; `ends` has the last row of each and the path's cost.
    fn traced(
        &mut self,
        rows: Source<'_, T>,
        columns: Source<'_, T>,
        kind: Rows,
        ends: Option<&[(usize, T)]>,
    ) -> Result<Vec<Path<T>>> {
        let many = rows.channels() > 1;
        let kernel = trace_kernel::<T>(self.functor.key, many).ok_or_else(|| {
            Error::left_to_cpu(self.engine.machine.name(), format!("a path of {}", self.functor.key))
        })?;
        let dropped = self.functor.preparation.dropped();
        let (order_x, order_y) = match (rows, columns) {
            (Source::Host(rows), Source::Host(columns)) => Order::of(Pairing::Zipped, rows, columns, dropped),
            _ => (rows.order(dropped), columns.order(dropped)),
        };
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        self.engine.sweeper.weigh::<T>(&self.functor, longest)?;
        let preparation =
            Preparation { times: rows.has_times(), ..Preparation::plain(self.functor, rows.channels()) };
        // Edges and arrivals take most of the memory here.
        let limit = self.problem.memory_limit_bytes();
        let budget = Budget { sides: limit / 8, ..Budget::of(limit) };
        let mut pairs = Pairs {
            pairing: Pairing::Zipped,
            rows: &order_x,
            columns: &order_y,
            kind,
            banding: &mut self.banding,
            observer: &*self.observer.0,
        };
        let [of_rows, of_columns] = &mut self.layouts;
        let mut walks = Walks {
            engine: &mut self.engine,
            tracer: &mut self.tracer,
            kernel,
            preparation,
            sources: [rows.with_tables(of_rows), columns.with_tables(of_columns)],
            budget,
            ends,
        };
        let mut paths = vec![Path { distance: T::ZERO, points: Vec::new() }; rows.len()];
        each_tile(&mut walks, &mut pairs, &budget, |walks, pairs, tile| {
            let size = walks.trace(pairs, tile)?;
            for (k, place) in tile.rows.clone().enumerate() {
                let s = pairs.rows.series(place);
                let points = walks.tracer.path(k, size);
                paths[s] = Path {
                    distance: ends.map_or(walks.tracer.distances[k], |ends| ends[s].1),
                    points: match kind {
                        Rows::X => points.collect(),
                        Rows::Y => points.map(|(i, j)| (j, i)).collect(),
                    },
                };
            }
            let cells = pairs.cells(tile)?;
            pairs.observer.advance(cells);
            Ok(())
        })?;
        Ok(paths)
    }
}

/// The walks of zipped pairs.
struct Walks<'a, T: Number, M: Machine> {
    engine: &'a mut Engine<T, M>,
    tracer: &'a mut Tracer<T, M>,
    kernel: &'static Kernel,
    preparation: Preparation,
    /// The series of rows and of columns.
    sources: [SideSource<'a, T, M>; 2],
    budget: Budget,
    /// Last row and cost of each pair, where they are known.
    ends: Option<&'a [(usize, T)]>,
}

impl<T: Number, M: Machine> TileDevice for Walks<'_, T, M> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.bytes::<T>(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.load(axis, &mut self.sources[axis as usize], &self.preparation, order, places)
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let size = self.size_of(pairs, chunk);
        let share = self.budget.limit - self.budget.sides - self.budget.staging;
        let bytes = size.bytes::<T>();
        if bytes > share {
            return Err(self.budget.exceeded("the warping path of one pair", bytes, share));
        }
        let cells = size.n as u64 * size.m as u64;
        Ok(tiles(chunk, share / bytes, launch_tasks(cells, self.engine.sweeper.multiprocessors)))
    }
}

impl<T: Number, M: Machine> Walks<'_, T, M> {
    fn size_of(&self, pairs: &Pairs<'_>, rect: &Rect) -> Size {
        let (n, m) = pairs.longest(rect);
        Size { n, m, parts: self.preparation.functor.parts }
    }

    /// Traces a tile: paths and distances are then with the tracer.
    fn trace(&mut self, pairs: &mut Pairs<'_>, tile: &Rect) -> Result<Size> {
        let size = self.size_of(pairs, tile);
        let Engine { machine, sweeper, x, y, .. } = &mut *self.engine;
        let sides = [x.part(pairs.rows, &tile.rows), y.part(pairs.columns, &tile.columns)];
        let Preparation { functor, channels, .. } = self.preparation;
        let band = sweeper.band(pairs, tile)?;
        let p = sweeper.params_beside(&Job::of(functor, channels, sides, tile), band)?;
        self.tracer.host_state.clear();
        for place in tile.rows.clone() {
            let end = self.ends.map(|ends| ends[pairs.rows.series(place)].0 + 1);
            let last = end.unwrap_or(pairs.rows.length(place));
            self.tracer.host_state.extend([last as u32, pairs.columns.length(place) as u32, 0, 0]);
        }
        let observer = pairs.observer;
        self.tracer.trace(machine, self.kernel, p, size, || stop_if_cancelled(observer))?;
        Ok(size)
    }
}
