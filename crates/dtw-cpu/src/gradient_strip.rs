//! One strip of rows of a Soft-DTW gradient, forward and backward. The states of its rows stay in registers.
//!
//! Forward, the rows are taken one column apart: in step `t`, row `r` is at column `t − r`. The cells of a step do not
//! depend on each other, so the processor works on all of them at once. With all rows in the same column, each cell
//! would wait for the one above.
//!
//! Backward, three multiplications and two additions are left for each cell, as the division is done on the way
//! forward: the weights of a cell are the shares of its three predecessors in it.
//!
//! [`Strip::sweep`] and [`pull`] are compiled for each local cost, for points of one channel and for points of several.
//! Their callers, which lead from strip to strip, are compiled once. When callers were compiled for each cost too,
//! gradients took a third of the time that this crate takes to compile.

use dtw_core::recurrence::cost::{Cost, Manhattan, Slope, SquaredEuclidean};
use dtw_core::recurrence::{One, RESCALE_EVERY, Recurrence, Sample, Scaled, SoftDtw};
use dtw_core::{LocalCost, Scalar};

use crate::gradient_tiles::ROWS;
use crate::lanes::Register;
use crate::side::{Side, Stored};

/// Steps between two rescaled states. Before the first of them and after the last, rows begin and end one by one.
const RESCALE_STEPS: usize = RESCALE_EVERY - 2 * ROWS;
/// Less than any sum of mantissas that is not zero.
const LEAST_SUM: f64 = 1e-12;

/// The shares of the diagonal, upper and left neighbour in a cell, for each row of a strip.
pub(crate) type Weights<V> = [[V; 3]; ROWS];

/// A strip of a grid.
pub(crate) struct Strip<'a, V: Register> {
    pub(crate) token: V::Token,
    pub(crate) soft: &'a SoftDtw<V, LocalCost>,
    pub(crate) x: &'a Side<V>,
    pub(crate) y: &'a Side<V>,
    /// Its first row, 0-based.
    pub(crate) first: usize,
}

/// Consecutive columns of a strip, and what a sweep of them reads and writes.
pub(crate) struct Stretch<'w, V> {
    /// The first one, 0-based.
    pub(crate) first: usize,
    /// The states of each column in the row above the strip, and then in its last row.
    pub(crate) edge: &'w mut [Scaled<V>],
    /// The states of the column before the first, and then of the last.
    pub(crate) before: &'w mut Before<V>,
    /// Where the weights of each column go, if anywhere.
    pub(crate) weights: Option<&'w mut [Weights<V>]>,
    /// The columns of each row, as [`bounded`] has them: cells outside are zero. All columns, if there are none.
    pub(crate) bounds: Option<[(V, V); ROWS]>,
}

impl<'a, V: Register + 'a> Strip<'a, V> {
    /// Sweeps these columns, from the first on.
    pub(crate) fn sweep(&self, stretch: Stretch<'_, V>) {
        let is_univariate = self.x.channels() == 1;
        match self.soft.cost() {
            LocalCost::SquaredEuclidean if is_univariate => {
                self.sweep_by::<One<V>, _>(SquaredEuclidean, stretch);
            }
            LocalCost::SquaredEuclidean => self.sweep_by::<&[V], _>(SquaredEuclidean, stretch),
            // Of one channel the Euclidean cost is the Manhattan cost.
            _ if is_univariate => self.sweep_by::<One<V>, _>(Manhattan, stretch),
            LocalCost::Manhattan => self.sweep_by::<&[V], _>(Manhattan, stretch),
            cost @ LocalCost::Euclidean => self.sweep_by::<&[V], _>(cost, stretch),
        }
    }

    fn sweep_by<P: Stored<'a, V>, C: Cost<V, P>>(&self, cost: C, stretch: Stretch<'_, V>) {
        match (stretch.weights.is_some(), stretch.bounds.is_some()) {
            (false, false) => self.compiled::<P, C, false, false>(cost, stretch),
            (false, true) => self.compiled::<P, C, false, true>(cost, stretch),
            (true, false) => self.compiled::<P, C, true, false>(cost, stretch),
            (true, true) => self.compiled::<P, C, true, true>(cost, stretch),
        }
    }

    #[inline(never)]
    fn compiled<P: Stored<'a, V>, C: Cost<V, P>, const KEEP: bool, const MASKED: bool>(
        &self,
        cost: C,
        stretch: Stretch<'_, V>,
    ) {
        let Self { token, soft, x, y, first } = *self;
        V::compiled(
            token,
            #[inline(always)]
            || {
                let zero = V::splat(token, V::Scalar::ZERO);
                let rows = std::array::from_fn(
                    #[inline(always)]
                    |r| x.sample::<P, SoftDtw<V, C>>(&[], first + r + 1),
                );
                let soft = SoftDtw::new(zero, soft.gamma(), cost);
                let bounds = stretch.bounds.unwrap_or([(zero, zero); ROWS]);
                let weights = stretch.weights.unwrap_or_default();
                let priced = Priced { soft: &soft, rows, y, bounds };
                priced.sweep::<KEEP, MASKED>(stretch.first, stretch.edge, stretch.before, weights);
            },
        );
    }
}

