//! Lower bounds of z-normalised windows ([`dtw_core::bounds`]): a window in each lane, neighbours in neighbouring
//! lanes, so that their points are loaded as they lie.
//!
//! First what both ends cost, then LB_Keogh with the envelope of the query, then with that of the windows. Terms are
//! taken where they are likely to be large first, as in the UCR suite (Rakthanmanon et al. 2012,
//! 10.1145/2339530.2339576): the envelope of a z-normalised query is worth most where it is far from zero. A register
//! of windows is given up when all of them have reached the bar.

use dtw_core::bounds::{Envelope, rows_of_columns};
use dtw_core::{ColumnRanges, Scalar};

use crate::lanes::Register;

/// Terms between two looks at the sums.
const BETWEEN_LOOKS: usize = 16;

/// A query, as its bounds need it.
#[derive(Debug)]
pub(crate) struct Enveloped<T> {
    /// The band of the query and a window.
    pub(crate) ranges: ColumnRanges,
    /// The points of the query.
    pub(crate) points: Vec<T>,
    /// For each column, the least and the largest point that a path may meet there.
    pub(crate) envelope: Envelope<T>,
    /// The inner columns, the most telling first: place and envelope.
    columns: Vec<(usize, T, T)>,
    /// The inner rows, the most telling first: place and point.
    rows: Vec<(usize, T)>,
    /// How many columns before and after row `i` a band reaches: `i − before ..= i + after`, at most.
    pub(crate) reach: (usize, usize),
    /// The largest value.
    pub(crate) height: f64,
    pub(crate) cells: u64,
}

/// Some windows: what lies at their points, and how they are normalised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch<'a, T> {
    pub(crate) points: &'a [T],
    /// For each point, the least and the largest point in reach.
    pub(crate) reach: &'a Reach<T>,
    pub(crate) scale: &'a [T],
    pub(crate) offset: &'a [T],
    pub(crate) slack: &'a [T],
}

/// How many columns before and after row `i` a band reaches: `i − before ..= i + after`, at most.
pub(crate) fn reach(ranges: &ColumnRanges) -> (usize, usize) {
    (0..ranges.n()).map(|i| (i, ranges.row(i))).fold((0, 0), |(before, after), (i, row)| {
        (before.max(i.saturating_sub(row.start)), after.max((row.end - 1).saturating_sub(i)))
    })
}

fn descending(a: f64, b: f64) -> std::cmp::Ordering {
    b.total_cmp(&a)
}

impl<T: Scalar> Enveloped<T> {
    /// `query` in this band.
    pub(crate) fn new(query: &[T], ranges: ColumnRanges) -> Self {
        let mut envelope = Envelope::default();
        envelope.fill(query, rows_of_columns(&ranges).into_iter());
        let (n, m) = (ranges.n(), ranges.m());
        // The first and the last cell are on every path.
        for (j, i) in [(0, 0), (m - 1, n - 1)] {
            if n > 1 && m > 1 {
                (envelope.lower[j], envelope.upper[j]) = (query[i], query[i]);
            }
        }
        let mut columns: Vec<_> =
            (1..m.max(2) - 1).map(|j| (j, envelope.lower[j], envelope.upper[j])).collect();
        columns.sort_by(|a, b| {
            let far = |c: &(usize, T, T)| Scalar::to_f64(c.1).max(-c.2.to_f64());
            descending(far(a), far(b))
        });
        let mut rows: Vec<_> = (1..n.max(2) - 1).map(|i| (i, query[i])).collect();
        rows.sort_by(|a, b| descending(a.1.to_f64().abs(), b.1.to_f64().abs()));
        let reach = reach(&ranges);
        let height = query.iter().map(|v| v.to_f64().abs()).fold(0.0, f64::max);
        let cells = ranges.cells();
        Self { ranges, points: query.to_vec(), envelope, columns, rows, reach, height, cells }
    }

    /// Whether the windows' envelope has a place for each row.
    pub(crate) fn is_square(&self) -> bool {
        self.ranges.n() == self.ranges.m()
    }

