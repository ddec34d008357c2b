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

    /// Prepares the series at these places of an order and brings them to the device. O(values) time.
    pub(crate) fn load(
        &mut self,
        gpu: &Gpu,
        preparation: &Preparation<'_>,
        batch: &SeriesBatch<'_, f32>,
        order: &Order,
        places: &Range<usize>,
    ) -> Result<()> {
        let channels = preparation.prepared_channels();
        let per_point = preparation.point_words();
        self.words.clear();
        let mut begin = (2 * places.len() + channels) as u64;
        for place in places.clone() {
            let length = order.length(place);
            self.words.extend([begin as u32, length as u32]);
            begin += length as u64 * per_point as u64;
        }
        self.words.extend(std::iter::repeat_n(0, channels));
        self.words.reserve_exact((begin as usize).saturating_sub(self.words.len()));
        let (mut room, zero) = (Vec::new(), vec![0.0; channels]);
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
                room.clear();
                room.extend(self.words[first..].iter().map(|word| f32::from_bits(*word)));
                let extras = Extras { values: &room, zero: &zero, times: series.times };
                let numbers = if channels == 1 {
                    dispatch::<f32, One<f32>, _>(preparation.spec, 0.0, extras)
                } else {
                    dispatch::<f32, &[f32], _>(preparation.spec, 0.0, extras)
                };
                self.words.extend(numbers.into_iter().map(f32::to_bits));
            }
        }
        self.places = places.clone();
        self.region.upload(gpu, &self.words, "series").map(drop)
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
        let values = series.length * channels;
        self.words.clear();
        let begin = 2 * series.count + channels;
        for k in 0..series.count {
            self.words.extend([(begin + k * values) as u32, series.length as u32]);
        }
        self.words.extend(std::iter::repeat_n(0, channels));
        let (table, bytes) = (4 * begin as u64, 4 * (series.count * values) as u64);
        self.places = 0..series.count;
        let own = self.region.reserve(gpu, table + bytes, "series")?;
        gpu.upload(own, 0, &self.words)?;
        gpu.copy("a copy of series", (series.buffer, series.offset), (own, table), bytes)
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

/// Points of one or of several channels, of values that lie one after the other.
trait FromValues<'a>: Point<f32> {
    fn from_values(values: &'a [f32]) -> Self;
}

impl<'a> FromValues<'a> for One<f32> {
    fn from_values(values: &'a [f32]) -> Self {
        One(values[0])
    }
}

impl<'a> FromValues<'a> for &'a [f32] {
    fn from_values(values: &'a [f32]) -> Self {
        values
    }
}

/// Two numbers a point: for all points their times, or the sums of gaps up to them; then for all points their gaps.
struct Extras<'a> {
    values: &'a [f32],
    /// A zero point.
    zero: &'a [f32],
    /// `None`: 1, 2, ….
    times: Option<&'a [f32]>,
}

impl<'a, P: FromValues<'a>> Visitor<f32, P> for Extras<'a> {
    type Output = Vec<f32>;

    fn visit<R: Recurrence<f32, P>>(self, recurrence: R) -> Vec<f32> {
        let length = self.values.len() / self.zero.len();
        let mut numbers = vec![0.0; 2 * length];
        let (mut previous, mut previous_time, mut sum) = (self.zero, 0.0, 0.0_f64);
        for (i, point) in self.values.chunks_exact(self.zero.len()).enumerate() {
            let time = self.times.map_or((i + 1) as f32, |times| times[i]);
            let gap = recurrence.gap(&Sample {
                point: P::from_values(point),
                previous: P::from_values(previous),
                time,
                previous_time,
                gap: 0.0,
            });
            sum += f64::from(gap);
            numbers[i] = if R::TIMES { time } else { sum as f32 };
            numbers[length + i] = gap;
            (previous, previous_time) = (point, time);
        }
        numbers
    }
}
