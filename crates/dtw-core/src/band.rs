//! Bands: which cells a warping path may visit.
//!
//! Indices are 0-based: row `i < n` (x), column `j < m` (y); `N = n − 1`, `M = m − 1`. A band becomes one column range
//! per row, normalised so that both ends never decrease from row to row and every cell left lies on a monotone path.
//! The arithmetic is exact integers. Equations: `docs/measures.md`.

use std::ops::Range;

use crate::{Result, bail_invalid};

/// Where a warping path may start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Anchor {
    /// From the first points of both series to the last points of both.
    #[default]
    Global,
    /// All of `x` (the query) against any stretch of `y` (the reference).
    Subsequence,
}

/// A band radius in points, or as a fraction of the longer series.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Radius {
    /// Points.
    Points(usize),
    /// Fraction of `max(n, m)` in `0..=1`, rounded down after rounding the fraction itself to six decimals.
    Fraction(f64),
}

impl Radius {
    /// The radius in points for lengths `n` and `m`.
    pub fn points(self, n: usize, m: usize) -> usize {
        match self {
            Self::Points(points) => points,
            Self::Fraction(fraction) => {
                let millionths = (fraction * 1e6).round() as u128;
                (millionths * n.max(m) as u128 / 1_000_000) as usize
            }
        }
    }
}

/// The cells a path may visit.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub enum Band {
    /// Every cell.
    #[default]
    Full,
    /// `|i − j| ≤ radius`, the longer side's limit widened by `|n − m|` so that a path exists.
    SakoeChiba {
        /// Half width.
        radius: Radius,
    },
    /// Within `radius` of the line from corner to corner, measured along the longer axis, and never so narrow that
    /// neighbouring rows lose touch.
    Slanted {
        /// Half width.
        radius: Radius,
    },
    /// Between lines of slope `1/max_slope` and `max_slope` (times `M/N`) through both corners. Itakura 1975,
    /// 10.1109/TASSP.1975.1162641.
    Itakura {
        /// Steepest slope, ≥ 1, used to six decimals.
        max_slope: f64,
    },
    /// Column range `start..end` of each row. Fits one pair of lengths only.
    Ranges(Vec<Range<usize>>),
}

impl Band {
    /// [`Band::SakoeChiba`] with a radius in points.
    pub const fn sakoe_chiba(radius: usize) -> Self {
        Self::SakoeChiba { radius: Radius::Points(radius) }
    }

    /// Checks the parameters that do not depend on the lengths.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a fraction outside 0..=1 or a slope below 1.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::SakoeChiba { radius: Radius::Fraction(f) }
            | Self::Slanted { radius: Radius::Fraction(f) }
                if !(0.0..=1.0).contains(f) =>
            {
                bail_invalid!("a band radius as a fraction lies between 0 and 1 (0% and 100%), got {f}")
            }
            Self::Itakura { max_slope } if !(max_slope.is_finite() && *max_slope >= 1.0) => {
                bail_invalid!("an itakura band needs a finite max_slope >= 1, got {max_slope}")
            }
            _ => Ok(()),
        }
    }

    /// Whether every cell is allowed whatever the lengths.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full)
    }

    /// The column range of every row for lengths `n` and `m`.
    ///
    /// Cost: O(n) time and memory; O(1) for [`Band::Full`].
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when the band leaves no path, or explicit ranges do not fit the lengths.
    pub fn ranges(&self, n: usize, m: usize, anchor: Anchor) -> Result<ColumnRanges> {
        let last = |edge: usize| edge as i128 - 1;
        let (big_n, big_m) = (last(n), last(m));
        // Inclusive [first, last] column of row i, before clipping.
        let rows: Vec<(i128, i128)> = match self {
            Self::Full => return Ok(ColumnRanges::full(n, m)),
            Self::SakoeChiba { radius } => {
                let r = radius.points(n, m).min(n + m) as i128;
                let (below, above) = (r + (big_n - big_m).max(0), r + (big_m - big_n).max(0));
                (0..n as i128).map(|i| (i - below, i + above)).collect()
            }
            Self::Slanted { radius } => {
                if n == 1 || m == 1 {
                    return Ok(ColumnRanges::full(n, m));
                }
                let r = radius.points(n, m).min(n + m) as i128;
                let width = (2 * r * big_n.min(big_m)).max(big_n.max(big_m));
                (0..n as i128)
                    .map(|i| {
                        let middle = 2 * i * big_m;
                        (ceil_div(middle - width, 2 * big_n), (middle + width).div_euclid(2 * big_n))
                    })
                    .collect()
            }
            Self::Itakura { max_slope } => {
                if n == 1 || m == 1 {
                    return Ok(ColumnRanges::full(n, m));
                }
                let unit = 1_000_000_i128;
                let slope = ((max_slope * 1e6).round() as i128).min(unit * big_n.max(big_m).max(1));
                (0..n as i128)
                    .map(|i| {
                        let rest = big_n - i;
                        let first = ceil_div(i * big_m * unit, big_n * slope)
                            .max(big_m - (rest * big_m * slope).div_euclid(big_n * unit));
                        let end = (i * big_m * slope)
                            .div_euclid(big_n * unit)
                            .min(big_m - ceil_div(rest * big_m * unit, big_n * slope));
                        (first, end)
                    })
                    .collect()
            }
            Self::Ranges(ranges) => {
                if ranges.len() != n {
                    bail_invalid!("the band has ranges for {} rows, but x has {n} points", ranges.len());
                }
                for (i, range) in ranges.iter().enumerate() {
                    if range.end > m {
                        let end = range.end;
                        bail_invalid!("the band's row {i} ends at column {end}, but y has {m} points");
                    }
                    if range.is_empty() {
                        bail_invalid!("the band leaves no path: row {i} allows no column ({range:?})");
                    }
                }
                ranges.iter().map(|r| (r.start as i128, r.end as i128 - 1)).collect()
            }
        };
        ColumnRanges::normalised(&rows, m, anchor)
    }
}

