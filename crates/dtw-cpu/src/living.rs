//! The sweep that gives up, of any measure whose states grow along a path ([`Recurrence::GROWS`]): points of one
//! channel, a pair in each lane, for pairs that matter only below a cut.
//!
//! **Dead cells.** A state is the least of the sums, as computed, along the paths to its cell. Such a sum never falls
//! on its way: prices are not negative, and rounding is monotone, so that `fl(s + p) ≥ s`. A path still arrives at
//! every later column, and pays [`Recurrence::least`] there or more. So a cell is dead, which no path below the cut
//! visits, where its state reaches the cut, or reaches the raised cut less those terms ([`dtw_core::bounds::raised`],
//! whose proof needs no more of the terms than that each is at most what a path pays there as computed, and not
//! negative). As in EAP (Herrmann & Webb 2021, 10.1007/s10618-021-00782-4), dead cells are left out from both sides: a
//! strip of rows begins at the first place where the row above it lives in some lane, and ends where nothing lives that
//! it could go on from. A lane is alone in nothing: cells are left out when they are dead in all lanes.
//!
//! **The same bits.** Infinite states and states of dead cells only ever reach states that are dead, too: the least
//! arrival of a living cell is from a living cell, which is visited, by the operations of the batched sweep. What comes
//! out at or above the cut is infinite. With equal prices, and prices of zero, states do not grow but do not fall
//! either; equal arrivals have the same bits, whichever is taken. No state overflows or is no number: callers see to
//! that.

use dtw_core::recurrence::{One, Recurrence, State, Visitor};
use dtw_core::{ColumnRanges, Scalar, Series, Spec};

use crate::batched::{self, BatchContext, ROWS, read, write};
use crate::cells::Unrecorded;
use crate::lanes::Register;
use crate::least::Reached;
use crate::side::Side;

/// Columns between two looks whether a strip lives on beyond the living places above it.
const BETWEEN_LOOKS: usize = 4;

/// From where on a state is of no interest, for a bound too: see [`crate::abandon::Cut`].
pub(crate) use crate::abandon::Cut;

/// Memory of one thread.
#[derive(Debug)]
pub(crate) struct Living<V: Register> {
    x: Side<V>,
    y: Side<V>,
    tables: Tables<V>,
}

#[derive(Debug)]
struct Tables<V> {
    x_gaps: Vec<V>,
    y_gaps: Vec<V>,
    weights: Vec<V>,
    edge: Vec<V>,
    /// What a state must stay below when the columns from this one on are still to come.
    limits: Vec<V>,
}

impl<V: Register> Living<V> {
    pub(crate) fn new() -> Self {
        let tables = Tables {
            x_gaps: Vec::new(),
            y_gaps: Vec::new(),
            weights: Vec::new(),
            edge: Vec::new(),
            limits: Vec::new(),
        };
        Self { x: Side::new(), y: Side::new(), tables }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let Tables { x_gaps, y_gaps, weights, edge, limits } = &self.tables;
        let registers: usize = [x_gaps, y_gaps, weights, edge, limits].iter().map(|r| r.capacity()).sum();
        self.x.bytes() + self.y.bytes() + registers * size_of::<V>()
    }

