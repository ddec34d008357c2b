//! The diagonal sweep: one pair, neighbouring rows side by side in the lanes.
//!
//! A register holds as many consecutive rows as it has lanes, each lane one column behind the one before it, so that the
//! lanes lie on an anti-diagonal and do not wait for each other. A strip of a few registers walks the columns: the left
//! neighbours are the registers themselves, the upper ones the registers shifted by a lane, the diagonal ones the upper
//! ones of the step before. Nothing but y is read, nothing but the strip's lowest row, the *edge*, is written: memory is
//! linear.
//!
//! A band shortens the walk of each register. Where only some lanes of a register are inside, the others are masked.
//! An earlier form kept three diagonals in memory (five loads and a store per register): 1.2 against GCUPS_NOW for DTW
//! f64 of 20,000 × 20,000 on one core of an AVX-512 Xeon.

use std::ops::Range;

use dtw_core::recurrence::{Point, Recurrence, SETTLE_EVERY, State};
use dtw_core::{ColumnRanges, Error, Observer, Result, Scalar};

use crate::NAME;
use crate::lanes::Register;
use crate::line::{Line, PAD, Read};

/// Registers of a strip whose states are one register each.
const REGISTERS: usize = 8;
/// Registers of a strip whose states are two registers each, or which has more to do than to sweep.
const FEWER_REGISTERS: usize = 4;

/// Rows of a strip, at most.
pub(crate) fn strip_rows<V: Register, P: Point<V>, S: State<V>, K: Recorder>() -> usize {
    V::LANES * if many::<V, P, S, K>() { REGISTERS } else { FEWER_REGISTERS }
}

#[inline(always)]
fn many<V: Register, P: Point<V>, S: State<V>, K: Recorder>() -> bool {
    S::PARTS == 1 && P::UNIVARIATE && !K::ON
}

/// Diagonals between two looks at the observer.
const OBSERVE_EVERY: usize = 4096;

/// One pair, ready to be swept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a, T> {
    pub(crate) x: &'a Line<T>,
    /// Back to front.
    pub(crate) y: &'a Line<T>,
}

/// What a recurrence computes from a pair before the sweep.
#[derive(Debug, Default)]
pub(crate) struct Tables<T> {
    x_gaps: Vec<T>,
    y_gaps: Vec<T>,
    weights: Weights<T>,
}

impl<T: Scalar> Tables<T> {
    /// The tables of a pair.
    #[inline(always)]
    pub(crate) fn new<'a, V, P, R>(
        recurrence: &R,
        token: V::Token,
        lines: Lines<'a, T>,
        n: usize,
        m: usize,
    ) -> Self
    where
        V: Register<Scalar = T> + 'a,
        P: Read<'a, V>,
        R: Recurrence<V, P>,
    {
        Self {
            x_gaps: lines.x.gaps::<V, P, R>(token, recurrence),
            y_gaps: lines.y.gaps::<V, P, R>(token, recurrence),
            weights: if R::WEIGHTS {
                Weights::new(n, m, |offset| recurrence.weight(offset, n, m))
            } else {
                Weights::default()
            },
        }
    }
}

/// Weights by `|i − j|`, laid out so that the lanes of a diagonal read neighbours: `i − j` changes by 2 from lane to
/// lane, so even and odd differences have a table each.
#[derive(Debug, Default)]
pub(crate) struct Weights<T> {
    tables: [Vec<T>; 2],
    middle: usize,
}

impl<T: Scalar> Weights<T> {
    /// The tables for lengths `n` and `m`.
    pub(crate) fn new(n: usize, m: usize, weight: impl Fn(usize) -> f64) -> Self {
        let middle = m / 2 + PAD;
        let end = middle + n / 2 + 2 * PAD;
        let table = |odd: i64| {
            let value = |q: usize| {
                T::from_f64(weight((2 * (q as i64 - middle as i64) + odd).unsigned_abs() as usize))
            };
            (0..end).map(value).collect()
        };
        Self { tables: [table(0), table(1)], middle }
    }

    #[inline(always)]
    fn read<V: Register<Scalar = T>>(&self, token: V::Token, i: usize, t: usize) -> V {
        let odd = t % 2;
        V::load(token, &self.tables[odd][self.middle + i - t.div_ceil(2)..])
    }
}

