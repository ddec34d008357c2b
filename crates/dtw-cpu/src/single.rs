//! One pair by the diagonal sweep, strip after strip: its value, and its last row for subsequence searches.

use dtw_core::recurrence::MOST_PARTS;
use dtw_core::{ColumnRanges, Error, Observer, Result, Scalar, Spec};

use crate::lanes::Register;
use crate::prepare::{Borders, Pair, StripSweep, with_strips};
use crate::quantity::Quantity;

/// Points of a reference that are swept at once, where memory allows.
pub(crate) const MOST_POINTS: usize = 1 << 15;

/// Memory of a single-pair sweep: O(n + m), reused from pair to pair.
#[derive(Debug, Default)]
pub(crate) struct Strips<T> {
    /// Border column, part by part.
    column: Vec<T>,
    /// The edge above the next strip, part by part, `m + 1` values each; after the last strip, the last row.
    pub(crate) edge: Vec<T>,
    /// The edge below.
    below: Vec<T>,
    /// States of the last column, laid out as the border column; of a recurrence that locates.
    pub(crate) right: Vec<T>,
}

impl<T: Scalar> Strips<T> {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        [&self.column, &self.edge, &self.below, &self.right].iter().map(|part| part.capacity()).sum::<usize>()
            * size_of::<T>()
    }

    /// Sweeps one pair; returns its distance (for a subsequence recurrence: the last cell's) and leaves the last row in
    /// `self.edge` and, of a subsequence recurrence, the last column in `self.right`. `before` is the column that the
    /// grid goes on from, laid out as the border column; nothing: it begins with its border.
    pub(crate) fn sweep<V: Register<Scalar = T>>(
        &mut self,
        token: V::Token,
        spec: (Quantity, &Spec),
        pair: &Pair<T>,
        ranges: &ColumnRanges,
        before: &[T],
        observer: &dyn Observer,
    ) -> Result<T> {
        let Self { column, edge, below, right } = self;
        let borders = Borders { edge, column, right, before };
        with_strips::<V, _>(token, spec, pair, borders, observer, |strips, edge, right| {
            sweep_rows(strips, ranges, [edge, below], right, observer)
        })
    }
}

/// Sweeps all rows, from the border row in `edge` to the last row in `edge`, and the last column into `right`.
fn sweep_rows<T: Scalar>(
    strips: &dyn StripSweep<T>,
    ranges: &ColumnRanges,
    [edge, below]: [&mut Vec<T>; 2],
    right: &mut [T],
    observer: &dyn Observer,
) -> Result<T> {
    let (n, m) = (ranges.n(), ranges.m());
    below.clear();
    below.resize(edge.len(), T::ZERO);
    let height = strips.strip_rows();
    for first in (0..n).step_by(height) {
        let rows = first..(first + height).min(n);
        let cells = (rows.clone()).map(|i| ranges.row(i).len() as u64).sum();
        if !strips.strip(ranges, rows, [edge, below, right], None) {
            return Err(Error::Cancelled);
        }
        observer.advance(cells);
        std::mem::swap(edge, below);
    }
    let mut parts = [T::ZERO; MOST_PARTS];
    for (k, part) in parts.iter_mut().enumerate().take(strips.parts()) {
        *part = edge[k * (m + 1) + m];
    }
    Ok(strips.finish(&parts[..strips.parts()], n, m))
}
