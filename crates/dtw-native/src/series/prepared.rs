//! Series on the device: uploaded as they are, then prepared (padding, derivative, gap costs) by a kernel.

use std::marker::PhantomData;
use std::ops::Range;

use dtw_core::{Result, SeriesBatch};
use dtw_kernels::params::{self, PAD, Params};
use dtw_kernels::{Kernel, Role, catalog};
use dtw_plan::{Budget, Order, cut};

use crate::launch::functor::{Functor, Gaps};
use crate::machine::{Machine, blocks_for};
use crate::memory::bytes::{Number, bytes_mut};
use crate::memory::region::{Region, default_of};
use crate::series::device_batch::Strided;

/// What is made of a series on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Preparation {
    pub(crate) functor: Functor,
    /// Channels of the given series.
    pub(crate) channels: usize,
    /// Take this channel alone.
    pub(crate) channel: Option<usize>,
    pub(crate) normalize: bool,
    pub(crate) times: bool,
}

impl Preparation {
    /// All channels, as they are, without timestamps.
    pub(crate) fn plain(functor: Functor, channels: usize) -> Self {
        Self { functor, channels, channel: None, normalize: false, times: false }
    }

    /// Channels of a prepared point.
    pub(crate) fn prepared_channels(&self) -> usize {
        if self.channel.is_some() { 1 } else { self.channels }
    }

    /// Points from a series to the next.
    pub(crate) fn stride(length: usize) -> usize {
        (length + PAD as usize).next_multiple_of(4)
    }

    /// Bytes of a prepared series of this many points.
    pub(crate) fn bytes<T>(&self, length: usize) -> u64 {
        let numbers = self.prepared_channels()
            + usize::from(self.functor.gaps != Gaps::None)
            + usize::from(self.functor.gaps == Gaps::Erp)
            + usize::from(self.times);
        (Self::stride(length) * numbers * size_of::<T>() + size_of::<u64>() + size_of::<u32>()) as u64
    }

    /// Bytes of a series of this many points on its way to the device.
    pub(crate) fn staged_bytes<T>(&self, length: usize) -> u64 {
        let point = (self.channels + usize::from(self.times)) * size_of::<T>();
        (length * point + size_of::<u64>() + size_of::<u32>()) as u64
    }

    /// The fields of `Prepare` that depend on nothing else.
    pub(crate) fn params(&self) -> params::Prepare {
        params::Prepare {
            channels: self.channels as u32,
            channel: self.channel.unwrap_or(0) as u32,
            one_channel: u32::from(self.channel.is_some()),
            derivative: self.functor.preparation as u32,
            normalize: u32::from(self.normalize),
            gap_kind: self.functor.gaps as u32,
            scale: 1.0,
            parameters: self.functor.parameters,
            ..params::Prepare::default()
        }
    }
}

/// Blocks for a launch that prepares: a warp for each piece of a series.
fn prepare_blocks(p: &params::Prepare) -> u32 {
    blocks_for(p.count * u64::from(p.length.div_ceil(params::PREPARE_PIECE).max(1)))
}

/// The kernel that prepares packed series.
pub(crate) fn prepare_kernel<T: Number>() -> &'static Kernel {
    catalog::other(Role::Prepare, "", T::DTYPE.name(), false).expect("permutations.toml lists it")
}

/// The kernel that prepares series of any format and strides.
fn prepare_strided_kernel<T: Number>() -> &'static Kernel {
    catalog::other(Role::PrepareStrided, "", T::DTYPE.name(), false).expect("permutations.toml lists it")
}

/// Prepares series of any format and strides.
pub(crate) fn launch_prepare_strided<T: Number, M: Machine>(machine: &M, p: &params::Prepare) -> Result<()> {
    machine.launch(prepare_strided_kernel::<T>(), p.bytes(), prepare_blocks(p))
}

/// Raw series on their way to the device; shared by both sides.
#[derive(Debug)]
pub(crate) struct Staging<T, M: Machine> {
    raw: Region<M>,
    times: Region<M>,
    offsets: Region<M>,
    lengths: Region<M>,
    host: Vec<T>,
    host_times: Vec<T>,
    host_offsets: Vec<u64>,
    host_lengths: Vec<u32>,
}

default_of!(Staging<T, M: Machine> { raw, times, offsets, lengths, host, host_times, host_offsets, host_lengths });

