//! Subsequence DTW: DTW with a free start (border row 0 everywhere, border column `∞`) and a free end (minimum over the
//! last row). Each cell carries the reference column where its path starts.
//!
//! Equal arrivals: diagonal, then up, then left, the order in which a path is walked back. Sakoe & Chiba's recurrence with
//! open ends; Müller 2007, 10.1007/978-3-540-74048-3, section 4.4.

use super::{Cost, Dtw, Point, Recurrence, Sample, State};
use crate::vector::Vector;

/// A total and the column where its path starts, 0-based, as a bit pattern ([`Vector::index_pattern`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located<V> {
    /// Accumulated cost.
    pub total: V,
    /// Start column.
    pub start: V,
}

impl<V: Vector> State<V> for Located<V> {
    const PARTS: usize = 2;
    #[inline(always)]
    fn part(&self, k: usize) -> V {
        if k == 0 { self.total } else { self.start }
    }
    #[inline(always)]
    fn from_parts(part: impl Fn(usize) -> V) -> Self {
        Self { total: part(0), start: part(1) }
    }
}

/// Subsequence DTW with local cost `C`.
#[derive(Debug, Clone, Copy)]
pub struct Subsequence<V, C> {
    dtw: Dtw<V, C>,
}

impl<V: Vector, C> Subsequence<V, C> {
    /// Opens both ends of `dtw` in the reference.
    #[inline(always)]
    pub fn new(dtw: Dtw<V, C>) -> Self {
        Self { dtw }
    }
}

impl<V: Vector, P: Point<V>, C: Cost<V, P>> Recurrence<V, P> for Subsequence<V, C> {
    type State = Located<V>;
    type Price = V;
    const LOCATES: bool = true;
    /// A match's path is that of DTW between the query and the matched stretch.
    const TRACES: bool = false;

    #[inline(always)]
    fn origin(&self) -> Located<V> {
        let zero = Recurrence::<V, P>::origin(&self.dtw).0;
        Located { total: zero, start: zero.index_pattern(0) }
    }
    #[inline(always)]
    fn forbidden(&self) -> Located<V> {
        let infinity = Recurrence::<V, P>::forbidden(&self.dtw).0;
        Located { total: infinity, start: infinity.index_pattern(0) }
    }
    #[inline(always)]
    fn border_down(&self, _: Located<V>, _: &Sample<V, P>) -> Located<V> {
        Recurrence::<V, P>::forbidden(self)
    }
    #[inline(always)]
    fn border_right(&self, _: Located<V>, _: &Sample<V, P>, j: usize) -> Located<V> {
        let zero = Recurrence::<V, P>::origin(&self.dtw).0;
        Located { total: zero, start: zero.index_pattern(j) }
    }
    #[inline(always)]
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, _: V) -> V {
        C::between(x.point, y.point)
    }
    #[inline(always)]
    fn arrivals(&self, diagonal: Located<V>, up: Located<V>, left: Located<V>, _: V) -> [V; 3] {
        [diagonal.total, up.total, left.total]
    }
    #[inline(always)]
    fn combine(&self, diagonal: Located<V>, up: Located<V>, left: Located<V>, price: V) -> Located<V> {
        let up_first = up.total.less_equal(left.total);
        let other = up.total.min(left.total);
        let other_start = V::select(up_first, up.start, left.start);
        let diagonal_first = diagonal.total.less_equal(other);
        Located {
            total: C::add_to(diagonal.total.min(other), price),
            start: V::select(diagonal_first, diagonal.start, other_start),
        }
    }
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], _: usize, _: usize) -> V::Scalar {
        parts[0]
    }
}