/// Hears which arrival each cell chose.
pub(crate) trait Recorder {
    /// Whether it listens at all.
    const ON: bool;
    /// Diagonal `t` (`i + j`, 1-based) begins.
    fn begin(&mut self, t: usize);
    /// Of the rows `k..` of the strip (0-based, a multiple of the lane count), bit by bit: whether the best arrival is
    /// the diagonal, and else whether it is from above.
    fn chosen(&mut self, k: usize, lanes: usize, diagonal: u64, up: u64);
}

/// Records nothing.
pub(crate) struct Unrecorded;

impl Recorder for Unrecorded {
    const ON: bool = false;
    #[inline(always)]
    fn begin(&mut self, _: usize) {}
    #[inline(always)]
    fn chosen(&mut self, _: usize, _: usize, _: u64, _: u64) {}
}

/// Writes lane 0.
#[inline(always)]
fn store_one<V: Register, S: State<V>>(to: &mut [V::Scalar], stride: usize, at: usize, state: S) {
    for k in 0..S::PARTS {
        to[k * stride + at] = state.part(k).lanes()[0];
    }
}

/// The border row as an edge: the states of `(0, 0..=m)`, part by part, `m + 1` values each.
#[inline(always)]
pub(crate) fn border_row<'a, V, P, R>(
    recurrence: &R,
    token: V::Token,
    lines: Lines<'a, V::Scalar>,
    tables: &Tables<V::Scalar>,
    m: usize,
    edge: &mut Vec<V::Scalar>,
) where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
{
    edge.clear();
    edge.resize((m + 1) * R::State::PARTS, V::Scalar::ZERO);
    let mut state = recurrence.origin();
    store_one(edge, m + 1, 0, state);
    for j in 1..=m {
        state = recurrence.border_right(
            state,
            &lines.y.sample::<V, P, R>(token, &tables.y_gaps, lines.y.slot(j)),
            j,
        );
        store_one(edge, m + 1, j, state);
    }
}

/// The border column: the states of `(0..=n, 0)`, part by part, `n + 1` values and [`PAD`] more each.
#[inline(always)]
pub(crate) fn border_column<'a, V, P, R>(
    recurrence: &R,
    token: V::Token,
    lines: Lines<'a, V::Scalar>,
    tables: &Tables<V::Scalar>,
    n: usize,
    column: &mut Vec<V::Scalar>,
) where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
{
    column.clear();
    let stride = n + 1 + PAD;
    column.resize(stride * R::State::PARTS, V::Scalar::ZERO);
    let mut state = recurrence.origin();
    store_one(column, stride, 0, state);
    for i in 1..=n {
        state =
            recurrence.border_down(state, &lines.x.sample::<V, P, R>(token, &tables.x_gaps, lines.x.slot(i)));
        store_one(column, stride, i, state);
    }
}

/// Sweeps rows `rows` (0-based, at most [`strip_rows`]) of the grid: from the edge above them to the edge below.
///
/// `column` is the border column of the whole grid. Returns false where the observer cancelled.
#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "one hot function; its arguments are the whole state of a strip"
)]
pub(crate) fn strip<'a, V, P, R, K>(
    recurrence: &R,
    token: V::Token,
    lines: Lines<'a, V::Scalar>,
    tables: &Tables<V::Scalar>,
    ranges: &ColumnRanges,
    rows: Range<usize>,
    column: &[V::Scalar],
    edges: (&[V::Scalar], &mut [V::Scalar]),
    recorder: &mut K,
    observer: &dyn Observer,
) -> bool
where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
    K: Recorder,
{
    if many::<V, P, R::State, K>() {
        walk::<V, P, R, K, REGISTERS>(
            recurrence, token, lines, tables, ranges, rows, column, edges, recorder, observer,
        )
    } else {
        walk::<V, P, R, K, FEWER_REGISTERS>(
            recurrence, token, lines, tables, ranges, rows, column, edges, recorder, observer,
        )
    }
}

/// Most columns by which a band may move within one register.
const FAR: usize = 1 << 22;