impl<T: Number, M: Machine> Staging<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        let device = self.raw.bytes() + self.times.bytes() + self.offsets.bytes() + self.lengths.bytes();
        device
            + (self.host.capacity() + self.host_times.capacity()) * size_of::<T>()
            + self.host_offsets.capacity() * size_of::<u64>()
            + self.host_lengths.capacity() * size_of::<u32>()
    }

    /// Uploads values as they are.
    pub(crate) fn upload(&mut self, machine: &M, values: &[T]) -> Result<u64> {
        self.raw.hold(machine, values)
    }

    /// Uploads series as they are and puts their addresses into `p`.
    fn upload_series(
        &mut self,
        machine: &M,
        p: &mut params::Prepare,
        series: HostSeries<'_, T>,
    ) -> Result<()> {
        let HostSeries { batch, order, places } = series;
        if order.is_given() {
            let (first, last) = (batch.offset(places.start), places.end - 1);
            let end = batch.offset(last) + batch.length(last);
            let channels = batch.channels();
            p.raw = self.raw.hold(machine, &batch.values()[first * channels..end * channels])?;
        } else {
            self.host.clear();
            for place in places.clone() {
                self.host.extend_from_slice(batch.get(order.series(place)).values);
            }
            p.raw = self.raw.hold(machine, &self.host)?;
        }
        if p.times != 0 {
            self.host_times.clear();
            for place in places.clone() {
                self.host_times.extend_from_slice(batch.get(order.series(place)).times.unwrap_or(&[]));
            }
            p.raw_times = self.times.hold(machine, &self.host_times)?;
        }
        p.count = places.len() as u64;
        p.length = (places.clone().map(|k| order.raw_length(k)).max().unwrap_or(0)) as u32;
        p.raw_stride = u64::from(p.length);
        if !order.is_equal_length() {
            self.host_offsets.clear();
            self.host_lengths.clear();
            let mut offset = 0;
            for place in places.clone() {
                self.host_offsets.push(offset);
                self.host_lengths.push(order.raw_length(place) as u32);
                offset += order.raw_length(place) as u64;
            }
            p.raw_offsets = self.offsets.hold(machine, &self.host_offsets)?;
            p.lengths = self.lengths.hold(machine, &self.host_lengths)?;
        }
        Ok(())
    }
}

/// Series of the host's that are to be prepared: those at `places` of `order`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostSeries<'a, T> {
    pub(crate) batch: &'a SeriesBatch<'a, T>,
    pub(crate) order: &'a Order,
    pub(crate) places: &'a Range<usize>,
}

/// Where series are that the caller has on the device; null offsets and lengths for series of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallerSeries {
    pub(crate) values: u64,
    pub(crate) strided: Option<Strided>,
    pub(crate) times: u64,
    pub(crate) raw_offsets: u64,
    pub(crate) raw_lengths: u64,
    pub(crate) offsets: u64,
    pub(crate) lengths: u64,
}

/// One side's prepared series, and where they are.
#[derive(Debug)]
pub(crate) struct Prepared<T, M: Machine> {
    values: Region<M>,
    gaps: Region<M>,
    sums: Region<M>,
    times: Region<M>,
    offsets: Region<M>,
    lengths: Region<M>,
    host_offsets: Vec<u64>,
    /// Places that are here.
    places: Range<usize>,
    side: params::Side,
    channels: usize,
    number: PhantomData<T>,
}

default_of!(Prepared<T, M: Machine> { values, gaps, sums, times, offsets, lengths, host_offsets, places, side, channels, number });

