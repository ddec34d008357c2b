//! Bands as the device sees them: full, a closed form from a radius, or a table of column ranges.
//!
//! It is checked here, on the host and before any launch, that a band leaves every pair a path.

use std::collections::HashMap;

use dtw_core::{Anchor, Band, ColumnRanges, Pairing, Radius, Result};

use crate::order::{Order, Rect};

/// Which axis of the band the kernel's rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Rows are points of x.
    X,
    /// Rows are points of y (searches: the reference).
    Y,
}

/// How the device gets to know the band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandLayout {
    /// No band.
    Full,
    /// A band along the diagonal.
    Sakoe {
        /// Points, or millionths of the longer length.
        radius: u32,
        /// Whether it is the latter.
        is_fraction: bool,
    },
    /// A range of columns for every row.
    Table,
}

/// Columns `start <= j < end` of a row, laid out as devices read them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRange {
    /// First column.
    pub start: u32,
    /// Column behind the last.
    pub end: u32,
}

impl BandLayout {
    /// Offsets from the diagonal that the band of a pair of `n` and `m` points has, if it is one along the diagonal.
    pub fn offsets(self, n: usize, m: usize) -> Option<usize> {
        let Self::Sakoe { radius, is_fraction } = self else { return None };
        let longer = n.max(m) as u64;
        let radius = if is_fraction { u64::from(radius) * longer / 1_000_000 } else { u64::from(radius) };
        Some((2 * radius.min(longer)) as usize + n.abs_diff(m) + 1)
    }
}

/// Ranges of a rectangle's tasks.
#[derive(Debug, Default)]
pub struct Table {
    /// Ranges, row by row, of all the pairs of lengths that occur.
    pub ranges: Vec<RowRange>,
    /// First range of each task; empty: 0 for all.
    pub offsets: Vec<u64>,
    /// Where the ranges of a pair of lengths begin.
    begins: HashMap<(usize, usize), u64>,
    /// The lengths that this is the table of, if it is of one pair of lengths.
    single: Option<(usize, usize, Rows)>,
    /// The lengths that the table on the device is of.
    uploaded: Option<(usize, usize, Rows)>,
}

impl Table {
    /// Bytes that it holds here.
    pub fn bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<RowRange>() + self.offsets.capacity() * size_of::<u64>()
    }

    /// To be called once the device has what [`Banding::fill`] made: until then it is made again.
    pub fn is_on_the_device(&mut self) {
        self.uploaded = self.single;
    }
}

/// A band, and what is known of it for the lengths seen so far.
#[derive(Debug)]
pub struct Banding {
    band: Band,
    anchor: Anchor,
    layout: BandLayout,
    cells: HashMap<(usize, usize), u64>,
}

impl Banding {
    /// A band over series of at most `longest` points.
    pub fn new(band: &Band, anchor: Anchor, longest: usize) -> Self {
        let layout = match band {
            Band::Full => BandLayout::Full,
            Band::SakoeChiba { radius: Radius::Points(radius) } if radius.saturating_add(1) >= longest => {
                BandLayout::Full
            }
            Band::SakoeChiba { radius: Radius::Points(radius) } => {
                BandLayout::Sakoe { radius: u32::try_from(*radius).unwrap_or(u32::MAX), is_fraction: false }
            }
            Band::SakoeChiba { radius: Radius::Fraction(fraction) } => {
                BandLayout::Sakoe { radius: (fraction * 1e6).round() as u32, is_fraction: true }
            }
            _ => BandLayout::Table,
        };
        Self { band: band.clone(), anchor, layout, cells: HashMap::new() }
    }

    /// How the device gets to know it.
    pub fn layout(&self) -> BandLayout {
        self.layout
    }

    /// The column ranges of one pair.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves it no path.
    pub fn ranges(&self, n: usize, m: usize) -> Result<ColumnRanges> {
        self.band.ranges(n, m, self.anchor)
    }

    /// Checks that the band leaves every pair a path.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves one none.
    pub fn check(&mut self, pairing: Pairing, x: &Order, y: &Order, rows: Rows) -> Result<()> {
        if self.layout != BandLayout::Table || x.is_empty() || y.is_empty() {
            return Ok(());
        }
        if pairing == Pairing::Zipped {
            for k in 0..x.len() {
                self.cells_in(rows, x.length(k), y.length(k))?;
            }
            return Ok(());
        }
        let columns = y.distinct();
        for n in x.distinct() {
            for m in &columns {
                self.cells_in(rows, n, *m)?;
            }
        }
        Ok(())
    }

    /// Cells of one pair.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves it no path.
    pub fn cells(&mut self, n: usize, m: usize) -> Result<u64> {
        match (self.layout, &self.band) {
            (BandLayout::Full, _) => Ok(n as u64 * m as u64),
            (_, Band::SakoeChiba { radius }) => Ok(sakoe_cells(radius.points(n, m), n, m)),
            _ => {
                if let Some(cells) = self.cells.get(&(n, m)) {
                    return Ok(*cells);
                }
                let cells = self.ranges(n, m)?.cells();
                self.cells.insert((n, m), cells);
                Ok(cells)
            }
        }
    }

