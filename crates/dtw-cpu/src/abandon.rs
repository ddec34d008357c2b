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

use dtw_core::Scalar;
use dtw_core::normalize::z_normalize_windows;
use dtw_core::vector::Vector;

use crate::keogh::Enveloped;
use crate::lanes::Register;

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

/// Memory of one thread.
#[derive(Debug)]
pub(crate) struct Abandoning<V: Register> {
    flat: Vec<V::Scalar>,
    /// The columns' points.
    y: Vec<V>,
    edge: Vec<V>,
    /// What a state must stay below when the columns from this one on are still to come; rows likewise.
    columns: Vec<V>,
    rows: Vec<V>,
    lower: Vec<V>,
    upper: Vec<V>,
}

impl<V: Register> Abandoning<V> {
    pub(crate) fn new() -> Self {
        Self {
            flat: Vec::new(),
            y: Vec::new(),
            edge: Vec::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }

    /// Bytes for series of these many rows and columns, nearly.
    pub(crate) fn bytes_for(rows: usize, columns: usize) -> u64 {
        (3 * rows.max(columns) + 6 * columns + rows) as u64 * size_of::<V>() as u64
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let registers = [&self.y, &self.edge, &self.columns, &self.rows, &self.lower, &self.upper];
        self.flat.capacity() * size_of::<V::Scalar>()
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
                self.y.clear();
                self.y.extend(self.flat.chunks_exact(V::LANES).map(
                    #[inline(always)]
                    |point| V::load(token, point),
                ));
                self.sweep(token, query, cut, out);
            },
        );
    }

    /// The distances of the series in `y`.
    #[inline(always)]
    fn sweep(
        &mut self,
        token: V::Token,
        query: &Enveloped<V::Scalar>,
        Cut { cut, bar }: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) {
        let infinite = V::splat(token, V::Scalar::INFINITY);
        let bars = V::splat(token, bar);
        let (n, m) = (query.ranges.n(), query.ranges.m());
        let zero = V::splat(token, V::Scalar::ZERO);
        out.fill(V::Scalar::INFINITY);

        // What is still to come.
        self.columns.clear();
        self.columns.resize(m + 1, bars);
        let mut rest = zero;
        for j in (0..m).rev() {
            let lower = V::splat(token, query.envelope.lower[j]);
            let upper = V::splat(token, query.envelope.upper[j]);
            rest = add_outside(rest, self.y[j], lower, upper);
            self.columns[j] = bars - rest;
        }
        if all_dead(self.columns[0], zero) {
            return;
        }
        self.rows.clear();
        self.rows.resize(n + 1, bars);
        if query.is_square() {
            self.envelope(token, query.reach);
            let mut rest = zero;
            for i in (0..n).rev() {
                let value = V::splat(token, query.points[i]);
                rest = add_outside(rest, value, self.lower[i], self.upper[i]);
                self.rows[i] = bars - rest;
            }
            if all_dead(self.rows[0], zero) {
                return;
            }
        }

        self.edge.clear();
        self.edge.resize(m + 1, infinite);
        self.edge[0] = zero;
        // The places of the edge that live: outside, whatever stands there counts as infinite.
        let (mut from, mut to) = (0, 0);
        for first in (0..n).step_by(ROWS) {
            let band = |r: usize| query.ranges.row((first + r).min(n - 1));
            let bands: [_; ROWS] = std::array::from_fn(band);
            let rows: [V; ROWS] = std::array::from_fn(
                #[inline(always)]
                |r| V::splat(token, query.points[(first + r).min(n - 1)]),
            );
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
                strip.columns::<true>(infinite, &self.y, &mut self.edge, start..before);
                strip.columns::<false>(infinite, &self.y, &mut self.edge, before..after);
                strip.columns::<true>(infinite, &self.y, &mut self.edge, after..under);
            } else {
                strip.columns::<true>(infinite, &self.y, &mut self.edge, start..under);
            }
            let mut reached = under;
            while reached < end {
                self.edge[reached + 1] = infinite;
                strip.columns::<true>(infinite, &self.y, &mut self.edge, reached..reached + 1);
                reached += 1;
                let least = strip.states.into_iter().fold(infinite, |a, b| a.min(b));
                if all_dead(self.columns[reached].min(below), least) {
                    break;
                }
            }
            if first + ROWS >= n {
                if reached == m {
                    let last = strip.states[n - 1 - first];
                    for (out, found) in out.iter_mut().zip(last.lanes()) {
                        *out = if *found < cut { *found } else { V::Scalar::INFINITY };
                    }
                }
                return;
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
                return;
            }
        }
    }

    /// The least and the largest point of the columns that each row reaches.
    #[inline(always)]
    fn envelope(&mut self, token: V::Token, (before, after): (usize, usize)) {
        let m = self.y.len();
        let (before, after) = (before.min(m - 1), after.min(m - 1));
        let width = before + after + 1;
        for (out, nothing, is_lower) in
            [(&mut self.lower, V::Scalar::INFINITY, true), (&mut self.upper, -V::Scalar::INFINITY, false)]
        {
            let nothing = V::splat(token, nothing);
            out.clear();
            out.resize(before, nothing);
            out.extend_from_slice(&self.y);
            out.resize(m + width, nothing);
            let mut seen = 1;
            while seen < width {
                let step = seen.min(width - seen);
                for k in 0..m + width - step {
                    let (here, there) = (out[k], out[k + step]);
                    out[k] = if is_lower { here.min(there) } else { here.max(there) };
                }
                seen += step;
            }
        }
        // The first and the last cell are on every path.
        if m > 1 {
            for k in [0, m - 1] {
                (self.lower[k], self.upper[k]) = (self.y[k], self.y[k]);
            }
        }
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
        let columns = y[range.clone()].iter().zip(&mut edge[range.start + 1..range.end + 1]);
        for (j, (point, edge)) in range.zip(columns) {
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
