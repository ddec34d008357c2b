//! Positive numbers of any size: `mantissa · 2^exponent`, the exponent an integral float of its own.
//!
//! Soft-DTW and the alignment kernel sum products of exponentials that leave the range of a float after a few cells.
//! With an exponent beside every value the sums stay in linear space, exact in scale: a cell costs one exponential, and
//! the logarithm is taken once, at the end. Compared with a log-sum-exp per cell this is 2 exponentials and a logarithm
//! less, and no cancellation.

use super::State;
use crate::Scalar;
use crate::vector::Vector;

/// `mantissa · 2^exponent`, lane by lane. Zero has mantissa 0 and a very negative exponent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled<V> {
    /// Non-negative; within `2^±POW2_MIN/4` of 1 after [`Scaled::rescale`] and [`super::RESCALE_EVERY`] sums.
    pub mantissa: V,
    /// Integral.
    pub exponent: V,
}

impl<V: Vector> State<V> for Scaled<V> {
    const PARTS: usize = 2;
    #[inline(always)]
    fn part(&self, k: usize) -> V {
        if k == 0 { self.mantissa } else { self.exponent }
    }
    #[inline(always)]
    fn from_parts(part: impl Fn(usize) -> V) -> Self {
        Self { mantissa: part(0), exponent: part(1) }
    }
    #[inline(always)]
    fn origin(any: V) -> Self {
        Self::one(any)
    }
    #[inline(always)]
    fn forbidden(any: V) -> Self {
        Self::zero(any)
    }
}

impl<V: Vector> Scaled<V> {
    /// 1, as wide as `any`.
    #[inline(always)]
    pub fn one(any: V) -> Self {
        Self { mantissa: any.constant(1.0), exponent: any.like(V::Scalar::ZERO) }
    }
    /// 0, as wide as `any`.
    #[inline(always)]
    pub fn zero(any: V) -> Self {
        Self { mantissa: any.like(V::Scalar::ZERO), exponent: any.constant(V::ZERO_EXPONENT) }
    }
    /// The mantissas of the three at their largest exponent, and this exponent.
    #[inline(always)]
    pub fn at_one_exponent(a: Self, b: Self, c: Self) -> ([V; 3], V) {
        let exponent = a.exponent.max(b.exponent).max(c.exponent);
        let mantissas = [
            a.mantissa.scale_down(a.exponent - exponent),
            b.mantissa.scale_down(b.exponent - exponent),
            c.mantissa.scale_down(c.exponent - exponent),
        ];
        (mantissas, exponent)
    }
    /// `factor · (a + b + c)`.
    #[inline(always)]
    pub fn weighted_sum(a: Self, b: Self, c: Self, factor: Self) -> Self {
        let ([a, b, c], exponent) = Self::at_one_exponent(a, b, c);
        Self { mantissa: (a + b + c) * factor.mantissa, exponent: exponent + factor.exponent }
    }
    /// The product.
    #[inline(always)]
    pub fn times(self, other: Self) -> Self {
        Self { mantissa: self.mantissa * other.mantissa, exponent: self.exponent + other.exponent }
    }
    /// An equal number with its mantissa in `[1, 2)`; zero stays zero, and no exponent falls below that of zero.
    #[inline(always)]
    pub fn rescale(self) -> Self {
        let zero = self.mantissa.like(V::Scalar::ZERO);
        let shift = V::select(zero.less(self.mantissa), self.mantissa.exponent(), zero);
        let exponent = (self.exponent + shift).max(zero.constant(V::ZERO_EXPONENT));
        Self { mantissa: self.mantissa.times_pow2(-shift), exponent }
    }
}

/// The natural logarithm of `mantissa · 2^exponent`, in f64; −∞ for zero and for what is too small to tell from it.
pub fn log_of<T: Scalar>(mantissa: T, exponent: T) -> f64 {
    if mantissa == T::ZERO || exponent.to_f64() <= T::LEAST_LOG2 {
        return f64::NEG_INFINITY;
    }
    // Rescaled first, so that the bits do not depend on when the sweep last did.
    let shift = Vector::exponent(mantissa);
    let rescaled = mantissa * Vector::pow2(-shift);
    rescaled.to_f64().ln() + (exponent.to_f64() + shift.to_f64()) * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zero times the least weight that there is, again and again: beyond the range of exponents, but for `rescale`.
    fn no_exponent_is_below_zeros<T: Scalar>() {
        let least = Scaled { mantissa: T::from_f64(1.0), exponent: T::from_f64(T::LEAST_LOG2) };
        let mut state = Scaled::<T>::zero(T::from_f64(1.0));
        for _ in 0..1_000 {
            state = state.times(least).rescale();
            assert_eq!(state, Scaled::zero(T::from_f64(1.0)));
        }
    }

    #[test]
    fn rescaled_exponents_stay_in_the_type() {
        no_exponent_is_below_zeros::<f32>();
        no_exponent_is_below_zeros::<f64>();
    }

    #[test]
    fn logarithms_end_where_the_type_can_no_longer_tell_them_from_that_of_zero() {
        fn check<T: Scalar>() {
            let of = |share: f64| log_of(T::from_f64(1.0), T::from_f64(share * T::LEAST_LOG2));
            assert_eq!([of(1.0), of(2.0), of(64.0)], [f64::NEG_INFINITY; 3]);
            assert!(of(0.999) < 0.99 * T::LEAST_LOG2 * std::f64::consts::LN_2 && of(0.999).is_finite());
            assert_eq!(log_of(T::ZERO, T::ZERO), f64::NEG_INFINITY);
        }
        check::<f32>();
        check::<f64>();
    }
}
