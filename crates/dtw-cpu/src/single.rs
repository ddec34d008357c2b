//! One pair by the diagonal sweep, strip after strip: its value, and its last row for subsequence searches.

use dtw_core::recurrence::{Recurrence, State, Visitor};
use dtw_core::{ColumnRanges, Error, Observer, Result, Scalar};

use crate::diagonal::{Grid, Unrecorded, strip, strip_rows};
use crate::lanes::Register;
use crate::line::{Line, Read};
use crate::tables::{Lines, Tables, border_column, border_row};

/// The two series of a single-pair sweep.
#[derive(Debug, Default)]
pub(crate) struct Pair<T> {
    pub(crate) x: Line<T>,
    pub(crate) y: Line<T>,
}

/// Memory of a single-pair sweep: O(n + m), reused from pair to pair.
#[derive(Debug, Default)]
pub(crate) struct Strips<T> {
    /// Border column, part by part.
    pub(crate) column: Vec<T>,
    /// The edge above the next strip, part by part, `m + 1` values each; after the last strip, the last row.
    pub(crate) edge: Vec<T>,
    /// The edge below.
    pub(crate) below: Vec<T>,
    /// Of a recurrence that locates, the states of the last column, laid out as the border column.
    pub(crate) right: Vec<T>,
}

impl<T: Scalar> Strips<T> {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        [&self.column, &self.edge, &self.below, &self.right].iter().map(|part| part.capacity()).sum::<usize>()
            * size_of::<T>()
    }
}

/// Sweeps one pair; returns its distance (for a subsequence recurrence: the last cell's) and leaves the last row in
/// `strips.edge` and, of a subsequence recurrence, the last column in `strips.right`.
pub(crate) struct SweepPair<'a, 's, V: Register> {
    pub(crate) token: V::Token,
    pub(crate) pair: &'a Pair<V::Scalar>,
    pub(crate) ranges: &'s ColumnRanges,
    /// The column that the grid goes on from, laid out as the border column; nothing: it begins with its border.
    pub(crate) before: &'s [V::Scalar],
    pub(crate) strips: &'s mut Strips<V::Scalar>,
    pub(crate) observer: &'s dyn Observer,
}

impl<'a, V: Register + 'a, P: Read<'a, V>> Visitor<V, P> for SweepPair<'a, '_, V> {
    type Output = Result<V::Scalar>;

    #[inline(always)]
    fn visit<R: Recurrence<V, P>>(self, recurrence: R) -> Self::Output {
        V::compiled(
            self.token,
            #[inline(always)]
            || self.run(&recurrence),
        )
    }
}

impl<'a, V: Register + 'a> SweepPair<'a, '_, V> {
    #[inline(always)]
    fn run<P: Read<'a, V>, R: Recurrence<V, P>>(self, recurrence: &R) -> Result<V::Scalar> {
        let Self { token, pair, ranges, before, strips, observer } = self;
        let (n, m) = (ranges.n(), ranges.m());
        let lines = Lines { x: &pair.x, y: &pair.y };
        let tables = Tables::new::<V, P, R>(recurrence, token, lines, n, m);
        border_row::<V, P, R>(recurrence, token, lines, &tables, m, &mut strips.edge);
        if before.is_empty() {
            border_column::<V, P, R>(recurrence, token, lines, &tables, n, &mut strips.column);
        } else {
            strips.column.clear();
            strips.column.extend_from_slice(before);
        }
        strips.right.clear();
        if R::LOCATES {
            strips.right.resize(strips.column.len(), V::Scalar::ZERO);
        }
        strips.below.clear();
        strips.below.resize(strips.edge.len(), V::Scalar::ZERO);
        let column = &strips.column;
        let grid = Grid { token, recurrence, lines, tables: &tables, ranges, column, observer };
        let height = strip_rows::<V, P, R::State, Unrecorded>();
        for first in (0..n).step_by(height) {
            let rows = first..(first + height).min(n);
            let cells = (rows.clone()).map(|i| ranges.row(i).len() as u64).sum();
            let Strips { edge, below, right, .. } = strips;
            let finished = strip::<V, P, R, _>(&grid, rows, edge, below, right, &mut Unrecorded);
            if !finished {
                return Err(Error::Cancelled);
            }
            observer.advance(cells);
            std::mem::swap(&mut strips.edge, &mut strips.below);
        }
        let mut parts = [V::Scalar::ZERO; 3];
        for (k, part) in parts.iter_mut().enumerate().take(R::State::PARTS) {
            *part = strips.edge[k * (m + 1) + m];
        }
        Ok(recurrence.finish(&parts[..R::State::PARTS], n, m))
    }
}
