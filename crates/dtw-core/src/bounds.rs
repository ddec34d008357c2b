//! Lower bounds of DTW with squared Euclidean cost on one channel: what cannot be among the best need not be swept.
//!
//! **LB_Keogh** (Keogh & Ratanamahatana 2005, 10.1007/s10115-004-0154-9). A path visits every column `j` in some row
//! that the band allows there. So the distance is at least `Σ_j dist(y_j, [L_j, U_j])²`, where `L_j` and `U_j` are the
//! least and the largest point of `x` in those rows: its *envelope*. With the roles exchanged, it is at least
//! `Σ_i dist(x_i, [l_i, u_i])²` with the envelope of `y`. A part of the sum is a bound, too.
//!
//! **LB_Kim** (Kim, Park & Chu 2001, 10.1109/ICDE.2001.914875), in the form of the UCR suite: the first and the last
//! cell are on every path. So with two rows and two columns or more, the envelopes of the first and the last column or
//! row are the one point of the other series that is met there.
//!
//! **Paths on their way.** What a path costs up to some cell, and the terms of the columns after it, or of the rows,
//! are a bound of its whole.
//!
//! **Rounding.** A bound only decides what is not swept, so it must hold for the distance *as computed*. With `n` rows,
//! `m` columns, `u` the unit roundoff of the number type and `η` its least normal number:
//!
//! - A sweep adds at most `n + m` computed squares along one path, each addition, difference and product with a
//!   relative error of at most `u`. What it computes is at least `S·(1 − u)^(n+m+3) − (n + m)·η`, where `S` is the
//!   exact sum of the squares.
//! - A computed bound of at most `n + m` terms, none of them larger than the exact one but for the rounding of a
//!   difference, is at most `S·(1 + u)^(n+m+3) + (n + m)·η`. So is one that is compared by its parts: a difference of
//!   the bar and the terms to come is off by a factor of `1 + u` once more.
//!
//! With `z = (2(n + m) + 12)·u ≤ ¼`, a computed bound of at least `(cut + 2(n + m)·η)·(1 + 2z)` proves that the
//! computed distance is at least `cut`. [`raised`] gives that number.

use std::ops::Range;

use crate::{ColumnRanges, Dtype, Scalar};

/// The unit roundoff of a number type, and its least normal number.
pub(crate) fn precision<T: Scalar>() -> (f64, f64) {
    match T::DTYPE {
        Dtype::F32 => (f64::from(f32::EPSILON) / 2.0, f64::from(f32::MIN_POSITIVE)),
        Dtype::F64 => (f64::EPSILON / 2.0, f64::MIN_POSITIVE),
    }
}

/// A number a little larger than `value`, which is not negative; the largest numbers become infinite.
pub fn above<T: Scalar>(value: f64) -> T {
    let (unit, tiny) = precision::<T>();
    T::from_f64(value.mul_add(1.0 + 8.0 * unit, tiny))
}

/// What a computed bound of a pair of these lengths must reach, so that its computed distance is at least `cut`.
/// Infinite where the series are too long for the number type to tell.
pub fn raised<T: Scalar>(cut: T, lengths: (usize, usize)) -> T {
    let (unit, tiny) = precision::<T>();
    let steps = 2.0 * (lengths.0 as f64 + lengths.1 as f64);
    let z = (steps + 12.0) * unit;
    if z > 0.25 { T::INFINITY } else { above((cut.to_f64() + steps * tiny) * (1.0 + 2.0 * z)) }
}

/// For each column, rows that hold all those which a band allows there; neither end ever decreases. O(n + m).
pub fn rows_of_columns(ranges: &ColumnRanges) -> Vec<Range<usize>> {
    let n = ranges.n();
    let (mut start, mut end) = (0, 0);
    (0..ranges.m())
        .map(|j| {
            while start < n && ranges.row(start).end <= j {
                start += 1;
            }
            while end < n && ranges.row(end).start <= j {
                end += 1;
            }
            start..end
        })
        .collect()
}

/// The least and the largest values of stretches of a series.
#[derive(Debug, Clone, Default)]
pub struct Envelope<T> {
    /// The least value of each stretch.
    pub lower: Vec<T>,
    /// The largest value of each stretch.
    pub upper: Vec<T>,
    /// Places that may hold the least value of a later stretch; their values increase.
    queue: Vec<usize>,
}

impl<T: Scalar> Envelope<T> {
    /// Of these stretches, which are not empty and of which neither end ever decreases. O(values + stretches) time, by
    /// streaming minima (Lemire 2006, arXiv cs/0610046).
    pub fn fill(&mut self, values: &[T], stretches: impl Iterator<Item = Range<usize>> + Clone) {
        extremes(values, stretches.clone(), &mut self.lower, &mut self.queue, |a, b| a <= b);
        extremes(values, stretches, &mut self.upper, &mut self.queue, |a, b| a >= b);
    }
}