/// What the cells of a strip are priced from, of one cost and one kind of points.
struct Priced<'s, 'a, V, P, C> {
    soft: &'s SoftDtw<V, C>,
    rows: [Sample<V, P>; ROWS],
    y: &'a Side<V>,
    /// Columns of each row, per lane, as [`bounded`] has them.
    bounds: [(V, V); ROWS],
}

impl<'a, V: Register + 'a, P: Stored<'a, V>, C: Cost<V, P>> Priced<'_, 'a, V, P, C> {
    /// [`Strip::sweep`]: with weights where `KEEP`, with bounds where `MASKED`.
    #[inline(always)]
    fn sweep<const KEEP: bool, const MASKED: bool>(
        &self,
        first: usize,
        edge: &mut [Scaled<V>],
        before: &mut Before<V>,
        weights: &mut [Weights<V>],
    ) {
        let columns = edge.len();
        let mut cells = Cells { here: before.rows, before: before.rows, above: before.corner };
        for t in 0..ROWS - 1 {
            self.step::<true, KEEP, MASKED>(t, first, edge, &mut cells, weights);
        }
        let mut from = ROWS - 1;
        while from < columns {
            let to = columns.min(from + RESCALE_STEPS);
            for t in from..to {
                self.step::<false, KEEP, MASKED>(t, first, edge, &mut cells, weights);
            }
            // Also the cells before: a path that always leaves out this step by a diagonal is to be rescaled too.
            // By index: with iterators or `map` the states leave the registers, 10% to 50% slower (AMD Zen 5).
            for r in 0..ROWS {
                cells.here[r] = cells.here[r].rescale();
                cells.before[r] = cells.before[r].rescale();
            }
            from = to;
        }
        for t in columns.max(ROWS - 1)..columns + ROWS - 1 {
            self.step::<true, KEEP, MASKED>(t, first, edge, &mut cells, weights);
        }
        for r in 0..ROWS {
            before.rows[r] = cells.here[r].rescale();
        }
        before.corner = cells.above;
    }

    /// One cell of each row, of those rows that have begun and not ended where `SOME`.
    #[inline(always)]
    fn step<const SOME: bool, const KEEP: bool, const MASKED: bool>(
        &self,
        t: usize,
        first: usize,
        edge: &mut [Scaled<V>],
        cells: &mut Cells<V>,
        weights: &mut [Weights<V>],
    ) {
        // From the last row up: a row needs what the row above had before this step.
        for r in (0..ROWS).rev() {
            if SOME && (t < r || t - r >= edge.len()) {
                continue;
            }
            let column = t - r;
            let left = cells.here[r];
            let (diagonal, up) = if r == 0 {
                (std::mem::replace(&mut cells.above, edge[column]), edge[column])
            } else {
                (cells.before[r - 1], cells.here[r - 1])
            };
            let x = &self.rows[r];
            let y = self.y.sample::<P, SoftDtw<V, C>>(&[], first + column + 1);
            let mut price = Recurrence::<V, P>::price_alone(self.soft, x, &y, x.time);
            if MASKED {
                price = within(price, self.bounds[r], first + column);
            }
            let (mantissas, exponent) = Scaled::at_one_exponent(diagonal, up, left);
            let [by_diagonal, by_up, by_left] = mantissas;
            let sum = by_diagonal + by_up + by_left;
            let state = Scaled { mantissa: sum * price.mantissa, exponent: exponent + price.exponent };
            if KEEP {
                // One division a cell. One for two or four cells, of the product of their sums, was 3% (f32) and 8%
                // (f64) slower on an AMD Zen 5.
                let inverse = sum.constant(1.0) / sum.max(sum.constant(LEAST_SUM));
                weights[column][r] = [by_diagonal * inverse, by_up * inverse, by_left * inverse];
            }
            cells.before[r] = left;
            cells.here[r] = state;
            if r == ROWS - 1 {
                edge[column] = state.rescale();
            }
        }
    }
}

/// The states of one column.
pub(crate) struct Before<V> {
    pub(crate) rows: [Scaled<V>; ROWS],
    /// In the row above the strip.
    pub(crate) corner: Scaled<V>,
}