impl<T: Number, M: Machine> Prepared<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        [&self.values, &self.gaps, &self.sums, &self.times, &self.offsets, &self.lengths]
            .iter()
            .map(|region| region.bytes())
            .sum::<usize>()
            + self.host_offsets.capacity() * size_of::<u64>()
    }

    /// First prepared point of each series that [`Prepared::load`] has brought.
    pub(crate) fn first_points(&self) -> &[u64] {
        &self.host_offsets
    }

    /// First prepared point of the series at a place.
    pub(crate) fn first_point(&self, place: usize) -> u64 {
        let number = place - self.places.start;
        match self.side.offsets {
            0 => u64::from(PAD) + number as u64 * self.side.stride,
            _ => self.host_offsets[number],
        }
    }

    /// Where the prepared values are, and their bytes.
    pub(crate) fn values(&self) -> (u64, usize) {
        (self.values.address(), self.values.bytes())
    }

    /// Places that are on the device.
    pub(crate) fn places(&self) -> &Range<usize> {
        &self.places
    }

    /// Memory for `points` prepared points; the side knows where afterwards.
    pub(crate) fn reserve(&mut self, machine: &M, preparation: &Preparation, points: usize) -> Result<()> {
        self.channels = preparation.prepared_channels();
        let bytes = points * size_of::<T>();
        let mut side = params::Side::default();
        let address = |region: &mut Region<M>, wanted: bool, bytes: usize| -> Result<u64> {
            if !wanted {
                return Ok(0);
            }
            region.reserve(machine, bytes)?;
            Ok(region.address())
        };
        side.values = address(&mut self.values, true, bytes * self.channels)?;
        side.gaps = address(&mut self.gaps, preparation.functor.gaps != Gaps::None, bytes)?;
        side.sums = address(&mut self.sums, preparation.functor.gaps == Gaps::Erp, bytes)?;
        side.times = address(&mut self.times, preparation.times, bytes)?;
        self.side = side;
        Ok(())
    }

    /// Notes where the series at these places begin; returns all prepared points, with the padding before the first.
    fn lay_out(&mut self, order: &Order, places: &Range<usize>) -> usize {
        self.host_offsets.clear();
        let mut point = u64::from(PAD);
        for place in places.clone() {
            self.host_offsets.push(point);
            point += Preparation::stride(order.length(place)) as u64;
        }
        self.places = places.clone();
        point as usize
    }

    /// Brings series to the device and prepares them there.
    pub(crate) fn load(
        &mut self,
        machine: &M,
        staging: &mut Staging<T, M>,
        budget: &Budget,
        preparation: &Preparation,
        series: HostSeries<'_, T>,
    ) -> Result<()> {
        let HostSeries { batch, order, places } = series;
        let points = self.lay_out(order, places);
        self.reserve(machine, preparation, points)?;
        let longest = order.longest(places.clone());
        (self.side.count, self.side.length) = (places.len() as u32, longest as u32);
        self.side.stride = Preparation::stride(longest) as u64;
        if !order.is_equal_length() {
            self.side.offsets = self.offsets.hold(machine, &self.host_offsets)?;
            self.side.lengths = self.lengths.hold(machine, &order.lengths()[places.clone()])?;
        }
        let raw_bytes = |k: usize| preparation.staged_bytes::<T>(order.raw_length(places.start + k));
        for piece in cut(places.len(), budget.staging, budget, raw_bytes)? {
            let here = places.start + piece.start..places.start + piece.end;
            let part = self.part(order, &here);
            let mut p = params::Prepare {
                values: part.values,
                gaps: part.gaps,
                sums: part.sums,
                times: part.times,
                offsets: part.offsets,
                stride: part.stride,
                ..preparation.params()
            };
            staging.upload_series(machine, &mut p, HostSeries { batch, order, places: &here })?;
            machine.launch(prepare_kernel::<T>(), p.bytes(), prepare_blocks(&p))?;
        }
        Ok(())
    }

    /// Prepares series that are on the device already, in one launch.
    pub(crate) fn load_from_caller(
        &mut self,
        machine: &M,
        preparation: &Preparation,
        order: &Order,
        places: &Range<usize>,
        series: &CallerSeries,
    ) -> Result<()> {
        let longest = order.longest(places.clone());
        let stride = Preparation::stride(longest);
        self.places = places.clone();
        self.host_offsets.clear();
        let points = if series.offsets == 0 {
            PAD as usize + places.len() * stride
        } else {
            self.lay_out(order, places)
        };
        self.reserve(machine, preparation, points)?;
        (self.side.count, self.side.length) = (places.len() as u32, longest as u32);
        self.side.stride = stride as u64;
        (self.side.offsets, self.side.lengths) = (series.offsets, series.lengths);
        let mut p = params::Prepare {
            raw: series.values,
            raw_times: series.times,
            raw_offsets: series.raw_offsets,
            lengths: series.raw_lengths,
            raw_stride: order.raw_length(0) as u64,
            length: (longest + order.raw_length(0) - order.length(0)) as u32,
            values: self.side.values,
            gaps: self.side.gaps,
            sums: self.side.sums,
            times: self.side.times,
            offsets: series.offsets,
            stride: stride as u64,
            count: places.len() as u64,
            ..preparation.params()
        };
        let kernel = match series.strided {
            None => prepare_kernel::<T>(),
            Some(Strided { format, series, point, channel }) => {
                (p.format, p.series_stride, p.point_stride, p.channel_stride) =
                    (format.code(), series, point, channel);
                prepare_strided_kernel::<T>()
            }
        };
        machine.launch(kernel, p.bytes(), prepare_blocks(&p))
    }

    /// Takes packed series of the caller's as they are, for kernels that read no padding.
    pub(crate) fn borrow(
        &mut self,
        channels: usize,
        order: &Order,
        places: &Range<usize>,
        series: &CallerSeries,
    ) {
        let length = order.longest(places.clone());
        // Kernels skip the padding before the first of series that have no offsets.
        let skipped = if series.raw_offsets == 0 { PAD as usize * channels * size_of::<T>() } else { 0 };
        self.places = places.clone();
        self.channels = channels;
        self.side = params::Side {
            values: series.values.wrapping_sub(skipped as u64),
            offsets: series.raw_offsets,
            lengths: series.lengths,
            stride: length as u64,
            length: length as u32,
            count: places.len() as u32,
            ..params::Side::default()
        };
    }

    /// The values of the univariate series at a place, of which `points` were prepared, and where they are.
    pub(crate) fn fetch(&self, machine: &M, place: usize, points: usize, values: &mut Vec<T>) -> Result<u64> {
        let at = self.first_point(place) as usize * size_of::<T>();
        values.clear();
        values.resize(points, T::ZERO);
        machine.download(self.values.buffer().expect("series are here"), at, bytes_mut(values))?;
        Ok(self.values.address() + at as u64)
    }

    /// Windows of `length` points of raw univariate or multichannel points at `raw`: one starting at every point, or at
    /// those that are listed on the device.
    pub(crate) fn load_windows(
        &mut self,
        machine: &M,
        preparation: &Preparation,
        (raw, listed): (u64, u64),
        windows: usize,
        length: usize,
    ) -> Result<()> {
        let stride = Preparation::stride(length);
        self.places = 0..windows;
        self.reserve(machine, preparation, PAD as usize + windows * stride)?;
        self.side.count = windows as u32;
        self.side.length = length as u32;
        self.side.stride = stride as u64;
        let p = params::Prepare {
            raw,
            raw_offsets: listed,
            raw_stride: 1,
            values: self.side.values,
            stride: stride as u64,
            count: windows as u64,
            length: length as u32,
            ..preparation.params()
        };
        machine.launch(prepare_kernel::<T>(), p.bytes(), prepare_blocks(&p))
    }

    /// A part whose first series has this number in a launch. No task may have a series before it: none is
    /// there.
    pub(crate) fn numbered_from(&self, number: usize, part: params::Side) -> params::Side {
        let (number, mut side) = (number as u64, part);
        side.count += number as u32;
        if side.offsets != 0 {
            side.offsets = side.offsets.wrapping_sub(number * size_of::<u64>() as u64);
            side.lengths = side.lengths.wrapping_sub(number * size_of::<u32>() as u64);
            return side;
        }
        let bytes = number * side.stride * size_of::<T>() as u64;
        side.values = side.values.wrapping_sub(bytes * self.channels as u64);
        for address in [&mut side.gaps, &mut side.sums, &mut side.times] {
            *address = if *address == 0 { 0 } else { address.wrapping_sub(bytes) };
        }
        side
    }

    /// The series at `places`, which are here.
    pub(crate) fn part(&self, order: &Order, places: &Range<usize>) -> params::Side {
        let first = (places.start - self.places.start) as u64;
        let mut side = self.side;
        side.count = places.len() as u32;
        if side.offsets != 0 {
            side.length = order.longest(places.clone()) as u32;
            side.offsets += first * size_of::<u64>() as u64;
            side.lengths += first * size_of::<u32>() as u64;
            return side;
        }
        let bytes = first * side.stride * size_of::<T>() as u64;
        // The address for borrowed series may lie before the first one there is.
        side.values = side.values.wrapping_add(bytes * self.channels as u64);
        for address in [&mut side.gaps, &mut side.sums, &mut side.times] {
            *address += if *address == 0 { 0 } else { bytes };
        }
        side
    }
}
