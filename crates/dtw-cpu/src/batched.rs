//! The batched sweep: as many pairs at once as a register has lanes, one pair per lane.
//!
//! Rows are taken in strips of [`ROWS`]; a strip keeps its rows' states in registers and walks the columns, so that a
//! column costs one load and one store of the edge between strips however high the strip is, and the rows of a strip
//! overlap in the pipeline (the chain from left to right is the only one that binds). Lanes may differ in length:
//! each one's result is taken when the sweep passes its last cell.

use dtw_core::ColumnRanges;
use dtw_core::recurrence::{Apart, MOST_PARTS, Point, Recurrence, Sample, State};

use crate::cells::CellRecorder;
use crate::lanes::{MOST_LANES, Register};
use crate::side::{Side, Stored};

/// Rows of a strip whose states are one register each, and most rows of any strip. DTW f32, 200 × 96, one core of an
/// AVX-512 Xeon: see benchmarks/record.
pub(crate) const ROWS: usize = 8;
/// Rows of a strip whose states are two registers each, or whose points are not held in registers.
const FEWER_ROWS: usize = 4;
/// Columns that are priced at once with all rows of a strip, where the points have several channels.
const COLUMNS: usize = 4;
/// The same where states are two registers each, where there are no 32 registers for the sums of all cells, and where
/// roots are taken: with more columns, Fréchet took 10% longer (3 channels, f64, AMD Zen 4).
const FEWER_COLUMNS: usize = 2;
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

