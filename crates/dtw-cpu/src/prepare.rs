//! A pair made ready for one recurrence, behind an interface that knows neither the recurrence nor the registers.
//!
//! Only the strips themselves are worth a copy per measure, point type and instruction set. What walks over the strips
//! (values, last rows, paths) is written against [`StripSweep`] and compiled once for each float type: with a copy per
//! measure it was a third of the crate's compile time.

use std::marker::PhantomData;
use std::ops::Range;

use dtw_core::recurrence::{One, Recurrence, State, Visitor};
use dtw_core::{ColumnRanges, Observer, Scalar, Spec};

use crate::choices::Choices;
use crate::diagonal::{PairContext, Unrecorded, strip, strip_rows};
use crate::lanes::Register;
use crate::line::{Line, Read, Strided};
use crate::quantity::{Quantity, dispatch_quantity};
use crate::tables::{Lines, Tables, border_column, border_row};

/// The two series of a single-pair sweep.
#[derive(Debug, Default)]
pub(crate) struct Pair<T> {
    pub(crate) x: Line<T>,
    pub(crate) y: Line<T>,
}

/// The strips of one pair under one recurrence.
pub(crate) trait StripSweep<T> {
    /// Values that are kept of a cell, at most 3.
    fn parts(&self) -> usize;
    /// Rows of a strip, at most.
    fn strip_rows(&self) -> usize;
    /// [`Recurrence::LEAVES_BAND`].
    fn leaves_band(&self) -> bool;
    /// Sweeps rows `rows` of the grid: from the first edge, above them, to the second, below, recording the arrivals in
    /// `choices`. Of a recurrence that locates, their last states go to the third, laid out as the border column,
    /// unless it is empty. Returns false where the observer cancelled.
    fn strip(
        &self,
        ranges: &ColumnRanges,
        rows: Range<usize>,
        edges: [&mut [T]; 3],
        choices: Option<&mut Choices>,
    ) -> bool;
    /// The result, from the parts of the last cell's state.
    fn finish(&self, parts: &[T], n: usize, m: usize) -> T;
}

/// Where the borders are written: the border row as an edge, and the border column.
pub(crate) struct Borders<'s, T> {
    /// Part by part, `m + 1` values each.
    pub(crate) edge: &'s mut Vec<T>,
    /// Part by part, `n + 1` values and padding each.
    pub(crate) column: &'s mut Vec<T>,
    /// As long as the column where the recurrence locates, else empty: where the last column goes.
    pub(crate) right: &'s mut Vec<T>,
    /// The column that the grid goes on from, laid out as the border column; nothing: it begins with its border.
    pub(crate) before: &'s [T],
}

/// Makes `pair` ready for the recurrence that `spec` and its quantity name and hands it to `work`, with the border row
/// as an edge.
pub(crate) fn with_strips<V: Register, O>(
    token: V::Token,
    (quantity, spec): (Quantity, &Spec),
    pair: &Pair<V::Scalar>,
    borders: Borders<'_, V::Scalar>,
    observer: &dyn Observer,
    work: impl FnOnce(&dyn StripSweep<V::Scalar>, &mut Vec<V::Scalar>, &mut [V::Scalar]) -> O,
) -> O {
    let mut work = Some(work);
    let mut done = None;
    let mut run = |strips: &dyn StripSweep<V::Scalar>, edge: &mut Vec<V::Scalar>, right: &mut [V::Scalar]| {
        done = work.take().map(|work| work(strips, edge, right));
    };
    let prepare = Prepare::<V> { token, pair, borders, observer, work: &mut run };
    let any = V::splat(token, V::Scalar::ZERO);
    if pair.x.channels() == 1 {
        dispatch_quantity::<V, One<V>, _>(quantity, spec, any, prepare);
    } else {
        dispatch_quantity::<V, Strided<'_, V>, _>(quantity, spec, any, prepare);
    }
    done.expect("every recurrence is handed on")
}

type Work<'w, T> = dyn FnMut(&dyn StripSweep<T>, &mut Vec<T>, &mut [T]) + 'w;

struct Prepare<'a, 's, V: Register> {
    token: V::Token,
    pair: &'a Pair<V::Scalar>,
    borders: Borders<'s, V::Scalar>,
    observer: &'s dyn Observer,
    work: &'s mut Work<'s, V::Scalar>,
}

impl<'a, V: Register + 'a, P: Read<'a, V>> Visitor<V, P> for Prepare<'a, '_, V> {
    type Output = ();

    #[inline(always)]
    fn visit<R: Recurrence<V, P>>(self, recurrence: R) {
        let Self { token, pair, borders, observer, work } = self;
        let lines = Lines { x: &pair.x, y: &pair.y };
        let Borders { edge, column, right, before } = borders;
        let tables = V::compiled(
            token,
            #[inline(always)]
            || {
                let (n, m) = (lines.x.length(), lines.y.length());
                let tables = Tables::new::<V, P, R>(&recurrence, token, lines, n, m);
                border_row::<V, P, R>(&recurrence, token, lines, &tables, m, edge);
                if before.is_empty() {
                    border_column::<V, P, R>(&recurrence, token, lines, &tables, n, column);
                }
                tables
            },
        );
        if !before.is_empty() {
            column.clear();
            column.extend_from_slice(before);
        }
        right.clear();
        if R::LOCATES {
            right.resize(column.len(), V::Scalar::ZERO);
        }
        let ready = Ready { token, recurrence, lines, tables: &tables, column, observer, point: PhantomData };
        work(&ready, edge, right);
    }
}

struct Ready<'a, 's, V: Register, P, R> {
    token: V::Token,
    recurrence: R,
    lines: Lines<'a, V::Scalar>,
    tables: &'s Tables<V::Scalar>,
    column: &'s [V::Scalar],
    observer: &'s dyn Observer,
    point: PhantomData<P>,
}

impl<'a, V, P, R> StripSweep<V::Scalar> for Ready<'a, '_, V, P, R>
where
    V: Register + 'a,
    P: Read<'a, V>,
    R: Recurrence<V, P>,
{
    fn parts(&self) -> usize {
        R::State::PARTS
    }

    fn strip_rows(&self) -> usize {
        strip_rows::<V>()
    }

    fn leaves_band(&self) -> bool {
        R::LEAVES_BAND
    }

    fn strip(
        &self,
        ranges: &ColumnRanges,
        rows: Range<usize>,
        [above, below, right]: [&mut [V::Scalar]; 3],
        choices: Option<&mut Choices>,
    ) -> bool {
        let Self { token, lines, tables, column, observer, .. } = *self;
        let context =
            PairContext { token, recurrence: &self.recurrence, lines, tables, ranges, column, observer };
        match choices {
            None => strip::<V, P, R, _>(&context, rows, above, below, right, &mut Unrecorded),
            Some(choices) if R::TRACES => strip::<V, P, R, _>(&context, rows, above, below, right, choices),
            Some(_) => unreachable!("callers ask Measure::has_path first, and trace matches as global paths"),
        }
    }

    fn finish(&self, parts: &[V::Scalar], n: usize, m: usize) -> V::Scalar {
        self.recurrence.finish(parts, n, m)
    }
}
