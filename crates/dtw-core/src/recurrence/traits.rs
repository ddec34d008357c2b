//! What a measure is as code: what a cell costs, how arrivals combine, and what is kept of a cell.

use super::Point;
use super::point::{Apart, min3};
use crate::Scalar;
use crate::vector::Vector;

/// What one row or one column brings to the prices of its cells.
#[derive(Debug, Clone, Copy)]
pub struct Sample<V, P> {
    /// The point.
    pub point: P,
    /// The point before it; zero before the first.
    pub previous: P,
    /// Its timestamp. Only filled where [`Recurrence::TIMES`].
    pub time: V,
    /// The timestamp before it; 0 before the first. Only filled where [`Recurrence::TIMES`].
    pub previous_time: V,
    /// [`Recurrence::gap`] of this sample. Only filled where [`Recurrence::GAPS`].
    pub gap: V,
}

/// What a sweep keeps of a cell: one or more vectors.
pub trait State<V: Vector>: Copy {
    /// Number of vectors.
    const PARTS: usize;
    /// The `k`-th vector, `k < PARTS`.
    fn part(&self, k: usize) -> V;
    /// The state made of these vectors.
    fn from_parts(part: impl Fn(usize) -> V) -> Self;
    /// That of the cell where paths start, as wide as `any`.
    fn origin(any: V) -> Self;
    /// That of a cell where no path may be, as wide as `any`: never chosen.
    fn forbidden(any: V) -> Self;
}

/// The largest [`State::PARTS`].
pub const MOST_PARTS: usize = 5;

/// A single number per cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value<V>(pub V);

impl<V: Vector> State<V> for Value<V> {
    const PARTS: usize = 1;
    #[inline(always)]
    fn part(&self, _: usize) -> V {
        self.0
    }
    #[inline(always)]
    fn from_parts(part: impl Fn(usize) -> V) -> Self {
        Self(part(0))
    }
    #[inline(always)]
    fn origin(any: V) -> Self {
        Self(any.like(V::Scalar::ZERO))
    }
    #[inline(always)]
    fn forbidden(any: V) -> Self {
        Self(any.like(V::Scalar::INFINITY))
    }
}

/// A measure: prices of arrivals and how they combine.
pub trait Recurrence<V: Vector, P: Point<V>>: Copy {
    /// What is kept of a cell.
    type State: State<V>;
    /// What a cell costs.
    type Price: Copy;

    /// Whether [`Sample::gap`] is used.
    const GAPS: bool = false;
    /// Whether [`Sample::time`] is used.
    const TIMES: bool = false;
    /// Whether [`Recurrence::price`] uses its `weight`.
    const WEIGHTS: bool = false;
    /// Whether [`Recurrence::price`] uses how far apart the points before these are.
    const LOOKS_BACK: bool = false;
    /// Whether [`Recurrence::apart`] may take roots, which take time beside the sums of the next cells.
    const ROOTS: bool = false;
    /// Whether the state tells where a free path starts, so that the whole last row is the result.
    const LOCATES: bool = false;
    /// Whether one best path makes the value, so that [`Recurrence::arrivals`] decides a warping path.
    const TRACES: bool = true;
    /// Whether a band restricts prices only and cells outside it have a value: [`Recurrence::outside`].
    const LEAVES_BAND: bool = false;
    /// Whether [`Recurrence::rescale`] must be called: at least once in [`RESCALE_EVERY`] steps along any path.
    const RESCALES: bool = false;
    /// Whether no state, as it is computed, is below the least of the states that it is reached from: of non-negative
    /// prices and monotone rounding. Then a cell whose state reaches a cut is on no path below it.
    const GROWS: bool = false;

