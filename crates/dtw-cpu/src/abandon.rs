//! The sweep that gives up: DTW with squared Euclidean cost on one channel, a pair in each lane, for pairs that matter
//! only below a bar.
//!
//! **Dead cells.** A path that has come to cell `(i, j)` at a cost of `D(i,j)` still meets every later column and every
//! later row. So its pair costs at least `D(i,j)` and the terms of LB_Keogh of the columns after `j`, or of the rows
//! after `i` ([`dtw_core::bounds`]). Where that reaches the bar, the cell is dead. This is what the UCR suite asks once
//! a row (Rakthanmanon et al. 2012, 10.1145/2339530.2339576), here of each column. As in EAP (Herrmann & Webb 2021,
//! 10.1007/s10618-021-00782-4), dead cells are left out from both sides: a strip of rows begins at the first column
//! where the row above it lives in some lane, and ends where nothing lives that it could go on from. When no cell of a
//! row lives, the pairs are given up.
//!
//! **The same bits.** Rounding is monotone, so a computed distance is the least of the computed sums along all paths. A
//! sum along a path through a dead cell is not below the cut that the bar was raised from. So a distance below the cut
//! is the sum along a path of living cells, which are all visited, and it has the bits of the other sweeps: theirs are
//! the same operations. What comes out at or above the cut is infinite.

use dtw_core::bounds::Envelope;
use dtw_core::normalize::z_normalize_windows;
use dtw_core::vector::Vector;
use dtw_core::{ColumnRanges, Scalar, Series};

use crate::in_lanes::{LaneReach, interleave, load};
use crate::keogh::Enveloped;
use crate::lanes::{MOST_LANES, Register};

/// Rows of a strip, whose states are in registers.
const ROWS: usize = 8;

/// From where on a distance is of no interest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut<T> {
    /// Distances of at least this are infinite.
    pub(crate) cut: T,
    /// What a bound must reach to prove that ([`dtw_core::bounds::raised`]).
    pub(crate) bar: T,
}

/// The side of the rows, in all lanes: its points, and the least and the largest that a path may meet in a column.
trait Rows<V> {
    fn point(&self, i: usize) -> V;
    fn envelope(&self, j: usize) -> [V; 2];
}

/// One query in every lane.
struct Shared<'a, V: Register> {
    token: V::Token,
    query: &'a Enveloped<V::Scalar>,
}

impl<V: Register> Rows<V> for Shared<'_, V> {
    #[inline(always)]
    fn point(&self, i: usize) -> V {
        V::splat(self.token, self.query.points[i])
    }
    #[inline(always)]
    fn envelope(&self, j: usize) -> [V; 2] {
        let Envelope { lower, upper, .. } = &self.query.envelope;
        [V::splat(self.token, lower[j]), V::splat(self.token, upper[j])]
    }
}

/// A series of its own in each lane; the envelope is there where there are as many columns.
struct Own<'a, V> {
    points: &'a [V],
    reach: Option<&'a LaneReach<V>>,
    anywhere: [V; 2],
}

impl<V: Register> Rows<V> for Own<'_, V> {
    #[inline(always)]
    fn point(&self, i: usize) -> V {
        self.points[i]
    }
    #[inline(always)]
    fn envelope(&self, j: usize) -> [V; 2] {
        self.reach.map_or(self.anywhere, |reach| [reach.lower[j], reach.upper[j]])
    }
}

/// Memory of one thread.
#[derive(Debug)]
pub(crate) struct Abandoning<V: Register> {
    flat: Vec<V::Scalar>,
    /// The rows' points, where lanes have series of their own.
    x: Vec<V>,
    /// The columns' points.
    y: Vec<V>,
    reach: LaneReach<V>,
    reach_x: LaneReach<V>,
    /// The one series that all rows' points and their reach are of, and how far it goes; else nothing.
    kept: (Vec<V::Scalar>, (usize, usize)),
    tables: Tables<V>,
}

/// What the sweep writes.
#[derive(Debug)]
struct Tables<V> {
    edge: Vec<V>,
    /// What a state must stay below when the columns from this one on are still to come; rows likewise.
    columns: Vec<V>,
    rows: Vec<V>,
}

