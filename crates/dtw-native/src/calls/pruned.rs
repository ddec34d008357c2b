//! Searching z-normalised windows without sweeping most of them, with the hits of sweeping all: windows whose lower
//! bound on the device says that they decide nothing ([`dtw_core::contenders`]) are left out.
//!
//! For each query: the least bound of each chunk of windows, or of every fourth chunk of many. The most promising of
//! these windows are swept, which says how good a hit has to be. Then, piece by piece, the windows whose bound is not
//! above that are swept, and what they cost lowers the bar for the next piece.
//!
//! A window that is swept is normalised and swept by the kernels that do so where nothing is pruned: costs are the same
//! to the last bit.

use std::ops::Range;

use dtw_core::bounds::raised;
use dtw_core::contenders::{Contenders, MOST};
use dtw_core::{Launch, Match, Measure, Pairing, Result, SearchOptions, Selection};
use dtw_plan::{Axis, Order, Pairs, Rect, Rows, cut, launch_tasks, stop_if_cancelled};

use crate::calls::windows::Raw;
use crate::launch::bounds::{BoundedQuery, Bounds, Stretch, WINDOWS_AT_ONCE};
use crate::launch::job::Job;
use crate::machine::Machine;
use crate::memory::bytes::{Number, bytes_mut};
use crate::series::source::Source;
use crate::state::NativePlan;

/// Windows that are swept first, and so many more for each hit.
const FIRST: usize = 2048;
const FIRST_PER_HIT: usize = 64;

/// Of more chunks than these, every so many are asked which windows to sweep first.
const SAMPLED: usize = 1 << 14;
const SAMPLE: usize = 4;

/// What is known of one query in one reference.
#[derive(Debug)]
pub(crate) struct Hunt<T> {
    bounded: BoundedQuery<T>,
    /// Points of the query and of a window.
    lengths: (usize, usize),
    contenders: Contenders<T>,
    /// Hits that are looked for.
    wanted: usize,
    /// Windows that were swept and what they cost, but for those that decide nothing.
    swept: Vec<(usize, T)>,
    /// Windows of the reference, and those of them that were swept.
    windows: u64,
    sweeps: u64,
}

impl<T: Number> Hunt<T> {
    fn learn(&mut self, window: usize, cost: T) {
        self.sweeps += 1;
        if cost < self.contenders.bar(0) {
            self.contenders.offer(cost, window);
            self.swept.push((window, cost));
        }
    }

    /// What a bound must reach for its window to be left out.
    fn cut(&self) -> T {
        raised(self.contenders.bar(0), self.lengths)
    }

    /// Offers what was swept before window `end` to a selection whose ends are first points of windows. All windows
    /// before it have been searched.
    fn offer(&mut self, end: usize, selection: &mut Selection<T>) -> Result<()> {
        let bar = self.contenders.bar(0);
        self.swept.sort_unstable_by_key(|(window, _)| *window);
        let here = self.swept.partition_point(|(window, _)| *window < end);
        for (window, cost) in self.swept.drain(..here).filter(|(_, cost)| *cost < bar) {
            selection.skip(window - selection.seen());
            selection.offer(&[cost], |_| window)?;
        }
        selection.skip(end - selection.seen());
        Ok(())
    }
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Whether there are bounds for such a search.
    pub(crate) fn prunes(&self, channels: usize, options: &SearchOptions) -> bool {
        let bar = options.threshold.is_some() || options.top_k <= MOST;
        self.problem.spec().measure == Measure::DTW && channels == 1 && bar
    }

    /// As [`NativePlan::window_matches`], where [`NativePlan::prunes`] says so.
    pub(crate) fn pruned_matches(
        &mut self,
        queries: Source<'_, T>,
        references: Source<'_, T>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let (order, order_references) = (queries.order(0), references.order(0));
        let preparation = self.window_preparation(1);
        let budget = self.engine.budget;
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        let query_bytes = |k: usize| preparation.bytes::<T>(order.length(k));
        for places in cut(queries.len(), budget.sides / 2, &budget, query_bytes)? {
            stop_if_cancelled(&*self.observer.0)?;
            let mut source = queries.with_tables(&mut self.layouts[0]);
            self.engine.load(Axis::Rows, &mut source, &preparation, &order, &places)?;
            for r in 0..references.len() {
                let windows = order_references.length(r) - length + 1;
                let reference = match references {
                    Source::Host(batch) => Raw::Host(batch.get(r).values),
                    Source::Device(batch) => Raw::Device(batch.first_value::<T>(r)),
                };
                let mut hunts = self.hunts(&order, &places, options, length)?;
                let selection =
                    |_| Selection::new(options, budget.limit / 2 / places.len() as u64).within(budget.limit);
                let mut selections: Vec<_> = places.clone().map(selection).collect();
                self.hunt(&mut hunts, &mut selections, &order, &places, reference, 0..windows)?;
                self.tell(&hunts);
                for (q, selection) in places.clone().zip(selections) {
                    let whole = |hit: Match<T>| Match { end: hit.end + length - 1, ..hit };
                    matches[q * references.len() + r] = selection.finish().into_iter().map(whole).collect();
                }
            }
        }
        Ok(matches)
    }