/// The states that a step looks at.
struct Cells<V> {
    /// The last cell of each row.
    here: [Scaled<V>; ROWS],
    /// The cell before it.
    before: [Scaled<V>; ROWS],
    /// The last cell above the strip that its first row has passed.
    above: Scaled<V>,
}

/// Columns `first..end` as their middle and half their number, so that a cell takes one comparison.
#[inline(always)]
pub(crate) fn bounded<V: Register>((first, end): (V, V)) -> (V, V) {
    let half = first.constant(0.5);
    ((first + end - first.constant(1.0)) * half, (end - first) * half)
}

/// `price` where the lane's band holds column `j`, else 0.
#[inline(always)]
fn within<V: Register>(price: Scaled<V>, (middle, half): (V, V), j: usize) -> Scaled<V> {
    let nothing = Scaled::zero(price.mantissa);
    let is_within = (price.mantissa.constant(j as f64) - middle).abs().less(half);
    Scaled {
        mantissa: V::select(is_within, price.mantissa, nothing.mantissa),
        exponent: V::select(is_within, price.exponent, nothing.exponent),
    }
}

/// The expected alignment of a strip's columns, from the last column back. `shares` is what the row below hands up to
/// each column, and then what the first row does; `beside[r]` what row `r` hands to its left neighbour and to the
/// neighbour above that one.
#[inline(never)]
pub(crate) fn hand_up<V: Register>(
    token: V::Token,
    weights: &[Weights<V>],
    shares: &mut [V],
    beside: &mut [[V; 2]; ROWS],
    expected: &mut [[V; ROWS]],
) {
    V::compiled(
        token,
        #[inline(always)]
        || {
            let mut handed = *beside;
            for ((weights, share), expected) in weights.iter().zip(shares).zip(expected).rev() {
                let mut from_below = *share;
                for r in (0..ROWS).rev() {
                    let [by_diagonal, by_up, by_left] = weights[r];
                    let [to_left, to_diagonal] = handed[r];
                    let e = from_below + to_left;
                    from_below = e.mul_add(by_up, to_diagonal);
                    handed[r] = [e * by_left, e * by_diagonal];
                    expected[r] = e;
                }
                *share = from_below;
            }
            *beside = handed;
        },
    );
}

/// Adds `E·∂c/∂x` of a strip's columns, without [`Slope::factor`], to the rows of the first of `gradients` and to the
/// columns of the second. All begin with the first point of the strip. `expected` is E, and becomes its
/// [`Slope::share`].
pub(crate) fn pull<V: Register>(
    token: V::Token,
    cost: LocalCost,
    points: (&[V], &[V]),
    channels: usize,
    expected: &mut [[V; ROWS]],
    gradients: (&mut [V], &mut [V]),
) {
    match cost {
        LocalCost::SquaredEuclidean => {
            pull_by(token, SquaredEuclidean, points, channels, expected, gradients)
        }
        _ if channels == 1 => pull_by(token, Manhattan, points, channels, expected, gradients),
        LocalCost::Manhattan => pull_by(token, Manhattan, points, channels, expected, gradients),
        LocalCost::Euclidean => pull_by(token, cost, points, channels, expected, gradients),
    }
}

#[inline(never)]
fn pull_by<V: Register, C: Slope<V>>(
    token: V::Token,
    cost: C,
    (x, y): (&[V], &[V]),
    channels: usize,
    expected: &mut [[V; ROWS]],
    (grad_x, grad_y): (&mut [V], &mut [V]),
) {
    V::compiled(
        token,
        #[inline(always)]
        || {
            if !cost.is_whole() {
                for (y, expected) in y.chunks_exact(channels).zip(&mut *expected) {
                    for (x, e) in x.chunks_exact(channels).zip(expected) {
                        let mut squared = e.constant(0.0);
                        for (x, y) in x.iter().zip(y) {
                            let difference = *x - *y;
                            squared = difference.mul_add(difference, squared);
                        }
                        *e = cost.share(*e, squared);
                    }
                }
            }
            for k in 0..channels {
                let at = |r: usize| r * channels + k;
                let mut rows = [x[k]; ROWS];
                let mut sums = rows;
                for r in 0..ROWS {
                    (rows[r], sums[r]) = (x[at(r)], grad_x[at(r)]);
                }
                for (column, expected) in expected.iter().enumerate().rev() {
                    let y = y[at(column)];
                    let mut sum = grad_y[at(column)];
                    for r in 0..ROWS {
                        let difference = cost.along(rows[r] - y);
                        sums[r] = expected[r].mul_add(difference, sums[r]);
                        sum = expected[r].mul_add(difference, sum);
                    }
                    grad_y[at(column)] = sum;
                }
                for r in 0..ROWS {
                    grad_x[at(r)] = sums[r];
                }
            }
        },
    );
}
