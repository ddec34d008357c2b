//! The arithmetic that recurrences are written in: one trait over a single number and over a register of lanes.
//!
//! A recurrence sees only this trait, so the same text prices one cell or a whole SIMD register of cells. `f32` and
//! `f64` are vectors of one lane ([`Scalar`]); `dtw-cpu` adds the wide ones.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::{Dtype, Error, Result};

/// One or more lanes of floats.
///
/// No operation promises anything for NaN input; core keeps NaN out.
pub trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The number type of a lane.
    type Scalar: Scalar;
    /// One truth value per lane.
    type Mask: Copy;

    /// This value in every lane (`self` only says how wide to be).
    fn like(self, value: Self::Scalar) -> Self;
    /// Lane-wise minimum.
    fn min(self, other: Self) -> Self;
    /// Lane-wise maximum.
    fn max(self, other: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `self · a + b`, fused where the machine can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Nearest integer, ties to even.
    fn round(self) -> Self;
    /// `self < other`.
    fn less(self, other: Self) -> Self::Mask;
    /// `self ≤ other`.
    fn less_equal(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `2^self` for integral `self` within [`Vector::POW2_MIN`]` ..= −POW2_MIN`.
    fn pow2(self) -> Self;
    /// For a positive normal number, the integer `e` with `2^e ≤ self < 2^(e+1)`; some large negative number for 0.
    fn exponent(self) -> Self;
    /// `self^p`, lane by lane; slow.
    fn powf(self, p: f64) -> Self;
    /// An index stored as a bit pattern in every lane; survives selection, not arithmetic.
    fn index_pattern(self, index: usize) -> Self;

    /// Least exponent that [`Vector::pow2`] and [`Vector::scale_down`] represent: small enough to vanish beside 1,
    /// large enough that products stay normal.
    const POW2_MIN: f64;
    /// A negative number so large that no sum of exponents reaches it; stands for the exponent of zero.
    const ZERO_EXPONENT: f64;
    /// The least logarithm, base 2, that a number with an exponent of its own has; what is less counts as zero. So far
    /// above [`Vector::ZERO_EXPONENT`] that products between two calls of [`crate::recurrence::Recurrence::rescale`]
    /// stay in the type.
    const LEAST_LOG2: f64;
    /// Coefficients of a polynomial for `2^r`, `|r| ≤ ½`, constant term first; relative error below one unit in the
    /// last place.
    const EXP2: &'static [f64];

    /// This `f64` constant in every lane.
    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        self.like(Self::Scalar::from_f64(value))
    }

    /// `2^self` for `self ≤ 0` as `(mantissa, exponent)`: mantissa in `[√½, √2]`, exponent an integer. Never
    /// underflows.
    #[inline(always)]
    fn exp2_parts(self) -> (Self, Self) {
        let bounded = self.max(self.constant(Self::LEAST_LOG2));
        let exponent = bounded.round();
        let rest = bounded - exponent;
        let mut mantissa = self.constant(Self::EXP2[Self::EXP2.len() - 1]);
        for coefficient in Self::EXP2[..Self::EXP2.len() - 1].iter().rev() {
            mantissa = mantissa.mul_add(rest, self.constant(*coefficient));
        }
        (mantissa, exponent)
    }

    /// `self · 2^exponent` for integral `exponent` as of [`Vector::pow2`].
    #[inline(always)]
    fn times_pow2(self, exponent: Self) -> Self {
        self * exponent.pow2()
    }

    /// `self · 2^exponent` for integral `exponent ≤ 0`; what would vanish is scaled by `2^POW2_MIN` instead.
    #[inline(always)]
    fn scale_down(self, exponent: Self) -> Self {
        self.times_pow2(exponent.max(self.constant(Self::POW2_MIN)))
    }
}

/// `f32` or `f64`: what series hold and distances come back in.
pub trait Scalar:
    Vector<Scalar = Self>
    + PartialOrd
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + std::fmt::Display
    + std::iter::Sum
    + 'static
{
    /// The name of the type as data.
    const DTYPE: Dtype;
    /// Zero.
    const ZERO: Self;
    /// Positive infinity: the value of a forbidden cell.
    const INFINITY: Self;
    /// Neither NaN nor infinite.
    fn finite(self) -> bool;
    /// Reads back an index stored by [`Vector::index_pattern`].
    fn to_index(self) -> usize;
    /// Rounds an `f64` to this type.
    fn from_f64(value: f64) -> Self;
    /// Widens to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// The least number above.
    fn next_up(self) -> Self;
    /// The largest number below.
    fn next_down(self) -> Self;
}

