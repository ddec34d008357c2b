//! Series that the caller has on the device: where they are and how they lie.

use dtw_core::{Result, bail_invalid};
use dtw_kernels::params;
use dtw_plan::Order;

/// Series on the device. Without `strided`, they are laid out as [`dtw_core::SeriesBatch`] lays them out.
#[derive(Debug, Clone, Copy)]
pub struct DeviceBatch<'a> {
    /// Address of the values: `[point][channel]`, series one after the other, in the plan's number type.
    pub values: u64,
    /// How the values lie and are written if that is otherwise; they are read where they are. `values` is then the
    /// address of the first channel of the first point of series 0.
    pub strided: Option<Strided>,
    /// Address of the timestamps, one per point, without gaps and in the plan's number type; 0: none.
    pub times: u64,
    /// Values per point.
    pub channels: usize,
    /// Where series begin and end.
    pub layout: DeviceLayout<'a>,
}

impl<'a> DeviceBatch<'a> {
    /// Series in the plan's number type, one after the other, without timestamps.
    pub const fn packed(values: u64, channels: usize, layout: DeviceLayout<'a>) -> Self {
        Self { values, strided: None, times: 0, channels, layout }
    }

    /// Where a packed series begins.
    pub(crate) fn first_value<T>(&self, s: usize) -> u64 {
        self.values + (self.layout.first_point(s) * self.channels * size_of::<T>()) as u64
    }

    /// The series as they come, which lose `dropped` points on the way.
    pub(crate) fn order(&self, dropped: usize) -> Order {
        match self.layout {
            DeviceLayout::Equal { count, length } => {
                Order::equal(count, length.saturating_sub(dropped)).dropping(dropped)
            }
            _ => Order::ragged(self.layout.lengths(), dropped),
        }
    }
}

/// Where results of gradients go on the device, as addresses of numbers of the plan's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceGradients {
    /// Upstream gradient, one per pair, which is read; 0: all ones.
    pub upstream: u64,
    /// Values, one per pair.
    pub distances: u64,
    /// Gradient to x, laid out as the values of x.
    pub grad_x: u64,
    /// Gradient to y, laid out as the values of y.
    pub grad_y: u64,
}

/// Where the numbers of a [`DeviceBatch`] lie. Strides are counted in numbers; they may be 0 or negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    /// How a number is written.
    pub format: Format,
    /// From a series to the next; looked at for [`DeviceLayout::Equal`] alone. The others say at which point a series
    /// begins.
    pub series: i64,
    /// From a point to the next.
    pub point: i64,
    /// From a channel to the next.
    pub channel: i64,
}

/// How a number is written. Each is exact in any format that has more digits; `f64` is rounded for a plan in `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
}

impl Format {
    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// As kernels are told.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::F32 => params::FORMAT_F32,
            Self::F64 => params::FORMAT_F64,
            Self::F16 => params::FORMAT_F16,
            Self::Bf16 => params::FORMAT_BF16,
        }
    }
}

/// Where the series of a [`DeviceBatch`] begin and end.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum DeviceLayout<'a> {
    /// Series of one length.
    Equal {
        /// Series.
        count: usize,
        /// Points of each.
        length: usize,
    },
    /// Series `s` is points `offsets[s] .. offsets[s + 1]`; the offsets are in host memory. They are copied to the
    /// device when they differ from those of the call before.
    Ragged(&'a [usize]),
    /// Series `s` is the points from `s * room` on, `lengths[s]` of them; the lengths are in host memory, and copied as
    /// offsets are.
    Padded {
        /// Points of each series.
        lengths: &'a [usize],
        /// Points from a series to the next.
        room: usize,
    },
}

/// A copy of the [`DeviceLayout`] of an earlier call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnedLayout {
    Equal { count: usize, length: usize },
    Ragged(Vec<usize>),
    Padded { lengths: Vec<usize>, room: usize },
}

impl OwnedLayout {
    pub(crate) fn of(layout: &DeviceLayout<'_>) -> Self {
        match *layout {
            DeviceLayout::Equal { count, length } => Self::Equal { count, length },
            DeviceLayout::Ragged(offsets) => Self::Ragged(offsets.to_vec()),
            DeviceLayout::Padded { lengths, room } => Self::Padded { lengths: lengths.to_vec(), room },
        }
    }

    pub(crate) fn is(&self, layout: &DeviceLayout<'_>) -> bool {
        match (self, layout) {
            (Self::Equal { count: a, length: n }, DeviceLayout::Equal { count: b, length: m }) => {
                a == b && n == m
            }
            (Self::Ragged(last), DeviceLayout::Ragged(offsets)) => last == offsets,
            (Self::Padded { lengths: last, room: a }, DeviceLayout::Padded { lengths, room: b }) => {
                last == lengths && a == b
            }
            _ => false,
        }
    }
}

impl DeviceLayout<'_> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Equal { count, .. } => *count,
            Self::Ragged(offsets) => offsets.len().saturating_sub(1),
            Self::Padded { lengths, .. } => lengths.len(),
        }
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count()).map(move |s| match self {
            Self::Equal { length, .. } => *length,
            Self::Ragged(offsets) => offsets[s + 1] - offsets[s],
            Self::Padded { lengths, .. } => lengths[s],
        })
    }

    /// The point that a series begins with.
    pub(crate) fn first_point(&self, s: usize) -> usize {
        match self {
            Self::Equal { length, .. } => s * length,
            Self::Ragged(offsets) => offsets[s],
            Self::Padded { room, .. } => s * room,
        }
    }

    pub(crate) fn check(&self, name: &str, least: usize, most: usize) -> Result<()> {
        if let Self::Ragged(offsets) = self
            && (offsets.first() != Some(&0) || offsets.windows(2).any(|w| w[0] > w[1]))
        {
            bail_invalid!("offsets of {name} must start with 0 and not decrease");
        }
        let of_one = match self {
            Self::Equal { .. } => 1,
            Self::Ragged(_) | Self::Padded { .. } => usize::MAX,
        };
        for (s, length) in self.lengths().enumerate().take(of_one) {
            if length < least || length > most {
                bail_invalid!("series {s} of {name} has {length} points, planned for {least} to {most}");
            }
        }
        Ok(())
    }
}
