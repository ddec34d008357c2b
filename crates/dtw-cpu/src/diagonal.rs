//! The diagonal sweep: one pair, neighbouring rows side by side in the lanes.
//!
//! A register holds as many consecutive rows as it has lanes, each lane one column behind the one before it, so that
//! the lanes lie on an anti-diagonal and do not wait for each other. A strip of a few registers walks the columns: the
//! left neighbours are the registers themselves, the upper ones the registers shifted by a lane, the diagonal ones the
//! upper ones of the step before. Nothing but y is read, nothing but the strip's lowest row, the *edge*, is written:
//! memory is linear.
//!
//! A band shortens the walk of each register. Where only some lanes of a register are inside, the others are masked.
//! An earlier form kept three diagonals in memory (five loads and a store per register): 1.2 against 5.4 GCUPS for DTW
//! f64 of 20,000 × 20,000 on one core of an AVX-512 Xeon.

use std::ops::Range;

use dtw_core::recurrence::{Point, RESCALE_EVERY, Recurrence, Sample, State};
use dtw_core::{ColumnRanges, Observer, Scalar};

use crate::lanes::Register;
use crate::line::{PAD, Read};
use crate::span::{Span, mask};
use crate::tables::{Lines, Tables, load, read_edge};

/// Registers of a strip: as many as hide how long a cell waits for its neighbours. With eight, dear recurrences ran out
/// of registers, and short series spent most of their time on diagonals that fill a strip: DTW f64 of 5,000 × 5,000 at
/// 5.1 against 6.4 GCUPS, MSM 2.7 against 3.0 (one core, AMD Zen 5).
const REGISTERS: usize = 4;

/// Rows of a strip, at most.
pub(crate) fn strip_rows<V: Register>() -> usize {
    V::LANES * REGISTERS
}

/// Diagonals between two looks at the observer.
const OBSERVE_EVERY: usize = 4096;

/// Hears which arrival each cell chose.
pub(crate) trait Recorder {
    /// Whether it listens at all.
    const ON: bool;
    /// Diagonal `t` (`i + j`, 1-based) begins.
    fn begin(&mut self, t: usize);
    /// Takes, for the rows `k..` of the strip (0-based, a multiple of the lane count), a bit each: whether the best
    /// arrival is the diagonal, and else whether it is from above.
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

/// All that the strips of one pair have in common.
pub(crate) struct PairContext<'a, 's, V: Register, R> {
    pub(crate) token: V::Token,
    pub(crate) recurrence: &'s R,
    pub(crate) lines: Lines<'a, V::Scalar>,
    pub(crate) tables: &'s Tables<V::Scalar>,
    pub(crate) ranges: &'s ColumnRanges,
    /// The border column of the whole grid.
    pub(crate) column: &'s [V::Scalar],
    pub(crate) observer: &'s dyn Observer,
}

/// Sweeps rows `rows` (0-based, at most [`strip_rows`]) of the grid: from the edge above them to the edge below. Where
/// the recurrence locates, the rows' last states go to `right`, laid out as the border column, unless it is empty.
/// Returns false where the observer cancelled. Compiled once for each recurrence and recorder.
#[inline(never)]
pub(crate) fn strip<'a, V, P, R, K>(
    context: &PairContext<'a, '_, V, R>,
    rows: Range<usize>,
    above: &[V::Scalar],
    below: &mut [V::Scalar],
    right: &mut [V::Scalar],
    recorder: &mut K,
) -> bool
where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
    K: Recorder,
{
    V::compiled(
        context.token,
        #[inline(always)]
        || walk(context, rows, above, below, right, recorder),
    )
}

