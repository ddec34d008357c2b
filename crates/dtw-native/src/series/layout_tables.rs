//! Tables of where the caller's series begin and how long they are, which kernels read.

use std::ops::Range;

use dtw_core::Result;
use dtw_kernels::params;
use dtw_plan::Order;

use crate::machine::Machine;
use crate::memory::region::Region;
use crate::series::device_batch::{DeviceBatch, DeviceLayout};
use crate::series::prepared::{CallerSeries, Preparation};

/// The tables of a batch; kept between calls.
#[derive(Debug)]
pub(crate) struct LayoutTables<M: Machine> {
    regions: [Region<M>; 4],
    uploaded: [Vec<u64>; 2],
    uploaded_lengths: [Vec<u32>; 2],
}

impl<M: Machine> Default for LayoutTables<M> {
    fn default() -> Self {
        Self {
            regions: std::array::from_fn(|_| Region::lasting()),
            uploaded: [Vec::new(), Vec::new()],
            uploaded_lengths: [Vec::new(), Vec::new()],
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
    ) -> Result<CallerSeries> {
        let stride = |k: usize| Preparation::stride(order.length(k));
        let mut series = CallerSeries {
            values: batch.values,
            strided: batch.strided,
            times: batch.times,
            raw_offsets: 0,
            raw_lengths: 0,
            offsets: 0,
            lengths: 0,
        };
        if let DeviceLayout::Equal { .. } = batch.layout {
            let before = places.start * order.raw_length(0) * number;
            let values_before = match batch.strided {
                None => (before * batch.channels) as i64,
                Some(strided) => places.start as i64 * strided.series * strided.format.bytes() as i64,
            };
            series.values = series.values.wrapping_add_signed(values_before);
            series.times += if batch.times == 0 { 0 } else { before as u64 };
            return Ok(series);
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
        series.raw_offsets = a.keep(machine, &raw, &mut self.uploaded[0])?;
        series.offsets = b.keep(machine, &own, &mut self.uploaded[1])?;
        series.raw_lengths = c.keep(machine, &raw_lengths, &mut self.uploaded_lengths[0])?;
        series.lengths = d.keep(machine, &lengths, &mut self.uploaded_lengths[1])?;
        Ok(series)
    }
}
