//! Local costs, and their derivatives: squared Euclidean `‖x − y‖²`, Euclidean `‖x − y‖`, Manhattan `‖x − y‖₁`.
//!
//! The derivative by `x` is `2(x − y)`, `(x − y)/‖x − y‖` or the signs of `x − y`; by `y` it is the same with the other
//! sign. The last two costs have a kink at `x = y`, where the derivative is taken to be 0, which is a subgradient.

use super::Point;
use super::point::{Apart, differences, euclidean, manhattan, squared_euclidean};
use crate::vector::Vector;
use crate::{LocalCost, Scalar};

/// A local cost, split in two so that the squared difference can be fused with the addition that follows it.
pub trait Cost<V: Vector, P: Point<V>>: Copy {
    /// Whether it may be a root.
    const ROOTS: bool = false;
    /// What can be computed without the neighbours, of each of some points with each of others.
    fn between_each<const ROWS: usize, const COLUMNS: usize>(
        self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS>;
    /// The same of one point with one other.
    #[inline(always)]
    fn between(self, x: P, y: P) -> V {
        let [[between]] = self.between_each([x], [y]);
        between
    }
    /// `base` plus the cost.
    #[inline(always)]
    fn add_to(self, base: V, between: V) -> V {
        base + between
    }
    /// The cost, of what can be computed without the neighbours.
    #[inline(always)]
    fn whole(self, between: V) -> V {
        between
    }
    /// The cost itself.
    #[inline(always)]
    fn value(self, x: P, y: P) -> V {
        self.whole(self.between(x, y))
    }
}

/// The derivative of a cost by channel `k` of `x`, in three factors: [`Slope::factor`] · [`Slope::share`] ·
/// [`Slope::along`]. Sums are taken without the first; the second is the same in all channels.
pub trait Slope<V: Vector>: Copy {
    /// The constant factor.
    fn factor(self) -> f64;
    /// Whether [`Slope::share`] is 1 for all points.
    fn is_whole(self) -> bool;
    /// `weight` times the factor of points whose squared Euclidean distance is `squared`.
    fn share(self, weight: V, squared: V) -> V;
    /// The factor of a channel in which the points are so far apart.
    fn along(self, difference: V) -> V;
}

/// Sum over channels of squared differences.
#[derive(Debug, Clone, Copy)]
pub struct SquaredEuclidean;
/// Sum over channels of absolute differences.
#[derive(Debug, Clone, Copy)]
pub struct Manhattan;

impl<V: Vector, P: Point<V>> Cost<V, P> for SquaredEuclidean {
    #[inline(always)]
    fn between_each<const ROWS: usize, const COLUMNS: usize>(
        self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        if P::UNIVARIATE { differences(x, y) } else { squared_euclidean(x, y) }
    }
    #[inline(always)]
    fn add_to(self, base: V, between: V) -> V {
        if P::UNIVARIATE { between.mul_add(between, base) } else { base + between }
    }
    #[inline(always)]
    fn whole(self, between: V) -> V {
        if P::UNIVARIATE { between * between } else { between }
    }
}

impl<V: Vector> Slope<V> for SquaredEuclidean {
    #[inline(always)]
    fn factor(self) -> f64 {
        2.0
    }
    #[inline(always)]
    fn is_whole(self) -> bool {
        true
    }
    #[inline(always)]
    fn share(self, weight: V, _: V) -> V {
        weight
    }
    #[inline(always)]
    fn along(self, difference: V) -> V {
        difference
    }
}

impl<V: Vector, P: Point<V>> Cost<V, P> for Manhattan {
    #[inline(always)]
    fn between_each<const ROWS: usize, const COLUMNS: usize>(
        self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        manhattan(x, y)
    }
}

impl<V: Vector> Slope<V> for Manhattan {
    #[inline(always)]
    fn factor(self) -> f64 {
        1.0
    }
    #[inline(always)]
    fn is_whole(self) -> bool {
        true
    }
    #[inline(always)]
    fn share(self, weight: V, _: V) -> V {
        weight
    }
    /// The sign; 0 has none.
    #[inline(always)]
    fn along(self, difference: V) -> V {
        let (zero, one) = (difference.like(V::Scalar::ZERO), difference.constant(1.0));
        let below = V::select(difference.less(zero), zero - one, zero);
        V::select(zero.less(difference), one, below)
    }
}

/// The cost that is told at run time. A sweep that prices dearly takes it, and is compiled once for all costs.
impl<V: Vector, P: Point<V>> Cost<V, P> for LocalCost {
    const ROOTS: bool = true;
    #[inline(always)]
    fn between_each<const ROWS: usize, const COLUMNS: usize>(
        self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        match self {
            LocalCost::SquaredEuclidean => squared_euclidean(x, y),
            LocalCost::Euclidean => euclidean(x, y),
            LocalCost::Manhattan => manhattan(x, y),
        }
    }
}

impl<V: Vector> Slope<V> for LocalCost {
    #[inline(always)]
    fn factor(self) -> f64 {
        if self == LocalCost::SquaredEuclidean { 2.0 } else { 1.0 }
    }
    #[inline(always)]
    fn is_whole(self) -> bool {
        self != LocalCost::Euclidean
    }
    #[inline(always)]
    fn share(self, weight: V, squared: V) -> V {
        if Slope::<V>::is_whole(self) {
            return weight;
        }
        let zero = weight.like(V::Scalar::ZERO);
        // The quotient of equal points is NaN, and not chosen.
        V::select(zero.less(squared), weight / squared.sqrt(), zero)
    }
    #[inline(always)]
    fn along(self, difference: V) -> V {
        if self == LocalCost::Manhattan { Manhattan.along(difference) } else { difference }
    }
}

#[cfg(test)]
mod tests {
    use super::super::One;
    use super::*;

