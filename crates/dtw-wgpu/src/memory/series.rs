//! The series of one side on the device, prepared as shaders read them.
//!
//! A buffer holds, in words of 32 bits: for each series where its values begin and how many points it has; a zero
//! point; and for each series its values, and behind them two numbers a point where the measure wants them.

use std::ops::Range;

use dtw_core::derivative::Derivatives;
use dtw_core::measure::Preparation as How;
use dtw_core::recurrence::{One, Point, Recurrence, Sample, Visitor, dispatch};
use dtw_core::{Result, Series, SeriesBatch, Spec};
use dtw_plan::Order;

use crate::gpu::device::Gpu;
use crate::memory::region::Region;
use crate::shaders::functor::Functor;

/// Series of one length in a buffer of [`WgpuBackend::wgpu_device`](crate::WgpuBackend::wgpu_device):
/// `[count, length, channels]` of `f32`, the channels those of the problem.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSeries<'a> {
    /// The buffer; of usage `COPY_SRC`.
    pub buffer: &'a wgpu::Buffer,
    /// Where the first value is, in bytes; a multiple of 4.
    pub offset: u64,
    /// Series.
    pub count: usize,
    /// Points of each.
    pub length: usize,
}

/// Prepared series.
#[derive(Debug, Default)]
pub(crate) struct Side {
    region: Region,
    /// What the region holds, on the host; kept for its memory.
    words: Vec<u32>,
    /// Which places of the order they are.
    places: Range<usize>,
}

/// How series are prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preparation<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) functor: Functor,
    /// The one channel that is taken; `None`: all.
    pub(crate) channel: Option<usize>,
    /// Channels of the series as given.
    pub(crate) channels: usize,
}

impl Preparation<'_> {
    /// Channels as swept.
    pub(crate) fn prepared_channels(&self) -> usize {
        if self.channel.is_some() { 1 } else { self.channels }
    }

    /// Words of a point.
    fn point_words(&self) -> usize {
        self.prepared_channels() + if self.functor.needs.gaps { 2 } else { 0 }
    }

    /// Bytes of a series of so many points as swept.
    pub(crate) fn bytes(&self, length: usize) -> u64 {
        4 * (2 + (length * self.point_words() + self.prepared_channels()) as u64)
    }

    /// Bytes of a series as swept, on the device and in the copy that is kept on the host.
    pub(crate) fn held_bytes(&self, length: usize) -> u64 {
        2 * self.bytes(length)
    }
}

impl Side {
    pub(crate) fn buffer(&self) -> Option<&wgpu::Buffer> {
        self.region.buffer()
    }

    pub(crate) fn places(&self) -> &Range<usize> {
        &self.places
    }

    /// The word of the zero point.
    pub(crate) fn zero(&self) -> u32 {
        2 * self.places.len() as u32
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.region.bytes() + 4 * self.words.capacity() as u64
    }

    /// Prepares the series at these places of an order and uploads them. O(values) time.
    pub(crate) fn load(
        &mut self,
        gpu: &Gpu,
        preparation: &Preparation<'_>,
        batch: &SeriesBatch<'_, f32>,
        order: &Order,
        places: &Range<usize>,
    ) -> Result<()> {
        let channels = preparation.prepared_channels();
        let lengths = places.clone().map(|place| order.length(place));
        let end = self.table(places, lengths, preparation.point_words(), channels);
        self.words.reserve_exact(end.saturating_sub(self.words.len()));
        let zero = vec![0.0; channels];
        for place in places.clone() {
            let series = batch.get(order.series(place));
            let first = self.words.len();
            if preparation.functor.preparation == How::Derivative {
                let derived = Derivatives::of(&SeriesBatch::single(series));
                self.take(preparation, derived.batch().get(0));
            } else {
                self.take(preparation, series);
            }
            if preparation.functor.needs.gaps {
                let values = bytemuck::cast_slice(&self.words[first..]);
                let (spec, zero, times) = (preparation.spec, &zero[..], series.times);
                let numbers = if channels == 1 {
                    let point = |values: &[f32]| One(values[0]);
                    dispatch::<f32, One<f32>, _>(spec, 0.0, Extras { values, zero, times, point })
                } else {
                    let point = |values| values;
                    dispatch::<f32, &[f32], _>(spec, 0.0, Extras { values, zero, times, point })
                };
                self.words.extend(numbers.into_iter().map(f32::to_bits));
            }
        }
        self.region.upload(gpu, &self.words, "series").map(drop)
    }