    /// Any vector: it says how wide constants are.
    fn any(&self) -> V;
    /// The state of cell `(0, 0)`.
    #[inline(always)]
    fn origin(&self) -> Self::State {
        Self::State::origin(self.any())
    }
    /// The state of a cell that no path may visit: never chosen.
    #[inline(always)]
    fn forbidden(&self) -> Self::State {
        Self::State::forbidden(self.any())
    }
    /// The state of a cell outside the band, from those above it and to its left.
    #[inline(always)]
    fn outside(&self, up: Self::State, left: Self::State) -> Self::State {
        let _ = (up, left);
        self.forbidden()
    }
    /// Border column: the state of `(i, 0)` from that of `(i−1, 0)`.
    #[inline(always)]
    fn border_down(&self, above: Self::State, x: &Sample<V, P>) -> Self::State {
        let _ = (above, x);
        self.forbidden()
    }
    /// Border row: the state of `(0, j)` from that of `(0, j−1)`. `j` is 1-based.
    #[inline(always)]
    fn border_right(&self, left: Self::State, y: &Sample<V, P>, j: usize) -> Self::State {
        let _ = (left, y, j);
        self.forbidden()
    }
    /// The part of the prices that one point alone decides (cost of deleting it).
    #[inline(always)]
    fn gap(&self, sample: &Sample<V, P>) -> V {
        sample.gap
    }
    /// Weight of cells with `|i − j| = offset` for lengths `n`, `m`.
    fn weight(&self, offset: usize, n: usize, m: usize) -> f64 {
        let _ = (offset, n, m);
        1.0
    }
    /// How far apart each of some points of x and each of some points of y are, as [`Recurrence::price`] wants it: the
    /// part of the prices that takes all channels.
    fn apart<const ROWS: usize, const COLUMNS: usize>(
        &self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS>;
    /// What arriving at the cell of `x` and `y` costs. `apart` says how far apart they are, and how far the points
    /// before them are ([`Recurrence::LOOKS_BACK`]).
    fn price(&self, x: &Sample<V, P>, y: &Sample<V, P>, apart: [V; 2], weight: V) -> Self::Price;
    /// The same of one cell on its own.
    #[inline(always)]
    fn price_alone(&self, x: &Sample<V, P>, y: &Sample<V, P>, weight: V) -> Self::Price {
        let [[here]] = self.apart([x.point], [y.point]);
        let before = if Self::LOOKS_BACK {
            let [[before]] = self.apart([x.previous], [y.previous]);
            before
        } else {
            here
        };
        self.price(x, y, [here, before], weight)
    }
    /// At most what it costs, as computed, to arrive at the row or column of `sample` for the first time, which every
    /// path does. `reach` holds the least and the largest point of the other series that it may meet, `before` those of
    /// the points before them, `weight` the least weight of such a cell. Only of points of one channel, and where
    /// [`Recurrence::GROWS`]. The default: nothing.
    #[inline(always)]
    fn least(&self, sample: &Sample<V, P>, reach: [V; 2], before: [V; 2], weight: V) -> V {
        let _ = (sample, reach, before, weight);
        self.any().like(V::Scalar::ZERO)
    }
    /// Comparable totals of arriving by the diagonal, from above and from the left (up to a common term); smaller is
    /// better. Decides warping paths, where [`Recurrence::TRACES`]. The default: all three cost the same.
    #[inline(always)]
    fn arrivals(
        &self,
        diagonal: Self::State,
        up: Self::State,
        left: Self::State,
        price: Self::Price,
    ) -> [V; 3] {
        let _ = price;
        [diagonal.part(0), up.part(0), left.part(0)]
    }
    /// The cell's state: the least arrival, unless the measure says otherwise.
    #[inline(always)]
    fn combine(
        &self,
        diagonal: Self::State,
        up: Self::State,
        left: Self::State,
        price: Self::Price,
    ) -> Self::State {
        let [diagonal, up, left] = self.arrivals(diagonal, up, left, price);
        let least = min3(diagonal, up, left);
        Self::State::from_parts(|_| least)
    }
    /// An equal state in a form that is safe for [`RESCALE_EVERY`] more steps.
    #[inline(always)]
    fn rescale(&self, state: Self::State) -> Self::State {
        state
    }
    /// The result, from one lane of the last cell's state.
    #[inline(always)]
    fn finish(&self, parts: &[V::Scalar], n: usize, m: usize) -> V::Scalar {
        let _ = (n, m);
        parts[0]
    }
}

/// Steps along a path between two calls of [`Recurrence::rescale`], at most.
pub const RESCALE_EVERY: usize = 24;

/// Something that can be done with any recurrence; see [`super::dispatch`].
pub trait Visitor<V: Vector, P: Point<V>> {
    /// What it returns.
    type Output;
    /// Does it.
    fn visit<R: Recurrence<V, P>>(self, recurrence: R) -> Self::Output;
}
