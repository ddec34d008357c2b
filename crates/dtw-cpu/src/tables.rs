//! What the diagonal sweep of a pair needs beside the pair: gap costs, weights, and the borders of the grid.

use dtw_core::Scalar;
use dtw_core::recurrence::{Recurrence, State};

use crate::lanes::Register;
use crate::line::{Line, PAD, Read};

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
    pub(crate) x_gaps: Vec<T>,
    pub(crate) y_gaps: Vec<T>,
    pub(crate) weights: Weights<T>,
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
        let known: Vec<T> = (0..n.max(m)).map(|offset| T::from_f64(weight(offset))).collect();
        let table = |odd: i64| {
            let offset = |q: usize| (2 * (q as i64 - middle as i64) + odd).unsigned_abs() as usize;
            // Lanes beyond the grid read on.
            (0..end).map(|q| known.get(offset(q)).copied().unwrap_or(T::ZERO)).collect()
        };
        Self { tables: [table(0), table(1)], middle }
    }

    #[inline(always)]
    pub(crate) fn read<V: Register<Scalar = T>>(&self, token: V::Token, i: usize, t: usize) -> V {
        let odd = t % 2;
        V::load(token, &self.tables[odd][self.middle + i - t.div_ceil(2)..])
    }
}

/// Writes lane 0.
#[inline(always)]
pub(crate) fn store_one<V: Register, S: State<V>>(to: &mut [V::Scalar], stride: usize, at: usize, state: S) {
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

/// The state at column `j` of an edge, in every lane; `forbidden` beyond its end.
#[inline(always)]
pub(crate) fn read_edge<V: Register, S: State<V>>(
    token: V::Token,
    edge: &[V::Scalar],
    stride: usize,
    j: usize,
    forbidden: S,
) -> S {
    if j >= stride {
        return forbidden;
    }
    S::from_parts(
        #[inline(always)]
        |k| V::splat(token, edge[k * stride + j]),
    )
}

/// States from slot `at` on, one per lane.
#[inline(always)]
pub(crate) fn load<V: Register, S: State<V>>(
    token: V::Token,
    from: &[V::Scalar],
    stride: usize,
    at: usize,
) -> S {
    S::from_parts(
        #[inline(always)]
        |k| V::load(token, &from[k * stride + at..]),
    )
}
