//! What the device is told of where the caller's series are.

use std::ops::Range;

use dtw_core::Result;
use dtw_kernels::params;
use dtw_plan::Order;

use crate::machine::Machine;
use crate::memory::region::Region;
use crate::series::device_batch::{DeviceBatch, DeviceLayout};
use crate::series::prepared::{Preparation, Resident};

/// What the device is told of a ragged batch; kept between calls.
#[derive(Debug)]
pub(crate) struct LayoutTables<M: Machine> {
    regions: [Region<M>; 4],
    known: [Vec<u64>; 2],
    known_lengths: [Vec<u32>; 2],
}

impl<M: Machine> Default for LayoutTables<M> {
    fn default() -> Self {
        Self {
            regions: std::array::from_fn(|_| Region::lasting()),
            known: [Vec::new(), Vec::new()],
            known_lengths: [Vec::new(), Vec::new()],
        }
    }
}

impl<M: Machine> LayoutTables<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.regions.iter().map(Region::bytes).sum()
    }

    /// Where the series at these places of a batch are, on the device and prepared; `number` is the bytes of a value.
    pub(crate) fn place(
        &mut self,
        machine: &M,
        batch: &DeviceBatch<'_>,
        order: &Order,
        places: &Range<usize>,
        number: usize,
    ) -> Result<Resident> {
        let stride = |k: usize| Preparation::stride(order.length(k));
        let mut resident = Resident {
            values: batch.values,
            strided: batch.strided,
            times: batch.times,
            raw_offsets: 0,
            raw_lengths: 0,
            offsets: 0,
            lengths: 0,
            points: if order.is_equal_length() {
                places.len() * Preparation::stride(order.longest(places.clone()))
            } else {
                places.clone().map(stride).sum()
            },
        };
        if let DeviceLayout::Equal { .. } = batch.layout {
            let before = places.start * order.raw_length(0) * number;
            let values_before = match batch.strided {
                None => (before * batch.channels) as i64,
                Some(strided) => places.start as i64 * strided.series * strided.format.bytes() as i64,
            };
            resident.values = resident.values.wrapping_add_signed(values_before);
            resident.times += if batch.times == 0 { 0 } else { before as u64 };
            return Ok(resident);
        }
        let raw: Vec<u64> = places.clone().map(|k| batch.layout.first_point(k) as u64).collect();
        let mut point = u64::from(params::PAD);
        let mut own = Vec::with_capacity(places.len());
        for k in places.clone() {
            own.push(point);
            point += stride(k) as u64;
        }
        let raw_lengths: Vec<u32> = places.clone().map(|k| order.raw_length(k) as u32).collect();
        let lengths: Vec<u32> = places.clone().map(|k| order.length(k) as u32).collect();
        let [a, b, c, d] = &mut self.regions;
        resident.raw_offsets = a.keep(machine, &raw, &mut self.known[0])?;
        resident.offsets = b.keep(machine, &own, &mut self.known[1])?;
        resident.raw_lengths = c.keep(machine, &raw_lengths, &mut self.known_lengths[0])?;
        resident.lengths = d.keep(machine, &lengths, &mut self.known_lengths[1])?;
        Ok(resident)
    }
}