#[inline(always)]
fn walk<'a, V, P, R, K>(
    context: &PairContext<'a, '_, V, R>,
    rows: Range<usize>,
    above: &[V::Scalar],
    below: &mut [V::Scalar],
    right: &mut [V::Scalar],
    recorder: &mut K,
) -> bool
where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
    K: Recorder,
{
    let PairContext { token, recurrence, lines, tables, ranges, column, observer } = *context;
    let parts = R::State::PARTS;
    let (stride, column_stride) = (above.len() / parts, column.len() / parts);
    let forbidden = recurrence.forbidden();
    begin_below(below, stride, forbidden, &column[rows.end..], column_stride);
    const { assert!(REGISTERS * V::LANES <= PAD, "lanes beyond the series read zeros") };
    let first_row = |r: usize| rows.start + 1 + r * V::LANES;
    let spans = Span::of_strip::<REGISTERS>(token, ranges, rows.clone());
    let slot = |r: usize| PAD + first_row(r).min(rows.end);
    let mut rows_of_x = [lines.x.sample::<V, P, R>(token, &tables.x_gaps, slot(0)); REGISTERS];
    for (r, row_of_x) in rows_of_x.iter_mut().enumerate().skip(1) {
        *row_of_x = lines.x.sample::<V, P, R>(token, &tables.x_gaps, slot(r));
    }
    let (lowest, lowest_lane) = ((rows.len() - 1) / V::LANES, (rows.len() - 1) % V::LANES);
    let start = spans[0].active.0;
    let end = spans[lowest].active.1;
    let mut here = [forbidden; REGISTERS];
    // What the upper neighbours were a step ago: the diagonal ones now. A register's first step is masked whole, so
    // that what it finds here before does not matter.
    let mut diagonal = [forbidden; REGISTERS];
    // While every lane of every register is inside, nothing need be asked; nor after that, where all rows end with the
    // grid: no cell depends on one right of it. Lanes below the last row hold what nothing reads but a recorder.
    let is_full = rows.len() == REGISTERS * V::LANES;
    let is_quick = V::IS_TUNED && (is_full || !K::ON);
    let to_the_end = !R::LOCATES && ranges.row(rows.start).end + 1 == stride;
    let (all_inside, any_outside) = match (is_quick, to_the_end) {
        (true, false) => (spans[lowest].inside.0, spans[0].inside.1),
        (true, true) => (spans[lowest].inside.0, rows.end + stride),
        (false, _) => (end, end),
    };
    // Where all rows begin with the grid, a lane holds its border until it enters.
    let from_the_start = is_quick && ranges.row(rows.end - 1).start == 0 && all_inside < any_outside;
    let mut t = start;
    if from_the_start {
        t = rows.start + 2;
        for r in 0..REGISTERS {
            here[r] = load::<V, R::State>(token, column, column_stride, first_row(r).min(rows.end));
            let edge = read_edge(token, above, stride, 0, forbidden);
            diagonal[r] = shift_up(here[r], if r == 0 { edge } else { here[r - 1] });
        }
    }
    while t < end {
        let is_filling = from_the_start && t < all_inside;
        if V::IS_TUNED && (is_filling || t >= all_inside && t < any_outside) {
            let until = if is_filling && is_full { all_inside } else { any_outside };
            let steps = Steps { rows: rows.clone(), from: t, until: until.min(t + OBSERVE_EVERY) };
            t = steps.until;
            let states = (&mut here, &mut diagonal);
            if is_full && !is_filling {
                quickly::<V, P, R, K, false>(context, steps, &rows_of_x, states, above, below, recorder);
            } else {
                quickly::<V, P, R, K, true>(context, steps, &rows_of_x, states, above, below, recorder);
            }
            if R::LOCATES && t == any_outside {
                // The first lane has just been on the last column; the others follow below.
                keep_right(right, column_stride, rows.start + 1, 0, &here[0]);
            }
            if observer.cancelled() {
                return false;
            }
            continue;
        }
        recorder.begin(t);
        let rescale = R::RESCALES && t % (RESCALE_EVERY - 4) < 2;
        // Not unrolled, as its end is not known before: the masks cost more than that saves, and it is half the code.
        for r in (0..=lowest).rev() {
            let span = &spans[r];
            if t < span.active.0 || t >= span.active.1 {
                continue;
            }
            let up = shift_up(
                here[r],
                if r == 0 {
                    read_edge(token, above, stride, t - rows.start - 1, forbidden)
                } else {
                    here[r - 1]
                },
            );
            let y = lines.y.sample::<V, P, R>(token, &tables.y_gaps, lines.y.slot(0) + span.row - t);
            let weight = if R::WEIGHTS { tables.weights.read::<V>(token, span.row, t) } else { y.time };
            let price = recurrence.price_alone(&rows_of_x[r], &y, weight);
            let left = here[r];
            let mut state = recurrence.combine(diagonal[r], up, left, price);
            if K::ON {
                record::<V, P, R, K>(recorder, recurrence, r, [diagonal[r], up, left], price);
            }
            if t < span.inside.0 || t >= span.inside.1 {
                state = mask(
                    token,
                    span,
                    t,
                    &[
                        state,
                        load::<V, R::State>(token, column, column_stride, span.row),
                        recurrence.outside(up, left),
                    ],
                );
            }
            if rescale {
                state = recurrence.rescale(state);
            }
            diagonal[r] = up;
            here[r] = state;
            if R::LOCATES {
                let lane = (t + 1).wrapping_sub(span.row + stride);
                if lane < V::LANES && span.row + lane <= rows.end {
                    keep_right(right, column_stride, span.row + lane, lane, &state);
                }
            }
            if r == lowest && t > rows.end && t - rows.end < stride {
                for k in 0..parts {
                    below[k * stride + t - rows.end] = state.part(k).lanes()[lowest_lane];
                }
            }
        }
        if t.is_multiple_of(OBSERVE_EVERY) && observer.cancelled() {
            return false;
        }
        t += 1;
    }
    if R::LEAVES_BAND {
        // Right of the band a row keeps the value of its last cell inside.
        let last = ranges.row(rows.end - 1).end;
        for k in 0..parts {
            let value = below[k * stride + last.min(stride - 1)];
            below[k * stride..][..stride].iter_mut().skip(last + 1).for_each(|cell| *cell = value);
        }
    }
    true
}