impl<V: Register> Abandoning<V> {
    pub(crate) fn new() -> Self {
        Self {
            flat: Vec::new(),
            x: Vec::new(),
            y: Vec::new(),
            reach: LaneReach::default(),
            reach_x: LaneReach::default(),
            kept: (Vec::new(), (0, 0)),
            tables: Tables { edge: Vec::new(), columns: Vec::new(), rows: Vec::new() },
        }
    }

    /// Bytes for series of these many rows and columns, nearly.
    pub(crate) fn bytes_for(rows: usize, columns: usize) -> u64 {
        (3 * rows.max(columns) + 6 * columns + rows) as u64 * size_of::<V>() as u64
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let Tables { edge, columns, rows } = &self.tables;
        let LaneReach { lower, upper } = &self.reach_x;
        let registers =
            [&self.x, &self.y, edge, columns, rows, &self.reach.lower, &self.reach.upper, lower, upper];
        (self.flat.capacity() + self.kept.0.capacity()) * size_of::<V::Scalar>()
            + registers.iter().map(|r| r.capacity()).sum::<usize>() * size_of::<V>()
    }

    /// The distances of `query` from the z-normalised windows of `points` that begin at `starts`, at most one per lane.
    pub(crate) fn windows(
        &mut self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        points: &[V::Scalar],
        starts: &[usize],
        cut: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) {
        V::compiled(
            token,
            #[inline(always)]
            || {
                let length = query.ranges.m();
                self.flat.resize(length * V::LANES, V::Scalar::ZERO);
                let flat = &mut self.flat;
                match V::LANES {
                    2 => z_normalize_windows::<_, 2>(points, &lanes(starts), length, flat),
                    4 => z_normalize_windows::<_, 4>(points, &lanes(starts), length, flat),
                    8 => z_normalize_windows::<_, 8>(points, &lanes(starts), length, flat),
                    16 => z_normalize_windows::<_, 16>(points, &lanes(starts), length, flat),
                    lanes => unreachable!("no instruction set here has registers of {lanes} floats"),
                }
                self.sweep(token, query, cut, out);
            },
        );
    }

    /// As [`Abandoning::windows`], of windows as they are.
    pub(crate) fn plain_windows(
        &mut self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        points: &[V::Scalar],
        starts: &[usize],
        cut: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) {
        let length = query.ranges.m();
        let mut windows = [Series::univariate(&[]); MOST_LANES];
        for (window, start) in windows.iter_mut().zip(starts) {
            *window = Series::univariate(&points[*start..*start + length]);
        }
        self.series(token, query, &windows[..starts.len()], cut, out);
    }

