//! Results on the device that are combined from several sweeps: one for each channel, or for each term of a divergence.
//!
//! What [`dtw_core::PassResults`] does on the host, a kernel does here ([`params::Combine`]). Each tile is swept into a
//! slot, and goes from there to its places. For a divergence, a kernel judges which values of a plain sweep have kept
//! the digits of their excess; a second sweep computes the excess of the others.

use dtw_core::{Measure, Pairing, Result, Sides};
use dtw_kernels::params;
use dtw_plan::{Fetch, Order, Pairs, Rect, Rows, each_tile};

use crate::engine::Distances;
use crate::launch::combine::launch_combine;
use crate::launch::functor::Functor;
use crate::launch::job::pairing_code;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::device_batch::DeviceBatch;
use crate::series::prepared::Preparation;
use crate::series::source::SideSource;
use crate::state::NativePlan;

/// Slots of a tile's excess, or of a channel's results, and of its values.
const FIRST: usize = 0;
const SECOND: usize = 1;

/// Both batches of a call, and how their series lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DevicePairs<'a> {
    pub(crate) batches: [DeviceBatch<'a>; 2],
    pub(crate) orders: [&'a Order; 2],
}

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Sums over channels that are warped each on its own.
    pub(crate) fn channels_on_device(&mut self, both: DevicePairs<'_>, out: u64) -> Result<()> {
        let combine = params::Combine { out, ..params::Combine::default() };
        (0..both.batches[0].channels).try_for_each(|channel| {
            let combine = params::Combine { adds: u32::from(channel > 0), ..combine };
            self.combined_pass(both, Sides::Both, Some(channel), None, combine)
        })
    }

    /// Divergences of Soft-DTW.
    pub(crate) fn divergences_on_device(&mut self, both: DevicePairs<'_>, out: u64) -> Result<()> {
        let measure = self.problem.spec().measure;
        let Measure::SoftDtwDivergence { gamma, .. } = measure else {
            unreachable!("callers ask for the measure")
        };
        let excess = Functor::excess(&measure);
        let unit = params::Combine { unit: gamma, ..params::Combine::default() };
        let mut own = [0; 2];
        for (side, sides) in [Sides::OwnX, Sides::OwnY].into_iter().enumerate() {
            if sides == Sides::OwnY && self.problem.pairing() == Pairing::SelfSymmetric {
                own[side] = own[0];
                continue;
            }
            let bytes = both.orders[side].len() * size_of::<T>();
            self.combined.own[side].reserve(&self.engine.machine, bytes)?;
            own[side] = self.combined.own[side].address();
            self.combined_pass(both, sides, None, Some(excess), params::Combine { out: own[side], ..unit })?;
        }
        let [own_x, own_y] = own;
        self.combined_pass(
            both,
            Sides::Both,
            None,
            Some(excess),
            params::Combine { out, own_x, own_y, ..unit },
        )
    }

    /// One pass: sweeps tiles and puts them in their places as `combine` says.
    fn combined_pass(
        &mut self,
        both: DevicePairs<'_>,
        sides: Sides,
        channel: Option<usize>,
        excess: Option<Functor>,
        mut combine: params::Combine,
    ) -> Result<()> {
        let (pairing, [x, y], [order_x, order_y]) = match sides {
            Sides::Both => (self.problem.pairing(), both.batches, both.orders),
            own => {
                let side = own as usize - 1;
                (Pairing::Zipped, [both.batches[side]; 2], [both.orders[side]; 2])
            }
        };
        let machine = self.engine.machine.clone();
        if excess.is_some() {
            let counts = &mut self.passes.counts;
            let band = &self.problem.spec().band;
            let (of, is_divergence) = ((pairing, order_x, order_y), combine.own_x != 0);
            self.combined.classes[sides as usize].upload(
                &machine,
                &mut combine,
                counts,
                band,
                of,
                is_divergence,
            )?;
        }
        combine.out_stride = order_y.len() as u64;
        combine.pairing = pairing_code(pairing);
        let plain = Preparation::plain(self.functor, x.channels);
        let preparation = Preparation { channel, times: x.times != 0, ..plain };
        let budget = self.engine.budget.in_tiles();
        let mut pairs = Pairs {
            pairing,
            rows: order_x,
            columns: order_y,
            kind: Rows::X,
            banding: &mut self.banding,
            observer: &*self.observer.0,
        };
        let [layout_x, layout_y] = match sides {
            Sides::Both => &mut self.layouts,
            own => &mut self.own_layouts[own as usize - 1],
        };
        let sources = [SideSource::Device(x, layout_x), SideSource::Device(y, layout_y)];
        let mut device = Distances::new(&mut self.engine, preparation, sources);
        let plain = self.functor;
        each_tile(&mut device, &mut pairs, &budget, |device, pairs, tile| {
            let mut p = placed(combine, tile);
            let Some(excess) = excess else {
                device.sweep(pairs, tile, FIRST)?;
                p.first = device.engine.slot(FIRST);
                return launch_combine::<T, M>(&machine, &p);
            };
            (device.functor, device.only_missing) = (plain, false);
            device.sweep(pairs, tile, SECOND)?;
            p.second = device.engine.slot(SECOND);
            let first = device.engine.reserve_slot(FIRST, tile)?;
            launch_combine::<T, M>(&machine, &params::Combine { out: first, ..p })?;
            (device.functor, device.only_missing) = (excess, true);
            device.sweep(pairs, tile, FIRST)?;
            (p.first, p.least) = (first, 0);
            launch_combine::<T, M>(&machine, &p)
        })
    }
}

/// What combining one tile of a pass is told.
fn placed(combine: params::Combine, tile: &Rect) -> params::Combine {
    params::Combine {
        tile_stride: tile.stride() as u64,
        row: tile.rows.start as u64,
        column: tile.columns.start as u64,
        rows: tile.rows.len() as u64,
        columns: tile.columns.len() as u64,
        ..combine
    }
}
