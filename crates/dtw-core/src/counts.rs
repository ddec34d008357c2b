//! How many warping paths a banded grid has, as a logarithm.
//!
//! With `N` paths, `Z` of [`crate::recurrence::SoftDtw`] is `N` when γ is endless. What the costs add to that is lost
//! in the digits of `Z` unless it is kept apart ([`crate::recurrence::SoftExcess`]); then `ln N` is needed by itself.

use std::collections::HashMap;

use crate::recurrence::{Scaled, log_of};
use crate::{Anchor, Band, ColumnRanges, Result};

impl ColumnRanges {
    /// The logarithm of the number of warping paths from the first cell to the last.
    ///
    /// Cost: O(min(n, m)) time for the full grid, where it is a Delannoy number; else O(cells) time and O(m) memory.
    pub fn log_paths(&self) -> f64 {
        if self.is_full() { log_delannoy(self.n() - 1, self.m() - 1) } else { self.count() }
    }

    fn count(&self) -> f64 {
        let nothing = Scaled::zero(0.0_f64);
        let one = Scaled::one(0.0_f64);
        // One more on the left.
        let mut row = vec![nothing; self.m() + 1];
        row[0] = one;
        for i in 0..self.n() {
            let columns = self.row(i);
            let start = columns.start;
            let (mut diagonal, mut left) = (row[start], nothing);
            for j in columns {
                let up = row[j + 1];
                left = Scaled::weighted_sum(diagonal, up, left, one).rescale();
                (row[j + 1], diagonal) = (left, up);
            }
            // Left of this row's columns there is nothing for the next.
            row[start] = nothing;
        }
        log_of(row[self.m()].mantissa, row[self.m()].exponent)
    }

    /// A lower bound of [`ColumnRanges::log_paths`]. Cost: O(1) for the full grid, else O(n + m).
    pub fn log_paths_at_least(&self) -> f64 {
        let (rows, columns) = (self.n() - 1, self.m() - 1);
        if self.is_full() {
            // Paths with a horizontal and a vertical step or a diagonal one for each of the shorter side's, 3^k; or
            // 2^k C(most, k) of all, which is more than (2 most / k)^k.
            let (least, most) = (rows.min(columns) as f64, rows.max(columns) as f64);
            return if least == 0.0 { 0.0 } else { least * (2.0 * most / least).max(3.0).ln() };
        }
        let has = |i: usize, j: usize| i <= rows && self.row(i).contains(&j);
        let (mut i, mut j, mut least) = (0, 0, 0.0);
        while (i, j) != (rows, columns) {
            let (down, right) = (has(i + 1, j), has(i, j + 1));
            if has(i + 1, j + 1) {
                least += f64::from(1 + u8::from(down) + u8::from(right)).ln();
                (i, j) = (i + 1, j + 1);
            } else if down {
                i += 1;
            } else {
                j += 1;
            }
        }
        least
    }
}

/// `ln Σₖ 2ᵏ C(a, k) C(b, k)`.
fn log_delannoy(a: usize, b: usize) -> f64 {
    let (mut term, mut sum, mut log_scale) = (1.0_f64, 1.0_f64, 0.0);
    for k in 0..a.min(b) {
        let next = (k + 1) as f64;
        term *= 2.0 * ((a - k) as f64 / next) * ((b - k) as f64 / next);
        sum += term;
        if sum > 1e250 {
            (term, sum, log_scale) = (term / 1e250, sum / 1e250, log_scale + 1e250_f64.ln());
        }
    }
    sum.ln() + log_scale
}

/// Pairs of lengths that are remembered at most: some 3 MB.
const MOST_KNOWN: usize = 1 << 16;

/// Logarithms by pairs of lengths, up to [`MOST_KNOWN`].
#[derive(Debug, Default)]
struct Remembered {
    all: HashMap<(usize, usize), f64>,
    /// The last that was asked for: mostly lengths repeat.
    last: Option<((usize, usize), f64)>,
}

impl Remembered {
    fn get(&mut self, lengths: (usize, usize), count: impl FnOnce() -> Result<f64>) -> Result<f64> {
        if let Some((known, log)) = self.last
            && known == lengths
        {
            return Ok(log);
        }
        let log = match self.all.get(&lengths) {
            Some(log) => *log,
            None => {
                let log = count()?;
                if self.all.len() >= MOST_KNOWN {
                    self.all.clear();
                }
                self.all.insert(lengths, log);
                log
            }
        };
        self.last = Some((lengths, log));
        Ok(log)
    }
}

/// The numbers of paths of a band, each pair of lengths counted once unless there are very many.
#[derive(Debug, Default)]
pub struct PathCounts {
    exact: Remembered,
    least: Remembered,
}

