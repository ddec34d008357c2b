//! The diagonal sweep: one pair, the cells of an anti-diagonal side by side in the lanes.
//!
//! Cells of a diagonal do not depend on each other, so every register is full from the first long diagonal on. Memory is
//! linear: three diagonals, and rows are taken in strips of [`STRIP`] so that these stay in the first cache; between
//! strips lies one row, the *edge*. A band only shortens the run of rows on each diagonal: nothing outside it is
//! visited.

use std::ops::Range;

use dtw_core::diagonal::Diagonals;
use dtw_core::recurrence::{Recurrence, SETTLE_EVERY, State};
use dtw_core::{ColumnRanges, Observer, Scalar};

use crate::lanes::Register;
use crate::line::{Line, PAD, Read};

/// Rows of a strip.
pub(crate) const STRIP: usize = 1024;

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

/// Three diagonals of a strip.
#[derive(Debug, Default)]
pub(crate) struct Diagonal3<T> {
    buffers: [Vec<T>; 3],
    stride: usize,
}

impl<T: Scalar> Diagonal3<T> {
    fn reset<S: State<V>, V: Register<Scalar = T>>(&mut self, rows: usize, forbidden: S) {
        self.stride = rows + 2 + PAD;
        for buffer in &mut self.buffers {
            buffer.clear();
            for k in 0..S::PARTS {
                buffer.resize((k + 1) * self.stride, forbidden.part(k).lanes()[0]);
            }
        }
    }
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.buffers.iter().map(|b| b.capacity() * size_of::<T>()).sum()
    }
}

/// Hears which arrival each cell chose.
pub(crate) trait Recorder {
    /// Whether it listens at all.
    const ON: bool;
    /// Diagonal `t` (`i + j`, 1-based) begins.
    fn begin(&mut self, t: usize);
    /// Of the rows `k..` of the strip (1-based, `k − 1` a multiple of the lane count), bit by bit: whether the best
    /// arrival is the diagonal, and whether it is from above.
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

#[inline(always)]
fn load<V: Register, S: State<V>>(token: V::Token, from: &[V::Scalar], stride: usize, at: usize) -> S {
    S::from_parts(|k| V::load(token, &from[k * stride + at..]))
}

#[inline(always)]
fn store<V: Register, S: State<V>>(to: &mut [V::Scalar], stride: usize, at: usize, state: S) {
    for k in 0..S::PARTS {
        state.part(k).store(&mut to[k * stride + at..]);
    }
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

/// The border column: the states of `(0..=n, 0)`, part by part, `n + 1` values each.
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
    column.resize((n + 1) * R::State::PARTS, V::Scalar::ZERO);
    let mut state = recurrence.origin();
    store_one(column, n + 1, 0, state);
    for i in 1..=n {
        state =
            recurrence.border_down(state, &lines.x.sample::<V, P, R>(token, &tables.x_gaps, lines.x.slot(i)));
        store_one(column, n + 1, i, state);
    }
}

/// Sweeps rows `rows` (0-based) of the grid: from the edge above them to the edge below.
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
    diagonals: &mut Diagonal3<V::Scalar>,
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
    let parts = R::State::PARTS;
    let (above, below) = edges;
    let n = column.len() / parts - 1;
    let edge_stride = above.len() / parts;
    let below_stride = below.len() / parts;
    let (a, height) = (rows.start, rows.len());
    let forbidden = recurrence.forbidden();
    diagonals.reset::<R::State, V>(height, forbidden);
    let stride = diagonals.stride;
    let [mut before_last, mut last, mut here] = {
        let [b0, b1, b2] = &mut diagonals.buffers;
        [b0.as_mut_slice(), b1.as_mut_slice(), b2.as_mut_slice()]
    };
    for j in 0..below_stride {
        store_one(below, below_stride, j, forbidden);
    }
    for k in 0..parts {
        below[k * below_stride] = column[k * (n + 1) + a + height];
    }
    // Diagonals are numbered by 1-based i + j: row k of the strip is i = a + k.
    let first = ranges.row(a).start + a + 2;
    let end = ranges.row(rows.end - 1).end + rows.end;
    let copy_edge = |to: &mut [V::Scalar], t: usize| {
        for k in 0..parts {
            to[k * stride] = above[k * edge_stride + t - a];
        }
    };
    let copy_border = |to: &mut [V::Scalar], t: usize| {
        for k in 0..parts {
            to[k * stride + (t - a)] = column[k * (n + 1) + t];
        }
    };
    copy_edge(before_last, first - 2);
    copy_edge(last, first - 1);
    if first == a + 2 {
        copy_border(last, a + 1);
    }
    let mut runs = Diagonals::new(ranges, rows);
    for t in first..=end {
        let run = runs.run(t - 2);
        let (k_first, k_end) = (run.start - a + 1, run.end - a + 1);
        recorder.begin(t);
        let settle = R::SETTLES && t % (SETTLE_EVERY - 4) < 2;
        let mut k = if K::ON { k_first - (k_first - 1) % V::LANES } else { k_first };
        while k < k_end {
            let i = a + k;
            let x = lines.x.sample::<V, P, R>(token, &tables.x_gaps, PAD + i);
            let y = lines.y.sample::<V, P, R>(token, &tables.y_gaps, lines.y.slot(0) + i - t);
            let weight = if R::WEIGHTS {
                tables.weights.read::<V>(token, i, t)
            } else {
                V::splat(token, V::Scalar::ZERO)
            };
            let diagonal: R::State = load(token, before_last, stride, k - 1);
            let up: R::State = load(token, last, stride, k - 1);
            let left: R::State = load(token, last, stride, k);
            let price = recurrence.price(&x, &y, weight);
            let mut state = recurrence.combine(diagonal, up, left, price);
            if K::ON {
                let [by_diagonal, by_up, by_left] = recurrence.arrivals(diagonal, up, left, price);
                let is_diagonal = by_diagonal.less_equal(by_up.min(by_left));
                recorder.chosen(k, V::LANES, V::bits(is_diagonal), V::bits(by_up.less_equal(by_left)));
            }
            if settle {
                state = recurrence.settle(state);
            }
            store(here, stride, k, state);
            k += V::LANES;
        }
        // What lies beside the run: the border, the edge above, or nothing.
        if k_end <= height {
            if k_end == t - a {
                copy_border(here, t);
            } else {
                for (p, value) in (0..parts).map(|p| (p, forbidden.part(p).lanes()[0])) {
                    here[p * stride + k_end] = value;
                }
            }
        }
        if k_first > 1 {
            for (p, value) in (0..parts).map(|p| (p, forbidden.part(p).lanes()[0])) {
                here[p * stride + k_first - 1] = value;
            }
        } else if t - a < edge_stride {
            copy_edge(here, t);
        }
        if k_end == height + 1 && k_first <= height {
            for p in 0..parts {
                below[p * below_stride + t - a - height] = here[p * stride + height];
            }
        }
        (before_last, last, here) = (last, here, before_last);
        if t % OBSERVE_EVERY == 0 && observer.cancelled() {
            return false;
        }
    }
    true
}
