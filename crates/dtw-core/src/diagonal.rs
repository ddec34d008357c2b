//! Anti-diagonals: `(diagonal, row)` ↔ `(i, j)`, and the rows a band allows on each.
//!
//! Diagonal `t` holds the cells with `i + j = t` (0-based), `t < n + m − 1`. Because a normalised band's ends never
//! decrease, the rows allowed on a diagonal are one run, and both ends of the run never decrease with `t`.

use std::ops::Range;

use crate::ColumnRanges;

/// Walks the diagonals of a banded grid in order, giving the row run of each in O(1) amortised.
#[derive(Debug, Clone)]
pub struct Diagonals<'a> {
    ranges: &'a ColumnRanges,
    rows: Range<usize>,
    first: usize,
    end: usize,
}

impl<'a> Diagonals<'a> {
    /// Diagonals of the rows `rows` of the grid; row numbers in the runs are absolute.
    pub fn new(ranges: &'a ColumnRanges, rows: Range<usize>) -> Self {
        Self { ranges, first: rows.start, end: rows.start, rows }
    }

    /// The rows allowed on diagonal `t`. Call with `t` increasing (any start).
    #[inline]
    pub fn run(&mut self, t: usize) -> Range<usize> {
        if self.ranges.is_full() {
            let first = (t + 1).saturating_sub(self.ranges.m()).max(self.rows.start);
            let end = (t + 1).min(self.rows.end);
            return first..end.max(first);
        }
        while self.first < self.rows.end && self.ranges.row(self.first).end + self.first <= t {
            self.first += 1;
        }
        while self.end < self.rows.end && self.ranges.row(self.end).start + self.end <= t {
            self.end += 1;
        }
        self.first..self.end.max(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Band, Radius};

    #[test]
    fn runs_cover_exactly_the_band() {
        let bands = [
            Band::Full,
            Band::sakoe_chiba(0),
            Band::sakoe_chiba(2),
            Band::Slanted { radius: Radius::Points(1) },
            Band::Itakura { max_slope: 2.0 },
        ];
        for band in &bands {
            for n in 1..10 {
                for m in 1..10 {
                    let Ok(ranges) = band.ranges(n, m, Anchor::Global) else { continue };
                    for split in 0..n {
                        let mut seen = vec![vec![0; m]; n];
                        for rows in [0..split, split..n] {
                            let mut diagonals = Diagonals::new(&ranges, rows);
                            let mut previous = 0..0;
                            for t in 0..n + m - 1 {
                                let run = diagonals.run(t);
                                assert!(
                                    run.start >= previous.start && run.end >= previous.end || run.is_empty()
                                );
                                for i in run.clone() {
                                    seen[i][t - i] += 1;
                                }
                                previous = run;
                            }
                        }
                        for (i, row) in seen.iter().enumerate() {
                            for (j, times) in row.iter().enumerate() {
                                let expected = usize::from(ranges.row(i).contains(&j));
                                assert_eq!(*times, expected, "{band:?} {n}x{m} ({i}, {j})");
                            }
                        }
                    }
                }
            }
        }
    }
}