impl PathCounts {
    /// [`ColumnRanges::log_paths`] for lengths `n` and `m`.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn log(&mut self, band: &Band, n: usize, m: usize) -> Result<f64> {
        self.exact.get((n, m), || Ok(band.ranges(n, m, Anchor::Global)?.log_paths()))
    }

    /// [`ColumnRanges::log_paths_at_least`] for lengths `n` and `m`.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn at_least(&mut self, band: &Band, n: usize, m: usize) -> Result<f64> {
        self.least.get((n, m), || Ok(band.ranges(n, m, Anchor::Global)?.log_paths_at_least()))
    }

    /// `ln N(n, m) − ½(ln N(n, n) + ln N(m, m))`: what the numbers of paths leave of a divergence, in units of −γ. Zero
    /// for equal lengths.
    ///
    /// # Errors
    /// As [`Band::ranges`].
    pub fn divergence(&mut self, band: &Band, n: usize, m: usize) -> Result<f64> {
        if n == m {
            return Ok(0.0);
        }
        Ok(self.log(band, n, m)? - 0.5 * (self.log(band, n, n)? + self.log(band, m, m)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Radius;

    #[test]
    fn delannoy_numbers() {
        for (n, m, paths) in
            [(1, 1, 1.0), (1, 9, 1.0), (2, 2, 3.0), (3, 3, 13.0), (4, 4, 63.0), (4, 6, 231.0)]
        {
            let ranges = ColumnRanges::full(n, m);
            assert!((ranges.log_paths() - f64::ln(paths)).abs() < 1e-14, "{n} {m}");
            assert!((ranges.count() - f64::ln(paths)).abs() < 1e-14, "{n} {m}");
        }
        let long =
            if cfg!(miri) { [(30, 30), (2, 90), (40, 10)] } else { [(700, 700), (20, 3000), (1000, 400)] };
        for (n, m) in long {
            let ranges = ColumnRanges::full(n, m);
            assert!((ranges.log_paths() / ranges.count() - 1.0).abs() < 1e-14, "{n} {m}");
        }
    }

    #[test]
    fn a_divergence_of_other_lengths_keeps_a_part_of_the_paths() {
        let mut counts = PathCounts::default();
        // 5 paths through 2 × 3 cells, 3 and 13 through the squares.
        let expected = f64::ln(5.0) - 0.5 * (f64::ln(3.0) + f64::ln(13.0));
        for (n, m) in [(2, 3), (3, 2)] {
            assert!((counts.divergence(&Band::Full, n, m).unwrap() - expected).abs() < 1e-14);
        }
        assert_eq!(counts.divergence(&Band::Full, 3, 3).unwrap(), 0.0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn paths_in_bands_are_counted_one_by_one() {
        fn walk(ranges: &ColumnRanges, i: usize, j: usize) -> u32 {
            if i >= ranges.n() || !ranges.row(i).contains(&j) {
                return 0;
            }
            let ends = (i + 1, j + 1) == (ranges.n(), ranges.m());
            let on =
                || [(i + 1, j + 1), (i + 1, j), (i, j + 1)].map(|(i, j)| walk(ranges, i, j)).iter().sum();
            if ends { 1 } else { on() }
        }
        let jumps = Band::Ranges(vec![0..2, 1..3, 1..3, 3..7, 3..7, 5..8]);
        let bands = [Band::sakoe_chiba(1), Band::Slanted { radius: Radius::Points(2) }, jumps];
        for (band, n, m) in bands.iter().flat_map(|band| [(band, 6, 8), (band, 8, 6), (band, 5, 5)]) {
            let Ok(ranges) = band.ranges(n, m, Anchor::Global) else { continue };
            let paths = f64::from(walk(&ranges, 0, 0));
            assert!((ranges.log_paths() - paths.ln()).abs() < 1e-14, "{band:?} {n} {m}: {paths}");
        }
    }

    #[test]
    fn lower_bounds_are_lower_and_not_by_much() {
        let shapes = [(1, 1), (1, 7), (2, 9), (30, 30), (31, 44), (44, 31), (300, 200)];
        for (n, m) in shapes.into_iter().take(if cfg!(miri) { 4 } else { 7 }) {
            let mut bands = vec![Band::Full, Band::Itakura { max_slope: 2.0 }];
            for r in [0, 1, 2, 10] {
                bands.push(Band::sakoe_chiba(r));
                bands.push(Band::Slanted { radius: Radius::Points(r) });
            }
            for band in bands {
                let Ok(ranges) = band.ranges(n, m, Anchor::Global) else { continue };
                let (least, exact) = (ranges.log_paths_at_least(), ranges.log_paths());
                assert!(least <= exact * (1.0 + 1e-12) + 1e-12, "{n} {m} {band:?}: {least} {exact}");
                assert!(least >= 0.2 * exact, "{n} {m} {band:?}: {least} {exact}");
            }
        }
        let one = Band::sakoe_chiba(0).ranges(50, 50, Anchor::Global).unwrap();
        assert_eq!([one.log_paths(), one.log_paths_at_least()], [0.0, 0.0]);
    }
}
