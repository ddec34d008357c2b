//! Distances: the device as the planner sees it. Series are uploaded, tiles swept into slots, results fetched.

use std::ops::Range;

use dtw_core::recurrence::{One, dispatch, excess};
use dtw_core::{Pairing, Result, SeriesBatch};
use dtw_plan::{
    Axis, Fetch, Order, Output, Pairs, Rect, Target, TileDevice, Walk, fetch_tiles, scatter, tiles,
};
use web_time::Instant;

use crate::gpu::readback::ready;
use crate::launch::engine::{Engine, Slot};
use crate::launch::pass::Pass;
use crate::launch::recurrence::{Finish, Lengths};
use crate::memory::series::Preparation;
use crate::memory::windows::DeviceWindows;
use crate::shaders::sweep::Mode;

impl Engine {
    /// Distances of all pairs into `out`, in the places the pairing says.
    pub(crate) fn distances(
        &mut self,
        pass: &mut Pass<'_>,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let (rows, columns) = pass.orders(x, y);
        self.distances_of(pass, [&rows, &columns], [Source::Batch(x), Source::Batch(y)], out)
    }

    /// Distances of all pairs of series in these orders, from a batch or from the windows of a reference.
    pub(crate) fn distances_of(
        &mut self,
        pass: &mut Pass<'_>,
        orders: [&Order; 2],
        sources: [Source<'_>; 2],
        out: &mut [f32],
    ) -> Result<()> {
        let budget = self.budget;
        let mut output = Output { values: out, adds: pass.adds };
        let mut device = self.begin(pass, sources, orders)?;
        fetch_tiles(&mut device, &mut pass.pairs(orders[0], orders[1]), &budget, &mut output)
    }

    /// As `distances`, where nothing may wait: one tile after the other.
    pub(crate) async fn distances_async(
        &mut self,
        pass: &mut Pass<'_>,
        x: &SeriesBatch<'_, f32>,
        y: &SeriesBatch<'_, f32>,
        out: &mut [f32],
    ) -> Result<()> {
        let (rows, columns) = pass.orders(x, y);
        let (budget, mut room) = (self.budget, std::mem::take(&mut self.tile));
        let target = Target { pairing: pass.pairing, order_x: &rows, order_y: &columns, adds: pass.adds };
        let mut device = self.begin(pass, [Source::Batch(x), Source::Batch(y)], [&rows, &columns])?;
        let mut pairs = pass.pairs(&rows, &columns);
        let mut walk = Walk::new(&device, &mut pairs, &budget)?;
        while let Some(tile) = walk.next(&mut device, &mut pairs)? {
            device.sweep(&mut pairs, &tile, 0)?;
            device.begin_fetch(0, tile.outputs())?;
            room.resize(tile.outputs(), 0.0);
            device.finish_fetch_async(0, &mut room).await?;
            scatter(&target, &tile, false, &room, out);
            pairs.observer.advance(pairs.cells(&tile)?);
        }
        self.tile = room;
        Ok(())
    }

    /// The device of a pass, which finds its weights there.
    fn begin<'a>(
        &'a mut self,
        pass: &Pass<'a>,
        sources: [Source<'a>; 2],
        orders: [&Order; 2],
    ) -> Result<Distances<'a>> {
        let longest = orders.map(|order| order.longest(0..order.len())).into_iter().max().unwrap_or(0);
        self.weigh(pass.spec, &pass.functor, longest)?;
        let preparation = pass.preparation(sources[0].channels());
        let columns = if pass.pairing == Pairing::SelfSymmetric { 0 } else { 1 };
        let sources = [sources[0], sources[columns]];
        Ok(Distances { engine: self, preparation, excess: pass.excess, sources })
    }
}

/// Distances of the pairs of a call.
struct Distances<'a> {
    engine: &'a mut Engine,
    preparation: Preparation<'a>,
    excess: bool,
    sources: [Source<'a>; 2],
}

/// Where the series of a side come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    Batch(&'a SeriesBatch<'a, f32>),
    Windows(&'a DeviceWindows<'a>),
}

impl Source<'_> {
    fn channels(self) -> usize {
        match self {
            Self::Batch(batch) => batch.channels(),
            Self::Windows(windows) => windows.channels,
        }
    }
}