/// The value of each stretch that is `better` than the others, or equal.
fn extremes<T: Scalar>(
    values: &[T],
    stretches: impl Iterator<Item = Range<usize>>,
    out: &mut Vec<T>,
    queue: &mut Vec<usize>,
    better: impl Fn(T, T) -> bool,
) {
    out.clear();
    queue.clear();
    let (mut head, mut seen) = (0, 0);
    for Range { start, end } in stretches {
        for (k, value) in values.iter().enumerate().take(end).skip(seen) {
            while queue.len() > head && better(*value, values[queue[queue.len() - 1]]) {
                queue.pop();
            }
            queue.push(k);
        }
        seen = seen.max(end);
        while queue[head] < start {
            head += 1;
        }
        out.push(values[queue[head]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Band};

    #[test]
    fn columns_know_their_rows() {
        let bands = [
            Band::Full,
            Band::sakoe_chiba(0),
            Band::sakoe_chiba(2),
            Band::Itakura { max_slope: 8.0 },
            Band::Slanted { radius: crate::Radius::Points(1) },
        ];
        for (n, m) in [(1, 1), (5, 5), (5, 8), (9, 4)] {
            for band in &bands {
                let ranges = band.ranges(n, m, Anchor::Global).unwrap();
                for (j, rows) in rows_of_columns(&ranges).into_iter().enumerate() {
                    let expected: Vec<usize> = (0..n).filter(|i| ranges.row(*i).contains(&j)).collect();
                    assert_eq!(rows.collect::<Vec<_>>(), expected, "{band:?} of {n} and {m}, column {j}");
                }
            }
        }
    }

    #[test]
    fn envelopes_hold_their_stretches() {
        let mut state = 7_u64;
        let values: Vec<f64> = (0..50)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 60) as f64
            })
            .collect();
        let mut envelope = Envelope::default();
        for (before, after) in [(0, 0), (1, 2), (3, 0), (0, 4), (60, 60)] {
            let stretch = |k: usize| k.saturating_sub(before)..(k + after + 1).min(50);
            envelope.fill(&values, (0..50).map(stretch));
            for k in 0..50 {
                let within = &values[stretch(k)];
                assert_eq!(envelope.lower[k], within.iter().copied().fold(f64::INFINITY, f64::min));
                assert_eq!(envelope.upper[k], within.iter().copied().fold(-f64::INFINITY, f64::max));
            }
        }
    }

    /// DTW as the sweeps compute it, and both directions of LB_Keogh in the order in which a search adds them up.
    fn distance_and_bounds<T: Scalar>(x: &[T], y: &[T], ranges: &ColumnRanges) -> (T, [T; 2]) {
        let (n, m) = (x.len(), y.len());
        let mut above = vec![T::INFINITY; m + 1];
        above[0] = T::ZERO;
        for (i, x) in x.iter().enumerate() {
            let mut row = vec![T::INFINITY; m + 1];
            for j in ranges.row(i) {
                let apart = *x - y[j];
                row[j + 1] = apart.mul_add(apart, above[j].min(above[j + 1]).min(row[j]));
            }
            above = row;
        }
        let outside = |sum: T, value: T, lower: T, upper: T| {
            let apart = (lower - value).max(value - upper).max(T::ZERO);
            apart.mul_add(apart, sum)
        };
        let (mut of_x, mut of_y) = (Envelope::default(), Envelope::default());
        of_x.fill(x, rows_of_columns(ranges).into_iter());
        of_y.fill(y, (0..n).map(|i| ranges.row(i)));
        let columns = (0..m).rev().fold(T::ZERO, |sum, j| outside(sum, y[j], of_x.lower[j], of_x.upper[j]));
        let rows = (0..n).rev().fold(T::ZERO, |sum, i| outside(sum, x[i], of_y.lower[i], of_y.upper[i]));
        (above[m], [columns, rows])
    }

    /// How often a bound that is not lowered would have been wrong.
    fn wrong_if_not_lowered<T: Scalar>(next: impl Fn(T) -> T) -> usize {
        let mut state = 11_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut wrong = 0;
        for round in 0..4000 {
            let (n, scale) = (1 + random(40), [1.0, 1e-3, 1e-20, 1e-22, 1e15, 1e-160][random(6)]);
            let m = if random(3) == 0 { 1 + random(40) } else { n };
            let kinds = [random(4), random(4)];
            let mut series = |length: usize, kind: usize| -> Vec<T> {
                let level = random(1000) as f64 * 0.1;
                (0..length)
                    .map(|k| match kind {
                        0 => level,
                        1 => random(1000) as f64 * 0.01,
                        2 => (k / 5) as f64 * 0.7 - level,
                        _ => random(3) as f64,
                    })
                    .map(|v| T::from_f64(v * scale))
                    .collect()
            };
            let (x, y) = (series(n, kinds[0]), series(m, kinds[1]));
            let band = [Band::Full, Band::sakoe_chiba(0), Band::sakoe_chiba(3)][random(3)].clone();
            let ranges = band.ranges(n, m, Anchor::Global).unwrap();
            let (distance, bounds) = distance_and_bounds(&x, &y, &ranges);
            for bound in bounds {
                // Whatever would reject the distance as at least `cut` must not do so for a smaller one.
                let cut = next(distance);
                assert!(bound < raised(cut, (n, m)), "round {round}: {bound} of {distance}, {band:?}");
                wrong += usize::from(bound >= cut);
            }
        }
        wrong
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri makes digits inexact on purpose")]
    fn bounds_are_below_distances_as_computed() {
        assert!(wrong_if_not_lowered(f32::next_up) > 20);
        assert!(wrong_if_not_lowered(f64::next_up) > 20);
    }

    #[test]
    fn cuts_are_raised_and_given_up_where_digits_end() {
        for cut in [0.0_f32, 1e-40, 1.0, 3e30] {
            assert!(raised(cut, (1, 1)) > cut);
        }
        assert!(raised(1.0_f64, (1000, 1000)) < 1.0 + 1e-11);
        assert!(raised(1.0_f32, (1 << 21, 1 << 21)).is_infinite());
        assert!(raised(f64::INFINITY, (3, 3)).is_infinite());
    }
}