    /// The distances of `query` from series of one length, at most one per lane.
    pub(crate) fn series(
        &mut self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        series: &[Series<'_, V::Scalar>],
        cut: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) {
        V::compiled(
            token,
            #[inline(always)]
            || {
                interleave::<V>(series, &mut self.flat);
                self.sweep(token, query, cut, out);
            },
        );
    }

    /// The distances of pairs of series, at most one per lane, whose lengths are those of the band; where not all lanes
    /// are worth a sweep (`is_full`), only by their bounds. Returns a bit for each pair that bounds alone reject.
    pub(crate) fn pairs(
        &mut self,
        token: V::Token,
        [x, y]: [&[Series<'_, V::Scalar>]; 2],
        ranges: &ColumnRanges,
        cut: Cut<V::Scalar>,
        is_full: bool,
        out: &mut [V::Scalar],
    ) -> u64 {
        let series_x = x[0].values;
        V::compiled(
            token,
            #[inline(always)]
            || {
                let Self { flat, x: rows, y: columns, reach, reach_x, kept, tables } = self;
                interleave::<V>(y, flat);
                load(token, flat, columns);
                let (is_square, (before, after)) = (ranges.n() == ranges.m(), crate::keogh::reach(ranges));
                // Most calls have the x of the call before in all lanes.
                let is_shared = x.iter().all(|x| std::ptr::eq(x.values, series_x));
                if !(is_shared && kept.0 == series_x && kept.1 == (after, before)) {
                    interleave::<V>(x, flat);
                    load(token, flat, rows);
                    if is_square {
                        reach_x.fill(token, rows, (after, before));
                    }
                    kept.0.clear();
                    if is_shared && is_square {
                        kept.0.extend_from_slice(series_x);
                        kept.1 = (after, before);
                    }
                }
                // Where pairs are swept anyway, limits of rows are not worth their time.
                let has_rows = is_square && !is_full;
                if has_rows {
                    reach.fill(token, columns, (before, after));
                }
                let infinite = V::splat(token, V::Scalar::INFINITY);
                let rows = Own {
                    points: rows,
                    reach: is_square.then_some(&*reach_x),
                    anywhere: [-infinite, infinite],
                };
                let columns = Columns { y: columns, reach: has_rows.then_some(&*reach), ranges };
                let bar = V::splat(token, cut.bar);
                let rejected = tables.prepare(token, &rows, &columns, bar);
                if is_full {
                    let found = tables.sweep(token, &rows, &columns);
                    write_below(token, cut.cut, found, out);
                }
                rejected
            },
        )
    }

    /// The distances of the series in `flat`.
    #[inline(always)]
    fn sweep(
        &mut self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        cut: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) {
        load(token, &self.flat, &mut self.y);
        let (rows, bar) = (Shared { token, query }, V::splat(token, cut.bar));
        // The bounds of rows have rejected what they can. Tried: limits of rows beside those of columns. Searches of
        // 128 to 1024 points took 1.5 times as long in a band of half the window, and the same in one of 5 or 10%.
        let columns = Columns { y: &self.y, reach: None, ranges: &query.ranges };
        self.tables.prepare(token, &rows, &columns, bar);
        let found = self.tables.sweep(token, &rows, &columns);
        write_below(token, cut.cut, found, out);
    }
}

/// What was found below the cut; all else is infinite.
#[inline(always)]
fn write_below<V: Register>(token: V::Token, cut: V::Scalar, found: V, out: &mut [V::Scalar]) {
    let is_below = V::bits(found.less(V::splat(token, cut)));
    for (l, (out, found)) in out.iter_mut().zip(found.lanes()).enumerate() {
        *out = if (is_below >> l) & 1 == 1 { *found } else { V::Scalar::INFINITY };
    }
}

/// The side of the columns, and the band.
struct Columns<'a, V> {
    y: &'a [V],
    /// Where limits of rows are wanted, too; of as many rows.
    reach: Option<&'a LaneReach<V>>,
    ranges: &'a ColumnRanges,
}

impl<V: Register> Tables<V> {
    /// What is still to come of each column and row. Returns a bit for each lane whose bounds reach the bar.
    #[inline(always)]
    fn prepare<R: Rows<V>>(
        &mut self,
        token: V::Token,
        x: &R,
        Columns { y, reach, ranges }: &Columns<'_, V>,
        bars: V,
    ) -> u64 {
        let (n, m) = (ranges.n(), ranges.m());
        let zero = V::splat(token, V::Scalar::ZERO);
        self.columns.clear();
        self.columns.resize(m + 1, bars);
        let mut rest = zero;
        for j in (0..m).rev() {
            let [lower, upper] = x.envelope(j);
            rest = add_outside(rest, y[j], lower, upper);
            self.columns[j] = bars - rest;
        }
        self.rows.clear();
        self.rows.resize(n + 1, bars);
        if let Some(reach) = reach {
            let mut rest = zero;
            for i in (0..n).rev() {
                rest = add_outside(rest, x.point(i), reach.lower[i], reach.upper[i]);
                self.rows[i] = bars - rest;
            }
        }
        V::bits(self.columns[0].min(self.rows[0]).less_equal(zero))
    }

    /// The distances of all lanes; infinite where all are known to reach the bar.
    #[inline(always)]
    fn sweep<R: Rows<V>>(&mut self, token: V::Token, x: &R, Columns { y, ranges, .. }: &Columns<'_, V>) -> V {
        let infinite = V::splat(token, V::Scalar::INFINITY);
        let (n, m) = (ranges.n(), ranges.m());
        let zero = V::splat(token, V::Scalar::ZERO);
        if all_dead(self.columns[0].min(self.rows[0]), zero) {
            return infinite;
        }
        self.edge.clear();
        self.edge.resize(m + 1, infinite);
        self.edge[0] = zero;
        // The places of the edge that live: outside, whatever stands there counts as infinite.
        let (mut from, mut to) = (0, 0);
        for first in (0..n).step_by(ROWS) {
            let rows: [V; ROWS] = std::array::from_fn(
                #[inline(always)]
                |r| x.point((first + r).min(n - 1)),
            );
            let bands: [_; ROWS] = std::array::from_fn(|r| ranges.row((first + r).min(n - 1)));
            let below = self.rows[(first + ROWS).min(n)];
            let start = bands[0].start.max(from.max(1) - 1);
            let end = bands[ROWS - 1].end;
            let inside = bands[ROWS - 1].start..bands[0].end;
            let mut strip = Strip {
                rows,
                bands,
                states: [infinite; ROWS],
                corner: if (from..=to).contains(&start) { self.edge[start] } else { infinite },
            };
            // First under living cells, then beside them.
            let under = start.max(to.min(end));
            let (before, after) = (inside.start.clamp(start, under), inside.end.clamp(start, under));
            if before < after {
                strip.columns::<true>(infinite, y, &mut self.edge, start..before);
                strip.columns::<false>(infinite, y, &mut self.edge, before..after);
                strip.columns::<true>(infinite, y, &mut self.edge, after..under);
            } else {
                strip.columns::<true>(infinite, y, &mut self.edge, start..under);
            }
            let mut reached = under;
            while reached < end {
                self.edge[reached + 1] = infinite;
                strip.columns::<true>(infinite, y, &mut self.edge, reached..reached + 1);
                reached += 1;
                let least = strip.states.into_iter().fold(infinite, |a, b| a.min(b));
                if all_dead(self.columns[reached].min(below), least) {
                    break;
                }
            }
            if first + ROWS >= n {
                return if reached == m { strip.states[n - 1 - first] } else { infinite };
            }
            (from, to) = (start + 1, reached);
            let dead = |at: usize| all_dead(self.columns[at].min(below), self.edge[at]);
            while from <= to && dead(from) {
                from += 1;
            }
            while from <= to && dead(to) {
                to -= 1;
            }
            if from > to {
                return infinite;
            }
        }
        infinite
    }
}

/// The starts of all lanes; those beyond repeat the last one.
fn lanes<const L: usize>(starts: &[usize]) -> [usize; L] {
    std::array::from_fn(|l| starts[l.min(starts.len() - 1)])
}

/// `sum` and the square of how far `value` is outside.
#[inline(always)]
fn add_outside<V: Vector>(sum: V, value: V, lower: V, upper: V) -> V {
    let apart = (lower - value).max(value - upper).max(value.like(V::Scalar::ZERO));
    apart.mul_add(apart, sum)
}

/// Whether no lane's state is below its limit. What is not a number lives.
#[inline(always)]
fn all_dead<V: Register>(limit: V, state: V) -> bool {
    V::bits(limit.less_equal(state)) == (1_u64 << V::LANES) - 1
}

/// A strip, as far as it has come.
struct Strip<V> {
    rows: [V; ROWS],
    bands: [std::ops::Range<usize>; ROWS],
    states: [V; ROWS],
    corner: V,
}

impl<V: Register> Strip<V> {
    /// Sweeps these columns, looking at the band of each row only where it is `MASKED`.
    #[inline(always)]
    fn columns<const MASKED: bool>(
        &mut self,
        infinite: V,
        y: &[V],
        edge: &mut [V],
        range: std::ops::Range<usize>,
    ) {
        let (mut states, mut above) = (self.states, self.corner);
        let (first, count) = (range.start, range.len());
        let (points, edge) = (&y[range], &mut edge[first + 1..][..count]);
        for k in 0..count {
            let (j, point, edge) = (first + k, &points[k], &mut edge[k]);
            let top = *edge;
            let (mut diagonal, mut up) = (above, top);
            for (r, state) in states.iter_mut().enumerate() {
                let here = *state;
                *state = if MASKED && !self.bands[r].contains(&j) {
                    infinite
                } else {
                    let apart = self.rows[r] - *point;
                    apart.mul_add(apart, diagonal.min(up).min(here))
                };
                (diagonal, up) = (here, *state);
            }
            above = top;
            *edge = up;
        }
        (self.states, self.corner) = (states, above);
    }
}