    /// The distances of `query`, in the rows, from `others`, at most one per lane; infinite where the last state
    /// reaches the cut. Returns how many columns of rows were swept.
    #[expect(clippy::too_many_arguments, reason = "the pairs, where they go, and how")]
    pub(crate) fn sweep(
        &mut self,
        token: V::Token,
        spec: &Spec,
        query: Series<'_, V::Scalar>,
        others: &[Series<'_, V::Scalar>],
        (ranges, reached): (&ColumnRanges, &Reached<V::Scalar>),
        cut: Cut<V::Scalar>,
        out: &mut [V::Scalar],
    ) -> usize {
        let Self { x, y, tables } = self;
        V::compiled(
            token,
            #[inline(always)]
            || {
                x.fill(token, &[query], ranges.n(), ROWS);
                y.fill(token, others, ranges.m(), 0);
            },
        );
        if spec.measure.takes_times() {
            x.fill_times(&[query], ROWS);
            y.fill_times(others, 0);
        }
        let any = V::splat(token, V::Scalar::ZERO);
        let sweep = Sweep { token, x, y, ranges, reached, cut, tables, out };
        dtw_core::recurrence::dispatch::<V, One<V>, _>(spec, any, sweep)
    }
}

/// Sweeps a register-full of pairs.
struct Sweep<'a, 's, V: Register> {
    token: V::Token,
    x: &'a Side<V>,
    y: &'a Side<V>,
    ranges: &'s ColumnRanges,
    reached: &'s Reached<V::Scalar>,
    cut: Cut<V::Scalar>,
    tables: &'s mut Tables<V>,
    out: &'s mut [V::Scalar],
}

impl<'a, V: Register + 'a> Visitor<V, One<V>> for Sweep<'a, '_, V> {
    type Output = usize;