    /// Tells who explains what these have left out.
    pub(crate) fn tell(&self, hunts: &[Hunt<T>]) {
        let Some(observer) = &self.engine.sweeper.explains else { return };
        for Hunt { windows, sweeps, .. } in hunts {
            let why = format!("{sweeps} of {windows} windows are swept, the others cannot be among the best");
            let (kernel, shape) = (format!("dtw_bounds_{}", T::DTYPE.name()), "LB_Keogh");
            observer.launched(&Launch { kernel: &kernel, shape, why: &why, pairs: *windows });
        }
    }

    /// For the queries at these places, which are on the device.
    pub(crate) fn hunts(
        &mut self,
        order: &Order,
        places: &Range<usize>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Hunt<T>>> {
        let mut values = Vec::new();
        let one = |place: usize| {
            let n = order.length(place);
            let address = self.engine.x.fetch(&self.engine.machine, place, n, &mut values)?;
            let ranges = self.banding.ranges(n, length)?;
            Ok(Hunt {
                bounded: BoundedQuery::new(&values, address, &ranges),
                lengths: (n, length),
                contenders: Contenders::new(options),
                wanted: options.top_k.min(MOST),
                swept: Vec::new(),
                windows: 0,
                sweeps: 0,
            })
        };
        places.clone().map(one).collect()
    }

    /// Looks for the queries in these windows of a reference, whose points from the first window on `raw` is, and
    /// offers what may be a hit.
    pub(crate) fn hunt(
        &mut self,
        hunts: &mut [Hunt<T>],
        selections: &mut [Selection<T>],
        order: &Order,
        places: &Range<usize>,
        raw: Raw<'_, T>,
        windows: Range<usize>,
    ) -> Result<()> {
        let Some(length) = hunts.first().map(|hunt| hunt.lengths.1) else { return Ok(()) };
        let budget = self.engine.budget;
        let at_once =
            usize::try_from(budget.sides / 4 / Bounds::<T, M>::window_bytes()).unwrap_or(WINDOWS_AT_ONCE);
        let (tail, number) = (length as u64, size_of::<T>() as u64);
        if tail * number > budget.staging / 2 {
            return Err(budget.exceeded("a window", tail * number, budget.staging / 2));
        }
        let at_once = at_once.clamp(1, WINDOWS_AT_ONCE);
        // On the host, a piece is brought and searched before the next.
        let brought = match raw {
            Raw::Host(_) => usize::try_from(budget.staging / number - tail).unwrap_or(usize::MAX),
            Raw::Device(_) => windows.len(),
        };
        let mut left = Vec::new();
        for first in windows.clone().step_by(brought.max(1)) {
            let here = first..windows.end.min(first + brought.max(1));
            let points = match raw {
                Raw::Host(values) => {
                    let begin = first - windows.start;
                    let values = &values[begin..begin + here.len() + length - 1];
                    self.engine.staging.upload(&self.engine.machine, values)?
                }
                Raw::Device(address) => address + (first - windows.start) as u64 * number,
            };
            let pieces: Vec<_> = (0..here.len())
                .step_by(at_once)
                .map(|begin| (begin, (here.len() - begin).min(at_once)))
                .map(|(begin, windows)| {
                    (begin, Stretch { points: points + begin as u64 * number, windows, length })
                })
                .collect();
            self.sweep_promising(hunts, order, places, (points, here.start), &pieces)?;
            for (begin, piece) in &pieces {
                stop_if_cancelled(&*self.observer.0)?;
                self.bounds.moments(&self.engine.machine, *piece, 1)?;
                for ((hunt, selection), place) in hunts.iter_mut().zip(&mut *selections).zip(places.clone()) {
                    let cut = hunt.cut();
                    let mut known: Vec<usize> = hunt.swept.iter().map(|(window, _)| *window).collect();
                    known.sort_unstable();
                    let mut known = known.into_iter().peekable();
                    left.clear();
                    let machine = &self.engine.machine;
                    self.bounds.survivors(machine, *piece, &hunt.bounded, cut, |window| {
                        let window = here.start + begin + window;
                        while known.next_if(|known| *known < window).is_some() {}
                        if known.peek() != Some(&window) {
                            left.push(window);
                        }
                    })?;
                    hunt.windows += piece.windows as u64;
                    self.sweep_windows(hunt, order, place, (points, here.start), &left)?;
                    hunt.offer(here.start + begin + piece.windows, selection)?;
                    let cells = self.banding.cells(hunt.lengths.0, length)?;
                    self.observer.0.advance(cells * piece.windows as u64);
                }
            }
        }
        Ok(())
    }

    /// Sweeps the windows with the least bounds of chunks.
    fn sweep_promising(
        &mut self,
        hunts: &mut [Hunt<T>],
        order: &Order,
        places: &Range<usize>,
        from: (u64, usize),
        pieces: &[(usize, Stretch)],
    ) -> Result<()> {
        let mut promising = vec![Vec::new(); hunts.len()];
        let chunks: usize = pieces.iter().map(|(_, piece)| piece.chunks()).sum();
        let every = if chunks < SAMPLED { 1 } else { SAMPLE };
        for (begin, piece) in pieces {
            self.bounds.moments(&self.engine.machine, *piece, every)?;
            for (hunt, promising) in hunts.iter().zip(&mut promising) {
                let least = self.bounds.least(&self.engine.machine, *piece, &hunt.bounded, every)?;
                let places = least.filter(|(bound, _)| *bound < T::INFINITY);
                promising.extend(places.map(|(bound, window)| (bound, from.1 + begin + window)));
            }
        }
        for ((hunt, place), mut promising) in hunts.iter_mut().zip(places.clone()).zip(promising) {
            let most = FIRST + FIRST_PER_HIT * hunt.wanted;
            if promising.len() > most {
                promising
                    .select_nth_unstable_by(most, |a, b| a.0.partial_cmp(&b.0).expect("a bound is a number"));
                promising.truncate(most);
            }
            let mut windows: Vec<usize> = promising.into_iter().map(|(_, window)| window).collect();
            windows.sort_unstable();
            self.sweep_windows(hunt, order, place, from, &windows)?;
        }
        Ok(())
    }

    /// Sweeps these windows of a reference with a query. `from`: where the points are of which window.
    fn sweep_windows(
        &mut self,
        hunt: &mut Hunt<T>,
        order: &Order,
        place: usize,
        (points, begin): (u64, usize),
        windows: &[usize],
    ) -> Result<()> {
        let (n, length) = hunt.lengths;
        let cells = self.banding.cells(n, length)?;
        let preparation = self.window_preparation(1);
        let engine = &mut self.engine;
        let budget = engine.budget;
        let window = preparation.bytes::<T>(length);
        if window > budget.sides / 4 {
            return Err(budget.exceeded("a window", window, budget.sides / 4));
        }
        let most = (budget.sides / 4 / window).min(launch_tasks(cells, engine.sweeper.multiprocessors));
        let mut costs = Vec::new();
        for some in windows.chunks(most as usize) {
            stop_if_cancelled(&*self.observer.0)?;
            let offsets: Vec<u64> = some.iter().map(|window| (*window - begin) as u64).collect();
            let offsets = self.bounds.offsets.hold(&engine.machine, &offsets)?;
            engine.y.load_windows(&engine.machine, &preparation, (points, offsets), some.len(), length)?;
            self.searcher.totals.reserve(&engine.machine, some.len() * size_of::<T>())?;
            let own = Order::equal(some.len(), length);
            let rect = Rect { rows: place..place + 1, columns: 0..some.len(), pairing: Pairing::Cross };
            let sides = [engine.x.part(order, &rect.rows), engine.y.part(&own, &rect.columns)];
            let job = Job {
                out: self.searcher.totals.address(),
                out_stride: some.len(),
                ..Job::of(self.functor, 1, sides, &rect)
            };
            let mut pairs = Pairs {
                pairing: Pairing::Cross,
                rows: order,
                columns: &own,
                kind: Rows::X,
                banding: &mut self.banding,
                observer: &*self.observer.0,
            };
            let band = engine.sweeper.band(&mut pairs, &rect)?;
            engine.sweeper.launch::<T>(&job, band, &budget)?;
            costs.resize(some.len(), T::ZERO);
            let totals = self.searcher.totals.buffer().expect("the costs are there");
            engine.machine.download(totals, 0, bytes_mut(&mut costs))?;
            some.iter().zip(&costs).for_each(|(window, cost)| hunt.learn(*window, *cost));
        }
        Ok(())
    }
}