    /// Cells of one pair with `n` kernel rows and `m` kernel columns.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves it no path.
    pub fn cells_in(&mut self, rows: Rows, n: usize, m: usize) -> Result<u64> {
        match rows {
            Rows::X => self.cells(n, m),
            Rows::Y => self.cells(m, n),
        }
    }

    /// Cells of a rectangle, whose rows are places of `x` and columns places of `y`.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves one of its pairs no path.
    pub fn cells_of(&mut self, rect: &Rect, x: &Order, y: &Order, rows: Rows) -> Result<u64> {
        if x.is_equal_length() && y.is_equal_length() {
            let first = (rect.rows.start, rect.columns.start);
            return Ok(rect.tasks() * self.cells_in(rows, x.length(first.0), y.length(first.1))?);
        }
        if self.layout == BandLayout::Full && rect.pairing == Pairing::Cross {
            let points = |order: &Order, places: std::ops::Range<usize>| -> u64 {
                places.map(|k| order.length(k) as u64).sum()
            };
            return Ok(points(x, rect.rows.clone()) * points(y, rect.columns.clone()));
        }
        let mut total = 0;
        for (i, j) in rect.pairs() {
            total += self.cells_in(rows, x.length(i), y.length(j))?;
        }
        Ok(total)
    }

    /// Most ranges that the tables of one rectangle of these series can come to.
    pub fn most_ranges(&self, x: &Order, y: &Order) -> u64 {
        if self.layout != BandLayout::Table {
            return 0;
        }
        let pairs = x.distinct().len() as u64 * y.distinct().len() as u64;
        pairs.saturating_mul(x.longest(0..x.len()).max(y.longest(0..y.len())) as u64)
    }

    /// Fills the table of a rectangle, whose rows are places of `x` and columns places of `y`; whether the device needs
    /// it.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] where the band leaves one of its pairs no path.
    pub fn fill(&mut self, table: &mut Table, rect: &Rect, x: &Order, y: &Order, rows: Rows) -> Result<bool> {
        let single = (x.is_equal_length() && y.is_equal_length())
            .then(|| (x.length(rect.rows.start), y.length(rect.columns.start), rows));
        if single.is_some() && table.uploaded == single {
            return Ok(false);
        }
        (table.single, table.uploaded) = (None, None);
        table.ranges.clear();
        table.offsets.clear();
        table.begins.clear();
        if let Some((n, m, rows)) = single {
            self.append(&mut table.ranges, n, m, rows)?;
            table.single = single;
            return Ok(true);
        }
        for (i, j) in rect.pairs() {
            let lengths = (x.length(i), y.length(j));
            let begin = match table.begins.get(&lengths) {
                Some(begin) => *begin,
                None => {
                    let begin = table.ranges.len() as u64;
                    self.append(&mut table.ranges, lengths.0, lengths.1, rows)?;
                    table.begins.insert(lengths, begin);
                    begin
                }
            };
            table.offsets.push(begin);
        }
        Ok(true)
    }

    /// Appends the ranges of a pair with `n` kernel rows and `m` kernel columns.
    fn append(&self, to: &mut Vec<RowRange>, n: usize, m: usize, rows: Rows) -> Result<()> {
        match rows {
            Rows::X => {
                let ranges = self.ranges(n, m)?;
                to.extend((0..n).map(|i| range(ranges.row(i))));
            }
            Rows::Y => transpose(&self.ranges(m, n)?, to),
        }
        Ok(())
    }
}

fn range(columns: std::ops::Range<usize>) -> RowRange {
    RowRange { start: columns.start as u32, end: columns.end as u32 }
}

/// For every column the rows that allow it. Both ends of a band never decrease, so these are ranges as well.
fn transpose(ranges: &ColumnRanges, to: &mut Vec<RowRange>) {
    let (mut start, mut end) = (0, 0);
    for j in 0..ranges.m() {
        while start < ranges.n() && ranges.row(start).end <= j {
            start += 1;
        }
        while end < ranges.n() && ranges.row(end).start <= j {
            end += 1;
        }
        to.push(range(start..end));
    }
}