    #[inline(always)]
    fn visit<R: Recurrence<V, One<V>>>(self, recurrence: R) -> usize {
        if !R::GROWS || R::LOCATES || R::LEAVES_BAND || R::RESCALES || !V::IS_TUNED {
            unreachable!("callers ask `is_pruned` first");
        }
        V::compiled(
            self.token,
            #[inline(always)]
            || self.run::<R>(&recurrence),
        )
    }
}

impl<'a, V: Register + 'a> Sweep<'a, '_, V> {
    #[inline(always)]
    fn run<R: Recurrence<V, One<V>>>(self, recurrence: &R) -> usize {
        const { assert!(R::State::PARTS == 1 || !R::GROWS, "a state that grows is one number") };
        let Self { token, x, y, ranges, reached, cut, tables, out } = self;
        let Tables { x_gaps, y_gaps, weights, edge, limits } = tables;
        let (n, m) = (ranges.n(), ranges.m());
        if R::GAPS {
            x.fill_gaps::<One<V>, R>(recurrence, ROWS, x_gaps);
            y.fill_gaps::<One<V>, R>(recurrence, 0, y_gaps);
        }
        if R::WEIGHTS {
            weights.clear();
            for weight in &reached.weights {
                weights.push(V::splat(token, *weight));
            }
            // Rows below the last one are never read.
            weights.resize(n.max(m) + ROWS, V::splat(token, V::Scalar::ZERO));
        }
        let context = BatchContext { x, y, x_gaps, y_gaps, weights, ranges };
        let infinite = V::splat(token, V::Scalar::INFINITY);
        edge.clear();
        edge.resize(m + 1, infinite);
        limits.clear();
        let (cuts, bars) = (V::splat(token, cut.cut), V::splat(token, cut.bar));
        limits.resize(m + 1, cuts);
        let mut rest = V::splat(token, V::Scalar::ZERO);
        for j in (0..m).rev() {
            let sample = y.sample::<One<V>, R>(y_gaps, j + 1);
            rest = rest + reached.column::<V, R>(token, recurrence, &sample, j);
            limits[j] = (bars - rest).min(cuts);
        }
        let (found, swept) = strips::<V, R>(recurrence, context, limits, edge, infinite);
        let is_below = V::bits(found.less(cuts));
        for (l, (out, found)) in out.iter_mut().zip(found.lanes()).enumerate() {
            *out = if (is_below >> l) & 1 == 1 {
                recurrence.finish(&[*found], n, m)
            } else {
                V::Scalar::INFINITY
            };
        }
        swept
    }
}

/// The last states of all lanes, infinite where all are known to reach their cuts, and the columns of rows that were
/// swept.
#[inline(always)]
fn strips<'a, V: Register + 'a, R: Recurrence<V, One<V>>>(
    recurrence: &R,
    context: BatchContext<'a, '_, V>,
    limits: &[V],
    edge: &mut [V],
    infinite: V,
) -> (V, usize) {
    let (n, m) = (context.ranges.n(), context.ranges.m());
    let forbidden = recurrence.forbidden();
    let mut swept = 0;
    let mut border = recurrence.origin();
    let mut right = border;
    write(edge, 0, border);
    // The places of the edge that live: outside, whatever stands there counts as infinite.
    let (mut from, mut to) = (0, 0);
    if all_dead(limits[0], edge[0]) {
        return (infinite, swept);
    }
    while to < m {
        right =
            recurrence.border_right(right, &context.y.sample::<One<V>, R>(context.y_gaps, to + 1), to + 1);
        if all_dead(limits[to + 1], right.part(0)) {
            break;
        }
        to += 1;
        write(edge, to, right);
    }
    for first in (0..n).step_by(ROWS) {
        let row = |r: usize| context.ranges.row((first + r).min(n - 1));
        let (start, end) = (row(0).start.max(from.max(1) - 1), row(ROWS - 1).end);
        let inside = row(ROWS - 1).start..row(0).end;
        if start > to {
            return (infinite, swept);
        }
        let mut left = [forbidden; ROWS];
        for (r, left) in left.iter_mut().enumerate() {
            let below = context.x.sample::<One<V>, R>(context.x_gaps, first + r + 1);
            border = recurrence.border_down(border, &below);
            if start == 0 {
                *left = border;
            }
        }
        let mut corner = if from <= start { read(edge, start) } else { forbidden };
        // First under living places, then beside them.
        let under = start.max(to.min(end));
        let (before, after) = (inside.start.clamp(start, under), inside.end.clamp(start, under));
        let (before, after) = if before < after { (before, after) } else { (under, under) };
        some::<V, R, true>(recurrence, context, first, start..before, edge, (&mut left, &mut corner));
        some::<V, R, false>(recurrence, context, first, before..after, edge, (&mut left, &mut corner));
        some::<V, R, true>(recurrence, context, first, after..under, edge, (&mut left, &mut corner));
        let mut reached = under;
        while reached < end {
            // What the next column may be reached from.
            let mut least = corner.part(0);
            for row in &left {
                least = least.min(row.part(0));
            }
            if all_dead(limits[reached], least) {
                break;
            }
            let next = end.min(reached + BETWEEN_LOOKS);
            edge[reached + 1..=next].fill(infinite);
            some::<V, R, true>(recurrence, context, first, reached..next, edge, (&mut left, &mut corner));
            reached = next;
        }
        swept += (reached - start) * ROWS;
        if first + ROWS >= n {
            let last = left[n - 1 - first].part(0);
            return (if reached == m { last } else { infinite }, swept);
        }
        write(edge, 0, border);
        (from, to) = (if start == 0 { 0 } else { start + 1 }, reached);
        while from <= to && all_dead(limits[from], edge[from]) {
            from += 1;
        }
        while from <= to && all_dead(limits[to], edge[to]) {
            to -= 1;
        }
        if from > to {
            return (infinite, swept);
        }
    }
    (infinite, swept)
}

/// Sweeps some columns of a strip, looking at the band of each row only where it is `MASKED`.
#[inline(always)]
fn some<'a, V: Register + 'a, R: Recurrence<V, One<V>>, const MASKED: bool>(
    recurrence: &R,
    context: BatchContext<'a, '_, V>,
    first: usize,
    range: std::ops::Range<usize>,
    edge: &mut [V],
    state: (&mut [R::State; ROWS], &mut R::State),
) {
    if range.is_empty() {
        return;
    }
    batched::columns::<V, One<V>, R, Unrecorded, ROWS, 1, MASKED>(
        recurrence,
        context,
        first,
        range,
        edge,
        state,
        &mut Unrecorded,
    );
}

/// Whether no lane's state is below its limit. What is not a number lives.
#[inline(always)]
fn all_dead<V: Register>(limit: V, state: V) -> bool {
    V::bits(limit.less_equal(state)) == (1_u64 << V::LANES) - 1
}
