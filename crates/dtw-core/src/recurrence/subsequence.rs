//! Subsequence DTW: DTW with a free start (border row 0 everywhere, border column `∞`) and a free end (minimum over the
//! last row). Each cell carries the reference column where its path starts.
//!
//! [`visit_costs`] leaves the starts out, for callers that want the costs alone.
//!
//! Equal arrivals: diagonal, then up, then left, the order in which a path is walked back. Sakoe & Chiba's recurrence
//! with open ends; Müller 2007, 10.1007/978-3-540-74048-3, section 4.4.

use super::cost::{Cost, Manhattan, SquaredEuclidean};
use super::dtw::Dtw;
use super::point::Apart;
use super::{Point, Recurrence, Sample, State, Visitor};
use crate::vector::Vector;
use crate::{LocalCost, Scalar};

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
    #[inline(always)]
    fn origin(any: V) -> Self {
        let zero = any.like(V::Scalar::ZERO);
        Self { total: zero, start: zero.index_pattern(0) }
    }
    #[inline(always)]
    fn forbidden(any: V) -> Self {
        let infinity = any.like(V::Scalar::INFINITY);
        Self { total: infinity, start: infinity.index_pattern(0) }
    }
}

/// Subsequence DTW with local cost `C`.
#[derive(Debug, Clone, Copy)]
pub struct Subsequence<V, C> {
    dtw: Dtw<V, C>,
}

impl<V: Vector, P: Point<V>, C: Cost<V, P>> Recurrence<V, P> for Subsequence<V, C> {
    type State = Located<V>;
    type Price = V;
    const LOCATES: bool = true;
    /// A match's path is that of DTW between the query and the matched stretch.
    const TRACES: bool = false;

    #[inline(always)]
    fn any(&self) -> V {
        Recurrence::<V, P>::any(&self.dtw)
    }
    #[inline(always)]
    fn border_right(&self, _: Located<V>, _: &Sample<V, P>, j: usize) -> Located<V> {
        let zero = Recurrence::<V, P>::any(self).like(V::Scalar::ZERO);
        Located { total: zero, start: zero.index_pattern(j) }
    }
    #[inline(always)]
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        self.dtw.cost.between_each(x, y)
    }
    #[inline(always)]
    fn price(&self, _: &Sample<V, P>, _: &Sample<V, P>, [here, _]: [V; 2], _: V) -> V {
        here
    }
    #[inline(always)]
    fn combine(&self, diagonal: Located<V>, up: Located<V>, left: Located<V>, price: V) -> Located<V> {
        let up_first = up.total.less_equal(left.total);
        let other = up.total.min(left.total);
        let other_start = V::select(up_first, up.start, left.start);
        let diagonal_first = diagonal.total.less_equal(other);
        Located {
            total: self.dtw.cost.add_to(diagonal.total.min(other), price),
            start: V::select(diagonal_first, diagonal.start, other_start),
        }
    }
}

/// Hands the recurrence of DTW with both ends open to `visitor`; costs as in [`super::dtw::visit`].
#[inline(always)]
pub fn visit<V: Vector, P: Point<V>, F: Visitor<V, P>>(any: V, cost: LocalCost, visitor: F) -> F::Output {
    match cost {
        LocalCost::SquaredEuclidean => visitor.visit(Subsequence { dtw: Dtw::new(any, SquaredEuclidean) }),
        _ if P::UNIVARIATE => visitor.visit(Subsequence { dtw: Dtw::new(any, Manhattan) }),
        _ => visitor.visit(Subsequence { dtw: Dtw::new(any, cost) }),
    }
}

/// Hands the recurrence of the totals of [`Subsequence`] alone to `visitor`, as [`visit`] does. Where paths start is
/// not kept.
#[inline(always)]
pub fn visit_costs<V: Vector, P: Point<V>, F: Visitor<V, P>>(
    any: V,
    cost: LocalCost,
    visitor: F,
) -> F::Output {
    match cost {
        LocalCost::SquaredEuclidean => visitor.visit(Dtw::open(any, SquaredEuclidean)),
        _ if P::UNIVARIATE => visitor.visit(Dtw::open(any, Manhattan)),
        _ => visitor.visit(Dtw::open(any, cost)),
    }
}
