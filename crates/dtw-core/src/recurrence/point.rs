//! A point of a series as the recurrences see it: `channels` vectors.

use crate::vector::Vector;

/// Access to the channel values of a point (of as many series as the vector has lanes).
pub trait Point<V: Vector>: Copy {
    /// Known at compile time to have one channel.
    const UNIVARIATE: bool;
    /// Number of channels.
    fn channels(&self) -> usize;
    /// The value in channel `k`.
    fn get(&self, k: usize) -> V;
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
}

/// `Σₖ f(aₖ, bₖ)` over the channels.
#[inline(always)]
pub(super) fn sum_channels<V: Vector, P: Point<V>>(a: P, b: P, f: impl Fn(V, V) -> V) -> V {
    let mut sum = f(a.get(0), b.get(0));
    if !P::UNIVARIATE {
        for k in 1..a.channels() {
            sum = sum + f(a.get(k), b.get(k));
        }
    }
    sum
}

/// `‖a − b‖₂`, rounded as a plain loop rounds it (no fused multiply-add), so that thresholds agree between sweeps.
#[inline(always)]
pub(super) fn euclidean<V: Vector, P: Point<V>>(a: P, b: P) -> V {
    if P::UNIVARIATE {
        return (a.get(0) - b.get(0)).abs();
    }
    sum_channels(a, b, |a, b| {
        let difference = a - b;
        difference * difference
    })
    .sqrt()
}

/// `‖a − b‖₂²`, fused. Tried: four partial sums from 8 channels on. Batches of 64 channels took 0.7 of the time, but
/// those of 16 channels 1.1, and single pairs 1.5 to 2 (one core, AMD Zen 5).
#[inline(always)]
pub(super) fn squared_euclidean<V: Vector, P: Point<V>>(a: P, b: P) -> V {
    let first = a.get(0) - b.get(0);
    let mut sum = first * first;
    if !P::UNIVARIATE {
        for k in 1..a.channels() {
            let difference = a.get(k) - b.get(k);
            sum = difference.mul_add(difference, sum);
        }
    }
    sum
}

/// The least of three.
#[inline(always)]
pub(super) fn min3<V: Vector>(a: V, b: V, c: V) -> V {
    a.min(b).min(c)
}