    /// Lower bounds of the windows from `first` on into `out`; a sum that has reached `bar` may be given up. Two
    /// registers at a time: each hides the other's latency.
    pub(crate) fn bound<V: Register<Scalar = T>>(
        &self,
        token: V::Token,
        stretch: Stretch<'_, T>,
        first: usize,
        bar: T,
        out: &mut [T],
    ) {
        V::compiled(
            token,
            #[inline(always)]
            || {
                let mut start = 0;
                while start < out.len() {
                    let count = (out.len() - start).min(2 * V::LANES);
                    // The last registers overlap those before them where they can.
                    let at =
                        if count == 2 * V::LANES { start } else { out.len().saturating_sub(2 * V::LANES) };
                    if out.len() - at < 2 * V::LANES {
                        // Too few windows for two registers: nothing is known of them.
                        out[at..].fill(T::ZERO);
                        return;
                    }
                    let pair = Windows::<V>::new(token, stretch, first + at);
                    pair.bound(token, self, stretch, bar, &mut out[at..at + 2 * V::LANES]);
                    start += 2 * V::LANES;
                }
            },
        );
    }

    /// Lower bounds of a register-full of series, whose points and envelopes are given; a sum that has reached `bar`
    /// may be given up.
    pub(crate) fn bound_lanes<V: Register<Scalar = T>>(
        &self,
        token: V::Token,
        [points, lower, upper]: [&[T]; 3],
        bar: T,
    ) -> V {
        V::compiled(
            token,
            #[inline(always)]
            || {
                let (zero, bars) = (V::splat(token, T::ZERO), V::splat(token, bar));
                let at = |values: &[T], j: usize| V::load(token, &values[j * V::LANES..]);
                let add = |apart: V, sum: V| {
                    let apart = apart.max(zero);
                    apart.mul_add(apart, sum)
                };
                let (n, m) = (self.ranges.n(), self.ranges.m());
                let mut ends = zero;
                for (i, j) in [(0, 0), (n - 1, m - 1)].into_iter().take(if n > 1 && m > 1 { 2 } else { 1 }) {
                    ends = add((at(points, j) - V::splat(token, self.points[i])).abs(), ends);
                }
                let mut sum = ends;
                for terms in self.columns.chunks(BETWEEN_LOOKS) {
                    for (j, lower, upper) in terms {
                        let value = at(points, *j);
                        sum =
                            add((V::splat(token, *lower) - value).max(value - V::splat(token, *upper)), sum);
                    }
                    if all_reach(bars, [sum, sum]) {
                        return sum;
                    }
                }
                let mut other = ends;
                for terms in self.rows.chunks(BETWEEN_LOOKS) {
                    for (i, value) in terms {
                        let value = V::splat(token, *value);
                        other = add((at(lower, *i) - value).max(value - at(upper, *i)), other);
                    }
                    let best = sum.max(other);
                    if all_reach(bars, [best, best]) {
                        return best;
                    }
                }
                sum.max(other)
            },
        )
    }
}

/// Two registers of windows.
struct Windows<V> {
    first: usize,
    scale: [V; 2],
    offset: [V; 2],
    slack: [V; 2],
}

impl<V: Register> Windows<V> {
    #[inline(always)]
    fn new(token: V::Token, stretch: Stretch<'_, V::Scalar>, first: usize) -> Self {
        Self {
            first,
            scale: load_two(token, stretch.scale, first),
            offset: load_two(token, stretch.offset, first),
            slack: load_two(token, stretch.slack, first),
        }
    }

    /// The values of this register at these points.
    #[inline(always)]
    fn value(&self, k: usize, point: V) -> V {
        point.mul_add(self.scale[k], self.offset[k])
    }

    /// `sum` and the square of what is left of `apart` after the slack.
    #[inline(always)]
    fn add(&self, k: usize, apart: V, sum: V) -> V {
        let apart = apart.max(self.slack[k]) - self.slack[k];
        apart.mul_add(apart, sum)
    }