/// Cells within `radius` of the diagonal, the longer side's limit widened by `|n − m|`.
fn sakoe_cells(radius: usize, n: usize, m: usize) -> u64 {
    let radius = radius.min(n + m);
    let (below, above) = (radius + n.saturating_sub(m), radius + m.saturating_sub(n));
    let triangle = |side: usize| side as u64 * (side as u64 + 1) / 2;
    // What is cut off below the band and above it.
    let corner = |side: usize, limit: usize| side.saturating_sub(limit + 1);
    n as u64 * m as u64 - triangle(corner(n, below)) - triangle(corner(m, above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_counts_what_the_ranges_hold() {
        for n in 1..14 {
            for m in 1..14 {
                for radius in
                    [Radius::Points(0), Radius::Points(3), Radius::Points(99), Radius::Fraction(0.29)]
                {
                    let band = Band::SakoeChiba { radius };
                    for anchor in [Anchor::Global, Anchor::Subsequence] {
                        let expected = band.ranges(n, m, anchor).unwrap().cells();
                        let cells = Banding::new(&band, anchor, n.max(m)).cells(n, m).unwrap();
                        assert_eq!(cells, expected, "{n} {m} {radius:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_from_the_diagonal_are_those_that_the_ranges_hold() {
        let radii = [Radius::Points(0), Radius::Points(3), Radius::Points(40), Radius::Fraction(0.29)];
        for radius in radii {
            let band = Band::SakoeChiba { radius };
            let layout = Banding::new(&band, Anchor::Global, usize::MAX).layout();
            for (n, m) in [(10, 12), (12, 10), (11, 11), (60, 1)] {
                let ranges = band.ranges(n, m, Anchor::Global).unwrap();
                let own = (0..n).flat_map(|i| ranges.row(i).map(move |j| j as i64 - i as i64));
                let (least, most) = own.fold((0, 0), |(least, most), o| (o.min(least), o.max(most)));
                let offsets = layout.offsets(n, m).unwrap();
                // A corner of the grid may cut a wide band.
                let held = (most - least + 1) as usize;
                let is_cut = radius.points(n, m) >= n.min(m);
                assert!(offsets == held || is_cut && offsets > held, "{n} {m} {radius:?}: {offsets} {held}");
                assert!(offsets <= 2 * n.max(m) + n.abs_diff(m) + 1, "{n} {m} {radius:?}: {offsets}");
            }
        }
        assert_eq!(BandLayout::Full.offsets(3, 4), None);
        assert_eq!(BandLayout::Table.offsets(3, 4), None);
    }

    #[test]
    fn a_table_has_the_ranges_of_each_pair_of_lengths_once() {
        let band = Band::Itakura { max_slope: 2.0 };
        let (x, y) = (Order::ragged([5, 7, 5].into_iter(), 0), Order::ragged([6, 6, 8].into_iter(), 0));
        let whole = Rect { rows: 0..3, columns: 0..3, pairing: Pairing::Cross };
        let (mut banding, mut table) = (Banding::new(&band, Anchor::Global, 8), Table::default());
        // Two lengths of either side, each with as many ranges as the longest of all at most.
        assert_eq!((table.bytes(), banding.most_ranges(&x, &y)), (0, 2 * 2 * 8));
        assert_eq!(Banding::new(&Band::Full, Anchor::Global, 8).most_ranges(&x, &y), 0);
        for _ in 0..2 {
            assert!(banding.fill(&mut table, &whole, &x, &y, Rows::X).unwrap());
            table.is_on_the_device();
        }
        assert_eq!((table.ranges.len(), table.offsets.len()), (2 * (5 + 7), 9));
        for ((i, j), begin) in whole.pairs().zip(&table.offsets) {
            let (n, m) = (x.length(i), y.length(j));
            let own = band.ranges(n, m, Anchor::Global).unwrap();
            let held = &table.ranges[*begin as usize..][..n];
            assert!((0..n).all(|i| held[i] == range(own.row(i))), "{n} {m}");
        }
        assert_eq!(table.bytes(), 8 * (table.ranges.capacity() + table.offsets.capacity()));
        // Where one side is of one length, the other still tells pairs apart.
        assert!(banding.fill(&mut table, &whole, &Order::equal(3, 5), &y, Rows::X).unwrap());
        assert_eq!((table.ranges.len(), table.offsets), (2 * 5, [0, 0, 5].repeat(3)));
    }

    #[test]
    fn the_table_of_series_of_one_length_is_made_once() {
        let band = Band::Itakura { max_slope: 2.0 };
        let (x, y) = (Order::equal(3, 5), Order::equal(2, 7));
        let whole = Rect { rows: 0..3, columns: 0..2, pairing: Pairing::Cross };
        let (mut banding, mut table) = (Banding::new(&band, Anchor::Global, 8), Table::default());
        let mut fill = |table: &mut Table, rows| banding.fill(table, &whole, &x, &y, rows).unwrap();
        // Until it is on the device.
        assert!(fill(&mut table, Rows::X) && fill(&mut table, Rows::X));
        table.is_on_the_device();
        assert!(!fill(&mut table, Rows::X) && fill(&mut table, Rows::Y));
        assert_eq!((table.ranges.len(), table.offsets.len()), (5, 0));
    }

    #[test]
    fn a_transposed_band_holds_the_same_cells() {
        let band = Band::Itakura { max_slope: 2.0 };
        let own = band.ranges(7, 9, Anchor::Global).unwrap();
        let mut columns = Vec::new();
        transpose(&own, &mut columns);
        for (j, rows) in columns.iter().enumerate() {
            assert!(rows.end <= 7, "{rows:?}");
            for i in 0..7 {
                assert_eq!((rows.start as usize..rows.end as usize).contains(&i), own.row(i).contains(&j));
            }
        }
    }
}
