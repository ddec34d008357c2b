//! One register-full of pairs: which sweep takes it, and running that sweep.

use std::ops::Deref;
use std::sync::Arc;

use dtw_core::recurrence::{One, Recurrence, State, Visitor, subsequence};
use dtw_core::{
    Anchor, Band, ColumnRanges, Error, Measure, Observer, Path, PathCounts, Result, Scalar, Series,
    SoftResult, Spec, Uncounted,
};

use crate::abandon::Abandoning;
use crate::batched::{self, BatchContext, ROWS};
use crate::bit_parallel::{self, Words};
use crate::cells::{CellRecorder, Cells, Unrecorded};
use crate::gradient_scratch::GradientScratch;
use crate::gradient_single::SingleScratch;
use crate::lanes::{MOST_LANES, Register};
use crate::living::Living;
use crate::open::{self, Least};
use crate::prepare::Pair;
use crate::quantity::{Quantity, dispatch_quantity};
use crate::side::{Side, Stored};
use crate::single::{MOST_POINTS, Strips};

/// The first and the second series of some pairs.
type Both<'s, T> = (&'s [Series<'s, T>], &'s [Series<'s, T>]);

/// Memory of one thread, reused from group to group.
#[derive(Debug)]
pub(crate) struct Scratch<V: Register> {
    pub(crate) x: Side<V>,
    pub(crate) y: Side<V>,
    tables: BatchTables<V>,
    pub(crate) pair: Pair<V::Scalar>,
    pub(crate) strips: Strips<V::Scalar>,
    pub(crate) gradient: GradientScratch<V>,
    pub(crate) single_gradient: SingleScratch<V>,
    pub(crate) counts: PathCounts,
    words: Words<V::Scalar>,
    /// Choices of a register-full of pairs whose paths are wanted.
    cells: Cells,
    pub(crate) abandoning: Abandoning<V>,
    pub(crate) living: Living<V>,
    /// What the last pairs had: most have the lengths of those before them.
    last_ranges: Option<(Band, Anchor, Arc<ColumnRanges>)>,
}

/// The columns of a band, or of the full grid.
pub(crate) enum Ranges {
    Full(ColumnRanges),
    Kept(Arc<ColumnRanges>),
}

impl Deref for Ranges {
    type Target = ColumnRanges;

    fn deref(&self) -> &ColumnRanges {
        match self {
            Self::Full(ranges) => ranges,
            Self::Kept(ranges) => ranges,
        }
    }
}

#[derive(Debug)]
struct BatchTables<V> {
    x_gaps: Vec<V>,
    y_gaps: Vec<V>,
    weights: Vec<V>,
    edge: Vec<V>,
}

/// Tells those who explain of a sweep of so many pairs.
pub(crate) fn tell<V: Register>(observer: &dyn Observer, kernel: &str, why: &str, pairs: usize) {
    if observer.explains() {
        let bits = V::LANES * size_of::<V::Scalar>() * 8;
        let threads = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
        let shape = format!("registers of {bits} bits, {} lanes, {threads} threads", V::LANES);
        observer.launched(&dtw_core::Launch { kernel, shape: &shape, why, pairs: pairs as u64 });
    }
}

impl<V: Register> Scratch<V> {
    pub(crate) fn new() -> Self {
        Self {
            x: Side::new(),
            y: Side::new(),
            tables: BatchTables {
                x_gaps: Vec::new(),
                y_gaps: Vec::new(),
                weights: Vec::new(),
                edge: Vec::new(),
            },
            pair: Pair::default(),
            strips: Strips::default(),
            gradient: GradientScratch::default(),
            single_gradient: SingleScratch::new(),
            counts: PathCounts::default(),
            words: Words::default(),
            cells: Cells::default(),
            abandoning: Abandoning::new(),
            living: Living::new(),
            last_ranges: None,
        }
    }

    /// As [`Band::ranges`], which takes as long as sweeping a few columns.
    pub(crate) fn ranges(&mut self, spec: &Spec, n: usize, m: usize) -> Result<Ranges> {
        if spec.band == Band::Full {
            // Even one allocation is a tenth of what short pairs take.
            return Ok(Ranges::Full(ColumnRanges::full(n, m)));
        }
        if let Some((band, anchor, ranges)) = &self.last_ranges
            && (ranges.n(), ranges.m(), *anchor, band) == (n, m, spec.anchor, &spec.band)
        {
            return Ok(Ranges::Kept(Arc::clone(ranges)));
        }
        let ranges = Arc::new(spec.band.ranges(n, m, spec.anchor)?);
        self.last_ranges = Some((spec.band.clone(), spec.anchor, Arc::clone(&ranges)));
        Ok(Ranges::Kept(ranges))
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        let tables = &self.tables;
        let vectors = tables.x_gaps.len() + tables.y_gaps.len() + tables.weights.len() + tables.edge.len();
        let batched = self.x.bytes() + self.y.bytes() + vectors * size_of::<V>();
        let single = self.pair.x.bytes() + self.pair.y.bytes() + self.strips.bytes();
        let ranges = self.last_ranges.as_ref().map_or(0, |(.., ranges)| ranges.bytes());
        (batched
            + ranges
            + self.words.bytes()
            + self.cells.bytes()
            + self.abandoning.bytes()
            + self.living.bytes()
            + single
            + self.gradient.held_bytes()
            + self.single_gradient.held_bytes()) as u64
    }

    /// Distances of the pairs `(x[l], y[l])`, at most one per lane, into `out`. Of `soft_dtw_divergence`, the excess of
    /// Soft-DTW.
    pub(crate) fn distances(
        &mut self,
        token: V::Token,
        spec: &Spec,
        x: &[Series<'_, V::Scalar>],
        y: &[Series<'_, V::Scalar>],
        out: &mut [V::Scalar],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.sweep(Quantity::Value, token, spec, x, y, out, observer)?;
        let Some(soft) = SoftResult::of(&spec.measure) else { return Ok(()) };
        let lengths = |l: usize| (x[l].len(), y[l].len());
        let mut lost = 0_u64;
        for (l, out) in out.iter_mut().enumerate() {
            match soft.from_value(*out, &mut self.counts, &spec.band, lengths(l))? {
                Some(result) => *out = result,
                None => lost |= 1 << l,
            }
        }
        if lost == 0 {
            return Ok(());
        }
        let mut excess = [V::Scalar::ZERO; MOST_LANES];
        self.sweep(Quantity::Excess, token, spec, x, y, &mut excess[..out.len()], &Uncounted(observer))?;
        for (l, out) in out.iter_mut().enumerate().filter(|(l, _)| (lost >> l) & 1 == 1) {
            *out = soft.from_excess(excess[l], *out, &mut self.counts, &spec.band, lengths(l))?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the pairs, where they go, and how")]
    fn sweep(
        &mut self,
        quantity: Quantity,
        token: V::Token,
        spec: &Spec,
        x: &[Series<'_, V::Scalar>],
        y: &[Series<'_, V::Scalar>],
        out: &mut [V::Scalar],
        observer: &dyn Observer,
    ) -> Result<()> {
        if bit_parallel::takes(spec, x[0].channels) {
            let why = "a bit or two for each cell, 64 cells at once, are fewer instructions";
            tell::<V>(observer, "bit-parallel sweep", why, x.len());
            return self.words.sweep::<V>(token, spec, (x, y), out, observer);
        }
        let n = x.iter().map(Series::len).max().unwrap_or(0);
        let m = y.iter().map(Series::len).max().unwrap_or(0);
        let uniform = x.iter().all(|s| s.len() == n) && y.iter().all(|s| s.len() == m);
        let subsequence = spec.anchor == Anchor::Subsequence;
        let is_side_by_side = match spec.anchor {
            Anchor::Subsequence => open::takes(spec, (n, m)),
            _ => uniform || spec.band == Band::Full,
        };
        if V::IS_TUNED && is_side_by_side {
            let ranges = self.ranges(spec, n, m)?;
            let apart: usize =
                x.iter().zip(y).map(|(x, y)| apart_cost::<V>(x.len(), y.len(), &ranges, uniform)).sum();
            if ranges.cells() <= apart as u64 {
                let why = "pairs side by side, a register-full at a time, are fewer cells";
                tell::<V>(observer, "batched sweep", why, x.len());
                self.batched(quantity, token, spec, (x, y), &ranges, out, None);
                let cells = if uniform {
                    ranges.cells() * x.len() as u64
                } else {
                    x.iter().zip(y).map(|(x, y)| x.len() as u64 * y.len() as u64).sum()
                };
                observer.advance(cells);
                return Ok(());
            }
        }
        let why = "one pair after the other, each along its diagonals, are fewer cells";
        tell::<V>(observer, "diagonal sweep", why, x.len());
        for ((x, y), out) in x.iter().zip(y).zip(out) {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            *out = if subsequence && spec.band == Band::Full {
                self.least(token, spec, *x, *y, observer)?
            } else {
                self.single_of(quantity, token, spec, *x, *y, &[], observer)?
            };
        }
        Ok(())
    }

    /// The cost of the best match, block by block ([`crate::scan`]); where it starts does not matter here.
    fn least(
        &mut self,
        token: V::Token,
        spec: &Spec,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
        observer: &dyn Observer,
    ) -> Result<V::Scalar> {
        let (mut least, mut column) = (V::Scalar::INFINITY, Vec::new());
        for values in y.values.chunks(MOST_POINTS * y.channels) {
            let here = self.single_after(token, spec, x, Series { values, ..y }, &column, observer)?;
            least = if here < least { here } else { least };
            column.clone_from(&self.strips.right);
        }
        Ok(least)
    }

    /// Distance of one pair by the diagonal sweep. For a subsequence search, the best match's cost; the last row stays
    /// in `self.strips.edge`.
    pub(crate) fn single(
        &mut self,
        token: V::Token,
        spec: &Spec,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
        observer: &dyn Observer,
    ) -> Result<V::Scalar> {
        self.single_of(Quantity::Value, token, spec, x, y, &[], observer)
    }

    /// The distance of a pair, going on from the column `before`, which `self.strips.right` held after the
    /// stretch of `y` before this one.
    pub(crate) fn single_after(
        &mut self,
        token: V::Token,
        spec: &Spec,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
        before: &[V::Scalar],
        observer: &dyn Observer,
    ) -> Result<V::Scalar> {
        self.single_of(Quantity::Value, token, spec, x, y, before, observer)
    }

    #[expect(clippy::too_many_arguments, reason = "the pair, where it goes on, and how")]
    fn single_of(
        &mut self,
        quantity: Quantity,
        token: V::Token,
        spec: &Spec,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
        before: &[V::Scalar],
        observer: &dyn Observer,
    ) -> Result<V::Scalar> {
        let ranges = self.ranges(spec, x.len(), y.len())?;
        crate::span::check_band::<V>(&ranges)?;
        self.pair.x.fill(x, false);
        self.pair.y.fill(y, true);
        let Self { pair, strips, .. } = self;
        let value = strips.sweep::<V>(token, (quantity, spec), pair, &ranges, before, observer)?;
        if spec.anchor == Anchor::Subsequence {
            let last_row = &self.strips.edge[1..=y.len()];
            return Ok(last_row.iter().copied().fold(V::Scalar::INFINITY, |a, b| if b < a { b } else { a }));
        }
        Ok(value)
    }

    /// The best paths of pairs of equal lengths side by side; `None` where one after the other is fewer cells, or where
    /// the choices take more than `most_bytes`.
    pub(crate) fn paths_side_by_side(
        &mut self,
        token: V::Token,
        spec: &Spec,
        (x, y): Both<'_, V::Scalar>,
        ranges: &ColumnRanges,
        most_bytes: u64,
        observer: &dyn Observer,
    ) -> Option<Vec<Path<V::Scalar>>> {
        let (n, m, cells) = (ranges.n(), ranges.m(), ranges.cells());
        let apart = x.len() * apart_cost::<V>(n, m, ranges, true);
        if !V::IS_TUNED || cells > apart as u64 || Cells::bytes_of(cells) > most_bytes {
            return None;
        }
        let why = "paths of pairs side by side, a register-full at a time, are fewer cells";
        tell::<V>(observer, "batched sweep", why, x.len());
        let mut choices = std::mem::take(&mut self.cells);
        choices.prepare(ranges, ROWS);
        let mut distances = [V::Scalar::ZERO; MOST_LANES];
        let out = &mut distances[..x.len()];
        self.batched(Quantity::Value, token, spec, (x, y), ranges, out, Some(&mut choices));
        observer.advance(cells * x.len() as u64);
        let path = |(lane, distance): (usize, &V::Scalar)| Path {
            distance: *distance,
            points: choices.walk(lane, ranges),
        };
        let paths = out.iter().enumerate().map(path).collect();
        self.cells = choices;
        Some(paths)
    }

    #[expect(clippy::too_many_arguments, reason = "the pairs, where they go, and how")]
    fn batched(
        &mut self,
        quantity: Quantity,
        token: V::Token,
        spec: &Spec,
        (x, y): Both<'_, V::Scalar>,
        ranges: &ColumnRanges,
        out: &mut [V::Scalar],
        choices: Option<&mut Cells>,
    ) {
        let mut ends = [(0, 0); MOST_LANES];
        for (end, (x, y)) in ends.iter_mut().zip(x.iter().zip(y)) {
            *end = (x.len(), y.len());
        }
        let ends = &ends[..x.len()];
        V::compiled(
            token,
            #[inline(always)]
            || {
                self.x.fill(token, x, ranges.n(), ROWS);
                self.y.fill(token, y, ranges.m(), 0);
            },
        );
        if spec.measure.takes_times() {
            self.x.fill_times(x, ROWS);
            self.y.fill_times(y, 0);
        }
        let any = V::splat(token, V::Scalar::ZERO);
        let tables = &mut self.tables;
        let sweep = SweepBatch { token, x: &self.x, y: &self.y, ends, ranges, tables, out, choices };
        if x[0].channels == 1 {
            sweep.dispatch::<One<V>>(quantity, spec, any);
        } else {
            sweep.dispatch::<&[V]>(quantity, spec, any);
        }
    }
}

/// What the diagonal sweep of one pair costs, in registers of cells of the batched sweep. The factors are measured (two
/// loads and a store more per cell; some twenty cycles per diagonal) and only decide which sweep runs.
fn apart_cost<V: Register>(n: usize, m: usize, ranges: &ColumnRanges, uniform: bool) -> usize {
    let cells = if uniform { ranges.cells() as usize } else { n * m };
    cells * 8 / (5 * V::LANES) + (n + m) * 8
}

/// Sweeps one register-full of pairs side by side.
struct SweepBatch<'a, 's, V: Register> {
    token: V::Token,
    x: &'a Side<V>,
    y: &'a Side<V>,
    ends: &'s [(usize, usize)],
    ranges: &'s ColumnRanges,
    tables: &'s mut BatchTables<V>,
    out: &'s mut [V::Scalar],
    /// Where the arrivals go, if anybody asks.
    choices: Option<&'s mut Cells>,
}

impl<'a, V: Register + 'a, P: Stored<'a, V>> Visitor<V, P> for SweepBatch<'a, '_, V> {
    type Output = ();

    #[inline(always)]
    fn visit<R: Recurrence<V, P>>(mut self, recurrence: R) {
        if R::LOCATES {
            unreachable!("a subsequence search needs the last row, which the batched sweep does not keep");
        }
        match self.choices.take() {
            None => V::compiled(
                self.token,
                #[inline(always)]
                || {
                    self.run::<P, R, _>(&recurrence, &mut Unrecorded);
                },
            ),
            Some(choices) if R::TRACES && !R::LOCATES => V::compiled(
                self.token,
                #[inline(always)]
                || {
                    self.run::<P, R, _>(&recurrence, choices);
                },
            ),
            Some(_) => unreachable!("callers ask Measure::has_path first"),
        }
    }
}

/// A batch whose matches' costs are wanted.
struct SweepOpen<'a, 's, V: Register>(SweepBatch<'a, 's, V>);

impl<'a, V: Register + 'a, P: Stored<'a, V>> Visitor<V, P> for SweepOpen<'a, '_, V> {
    type Output = ();

    #[inline(always)]
    fn visit<R: Recurrence<V, P>>(self, recurrence: R) {
        let Self(batch) = self;
        let mut least = Least::new(batch.token, batch.ends);
        let out = V::compiled(
            batch.token,
            #[inline(always)]
            || batch.run::<P, R, _>(&recurrence, &mut least),
        );
        out.copy_from_slice(&least.cost.lanes()[..out.len()]);
    }
}

impl<'a, 's, V: Register + 'a> SweepBatch<'a, 's, V> {
    /// Sweeps by the recurrence of the spec: of a subsequence search, for the costs of the best matches.
    #[inline(always)]
    fn dispatch<P: Stored<'a, V>>(self, quantity: Quantity, spec: &Spec, any: V) {
        match (spec.anchor, spec.measure) {
            (Anchor::Subsequence, Measure::Dtw { cost }) => {
                subsequence::visit_costs::<V, P, _>(any, cost, SweepOpen(self));
            }
            _ => dispatch_quantity::<V, P, _>(quantity, spec, any, self),
        }
    }

    /// Sweeps, and gives back where the results are: of each lane that of its last cell.
    #[inline(always)]
    fn run<P: Stored<'a, V>, R: Recurrence<V, P>, K: CellRecorder<V>>(
        self,
        recurrence: &R,
        recorder: &mut K,
    ) -> &'s mut [V::Scalar] {
        let Self { token, x, y, ends, ranges, tables, out, .. } = self;
        let (n, m) = (ranges.n(), ranges.m());
        let zero = V::splat(token, V::Scalar::ZERO);
        let BatchTables { x_gaps, y_gaps, weights, edge } = tables;
        if R::GAPS {
            x.fill_gaps::<P, R>(recurrence, ROWS, x_gaps);
            y.fill_gaps::<P, R>(recurrence, 0, y_gaps);
        }
        if R::WEIGHTS {
            weights.clear();
            for offset in 0..n.max(m) + ROWS {
                let mut weight = zero;
                for l in 0..V::LANES {
                    let (n, m) = ends[l.min(ends.len() - 1)];
                    weight.lanes_mut()[l] = V::Scalar::from_f64(recurrence.weight(offset, n, m));
                }
                weights.push(weight);
            }
        }
        let width = (m + 1) * R::State::PARTS;
        if edge.len() < width {
            edge.resize(width, zero);
        }
        let context = BatchContext { x, y, x_gaps, y_gaps, weights, ranges };
        batched::sweep::<V, P, R, K>(
            recurrence,
            context,
            ends,
            &mut edge[..width],
            recorder,
            #[inline(always)]
            |lane, parts| out[lane] = recurrence.finish(parts, ends[lane].0, ends[lane].1),
        );
        out
    }
}