impl TileDevice for Distances<'_> {
    fn series_bytes(&self, _: Axis, length: usize) -> u64 {
        self.preparation.held_bytes(length)
    }

    fn load(&mut self, axis: Axis, order: &Order, places: &Range<usize>) -> Result<()> {
        self.engine.make_params()?;
        let Engine { gpu, speed, params, x, y, .. } = &mut *self.engine;
        let side = if axis == Axis::Rows { x } else { y };
        match self.sources[axis as usize] {
            Source::Batch(batch) => side.load(gpu, &self.preparation, batch, order, places),
            Source::Windows(windows) => {
                let params = params.as_ref().expect("it was made");
                windows.load(gpu, params, speed.cells(), side, places)
            }
        }
    }

    fn tiles(&mut self, pairs: &mut Pairs<'_>, chunk: &Rect) -> Result<Vec<Rect>> {
        let cells = pairs.most_cells(chunk);
        let outputs = (self.engine.budget.tile / self.preparation.functor.state_bytes()).max(1);
        let tasks = self.engine.speed.tile_tasks(cells).min(self.engine.table_tasks(pairs, chunk));
        Ok(tiles(chunk, outputs, tasks.min(u64::from(u32::MAX / 2))))
    }
}

impl Fetch<f32> for Distances<'_> {
    fn sweep(&mut self, pairs: &mut Pairs<'_>, tile: &Rect, slot: usize) -> Result<bool> {
        let job = self.engine.job(&self.preparation, pairs, tile, Mode::Distances)?;
        let mut own = std::mem::take(&mut self.engine.slots[slot]);
        own.cells = pairs.cells(tile)?;
        own.lengths = Lengths::of_places(pairs.rows, pairs.columns, tile);
        let bytes = tile.outputs() as u64 * self.preparation.functor.state_bytes();
        let swept = own.results.reserve(&self.engine.gpu, bytes, "results");
        let swept = swept.and_then(|results| self.engine.dispatch(&job, results, pairs.observer));
        own.begun = Some(Instant::now());
        self.engine.slots[slot] = own;
        swept.map(|()| false)
    }

    fn begin_fetch(&mut self, slot: usize, results: usize) -> Result<()> {
        let Engine { gpu, slots, .. } = &mut *self.engine;
        let Slot { results: region, readback, .. } = &mut slots[slot];
        let buffer = region.buffer().expect("a tile is under way");
        readback.begin(gpu, buffer, 0, results as u64 * self.preparation.functor.state_bytes())
    }

    fn finish_fetch(&mut self, slot: usize, results: usize, take: &mut dyn FnMut(&[f32])) -> Result<()> {
        let mut room = std::mem::take(&mut self.engine.tile);
        room.resize(results, 0.0);
        let done = ready(self.finish_fetch_async(slot, &mut room));
        if done.is_ok() {
            take(&room);
        }
        self.engine.tile = room;
        done
    }
}

impl Distances<'_> {
    /// As `finish_fetch`, where nothing may wait.
    async fn finish_fetch_async(&mut self, slot: usize, results: &mut [f32]) -> Result<()> {
        let Engine { gpu, speed, slots, states, .. } = &mut *self.engine;
        let (own, functor) = (&mut slots[slot], self.preparation.functor);
        // States of one number are finished where they are.
        let stride = functor.stride();
        states.resize(if stride > 1 { results.len() * stride } else { 0 }, 0.0);
        let fetched = if stride > 1 { &mut states[..] } else { &mut *results };
        let done = own.readback.finish_async(gpu, fetched).await;
        if let Some(begun) = own.begun.take() {
            speed.learn(own.cells, begun.elapsed());
        }
        done?;
        let states = (stride > 1).then_some((&states[..], stride));
        let finish = Finish { states, parts: functor.needs.parts, lengths: &own.lengths, out: results };
        if self.excess {
            excess::visit::<f32, One<f32>, _>(0.0, &self.preparation.spec.measure, finish);
        } else {
            dispatch::<f32, One<f32>, _>(self.preparation.spec, 0.0, finish);
        }
        Ok(())
    }
}