impl<'a, V: Register + 'a> BatchContext<'a, '_, V> {
    /// What a recurrence sees of column `j`, 0-based.
    #[inline(always)]
    fn column<P: Stored<'a, V>, R: Recurrence<V, P>>(&self, j: usize) -> Sample<V, P> {
        self.y.sample::<P, R>(self.y_gaps, j + 1)
    }
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
    K: CellRecorder<V>,
{
    if !P::UNIVARIATE {
        if R::State::PARTS == 1 && V::HAS_MANY && !R::ROOTS {
            strips::<V, P, R, K, FEWER_ROWS, COLUMNS>(recurrence, context, ends, edge, recorder, result);
        } else {
            strips::<V, P, R, K, FEWER_ROWS, FEWER_COLUMNS>(
                recurrence, context, ends, edge, recorder, result,
            );
        }
    } else if R::State::PARTS == 1 && !K::ON {
        strips::<V, P, R, K, ROWS, 1>(recurrence, context, ends, edge, recorder, result);
    } else {
        strips::<V, P, R, K, FEWER_ROWS, 1>(recurrence, context, ends, edge, recorder, result);
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
fn strips<'a, V, P, R, K, const ROWS: usize, const COLUMNS: usize>(
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
    K: CellRecorder<V>,
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
                columns::<V, P, R, K, ROWS, COLUMNS, false>(
                    recurrence,
                    context,
                    first,
                    from..to,
                    edge,
                    (&mut left, &mut corner),
                    recorder,
                );
            } else {
                columns::<V, P, R, K, ROWS, COLUMNS, true>(
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
pub(crate) fn columns<'a, V, P, R, K, const ROWS: usize, const COLUMNS: usize, const MASKED: bool>(
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
    K: CellRecorder<V>,
{
    let n = context.ranges.n();
    let mut rows = [context.x.sample::<P, R>(context.x_gaps, first + 1); ROWS];
    for (r, row) in rows.iter_mut().enumerate().skip(1) {
        *row = context.x.sample::<P, R>(context.x_gaps, first + r + 1);
    }
    let mut bands = [(0, 0); ROWS];
    if MASKED {
        for (r, band) in bands.iter_mut().enumerate() {
            let row = context.ranges.row((first + r).min(n - 1));
            *band = (row.start, row.end);
        }
    }
    let mut states = *left;
    let mut above = *corner;
    let mut chunk = range.start;
    while chunk < range.end {
        let chunk_end = if R::RESCALES { range.end.min(chunk + RESCALE_COLUMNS) } else { range.end };
        let mut looked_back = LookedBack::new(recurrence, &rows, &context.column::<P, R>(chunk));
        for next in (chunk..chunk_end).step_by(COLUMNS) {
            let mut together = [context.column::<P, R>(next); COLUMNS];
            for (c, column) in together.iter_mut().enumerate().skip(1) {
                *column = context.column::<P, R>((next + c).min(chunk_end - 1));
            }
            let here = recurrence.apart(points(&rows), points(&together));
            let before = looked_back.pass(recurrence, &rows, &together, &here);
            one_by_one::<COLUMNS>(
                chunk_end - next,
                #[inline(always)]
                |c: usize| {
                    let (j, column) = (next + c, &together[c]);
                    let top: R::State = read(edge, j + 1);
                    let (mut diagonal, mut up) = (above, top);
                    for r in 0..ROWS {
                        let left = states[r];
                        let state = if MASKED && (j < bands[r].0 || j >= bands[r].1) {
                            recurrence.outside(up, left)
                        } else {
                            let weight = if R::WEIGHTS {
                                context.weights[(first + r).abs_diff(j)]
                            } else {
                                column.time
                            };
                            let price =
                                recurrence.price(&rows[r], column, [here[r][c], before[r][c]], weight);
                            if K::ON {
                                let [by_diagonal, by_up, by_left] =
                                    recurrence.arrivals(diagonal, up, left, price);
                                let is_diagonal = V::bits(by_diagonal.less_equal(by_up.min(by_left)));
                                recorder.chosen(
                                    first + r,
                                    j,
                                    is_diagonal,
                                    V::bits(by_up.less_equal(by_left)),
                                );
                            }
                            recurrence.combine(diagonal, up, left, price)
                        };
                        diagonal = left;
                        states[r] = state;
                        up = state;
                    }
                    if K::SEES_COSTS {
                        recorder.passed(first, j, &states);
                    }
                    above = top;
                    write(edge, j + 1, recurrence.rescale(up));
                },
            );
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

/// The points of some rows or columns.
#[inline(always)]
fn points<V: Register, P: Point<V>, const N: usize>(samples: &[Sample<V, P>; N]) -> [P; N] {
    let mut points = [samples[0].point; N];
    // By index: `zip` is called, not inlined, where a crate is not optimised as a whole, as for tests: a cell of DTW
    // took nine times as long.
    for k in 1..N {
        points[k] = samples[k].point;
    }
    points
}

/// How far apart the points before those of a strip's rows are from the point before the next column's.
struct LookedBack<V, const ROWS: usize>([V; ROWS]);

impl<V: Register, const ROWS: usize> LookedBack<V, ROWS> {
    #[inline(always)]
    fn new<P: Point<V>, R: Recurrence<V, P>>(
        recurrence: &R,
        rows: &[Sample<V, P>; ROWS],
        next: &Sample<V, P>,
    ) -> Self {
        if !R::LOOKS_BACK || P::UNIVARIATE {
            return Self([next.time; ROWS]);
        }
        let mut before = [next.time; ROWS];
        for r in 0..ROWS {
            let [[apart]] = recurrence.apart([rows[r].previous], [next.previous]);
            before[r] = apart;
        }
        Self(before)
    }

    /// Of each cell of some columns, how far apart the points before are, where `here` says it of the cells themselves.
    /// That is what `here` says of the cell before on the diagonal, so that only a strip's first row is computed twice.
    #[inline(always)]
    fn pass<P: Point<V>, R: Recurrence<V, P>, const COLUMNS: usize>(
        &mut self,
        recurrence: &R,
        rows: &[Sample<V, P>; ROWS],
        columns: &[Sample<V, P>; COLUMNS],
        here: &Apart<V, ROWS, COLUMNS>,
    ) -> Apart<V, ROWS, COLUMNS> {
        if !R::LOOKS_BACK {
            return *here;
        }
        let mut before = *here;
        if P::UNIVARIATE {
            for r in 0..ROWS {
                for c in 0..COLUMNS {
                    let [[apart]] = recurrence.apart([rows[r].previous], [columns[c].previous]);
                    before[r][c] = apart;
                }
            }
            return before;
        }
        let [above] = recurrence.apart([rows[0].previous], points(columns));
        for r in 0..ROWS {
            let row = if r == 0 { &above } else { &here[r - 1] };
            for c in 0..COLUMNS {
                before[r][c] = if c == 0 { self.0[r] } else { row[c - 1] };
            }
            self.0[r] = row[COLUMNS - 1];
        }
        before
    }
}

/// Calls `step` with 0, 1, … below `count` and `COLUMNS`. It is no loop, which would not be unrolled for dear steps:
/// what they take by its number would lie in memory.
#[inline(always)]
fn one_by_one<const COLUMNS: usize>(count: usize, mut step: impl FnMut(usize)) {
    const { assert!(COLUMNS == 1 || COLUMNS == FEWER_COLUMNS || COLUMNS == self::COLUMNS) };
    step(0);
    if COLUMNS > 1 && count > 1 {
        step(1);
    }
    if COLUMNS > 2 && count > 2 {
        step(2);
    }
    if COLUMNS > 3 && count > 3 {
        step(3);
    }
}