fn ceil_div(a: i128, b: i128) -> i128 {
    -((-a).div_euclid(b))
}

/// The allowed columns of every row, as half-open ranges whose ends never decrease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRanges {
    n: usize,
    m: usize,
    /// Empty for the full grid.
    rows: Vec<(u32, u32)>,
}

impl ColumnRanges {
    /// All columns in all rows.
    pub const fn full(n: usize, m: usize) -> Self {
        Self { n, m, rows: Vec::new() }
    }

    fn normalised(rows: &[(i128, i128)], m: usize, anchor: Anchor) -> Result<Self> {
        let n = rows.len();
        if m > u32::MAX as usize {
            bail_invalid!("a banded sweep takes at most {} columns, got {m}", u32::MAX);
        }
        let mut first: Vec<i128> = rows.iter().map(|r| r.0.max(0)).collect();
        let mut last: Vec<i128> = rows.iter().map(|r| r.1.min(m as i128 - 1)).collect();
        for i in 1..n {
            first[i] = first[i].max(first[i - 1]);
        }
        for i in (1..n).rev() {
            last[i - 1] = last[i - 1].min(last[i]);
        }
        for i in 0..n {
            if first[i] > last[i] {
                bail_invalid!("the band leaves no path: row {i} of {n} allows no column of {m}");
            }
            if i > 0 && first[i] > last[i - 1] + 1 {
                bail_invalid!(
                    "the band leaves no path: row {} ends at column {} and row {i} starts at column {}",
                    i - 1,
                    last[i - 1],
                    first[i]
                );
            }
        }
        if anchor == Anchor::Global && (first[0] != 0 || last[n - 1] != m as i128 - 1) {
            bail_invalid!(
                "the band leaves no path: it must allow the first cell (0, 0) and the last ({}, {}), but row 0 starts at column {} and row {} ends at column {}",
                n - 1,
                m - 1,
                first[0],
                n - 1,
                last[n - 1]
            );
        }
        if first.iter().all(|f| *f == 0) && last.iter().all(|l| *l == m as i128 - 1) {
            return Ok(Self::full(n, m));
        }
        let rows = first.iter().zip(&last).map(|(f, l)| (*f as u32, *l as u32 + 1)).collect();
        Ok(Self { n, m, rows })
    }

    /// The first `n` rows and `m` columns of the grid; rows that lose all their columns are empty.
    #[must_use]
    pub fn clipped(&self, n: usize, m: usize) -> Self {
        let n = n.min(self.n);
        let m = m.min(self.m);
        let clip = |&(start, end): &(u32, u32)| (start.min(m as u32), end.min(m as u32));
        Self { n, m, rows: self.rows.iter().take(n).map(clip).collect() }
    }

