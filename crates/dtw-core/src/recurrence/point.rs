//! A point of a series as the recurrences see it: `channels` vectors.

use crate::Scalar;
use crate::vector::Vector;

/// Access to the channel values of a point (of as many series as the vector has lanes).
pub trait Point<V: Vector>: Copy {
    /// Known at compile time to have one channel.
    const UNIVARIATE: bool;
    /// Number of channels.
    fn channels(&self) -> usize;
    /// The value in channel `k`.
    fn get(&self, k: usize) -> V;
    /// The same point, known to have `channels` channels, which it has: loops over channels need no checks then.
    #[inline(always)]
    fn of_channels(self, channels: usize) -> Self {
        let _ = channels;
        self
    }
}

/// A point of one channel, held by value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct One<V>(pub V);

impl<V: Vector> Point<V> for One<V> {
    const UNIVARIATE: bool = true;
    #[inline(always)]
    fn channels(&self) -> usize {
        1
    }
    #[inline(always)]
    fn get(&self, _: usize) -> V {
        self.0
    }
}

/// A point of several channels, borrowed.
impl<V: Vector> Point<V> for &[V] {
    const UNIVARIATE: bool = false;
    #[inline(always)]
    fn channels(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn get(&self, k: usize) -> V {
        self[k]
    }
    #[inline(always)]
    fn of_channels(self, channels: usize) -> Self {
        &self[..channels]
    }
}

/// Numbers of each of `ROWS` points of x with each of `COLUMNS` points of y.
pub type Apart<V, const ROWS: usize, const COLUMNS: usize> = [[V; COLUMNS]; ROWS];

/// Sums over the channels, of each of some points with each of others: begun by `first` of the values in channel 0,
/// and taken on by `next` of the sum and the values in channel 1, 2, …. The sums do not wait for each other, and a
/// value is read once for all of them.
#[inline(always)]
pub(super) fn over_channels<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
    first: impl Fn(V, V) -> V,
    next: impl Fn(V, V, V) -> V,
) -> Apart<V, ROWS, COLUMNS> {
    // Loops, not `map`: what is not inlined is not compiled for the instruction set.
    let mut sums = [[x[0].get(0); COLUMNS]; ROWS];
    for r in 0..ROWS {
        for c in 0..COLUMNS {
            sums[r][c] = first(x[r].get(0), y[c].get(0));
        }
    }
    if !P::UNIVARIATE {
        let channels = y[0].channels();
        let (mut rows, mut columns) = (x, y);
        for row in &mut rows {
            *row = row.of_channels(channels);
        }
        for column in &mut columns {
            *column = column.of_channels(channels);
        }
        for k in 1..channels {
            for r in 0..ROWS {
                for c in 0..COLUMNS {
                    sums[r][c] = next(sums[r][c], rows[r].get(k), columns[c].get(k));
                }
            }
        }
    }
    sums
}

/// `f` of each number.
#[inline(always)]
pub(super) fn each<V: Vector, const ROWS: usize, const COLUMNS: usize>(
    apart: Apart<V, ROWS, COLUMNS>,
    f: impl Fn(V) -> V,
) -> Apart<V, ROWS, COLUMNS> {
    let mut of_each = apart;
    for row in &mut of_each {
        for value in row {
            *value = f(*value);
        }
    }
    of_each
}

/// `Σₖ f(xₖ, yₖ)`.
#[expect(
    clippy::redundant_closure,
    reason = "the function itself would be called, not inlined: twice the time"
)]
#[inline(always)]
pub(super) fn sum_channels<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
    f: impl Fn(V, V) -> V,
) -> Apart<V, ROWS, COLUMNS> {
    over_channels(
        x,
        y,
        #[inline(always)]
        |x, y| f(x, y),
        #[inline(always)]
        |sum, x, y| sum + f(x, y),
    )
}

/// `‖x − y‖₂`, rounded as a plain loop rounds it (no fused multiply-add), so that thresholds agree between sweeps.
#[inline(always)]
pub(super) fn euclidean<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
) -> Apart<V, ROWS, COLUMNS> {
    if P::UNIVARIATE {
        return manhattan(x, y);
    }
    each(
        plain_squares(x, y),
        #[inline(always)]
        |square| square.sqrt(),
    )
}

/// The square of [`euclidean`], rounded as there.
#[inline(always)]
pub(super) fn plain_squares<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
) -> Apart<V, ROWS, COLUMNS> {
    sum_channels(
        x,
        y,
        #[inline(always)]
        |x, y| {
            let difference = x - y;
            difference * difference
        },
    )
}

/// `x − y`, of points of one channel.
#[inline(always)]
pub(super) fn differences<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
) -> Apart<V, ROWS, COLUMNS> {
    over_channels(
        x,
        y,
        #[inline(always)]
        |x, y| x - y,
        #[inline(always)]
        |_, _, _| unreachable!("these points have one channel"),
    )
}

/// `‖x − y‖₁`.
#[inline(always)]
pub(super) fn manhattan<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
) -> Apart<V, ROWS, COLUMNS> {
    sum_channels(
        x,
        y,
        #[inline(always)]
        |x, y| (x - y).abs(),
    )
}

/// `‖x − y‖₂²`, fused. Products `|x|² + |y|² − 2 x·y` would be no faster on AMD Zen 4 (AVX-512): a fused multiply-add
/// takes 1.0 cycles a register, with the subtraction beside it 1.1.
#[inline(always)]
pub(super) fn squared_euclidean<V: Vector, P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
    x: [P; ROWS],
    y: [P; COLUMNS],
) -> Apart<V, ROWS, COLUMNS> {
    over_channels(
        x,
        y,
        #[inline(always)]
        |x, y| {
            let difference = x - y;
            difference * difference
        },
        #[inline(always)]
        |sum, x, y| {
            let difference = x - y;
            difference.mul_add(difference, sum)
        },
    )
}

/// How far the point, of one channel, is outside of `lower ..= upper`. Rounding is monotone, so this is not more than
/// `|x − y|` as computed of any `y` in there.
#[inline(always)]
pub(super) fn outside<V: Vector, P: Point<V>>(point: P, [lower, upper]: [V; 2]) -> V {
    let value = point.get(0);
    (lower - value).max(value - upper).max(value.like(V::Scalar::ZERO))
}

/// The least of three.
#[inline(always)]
pub(super) fn min3<V: Vector>(a: V, b: V, c: V) -> V {
    a.min(b).min(c)
}
