//! The series of a call: the host's, or the caller's on the device.

use dtw_core::SeriesBatch;
use dtw_plan::Order;

use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::device_batch::DeviceBatch;
use crate::series::layout_tables::LayoutTables;

/// The series of a side, to be loaded.
#[derive(Debug)]
pub(crate) enum SideSource<'a, T, M: Machine> {
    /// Memory of the host.
    Host(&'a SeriesBatch<'a, T>),
    /// The caller's memory on the device, and the tables of it that the device has.
    Device(DeviceBatch<'a>, &'a mut LayoutTables<M>),
}

/// The series of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, T> {
    /// In memory of the host.
    Host(&'a SeriesBatch<'a, T>),
    /// In the caller's memory on the device.
    Device(DeviceBatch<'a>),
}

impl<'a, T: Number> Source<'a, T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(batch) => batch.len(),
            Self::Device(batch) => batch.layout.count(),
        }
    }

    pub(crate) fn channels(&self) -> usize {
        match self {
            Self::Host(batch) => batch.channels(),
            Self::Device(batch) => batch.channels,
        }
    }

    pub(crate) fn has_times(&self) -> bool {
        match self {
            Self::Host(batch) => batch.has_times(),
            Self::Device(batch) => batch.times != 0,
        }
    }

    /// Points of the longest.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Self::Host(batch) => batch.max_length(),
            Self::Device(batch) => batch.layout.lengths().max().unwrap_or(0),
        }
    }

    /// The series as they come, which lose `dropped` points on the way.
    pub(crate) fn order(&self, dropped: usize) -> Order {
        match self {
            Self::Host(batch) => Order::given(batch, dropped),
            Self::Device(batch) => batch.order(dropped),
        }
    }

    /// The series as they are loaded, with the tables of those on the device.
    pub(crate) fn with_tables<M: Machine>(self, tables: &'a mut LayoutTables<M>) -> SideSource<'a, T, M> {
        match self {
            Self::Host(batch) => SideSource::Host(batch),
            Self::Device(batch) => SideSource::Device(batch, tables),
        }
    }
}
