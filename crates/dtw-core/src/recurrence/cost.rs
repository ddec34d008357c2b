//! Local costs, and their derivatives: squared Euclidean `‖x − y‖²`, Euclidean `‖x − y‖`, Manhattan `‖x − y‖₁`.
//!
//! The derivative by `x` is `2(x − y)`, `(x − y)/‖x − y‖` or the signs of `x − y`; by `y` it is the same with the other
//! sign. The last two costs have a kink at `x = y`, where the derivative is taken to be 0, which is a subgradient.

use super::Point;
use super::point::{euclidean, squared_euclidean, sum_channels};
use crate::Scalar;
use crate::vector::Vector;

/// A local cost, split in two so that the squared difference can be fused with the addition that follows it.
pub trait Cost<V: Vector, P: Point<V>>: Copy {
    /// What can be computed without the neighbours.
    fn between(x: P, y: P) -> V;
    /// `base` plus the cost.
    fn add_to(base: V, between: V) -> V;
    /// The cost itself.
    #[inline(always)]
    fn value(x: P, y: P) -> V {
        Self::between(x, y)
    }
}

/// The derivative of a cost by channel `k` of `x`, in three factors: [`Slope::FACTOR`] · [`Slope::share`] ·
/// [`Slope::along`]. Sums are taken without the first; the second is the same in all channels.
pub trait Slope<V: Vector>: Copy {
    /// The constant factor.
    const FACTOR: f64;
    /// Whether [`Slope::share`] is 1 for all points.
    const IS_WHOLE: bool = true;
    /// `weight` times the factor of points whose squared Euclidean distance is `squared`.
    #[inline(always)]
    fn share(weight: V, squared: V) -> V {
        let _ = squared;
        weight
    }
    /// The factor of a channel in which the points are so far apart.
    fn along(difference: V) -> V;
}

/// Sum over channels of squared differences.
#[derive(Debug, Clone, Copy)]
pub struct SquaredEuclidean;
/// Root of [`SquaredEuclidean`].
#[derive(Debug, Clone, Copy)]
pub struct Euclidean;
/// Sum over channels of absolute differences.
#[derive(Debug, Clone, Copy)]
pub struct Manhattan;

impl<V: Vector, P: Point<V>> Cost<V, P> for SquaredEuclidean {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        if P::UNIVARIATE { x.get(0) - y.get(0) } else { squared_euclidean(x, y) }
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        if P::UNIVARIATE { between.mul_add(between, base) } else { base + between }
    }
    #[inline(always)]
    fn value(x: P, y: P) -> V {
        squared_euclidean(x, y)
    }
}

impl<V: Vector> Slope<V> for SquaredEuclidean {
    const FACTOR: f64 = 2.0;
    #[inline(always)]
    fn along(difference: V) -> V {
        difference
    }
}

impl<V: Vector, P: Point<V>> Cost<V, P> for Euclidean {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        euclidean(x, y)
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        base + between
    }
}

impl<V: Vector> Slope<V> for Euclidean {
    const FACTOR: f64 = 1.0;
    const IS_WHOLE: bool = false;
    #[inline(always)]
    fn share(weight: V, squared: V) -> V {
        let zero = weight.like(V::Scalar::ZERO);
        // The quotient of equal points is NaN, and not chosen.
        V::select(zero.less(squared), weight / squared.sqrt(), zero)
    }
    #[inline(always)]
    fn along(difference: V) -> V {
        difference
    }
}

impl<V: Vector, P: Point<V>> Cost<V, P> for Manhattan {
    #[inline(always)]
    fn between(x: P, y: P) -> V {
        sum_channels(x, y, |a, b| (a - b).abs())
    }
    #[inline(always)]
    fn add_to(base: V, between: V) -> V {
        base + between
    }
}

impl<V: Vector> Slope<V> for Manhattan {
    const FACTOR: f64 = 1.0;
    /// The sign; 0 has none.
    #[inline(always)]
    fn along(difference: V) -> V {
        let (zero, one) = (difference.like(V::Scalar::ZERO), difference.constant(1.0));
        let below = V::select(difference.less(zero), zero - one, zero);
        V::select(zero.less(difference), one, below)
    }
}

#[cfg(test)]
mod tests {
    use super::super::One;
    use super::*;

    fn slopes<C: Slope<f64>>(x: &[f64], y: &[f64]) -> Vec<f64> {
        let squared = squared_euclidean(x, y);
        x.iter().zip(y).map(|(x, y)| C::FACTOR * C::share(1.0, squared) * C::along(x - y)).collect()
    }

    #[test]
    fn values_and_slopes_of_a_right_triangle() {
        let (x, y) = ([3.0, -4.0, 7.0], [0.0, 0.0, 7.0]);
        let values = [
            <SquaredEuclidean as Cost<f64, &[f64]>>::value(&x, &y),
            <Euclidean as Cost<f64, &[f64]>>::value(&x, &y),
            <Manhattan as Cost<f64, &[f64]>>::value(&x, &y),
        ];
        assert_eq!(values, [25.0, 5.0, 7.0]);
        assert_eq!(<SquaredEuclidean as Cost<f64, One<f64>>>::value(One(3.0), One(-2.0)), 25.0);
        assert_eq!(slopes::<SquaredEuclidean>(&x, &y), [6.0, -8.0, 0.0]);
        for (slope, expected) in slopes::<Euclidean>(&x, &y).into_iter().zip([0.6, -0.8, 0.0]) {
            assert!((slope - expected).abs() < 1e-15);
        }
        assert_eq!(slopes::<Manhattan>(&x, &y), [1.0, -1.0, 0.0]);
    }

    #[test]
    fn equal_points_have_no_slope() {
        let same = [0.1, 0.0, -2.5];
        assert_eq!(slopes::<SquaredEuclidean>(&same, &same), [0.0; 3]);
        assert_eq!(slopes::<Euclidean>(&same, &same), [0.0; 3]);
        assert_eq!(slopes::<Manhattan>(&same, &same), [0.0; 3]);
    }
}
