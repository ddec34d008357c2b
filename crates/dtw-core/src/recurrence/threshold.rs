//! Whether points match: whether they are at most ε apart, in the Euclidean distance as a plain loop rounds it.
//!
//! Of several channels, sums of squares are compared with the largest number whose root, as it is rounded, is at most
//! ε. Rounding never turns an order round, so that tells the same points apart, without a root per cell.

use super::Point;
use super::point::{Apart, manhattan, plain_squares};
use crate::Scalar;
use crate::vector::Vector;

/// The largest distance of points that match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threshold<V> {
    /// ε, or of several channels what squares are compared with.
    most: V,
}

impl<V: Vector> Threshold<V> {
    /// That of points `P`, as wide as `any`.
    #[inline(always)]
    pub(super) fn new<P: Point<V>>(any: V, epsilon: f64) -> Self {
        let epsilon = V::Scalar::from_f64(epsilon);
        Self { most: any.like(if P::UNIVARIATE { epsilon } else { largest_square(epsilon) }) }
    }

    /// What is compared, of each of some points with each of others.
    #[inline(always)]
    pub(super) fn apart<P: Point<V>, const ROWS: usize, const COLUMNS: usize>(
        self,
        x: [P; ROWS],
        y: [P; COLUMNS],
    ) -> Apart<V, ROWS, COLUMNS> {
        if P::UNIVARIATE { manhattan(x, y) } else { plain_squares(x, y) }
    }

    /// Whether points match that are so far apart.
    #[inline(always)]
    pub(super) fn reaches(self, apart: V) -> V::Mask {
        apart.less_equal(self.most)
    }
}

/// The largest number whose rounded root is at most `root`, which is not negative.
fn largest_square<T: Scalar>(root: T) -> T {
    let mut square = root * root;
    while Vector::sqrt(square) > root {
        square = square.next_down();
    }
    // The rounded product is a few numbers away from it.
    while square < T::INFINITY && Vector::sqrt(square.next_up()) <= root {
        square = square.next_up();
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roots of any size, and their neighbours.
    fn largest_squares_are_the_largest<T: Scalar>(roots: &[f64]) {
        for root in roots.iter().map(|root| T::from_f64(*root)) {
            for root in [root, root.next_up()] {
                let square = largest_square(root);
                assert!(Vector::sqrt(square) <= root, "{root}");
                assert!(square == T::INFINITY || Vector::sqrt(square.next_up()) > root, "{root}");
            }
        }
    }

    #[test]
    fn squares_end_where_roots_pass_the_threshold() {
        let mut roots = vec![0.0, 0.25, 0.1, 1.0, 3.0, 1e-30, 1e-22, 3e-21, 1e10, 1e18, 2e19, 3e38];
        roots.extend((1..2000).map(|k| f64::from(k) * 0.001_7));
        largest_squares_are_the_largest::<f32>(&roots);
        roots.extend([5e-324, 1e-162, 1e-200, 1e154, 1e155, 1e308]);
        largest_squares_are_the_largest::<f64>(&roots);
        assert_eq!(largest_square(f32::INFINITY), f32::INFINITY);
    }
}