/// Refuses bands that move on by more than [`FAR`] columns within the rows of one register.
pub(crate) fn check_band<V: Register>(ranges: &ColumnRanges) -> Result<()> {
    if ranges.is_full() {
        return Ok(());
    }
    for i in 0..ranges.n() {
        let (here, there) = (ranges.row(i), ranges.row((i + V::LANES).min(ranges.n() - 1)));
        if there.start - here.start >= FAR || there.end - here.end >= FAR {
            return Err(Error::Unsupported {
                backend: NAME,
                what: format!(
                    "a band that moves by more than {FAR} columns in {} rows; use the full grid",
                    V::LANES
                ),
            });
        }
    }
    Ok(())
}

/// When the lanes of one register are inside the band, in steps `t = i + j` (1-based).
#[derive(Debug, Clone, Copy)]
struct Span<V> {
    /// First row of the register, 1-based.
    row: usize,
    /// Steps at which any lane is inside, with one more on either side for the border and for leaving.
    active: (usize, usize),
    /// Steps at which every lane is inside.
    inside: (usize, usize),
    /// Step from which each lane is inside, counted from the first one's.
    from: V,
    /// Step from which each lane is outside again, counted from the first one's.
    to: V,
    /// What the counts are from.
    origins: (usize, usize),
}

impl<V: Register> Span<V> {
    /// Lanes are told apart within this many steps: exact even in f32. [`check_band`] sees to it that no band needs more.
    const FAR: i64 = FAR as i64;

    #[inline(always)]
    fn new(token: V::Token, ranges: &ColumnRanges, row: usize, end_row: usize) -> Self {
        let zero = V::splat(token, V::Scalar::ZERO);
        let lanes = V::LANES.min((end_row + 1).saturating_sub(row));
        if lanes == 0 {
            return Self { row, active: (0, 0), inside: (0, 0), from: zero, to: zero, origins: (0, 0) };
        }
        // Cells (i, j) of row i have start < j ≤ end: steps from i + start + 1 to i + end.
        let bounds = |lane: usize| {
            let columns = ranges.row(row - 1 + lane);
            (row + lane + columns.start + 1, row + lane + columns.end + 1)
        };
        let origins = bounds(0);
        let last = bounds(lanes - 1);
        let (mut from, mut to) = (zero, zero);
        for lane in 0..V::LANES {
            let count = |step: usize, origin: usize| {
                V::Scalar::from_f64((step as i64 - origin as i64).min(Self::FAR) as f64)
            };
            if lane < lanes {
                let (start, end) = bounds(lane);
                from.lanes_mut()[lane] = count(start, origins.0);
                to.lanes_mut()[lane] = count(end, origins.1);
            } else {
                // No such row: never inside.
                from.lanes_mut()[lane] = V::Scalar::from_f64(2.0 * Self::FAR as f64);
            }
        }
        let inside = if lanes == V::LANES { (last.0, origins.1) } else { (0, 0) };
        Self { row, active: (origins.0 - 1, last.1 + 1), inside, from, to, origins }
    }
}

/// `state` in the lanes inside at step `t`, `border` in a lane at column 0, `forbidden` in the others. One function for all
/// recurrences: it is rarely called on a full grid, and compiled once for each kind of state.
#[inline(never)]
fn mask<V: Register, S: State<V>>(
    token: V::Token,
    span: &Span<V>,
    t: usize,
    [state, border, forbidden]: &[S; 3],
) -> S {
    V::compiled(
        token,
        #[inline(always)]
        || {
            let zero = V::splat(token, V::Scalar::ZERO);
            let since = |origin: usize| {
                let steps = (t as i64 - origin as i64).clamp(-Span::<V>::FAR, Span::<V>::FAR);
                V::splat(token, V::Scalar::from_f64(steps as f64))
            };
            let entered = span.from.less_equal(since(span.origins.0));
            let left = span.to.less_equal(since(span.origins.1));
            // Lane l is at column t − row − l.
            let mut at_border = zero;
            if let Some(lane) = at_border.lanes_mut().get_mut(t.wrapping_sub(span.row)) {
                *lane = V::Scalar::from_f64(1.0);
            }
            let at_border = zero.less(at_border);
            S::from_parts(
                #[inline(always)]
                |k| {
                    let nothing = forbidden.part(k);
                    let inside = V::select(entered, V::select(left, nothing, state.part(k)), nothing);
                    V::select(at_border, border.part(k), inside)
                },
            )
        },
    )
}