impl std::str::FromStr for Dtype {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = [f32::DTYPE, f64::DTYPE].into_iter().find(|dtype| dtype.name() == text);
        known.ok_or_else(|| Error::invalid(format!("unknown dtype {text:?}: expected f32 or f64")))
    }
}

macro_rules! scalar_vector {
    ($t:ty, $dtype:expr, $bits:ty, $signed:ty, $mantissa_bits:literal, $bias:literal, $pow2_min:literal, $exp2:expr) => {
        impl Vector for $t {
            type Scalar = $t;
            type Mask = bool;
            const POW2_MIN: f64 = $pow2_min;
            const ZERO_EXPONENT: f64 = -(<$t>::MAX / 4.0) as f64;
            const LEAST_LOG2: f64 = -(<$t>::MAX / 512.0) as f64;
            const EXP2: &'static [f64] = $exp2;

            #[inline(always)]
            fn like(self, value: $t) -> Self {
                value
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn pow2(self) -> Self {
                <$t>::from_bits((((self as $signed) + $bias) as $bits) << $mantissa_bits)
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                (((self.to_bits() >> $mantissa_bits) as $signed) - $bias) as $t
            }
            #[inline(always)]
            fn powf(self, p: f64) -> Self {
                self.powf(p as $t)
            }
            #[inline(always)]
            fn index_pattern(self, index: usize) -> Self {
                <$t>::from_bits(index as $bits)
            }
        }

        impl Scalar for $t {
            const DTYPE: Dtype = $dtype;
            const ZERO: Self = 0.0;
            const INFINITY: Self = <$t>::INFINITY;
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn to_index(self) -> usize {
                self.to_bits() as usize
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn next_up(self) -> Self {
                <$t>::next_up(self)
            }
            #[inline(always)]
            fn next_down(self) -> Self {
                <$t>::next_down(self)
            }
        }
    };
}

// Chebyshev-node fits of 2^r on [−½, ½], computed to 60 digits: relative error 2.2e−16 (degree 10) and 2.0e−9 (degree
// 6).
#[expect(clippy::approx_constant, reason = "a fitted coefficient that happens to be near ln 2")]
const EXP2_F64: &[f64] = &[
    1.0,
    0.693_147_180_559_95,
    0.240_226_506_959_100_97,
    0.055_504_108_664_447_72,
    0.009_618_129_107_606_889,
    0.001_333_355_823_016_497_4,
    0.000_154_035_304_417_360_5,
    1.525_265_726_020_083_7e-5,
    1.321_544_258_792_169e-6,
    1.020_869_029_995_830_6e-7,
    7.072_585_949_269_224e-9,
];
const EXP2_F32: &[f64] = &[
    1.0,
    0.693_147_206_702_832_6,
    0.240_226_509_222_887_58,
    0.055_503_272_266_703_02,
    0.009_618_056_678_524_638,
    0.001_340_042_817_761_583_8,
    0.000_154_614_446_975_691_3,
];

scalar_vector!(f64, Dtype::F64, u64, i64, 52, 1023, -512.0, EXP2_F64);
scalar_vector!(f32, Dtype::F32, u32, i32, 23, 127, -64.0, EXP2_F32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "the exp2 that it is compared with is made inexact by Miri, on purpose")]
    fn exp2_is_accurate_to_the_last_place_or_two() {
        for k in -4000..=4000 {
            let t = f64::from(k) * 0.0173;
            let (mantissa, exponent) = t.exp2_parts();
            let exact = t.exp2();
            assert!((mantissa * Vector::pow2(exponent) / exact - 1.0).abs() < 6e-16, "{t}");
            let t = t as f32;
            let (mantissa, exponent) = t.exp2_parts();
            let exact = f64::from(t).exp2();
            let value = f64::from(mantissa) * f64::from(exponent).exp2();
            assert!((value / exact - 1.0).abs() < 1.8e-7, "{t}");
        }
    }

    #[test]
    fn exponent_and_pow2_are_inverse() {
        for k in -60..60 {
            let e = f64::from(k);
            assert_eq!(Vector::exponent(Vector::pow2(e) * 1.7), e);
            assert_eq!(Vector::exponent(Vector::pow2(e as f32) * 1.7), e as f32);
        }
    }
}
