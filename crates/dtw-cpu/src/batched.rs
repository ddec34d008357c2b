//! The batched sweep: as many pairs at once as a register has lanes, one pair per lane.
//!
//! Rows are taken in strips of [`ROWS`]; a strip keeps its rows' states in registers and walks the columns, so that a
//! column costs one load and one store of the edge between strips however high the strip is, and the rows of a strip
//! overlap in the pipeline (the chain from left to right is the only one that binds). Lanes may differ in length:
//! each one's result is taken when the sweep passes its last cell.

use dtw_core::ColumnRanges;
use dtw_core::recurrence::{MOST_PARTS, Recurrence, State};

use crate::cells::CellRecorder;
use crate::lanes::{MOST_LANES, Register};
use crate::side::{Side, Stored};

/// Rows of a strip whose states are one register each, and most rows of any strip. DTW f32, 200 × 96, one core of an
/// AVX-512 Xeon: see benchmarks/record.
pub(crate) const ROWS: usize = 8;
/// Rows of a strip whose states are two registers each, or whose points are not held in registers.
const FEWER_ROWS: usize = 4;
/// Columns between two calls of [`Recurrence::rescale`]; with [`ROWS`] within `RESCALE_EVERY`.
const RESCALE_COLUMNS: usize = dtw_core::recurrence::RESCALE_EVERY - ROWS;

/// The cells of a batch of pairs, and all that pricing them needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchContext<'a, 'g, V> {
    pub(crate) x: &'a Side<V>,
    pub(crate) y: &'a Side<V>,
    pub(crate) x_gaps: &'g [V],
    pub(crate) y_gaps: &'g [V],
    /// Weight of cells with `|i − j|` = index, where the recurrence has weights.
    pub(crate) weights: &'g [V],
    /// Longest x and longest y.
    pub(crate) ranges: &'g ColumnRanges,
}

/// Sweeps the grid and hands `(lane, parts of its last state)` to `result`, for each lane `l < ends.len()` whose series
/// have `ends[l]` points. `edge` holds one state per column and one more.
#[inline(always)]
pub(crate) fn sweep<'a, V, P, R, K>(
    recurrence: &R,
    context: BatchContext<'a, '_, V>,
    ends: &[(usize, usize)],
    edge: &mut [V],
    recorder: &mut K,
    result: impl FnMut(usize, &[V::Scalar]),
) where
    V: Register + 'a,
    P: Stored<'a, V>,
    R: Recurrence<V, P>,
    K: CellRecorder,
{
    if R::State::PARTS == 1 && P::UNIVARIATE && !K::ON {
        strips::<V, P, R, K, ROWS>(recurrence, context, ends, edge, recorder, result);
    } else {
        strips::<V, P, R, K, FEWER_ROWS>(recurrence, context, ends, edge, recorder, result);
    }
}

#[inline(always)]
pub(crate) fn read<V: Register, S: State<V>>(from: &[V], at: usize) -> S {
    S::from_parts(
        #[inline(always)]
        |k| from[at * S::PARTS + k],
    )
}

#[inline(always)]
pub(crate) fn write<V: Register, S: State<V>>(to: &mut [V], at: usize, state: S) {
    for k in 0..S::PARTS {
        to[at * S::PARTS + k] = state.part(k);
    }
}

#[inline(always)]
fn strips<'a, V, P, R, K, const ROWS: usize>(
    recurrence: &R,
    context: BatchContext<'a, '_, V>,
    ends: &[(usize, usize)],
    edge: &mut [V],
    recorder: &mut K,
    mut result: impl FnMut(usize, &[V::Scalar]),
) where
    V: Register + 'a,
    P: Stored<'a, V>,
    R: Recurrence<V, P>,
    K: CellRecorder,
{
    let (n, m) = (context.ranges.n(), context.ranges.m());
    let full = context.ranges.is_full();
    let forbidden = recurrence.forbidden();
    let mut border = recurrence.origin();
    write(edge, 0, border);
    let mut right = border;
    for j in 1..=m {
        right = recurrence.border_right(right, &context.y.sample::<P, R>(context.y_gaps, j), j);
        write(edge, j, recurrence.rescale(right));
    }
    let mut cuts = Cuts::default();
    for first in (0..n).step_by(ROWS) {
        let row = |r: usize| context.ranges.row((first + r).min(n - 1));
        let (start, end) = (row(0).start, row(ROWS - 1).end);
        // Both ends of a band move on with the row: in these columns all rows of the strip are inside, and none asks.
        // Where states are rescaled, the last bits may depend on where the columns are cut.
        let inside = if R::RESCALES { start..start } else { row(ROWS - 1).start..row(0).end };
        let mut left = [forbidden; ROWS];
        for (r, left) in left.iter_mut().enumerate() {
            border = recurrence.border_down(border, &context.x.sample::<P, R>(context.x_gaps, first + r + 1));
            if start == 0 {
                *left = border;
            } else if R::LEAVES_BAND {
                *left = read(edge, start);
            }
        }
        let mut corner: R::State = read(edge, start);
        let cuts = cut_columns(&mut cuts, ends, first..first + ROWS, start..end, &inside);
        let mut from = start;
        for &to in cuts {
            if full || (inside.start <= from && to <= inside.end) {
                columns::<V, P, R, K, ROWS, false>(
                    recurrence,
                    context,
                    first,
                    from..to,
                    edge,
                    (&mut left, &mut corner),
                    recorder,
                );
            } else {
                columns::<V, P, R, K, ROWS, true>(
                    recurrence,
                    context,
                    first,
                    from..to,
                    edge,
                    (&mut left, &mut corner),
                    recorder,
                );
            }
            from = to;
            for (lane, &(n, m)) in ends.iter().enumerate() {
                if (first..first + ROWS).contains(&(n - 1)) && m == to {
                    let state = left[n - 1 - first];
                    let mut parts = [V::Scalar::default(); MOST_PARTS];
                    for (k, part) in parts.iter_mut().enumerate().take(R::State::PARTS) {
                        *part = state.part(k).lanes()[lane];
                    }
                    result(lane, &parts[..R::State::PARTS]);
                }
            }
        }
        // What the next strip may look at beside its band: nothing, or what the last row has at its end.
        if !full && R::LEAVES_BAND {
            let (last, next) = (row(ROWS - 1).end, row(2 * ROWS - 1).end);
            let beside: R::State = read(edge, last);
            for j in last + 1..=next {
                write(edge, j, beside);
            }
        } else if !full {
            let last = row(ROWS - 1).end;
            if first == 0 {
                for j in last + 1..=m {
                    write(edge, j, forbidden);
                }
            }
            write(edge, start, forbidden);
        }
        write(edge, 0, border);
    }
}