    /// Begins with the table of the series at these places, of these lengths and of so many words a point, and a zero
    /// point; returns where the last series ends.
    fn table(
        &mut self,
        places: &Range<usize>,
        lengths: impl Iterator<Item = usize>,
        per_point: usize,
        channels: usize,
    ) -> usize {
        self.places = places.clone();
        self.words.clear();
        let mut begin = 2 * places.len() + channels;
        for length in lengths {
            self.words.extend([begin as u32, length as u32]);
            begin += length * per_point;
        }
        self.words.extend(std::iter::repeat_n(0, channels));
        begin
    }

    /// Room for the series at these places, so many bytes. What was there may be gone.
    pub(crate) fn reserve(&mut self, gpu: &Gpu, places: &Range<usize>, bytes: u64) -> Result<&wgpu::Buffer> {
        self.places = places.clone();
        self.region.reserve(gpu, bytes, "series")
    }

    /// Takes a copy of series that are in a buffer of the device.
    pub(crate) fn load_resident(
        &mut self,
        gpu: &Gpu,
        channels: usize,
        series: DeviceSeries<'_>,
    ) -> Result<()> {
        let lengths = std::iter::repeat_n(series.length, series.count);
        let end = self.table(&(0..series.count), lengths, channels, channels);
        let table = size_of_val(&self.words[..]) as u64;
        let own = self.region.reserve(gpu, 4 * end as u64, "series")?;
        gpu.upload(own, 0, &self.words)?;
        gpu.copy("a copy of series", (series.buffer, series.offset), (own, table), 4 * end as u64 - table)
    }

    fn take(&mut self, preparation: &Preparation<'_>, series: Series<'_, f32>) {
        match preparation.channel {
            None => self.words.extend(series.values.iter().map(|value| value.to_bits())),
            Some(k) => {
                let channel = series.values.iter().skip(k).step_by(series.channels);
                self.words.extend(channel.map(|value| value.to_bits()));
            }
        }
    }
}

/// Two numbers a point: for all points their times, or the sums of gaps up to them; then for all points their gaps.
struct Extras<'a, F> {
    values: &'a [f32],
    /// A zero point.
    zero: &'a [f32],
    /// `None`: 1, 2, ….
    times: Option<&'a [f32]>,
    /// A point of its values.
    point: F,
}

impl<'a, P: Point<f32>, F: Fn(&'a [f32]) -> P> Visitor<f32, P> for Extras<'a, F> {
    type Output = Vec<f32>;

    fn visit<R: Recurrence<f32, P>>(self, recurrence: R) -> Vec<f32> {
        let length = self.values.len() / self.zero.len();
        let mut numbers = vec![0.0; 2 * length];
        let (mut previous, mut previous_time, mut sum) = ((self.point)(self.zero), 0.0, 0.0_f64);
        for (i, values) in self.values.chunks_exact(self.zero.len()).enumerate() {
            let point = (self.point)(values);
            let time = self.times.map_or((i + 1) as f32, |times| times[i]);
            let gap = recurrence.gap(&Sample { point, previous, time, previous_time, gap: 0.0 });
            sum += f64::from(gap);
            numbers[i] = if R::TIMES { time } else { sum as f32 };
            numbers[length + i] = gap;
            (previous, previous_time) = (point, time);
        }
        numbers
    }
}