    const COSTS: [LocalCost; 3] = [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan];

    fn slopes<C: Slope<f64>>(cost: C, x: &[f64], y: &[f64]) -> Vec<f64> {
        let [[squared]] = squared_euclidean([x], [y]);
        x.iter().zip(y).map(|(x, y)| cost.factor() * cost.share(1.0, squared) * cost.along(x - y)).collect()
    }

    #[test]
    fn values_and_slopes_of_a_right_triangle() {
        let (x, y) = ([3.0, -4.0, 7.0], [0.0, 0.0, 7.0]);
        assert_eq!(COSTS.map(|cost| Cost::<f64, &[f64]>::value(cost, &x, &y)), [25.0, 5.0, 7.0]);
        assert_eq!(Cost::<f64, &[f64]>::value(SquaredEuclidean, &x, &y), 25.0);
        assert_eq!(Cost::<f64, One<f64>>::value(SquaredEuclidean, One(3.0), One(-2.0)), 25.0);
        assert_eq!(Cost::<f64, &[f64]>::value(Manhattan, &x, &y), 7.0);
        assert_eq!(slopes(SquaredEuclidean, &x, &y), [6.0, -8.0, 0.0]);
        let [squared, euclidean, manhattan] = COSTS.map(|cost| slopes(cost, &x, &y));
        assert_eq!(squared, [6.0, -8.0, 0.0]);
        for (slope, expected) in euclidean.into_iter().zip([0.6, -0.8, 0.0]) {
            assert!((slope - expected).abs() < 1e-15);
        }
        assert_eq!(manhattan, [1.0, -1.0, 0.0]);
        assert_eq!(slopes(Manhattan, &x, &y), manhattan);
    }

    #[test]
    fn equal_points_have_no_slope() {
        let same = [0.1, 0.0, -2.5];
        assert_eq!(slopes(SquaredEuclidean, &same, &same), [0.0; 3]);
        assert_eq!(COSTS.map(|cost| slopes(cost, &same, &same)), [[0.0; 3]; 3]);
    }
}
