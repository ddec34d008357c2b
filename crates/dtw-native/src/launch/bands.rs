//! Tables of bands on the device: as many as the passes of a divergence have, kept from call to call.

use dtw_core::Result;
use dtw_plan::{BandLayout, Banding, Order, Rect, RowRange, Rows, Table};

use crate::launch::job::LaunchBand;
use crate::machine::Machine;
use crate::memory::region::Region;

/// Tables of bands that stay on the device: those of the passes of a divergence, of pairs of other lengths each.
pub(crate) const TABLES: usize = 3;

/// A table that the device has, and what it is.
#[derive(Debug)]
struct DeviceTable<M: Machine> {
    ranges: Region<M>,
    offsets: Region<M>,
    uploaded: (Vec<RowRange>, Vec<u64>),
}

impl<M: Machine> Default for DeviceTable<M> {
    fn default() -> Self {
        Self { ranges: Region::lasting(), offsets: Region::lasting(), uploaded: (Vec::new(), Vec::new()) }
    }
}

impl<M: Machine> DeviceTable<M> {
    fn is(&self, table: &Table) -> bool {
        self.uploaded.0 == table.ranges && self.uploaded.1 == table.offsets
    }

    fn keep(&mut self, machine: &M, table: &Table) -> Result<()> {
        self.ranges.keep(machine, &table.ranges, &mut self.uploaded.0)?;
        self.offsets.keep(machine, &table.offsets, &mut self.uploaded.1)?;
        Ok(())
    }

    fn bytes(&self) -> usize {
        let uploaded = self.uploaded.0.capacity() * size_of::<RowRange>()
            + self.uploaded.1.capacity() * size_of::<u64>();
        self.ranges.bytes() + self.offsets.bytes() + uploaded
    }
}

/// The tables of a plan.
#[derive(Debug)]
pub(crate) struct BandTables<M: Machine> {
    /// The last one that was made.
    table: Table,
    /// Those that the device has, the one of the last band, and the one that goes next.
    on_device: [DeviceTable<M>; TABLES],
    last: usize,
    next: usize,
    /// Whether no band of this call has had a table yet.
    is_first: bool,
}

impl<M: Machine> Default for BandTables<M> {
    fn default() -> Self {
        Self {
            table: Table::default(),
            on_device: std::array::from_fn(|_| DeviceTable::default()),
            last: 0,
            next: 0,
            is_first: true,
        }
    }
}

impl<M: Machine> BandTables<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + self.on_device.iter().map(DeviceTable::bytes).sum::<usize>()
    }

    /// Begins a call: calls that are alike then keep their tables in the same places.
    pub(crate) fn begin(&mut self) {
        (self.next, self.is_first) = (0, true);
    }

    /// The band of a rectangle, whose table goes to the device if it has one.
    pub(crate) fn band(
        &mut self,
        machine: &M,
        banding: &mut Banding,
        rect: &Rect,
        (x, y): (&Order, &Order),
        rows: Rows,
    ) -> Result<LaunchBand> {
        let layout = banding.layout();
        if layout != BandLayout::Table {
            return Ok(LaunchBand::plain(layout));
        }
        if banding.fill(&mut self.table, rect, x, y, rows)? {
            // Several sweeps of one tile have the same table.
            if self.is_first || !self.on_device[self.last].is(&self.table) {
                (self.last, self.next) = (self.next, (self.next + 1) % TABLES);
            }
            self.is_first = false;
            self.on_device[self.last].keep(machine, &self.table)?;
            self.table.is_on_the_device();
        }
        let table = &self.on_device[self.last];
        let offsets = if self.table.offsets.is_empty() { 0 } else { table.offsets.address() };
        Ok(LaunchBand { layout, ranges: table.ranges.address(), offsets })
    }
}