#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "one hot function; its arguments are the whole state of a strip"
)]
fn walk<'a, V, P, R, K, const N: usize>(
    recurrence: &R,
    token: V::Token,
    lines: Lines<'a, V::Scalar>,
    tables: &Tables<V::Scalar>,
    ranges: &ColumnRanges,
    rows: Range<usize>,
    column: &[V::Scalar],
    (above, below): (&[V::Scalar], &mut [V::Scalar]),
    recorder: &mut K,
    observer: &dyn Observer,
) -> bool
where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
    K: Recorder,
{
    let parts = R::State::PARTS;
    let (stride, column_stride) = (above.len() / parts, column.len() / parts);
    let forbidden = recurrence.forbidden();
    for j in 0..stride {
        store_one(below, stride, j, forbidden);
    }
    for k in 0..parts {
        below[k * stride] = column[k * column_stride + rows.end];
    }
    let first_row = |r: usize| rows.start + 1 + r * V::LANES;
    let spans: [Span<V>; N] = std::array::from_fn(|r| Span::new(token, ranges, first_row(r), rows.end));
    let rows_of_x: [_; N] = std::array::from_fn(|r| {
        lines.x.sample::<V, P, R>(token, &tables.x_gaps, PAD + first_row(r).min(rows.end))
    });
    let (lowest, lowest_lane) = ((rows.len() - 1) / V::LANES, (rows.len() - 1) % V::LANES);
    let read_edge = |t: usize| {
        let j = t - rows.start - 1;
        if j >= stride {
            return forbidden;
        }
        R::State::from_parts(|k| V::splat(token, above[k * stride + j]))
    };
    let border = |row: usize| R::State::from_parts(|k| V::load(token, &column[k * column_stride + row..]));

    let start = spans[0].active.0;
    let end = spans[lowest].active.1;
    let mut here = [forbidden; N];
    // What the upper neighbours were a step ago: the diagonal ones now. A register's first step is masked whole, so that
    // what it finds here before does not matter.
    let mut diagonal = [forbidden; N];
    for t in start..end {
        recorder.begin(t);
        let settle = R::SETTLES && t % (SETTLE_EVERY - 4) < 2;
        for r in (0..N).rev() {
            let span = &spans[r];
            if t < span.active.0 || t >= span.active.1 {
                continue;
            }
            let up = shift_up(here[r], if r == 0 { read_edge(t) } else { here[r - 1] });
            let y = lines.y.sample::<V, P, R>(token, &tables.y_gaps, lines.y.slot(0) + span.row - t);
            let weight = if R::WEIGHTS { tables.weights.read::<V>(token, span.row, t) } else { y.time };
            let price = recurrence.price(&rows_of_x[r], &y, weight);
            let mut state = recurrence.combine(diagonal[r], up, here[r], price);
            if K::ON {
                let [by_diagonal, by_up, by_left] = recurrence.arrivals(diagonal[r], up, here[r], price);
                let is_diagonal = by_diagonal.less_equal(by_up.min(by_left));
                let chosen = (V::bits(is_diagonal), V::bits(by_up.less_equal(by_left)));
                recorder.chosen(r * V::LANES, V::LANES, chosen.0, chosen.1);
            }
            if t < span.inside.0 || t >= span.inside.1 {
                state = mask(token, span, t, &[state, border(span.row), forbidden]);
            }
            if settle {
                state = recurrence.settle(state);
            }
            diagonal[r] = up;
            here[r] = state;
            if r == lowest && t > rows.end && t - rows.end < stride {
                for k in 0..parts {
                    below[k * stride + t - rows.end] = state.part(k).lanes()[lowest_lane];
                }
            }
        }
        if t % OBSERVE_EVERY == 0 && observer.cancelled() {
            return false;
        }
    }
    true
}

#[inline(always)]
fn shift_up<V: Register, S: State<V>>(state: S, below: S) -> S {
    S::from_parts(|k| state.part(k).shift_up(below.part(k)))
}
