//! Packed copies of series that lie otherwise on the device, or are in another format than the plan's.
//!
//! Where points are equally far apart through the whole batch, all of them are copied as one long series. Else each
//! series is prepared with padding round it, and the rows of that are copied side by side ([`params::Combine`]).

use dtw_core::{Error, Result};
use dtw_kernels::params::{self, PAD};

use crate::launch::combine::launch_combine;
use crate::launch::functor::Functor;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};
use crate::series::device_batch::{DeviceBatch, DeviceLayout, Strided};
use crate::series::prepared::{Preparation, launch_prepare_strided};

/// Memory for the copies; kept between calls.
#[derive(Debug)]
pub(crate) struct Packer<M: Machine> {
    /// Copies of x and of y.
    copies: [Region<M>; 2],
    padded: Region<M>,
}

default_of!(Packer<M: Machine> { copies, padded });

impl<M: Machine> Packer<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.copies.iter().map(Region::bytes).sum::<usize>() + self.padded.bytes()
    }

    /// Batches as they are after packing within so many bytes, and the bytes that the copies take.
    pub(crate) fn packed<'a, T: Number>(
        &mut self,
        machine: &M,
        functor: Functor,
        limit: u64,
        batches: [DeviceBatch<'a>; 2],
    ) -> Result<([DeviceBatch<'a>; 2], u64)> {
        let sizes = batches.map(|batch| CopyBytes::of::<T>(&batch));
        let copies = sizes.iter().map(|bytes| bytes.copy).sum::<u64>();
        let bytes = copies + sizes.iter().map(|bytes| bytes.padded).max().unwrap_or(0);
        if bytes > limit {
            return Err(Error::OutOfMemory {
                what: "packed copies of the series".to_owned(),
                requested_bytes: bytes,
                available_bytes: limit,
            });
        }
        let mut packed = batches;
        for ((batch, copy), bytes) in packed.iter_mut().zip(&mut self.copies).zip(sizes) {
            let Some(strided) = batch.strided else { continue };
            let preparation = Preparation::plain(functor, batch.channels);
            let base = params::Prepare {
                raw: batch.values,
                format: strided.format.code(),
                series_stride: strided.series,
                point_stride: strided.point,
                channel_stride: strided.channel,
                ..preparation.params()
            };
            copy.reserve(machine, bytes.copy as usize)?;
            batch.values = if bytes.padded == 0 {
                whole::<T, M>(machine, copy.address(), batch, base)?
            } else {
                self.padded.reserve(machine, bytes.padded as usize)?;
                rows::<T, M>(machine, [self.padded.address(), copy.address()], batch, base)?
            };
            batch.strided = None;
        }
        Ok((packed, bytes))
    }
}

/// Bytes of a copy, and of the same series with padding where it is made of these.
#[derive(Debug, Clone, Copy)]
struct CopyBytes {
    copy: u64,
    padded: u64,
}

impl CopyBytes {
    fn of<T>(batch: &DeviceBatch<'_>) -> Self {
        let Some(strided) = &batch.strided else { return Self { copy: 0, padded: 0 } };
        let (points, point) = (end(&batch.layout), batch.channels * size_of::<T>());
        if step(&batch.layout, strided).is_some() {
            return Self { copy: ((points + 2 * PAD as usize) * point) as u64, padded: 0 };
        }
        let padded = PAD as usize + batch.layout.count() * Preparation::stride(length_of(batch));
        Self { copy: (points * point) as u64, padded: (padded * point) as u64 }
    }
}

/// Points of each series, of which all have as many.
fn length_of(batch: &DeviceBatch<'_>) -> usize {
    batch.layout.lengths().next().unwrap_or(0)
}

/// Copies points that are equally far apart to `to`, as one series; the address of the first.
fn whole<T: Number, M: Machine>(
    machine: &M,
    to: u64,
    batch: &DeviceBatch<'_>,
    base: params::Prepare,
) -> Result<u64> {
    let points = end(&batch.layout);
    let strided = batch.strided.as_ref().expect("callers look");
    let p = params::Prepare {
        values: to,
        count: 1,
        length: u32::try_from(points).map_err(|_| too_many(points))?,
        point_stride: step(&batch.layout, strided).expect("callers look"),
        ..base
    };
    launch_prepare_strided::<T, M>(machine, &p)?;
    Ok(to + (PAD as usize * batch.channels * size_of::<T>()) as u64)
}

/// Copies series of one length to `to` by way of `padded`, where each has padding before it; the address of the first.
fn rows<T: Number, M: Machine>(
    machine: &M,
    [padded, to]: [u64; 2],
    batch: &DeviceBatch<'_>,
    base: params::Prepare,
) -> Result<u64> {
    let (count, length, channels) = (batch.layout.count(), length_of(batch), batch.channels);
    let stride = Preparation::stride(length);
    let p = params::Prepare {
        values: padded,
        stride: stride as u64,
        count: count as u64,
        length: length as u32,
        ..base
    };
    launch_prepare_strided::<T, M>(machine, &p)?;
    let numbers = (length * channels) as u64;
    let p = params::Combine {
        first: padded + (PAD as usize * channels * size_of::<T>()) as u64,
        out: to,
        tile_stride: (stride * channels) as u64,
        out_stride: numbers,
        rows: count as u64,
        columns: numbers,
        pairing: params::CROSS,
        ..params::Combine::default()
    };
    launch_combine::<T, M>(machine, &p)?;
    Ok(to)
}

/// Points from the first of a batch to the last, with those that belong to no series.
pub(crate) fn end(layout: &DeviceLayout<'_>) -> usize {
    let ends = layout.lengths().enumerate().map(|(s, length)| layout.first_point(s) + length);
    match layout {
        DeviceLayout::Equal { count, length } => count * length,
        _ => ends.max().unwrap_or(0),
    }
}

/// Numbers from a point to the next if that is the same through the whole batch.
fn step(layout: &DeviceLayout<'_>, strided: &Strided) -> Option<i64> {
    match *layout {
        DeviceLayout::Equal { count, length } => match (count, length) {
            (1, _) => Some(strided.point),
            (_, 1) => Some(strided.series),
            _ => (strided.series == length as i64 * strided.point).then_some(strided.point),
        },
        // These say at which point a series begins.
        _ => Some(strided.point),
    }
}

/// The error of a batch that is too long for one launch.
fn too_many(points: usize) -> Error {
    Error::invalid(format!(
        "a packed copy of {points} points: at most {} at once; pass fewer series",
        u32::MAX
    ))
}