    /// Whether every cell is allowed.
    pub const fn is_full(&self) -> bool {
        self.rows.is_empty()
    }
    /// Rows of the grid.
    pub const fn n(&self) -> usize {
        self.n
    }
    /// Columns of the grid.
    pub const fn m(&self) -> usize {
        self.m
    }
    /// Allowed columns of row `i`, half-open, 0-based.
    #[inline]
    pub fn row(&self, i: usize) -> Range<usize> {
        match self.rows.get(i) {
            Some(&(start, end)) => start as usize..end as usize,
            None => 0..self.m,
        }
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<(u32, u32)>()
    }
    /// Number of allowed cells.
    pub fn cells(&self) -> u64 {
        if self.is_full() {
            self.n as u64 * self.m as u64
        } else {
            self.rows.iter().map(|(start, end)| u64::from(end - start)).sum()
        }
    }
}

#[cfg(test)]
mod tests {
    // That bands are what docs/measures.md says, dtw-conformance tests, with definitions of its own.
    use super::*;

    fn rows(band: &Band, n: usize, m: usize) -> Vec<Range<usize>> {
        let ranges = band.ranges(n, m, Anchor::Global).unwrap();
        (0..n).map(|i| ranges.row(i)).collect()
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        for (slope, is_right) in [(1.0, true), (2.5, true), (0.9, false), (f64::INFINITY, false)] {
            assert_eq!(Band::Itakura { max_slope: slope }.check().is_ok(), is_right, "{slope}");
        }
        for (f, is_right) in [(0.0, true), (0.3, true), (1.0, true), (1.1, false), (-0.1, false)] {
            let radius = Radius::Fraction(f);
            assert_eq!(Band::SakoeChiba { radius }.check().is_ok(), is_right, "{f}");
            assert_eq!(Band::Slanted { radius }.check().is_ok(), is_right, "{f}");
        }
        assert!(Band::Full.check().is_ok());
    }

    /// The path of a subsequence need not end in the last column.
    #[test]
    fn rows_that_begin_at_the_first_column_may_end_before_the_last() {
        let band = Band::Ranges(vec![0..2, 0..3]);
        let ranges = band.ranges(2, 4, Anchor::Subsequence).unwrap();
        assert_eq!([ranges.row(0), ranges.row(1)], [0..2, 0..3]);
    }

    /// So `d(x, y)` is `d(y, x)`, and half of a matrix is enough.
    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn a_band_is_the_same_from_either_side() {
        let mut bands = vec![Band::Full];
        for radius in [Radius::Points(0), Radius::Points(3), Radius::Fraction(0.07), Radius::Fraction(0.3)] {
            bands.extend([Band::SakoeChiba { radius }, Band::Slanted { radius }]);
        }
        bands.extend([1.0, 1.3, 2.0, 3.7].map(|max_slope| Band::Itakura { max_slope }));
        for band in bands {
            for (n, m) in (1..40).flat_map(|n| (1..=n).map(move |m| (n, m))) {
                let both = (band.ranges(n, m, Anchor::Global), band.ranges(m, n, Anchor::Global));
                let (Ok(own), Ok(other)) = both else {
                    assert!(both.0.is_err() && both.1.is_err(), "{band:?} {n} {m}");
                    continue;
                };
                for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
                    let is_same = own.row(i).contains(&j) == other.row(j).contains(&i);
                    assert!(is_same, "{band:?} {n} {m}: {i} {j}");
                }
            }
        }
    }

    /// From one point a path goes to all others, however narrow the band.
    #[test]
    fn one_point_may_match_all() {
        let band = Band::Slanted { radius: Radius::Points(0) };
        assert_eq!(rows(&band, 1, 7)[0], 0..7);
        assert_eq!(rows(&band, 7, 1), [0..1, 0..1, 0..1, 0..1, 0..1, 0..1, 0..1]);
    }

    #[test]
    fn fraction_is_rounded_down_without_float_noise() {
        assert_eq!(Radius::Fraction(0.29).points(100, 80), 29);
        assert_eq!(Radius::Fraction(0.05).points(150, 150), 7);
    }

    #[test]
    fn ranges_are_tightened_to_what_a_path_can_use() {
        let band = Band::Ranges(vec![0..4, 1..2, 0..4]);
        assert_eq!(rows(&band, 3, 4), [0..2, 1..2, 1..4]);
        let broken = Band::Ranges(vec![0..1, 2..4]);
        assert!(broken.ranges(2, 4, Anchor::Global).unwrap_err().to_string().contains("no path"));
    }
}