    #[inline(always)]
    fn bound(
        &self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        stretch: Stretch<'_, V::Scalar>,
        bar: V::Scalar,
        out: &mut [V::Scalar],
    ) {
        let (zero, bars) = (V::splat(token, V::Scalar::ZERO), V::splat(token, bar));
        let (n, m) = (query.ranges.n(), query.ranges.m());
        // What the first and the last cell cost; in a single row or column, inner terms would count one of them twice.
        let mut ends = [zero; 2];
        for (i, j) in [(0, 0), (n - 1, m - 1)].into_iter().take(if n > 1 && m > 1 { 2 } else { 1 }) {
            let value = V::splat(token, query.points[i]);
            let points = load_two::<V>(token, stretch.points, self.first + j);
            for k in 0..2 {
                ends[k] = self.add(k, (self.value(k, points[k]) - value).abs(), ends[k]);
            }
        }
        let mut sums = ends;
        let mut reached = all_reach(bars, sums);
        for terms in query.columns.chunks(BETWEEN_LOOKS) {
            if reached {
                break;
            }
            for (at, lower, upper) in terms {
                let (lower, upper) = (V::splat(token, *lower), V::splat(token, *upper));
                let points = load_two::<V>(token, stretch.points, self.first + at);
                for k in 0..2 {
                    let value = self.value(k, points[k]);
                    sums[k] = self.add(k, (lower - value).max(value - upper), sums[k]);
                }
            }
            reached = all_reach(bars, sums);
        }
        if !reached && query.is_square() {
            let mut others = ends;
            for terms in query.rows.chunks(BETWEEN_LOOKS) {
                for (at, value) in terms {
                    let value = V::splat(token, *value);
                    let lower = load_two::<V>(token, &stretch.reach.lower, self.first + at);
                    let upper = load_two::<V>(token, &stretch.reach.upper, self.first + at);
                    for k in 0..2 {
                        let (lower, upper) = (self.value(k, lower[k]), self.value(k, upper[k]));
                        others[k] = self.add(k, (lower - value).max(value - upper), others[k]);
                    }
                }
                if all_reach(bars, [sums[0].max(others[0]), sums[1].max(others[1])]) {
                    break;
                }
            }
            sums = [sums[0].max(others[0]), sums[1].max(others[1])];
        }
        sums[0].store(out);
        sums[1].store(&mut out[V::LANES..]);
    }
}

#[inline(always)]
fn load_two<V: Register>(token: V::Token, from: &[V::Scalar], first: usize) -> [V; 2] {
    let from = &from[first..first + 2 * V::LANES];
    [V::load(token, from), V::load(token, &from[V::LANES..])]
}

#[inline(always)]
fn all_reach<V: Register>(bar: V, sums: [V; 2]) -> bool {
    let all = (1_u64 << V::LANES) - 1;
    V::bits(bar.less_equal(sums[0].min(sums[1]))) == all
}

/// The least and the largest value in reach of each place.
#[derive(Debug, Default)]
pub(crate) struct Reach<T> {
    /// The least value; longer than the series.
    pub(crate) lower: Vec<T>,
    /// The largest value; longer than the series.
    pub(crate) upper: Vec<T>,
}

impl<T: Scalar> Reach<T> {
    /// Of the places `k − before ..= k + after` of `values`, for each place `k`. O(values · log reach) time, a register
    /// at a time: a minimum of twice as many values is the less of two minima.
    #[inline(always)]
    pub(crate) fn fill<V: Register<Scalar = T>>(
        &mut self,
        token: V::Token,
        values: &[T],
        (before, after): (usize, usize),
    ) {
        extremes::<V>(token, values, (before, after), &mut self.lower, T::INFINITY, |a, b| a.min(b));
        extremes::<V>(token, values, (before, after), &mut self.upper, -T::INFINITY, |a, b| a.max(b));
    }
}

#[inline(always)]
fn extremes<V: Register>(
    token: V::Token,
    values: &[V::Scalar],
    (before, after): (usize, usize),
    out: &mut Vec<V::Scalar>,
    nothing: V::Scalar,
    better: impl Fn(V, V) -> V,
) {
    let all = values.len();
    let (before, after) = (before.min(all - 1), after.min(all - 1));
    let width = before + after + 1;
    out.clear();
    out.resize(before, nothing);
    out.extend_from_slice(values);
    out.resize(all + width + V::LANES, nothing);
    // `out[k]` is of `seen` values from place `k` on.
    let mut seen = 1;
    while seen < width {
        let step = seen.min(width - seen);
        let end = all + width - seen - step + 1;
        for k in (0..end).step_by(V::LANES) {
            let here = V::load(token, &out[k..]);
            // What lies beyond the places that are wanted is of fewer values, and so are those that look there.
            let there = V::load(token, &out[k + step..]);
            better(here, there).store(&mut out[k..]);
        }
        seen += step;
    }
}