/// Room for the columns at which a strip is cut: one for every lane, two of the band, and the end.
type Cuts = [usize; MOST_LANES + 3];

/// Where the columns `strip` are cut, increasing: where lanes that end in these rows end, at the ends of `inside`, and
/// at the end.
fn cut_columns<'c>(
    cuts: &'c mut Cuts,
    ends: &[(usize, usize)],
    rows: std::ops::Range<usize>,
    strip: std::ops::Range<usize>,
    inside: &std::ops::Range<usize>,
) -> &'c [usize] {
    let of_lanes = ends.iter().filter(|(n, m)| rows.contains(&(n - 1)) && *m < strip.end).map(|(_, m)| *m);
    let of_band = [inside.start, inside.end].into_iter().filter(|cut| strip.start < *cut && *cut < strip.end);
    let mut count = 0;
    for cut in of_lanes.chain(of_band) {
        if !cuts[..count].contains(&cut) {
            cuts[count] = cut;
            count += 1;
        }
    }
    cuts[count] = strip.end;
    count += 1;
    cuts[..count].sort_unstable();
    &cuts[..count]
}

/// Sweeps columns `range` (0-based) of one strip.
#[inline(always)]
fn columns<'a, V, P, R, K, const ROWS: usize, const MASKED: bool>(
    recurrence: &R,
    context: BatchContext<'a, '_, V>,
    first: usize,
    range: std::ops::Range<usize>,
    edge: &mut [V],
    (left, corner): (&mut [R::State; ROWS], &mut R::State),
    recorder: &mut K,
) where
    V: Register + 'a,
    P: Stored<'a, V>,
    R: Recurrence<V, P>,
    K: CellRecorder,
{
    let n = context.ranges.n();
    let rows: [_; ROWS] = std::array::from_fn(
        #[inline(always)]
        |r| context.x.sample::<P, R>(context.x_gaps, first + r + 1),
    );
    let bands: [_; ROWS] = std::array::from_fn(
        #[inline(always)]
        |r| context.ranges.row((first + r).min(n - 1)),
    );
    let mut states = *left;
    let mut above = *corner;
    let mut chunk = range.start;
    while chunk < range.end {
        let chunk_end = if R::RESCALES { range.end.min(chunk + RESCALE_COLUMNS) } else { range.end };
        for j in chunk..chunk_end {
            let column = context.y.sample::<P, R>(context.y_gaps, j + 1);
            let top: R::State = read(edge, j + 1);
            let (mut diagonal, mut up) = (above, top);
            for r in 0..ROWS {
                let here = states[r];
                let state = if MASKED && !bands[r].contains(&j) {
                    recurrence.outside(up, here)
                } else {
                    let weight =
                        if R::WEIGHTS { context.weights[(first + r).abs_diff(j)] } else { column.time };
                    let price = recurrence.price(&rows[r], &column, weight);
                    if K::ON {
                        let [by_diagonal, by_up, by_left] = recurrence.arrivals(diagonal, up, here, price);
                        let is_diagonal = V::bits(by_diagonal.less_equal(by_up.min(by_left)));
                        recorder.chosen(first + r, j, is_diagonal, V::bits(by_up.less_equal(by_left)));
                    }
                    recurrence.combine(diagonal, up, here, price)
                };
                diagonal = here;
                states[r] = state;
                up = state;
            }
            above = top;
            write(edge, j + 1, recurrence.rescale(up));
        }
        if R::RESCALES {
            for state in &mut states {
                *state = recurrence.rescale(*state);
            }
        }
        chunk = chunk_end;
    }
    *left = states;
    *corner = above;
}