/// Fills the edge below a strip with `forbidden`, but for its first state, which is the border column's: the first of
/// `border`. Compiled once for each kind of state.
#[inline(never)]
fn begin_below<V: Register, S: State<V>>(
    below: &mut [V::Scalar],
    stride: usize,
    forbidden: S,
    border: &[V::Scalar],
    border_stride: usize,
) {
    for (k, part) in below.chunks_exact_mut(stride).enumerate() {
        part.fill(forbidden.part(k).lanes()[0]);
        part[0] = border[k * border_stride];
    }
}

/// Diagonals of a strip.
struct Steps {
    /// The strip, 0-based.
    rows: Range<usize>,
    /// The first diagonal, and the one after the last.
    from: usize,
    until: usize,
}

/// Sweeps diagonals of a strip without masks of the band. Every lane is inside the band, or right of the grid's end,
/// which nothing reads. With `ENTERING`, lanes may also still hold their border, and lanes below the last row are swept
/// along.
#[inline(always)]
fn quickly<'a, V, P, R, K, const ENTERING: bool>(
    context: &PairContext<'a, '_, V, R>,
    steps: Steps,
    rows_of_x: &[Sample<V, P>; REGISTERS],
    (here, diagonal): (&mut [R::State; REGISTERS], &mut [R::State; REGISTERS]),
    above: &[V::Scalar],
    below: &mut [V::Scalar],
    recorder: &mut K,
) where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
    K: Recorder,
{
    let PairContext { token, recurrence, lines, tables, .. } = *context;
    let parts = R::State::PARTS;
    let stride = above.len() / parts;
    let forbidden = recurrence.forbidden();
    let Steps { rows, from, until } = steps;
    let mut ramp = V::splat(token, V::Scalar::ZERO);
    for (l, lane) in ramp.lanes_mut().iter_mut().enumerate() {
        *lane = V::Scalar::from_f64(l as f64);
    }
    let (lowest, lowest_lane) = ((rows.len() - 1) / V::LANES, (rows.len() - 1) % V::LANES);
    let mut states = *here;
    let mut uppers = *diagonal;
    for t in from..until {
        recorder.begin(t);
        let rescale = R::RESCALES && t % (RESCALE_EVERY - 4) < 2;
        let edge = read_edge(token, above, stride, t - rows.start - 1, forbidden);
        for r in (0..REGISTERS).rev() {
            let up = shift_up(states[r], if r == 0 { edge } else { states[r - 1] });
            let row = rows.start + 1 + r * V::LANES;
            let y = lines.y.sample::<V, P, R>(token, &tables.y_gaps, lines.y.slot(0) + row - t);
            let weight = if R::WEIGHTS { tables.weights.read::<V>(token, row, t) } else { y.time };
            let price = recurrence.price_alone(&rows_of_x[r], &y, weight);
            let mut state = recurrence.combine(uppers[r], up, states[r], price);
            if K::ON {
                record::<V, P, R, K>(recorder, recurrence, r, [uppers[r], up, states[r]], price);
            }
            if rescale {
                state = recurrence.rescale(state);
            }
            if ENTERING {
                // Lane l is in row `row + l`, and enters at column 1.
                let last = t as i64 - (row + 1) as i64;
                state = entered(token, &ramp, last, state, states[r]);
            }
            uppers[r] = up;
            states[r] = state;
        }
        if !ENTERING {
            for k in 0..parts {
                below[k * stride + t - rows.end] = states[REGISTERS - 1].part(k).lanes()[V::LANES - 1];
            }
        } else if t > rows.end {
            // Found by a loop, as registers have no addresses.
            for (r, state) in states.iter().enumerate() {
                if r == lowest {
                    for k in 0..parts {
                        below[k * stride + t - rows.end] = state.part(k).lanes()[lowest_lane];
                    }
                }
            }
        }
    }
    (*here, *diagonal) = (states, uppers);
}

/// `state` in the lanes up to `last`, `before` in the others.
#[inline(always)]
fn entered<V: Register, S: State<V>>(token: V::Token, ramp: &V, last: i64, state: S, before: S) -> S {
    let entered = ramp.less_equal(V::splat(token, V::Scalar::from_f64(last as f64)));
    S::from_parts(
        #[inline(always)]
        |k| V::select(entered, state.part(k), before.part(k)),
    )
}

/// Keeps one lane of a state as the last of row `row`, unless nobody asked for it.
#[inline(always)]
fn keep_right<V: Register, S: State<V>>(
    right: &mut [V::Scalar],
    stride: usize,
    row: usize,
    lane: usize,
    state: &S,
) {
    if !right.is_empty() {
        for k in 0..S::PARTS {
            right[k * stride + row] = state.part(k).lanes()[lane];
        }
    }
}

/// Tells the recorder which of the three neighbours the cells of register `r` chose.
#[inline(always)]
fn record<V: Register, P: Point<V>, R: Recurrence<V, P>, K: Recorder>(
    recorder: &mut K,
    recurrence: &R,
    r: usize,
    [diagonal, up, left]: [R::State; 3],
    price: R::Price,
) {
    let [by_diagonal, by_up, by_left] = recurrence.arrivals(diagonal, up, left, price);
    let is_diagonal = by_diagonal.less_equal(by_up.min(by_left));
    recorder.chosen(r * V::LANES, V::LANES, V::bits(is_diagonal), V::bits(by_up.less_equal(by_left)));
}

#[inline(always)]
fn shift_up<V: Register, S: State<V>>(state: S, below: S) -> S {
    S::from_parts(
        #[inline(always)]
        |k| state.part(k).shift_up(below.part(k)),
    )
}
