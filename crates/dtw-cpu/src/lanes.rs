//! SIMD registers as [`Vector`]s: one newtype over whatever width the instruction set has.

use std::ops::{Add, Div, Mul, Neg, Sub};

use dtw_core::Scalar;
use dtw_core::vector::Vector;
use fearless_simd::{
    Bytes, ExtractToken, Select as _, Simd, SimdBase, SimdFloat, SimdFloatElement, SimdIntElement, SimdMask,
};

use crate::wide;

/// A float that the instruction sets have registers for.
pub trait Float: Scalar + SimdFloatElement<Bits: SimdIntElement> {
    /// Bits of the mantissa field.
    const MANTISSA_BITS: u32;
    /// `1.5 · 2^MANTISSA_BITS + exponent bias`: adding it leaves the biased exponent in the low bits.
    const TO_BIASED: Self;
    /// `2^MANTISSA_BITS` as a bit pattern, and the value `2^MANTISSA_BITS + exponent bias`.
    const FROM_BIASED: (Self::Bits, Self);
    /// `index` as a bit pattern.
    fn pattern(index: usize) -> Self;
    /// [`Vector::times_pow2`] where one instruction does it.
    fn times_pow2_at_once<S: Simd>(
        token: S,
        value: Self::Native<S>,
        exponent: Self::Native<S>,
    ) -> Option<Self::Native<S>>;
    /// [`Vector::exponent`] where one instruction does it.
    fn exponent_at_once<S: Simd>(token: S, value: Self::Native<S>) -> Option<Self::Native<S>>;
}

impl Float for f32 {
    const MANTISSA_BITS: u32 = 23;
    const TO_BIASED: Self = 12_582_912.0 + 127.0;
    const FROM_BIASED: (u32, Self) = (0x4b00_0000, 8_388_608.0 + 127.0);
    fn pattern(index: usize) -> Self {
        f32::from_bits(index as u32)
    }
    #[inline(always)]
    fn times_pow2_at_once<S: Simd>(token: S, value: S::f32s, exponent: S::f32s) -> Option<S::f32s> {
        wide::times_pow2_f32(token, value, exponent)
    }
    #[inline(always)]
    fn exponent_at_once<S: Simd>(token: S, value: S::f32s) -> Option<S::f32s> {
        wide::exponent_f32(token, value)
    }
}

impl Float for f64 {
    const MANTISSA_BITS: u32 = 52;
    const TO_BIASED: Self = 6_755_399_441_055_744.0 + 1023.0;
    const FROM_BIASED: (u64, Self) = (0x4330_0000_0000_0000, 4_503_599_627_370_496.0 + 1023.0);
    fn pattern(index: usize) -> Self {
        f64::from_bits(index as u64)
    }
    #[inline(always)]
    fn times_pow2_at_once<S: Simd>(token: S, value: S::f64s, exponent: S::f64s) -> Option<S::f64s> {
        wide::times_pow2_f64(token, value, exponent)
    }
    #[inline(always)]
    fn exponent_at_once<S: Simd>(token: S, value: S::f64s) -> Option<S::f64s> {
        wide::exponent_f64(token, value)
    }
}

/// Most lanes of any register: 512 bits of `f32`. Arrays for one register-full of pairs have this size.
pub(crate) const MOST_LANES: usize = 16;

/// A vector that can be read from and written to memory.
pub(crate) trait Register: Vector {
    /// Number of lanes.
    const LANES: usize;
    /// Whether every sweep is compiled for it. Where not, only those that nothing else replaces: the same bits, later.
    const IS_TUNED: bool;
    /// Whether there are 32 of them, not 16.
    const HAS_MANY: bool;
    /// What makes one: proof that the instruction set is there.
    type Token: Copy + Send + Sync + 'static;
    /// `value` in every lane.
    fn splat(token: Self::Token, value: Self::Scalar) -> Self;
    /// The first `LANES` values of `from`, which must be that long.
    fn load(token: Self::Token, from: &[Self::Scalar]) -> Self;
    /// Writes all lanes to the front of `to`, which must be that long.
    fn store(self, to: &mut [Self::Scalar]);
    /// The lanes in memory.
    fn lanes(&self) -> &[Self::Scalar];
    /// The lanes in memory, to be changed one by one.
    fn lanes_mut(&mut self) -> &mut [Self::Scalar];
    /// All lanes one up; the last lane of `below` enters at lane 0.
    fn shift_up(self, below: Self) -> Self;
    /// Lane `k` of register `l` and lane `l` of register `k` change places, of the first `LANES` registers.
    fn transpose(registers: &mut [Self; MOST_LANES]);
    /// Lane `k` of the mask in bit `k`.
    fn bits(mask: Self::Mask) -> u64;
    /// Runs `work` compiled for the instruction set. `work` and all it calls must be `#[inline(always)]`.
    fn compiled<O>(token: Self::Token, work: impl FnOnce() -> O) -> O;
}

/// The native register of instruction set `S` for elements `T`.
#[derive(Debug)]
pub(crate) struct Lanes<S: Simd, T: Float>(T::Native<S>);

impl<S: Simd, T: Float> Clone for Lanes<S, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Simd, T: Float> Copy for Lanes<S, T> {}

type Bits<S, T> = <<T as SimdFloatElement>::Native<S> as SimdFloat<S>>::Bits;

impl<S: Simd, T: Float> Lanes<S, T> {
    #[inline(always)]
    fn token(self) -> S {
        ExtractToken::token(&self.0)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<S: Simd, T: Float> $trait for Lanes<S, T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<S: Simd, T: Float> Neg for Lanes<S, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<S: Simd, T: Float> Vector for Lanes<S, T> {
    type Scalar = T;
    type Mask = <T::Native<S> as SimdBase<S>>::Mask;
    const POW2_MIN: f64 = T::POW2_MIN;
    const ZERO_EXPONENT: f64 = T::ZERO_EXPONENT;
    const LEAST_LOG2: f64 = T::LEAST_LOG2;
    const EXP2: &'static [f64] = T::EXP2;

    #[inline(always)]
    fn like(self, value: T) -> Self {
        Self(SimdBase::splat(self.token(), value))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(self.0.mul_add(a.0, b.0))
    }
    #[inline(always)]
    fn round(self) -> Self {
        Self(self.0.round_ties_even())
    }
    #[inline(always)]
    fn less(self, other: Self) -> Self::Mask {
        self.0.simd_lt(other.0)
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> Self::Mask {
        self.0.simd_le(other.0)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(mask.select(yes.0, no.0))
    }
    #[inline(always)]
    fn pow2(self) -> Self {
        let biased: Bits<S, T> = (self.0 + T::TO_BIASED).bitcast();
        Self((biased << T::MANTISSA_BITS).bitcast())
    }
    #[inline(always)]
    fn times_pow2(self, exponent: Self) -> Self {
        match T::times_pow2_at_once(self.token(), self.0, exponent.0) {
            Some(scaled) => Self(scaled),
            None => self * exponent.pow2(),
        }
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        if let Some(exponent) = T::exponent_at_once(self.token(), self.0) {
            return Self(exponent);
        }
        let (pattern, offset) = T::FROM_BIASED;
        let biased: Bits<S, T> = (self.0.bitcast::<Bits<S, T>>() >> T::MANTISSA_BITS) | pattern;
        let float: T::Native<S> = biased.bitcast();
        Self(float - offset)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        Self(SimdBase::from_fn(self.token(), |k| Vector::powf(self.0.as_slice()[k], p)))
    }
    #[inline(always)]
    fn index_pattern(self, index: usize) -> Self {
        self.like(T::pattern(index))
    }
}

impl<S: Simd, T: Float> Register for Lanes<S, T> {
    const LANES: usize = {
        let lanes = <T::Native<S> as SimdBase<S>>::LEN;
        assert!(lanes <= MOST_LANES);
        lanes
    };
    // SSE2 runs on processors from before 2013 alone, and was a third of the crate's compile time.
    const IS_TUNED: bool =
        !cfg!(any(target_arch = "x86", target_arch = "x86_64")) || Self::LANES * size_of::<T>() > 16;
    const HAS_MANY: bool = cfg!(target_arch = "aarch64") || Self::LANES * size_of::<T>() == 64;
    type Token = S;

    #[inline(always)]
    fn splat(token: S, value: T) -> Self {
        Self(SimdBase::splat(token, value))
    }
    #[inline(always)]
    fn load(token: S, from: &[T]) -> Self {
        Self(SimdBase::from_slice(token, &from[..Self::LANES]))
    }
    #[inline(always)]
    fn store(self, to: &mut [T]) {
        self.0.store_slice(&mut to[..Self::LANES]);
    }
    #[inline(always)]
    fn lanes(&self) -> &[T] {
        self.0.as_slice()
    }
    #[inline(always)]
    fn lanes_mut(&mut self) -> &mut [T] {
        self.0.as_mut_slice()
    }
    #[inline(always)]
    fn shift_up(self, below: Self) -> Self {
        Self(match Self::LANES {
            2 => below.0.slide::<1>(self.0),
            4 => below.0.slide::<3>(self.0),
            8 => below.0.slide::<7>(self.0),
            16 => below.0.slide::<15>(self.0),
            lanes => unreachable!("no instruction set here has registers of {lanes} floats"),
        })
    }
    #[inline(always)]
    fn transpose(registers: &mut [Self; MOST_LANES]) {
        // Each round turns the bits of a place (those of the register, then those of the lane) round by one.
        for _ in 0..Self::LANES.ilog2() {
            let before = *registers;
            for k in 0..Self::LANES / 2 {
                let (low, high) = before[k].0.interleave(before[k + Self::LANES / 2].0);
                (registers[2 * k], registers[2 * k + 1]) = (Self(low), Self(high));
            }
        }
    }
    #[inline(always)]
    fn bits(mask: Self::Mask) -> u64 {
        mask.to_bitmask()
    }
    #[inline(always)]
    fn compiled<O>(token: S, work: impl FnOnce() -> O) -> O {
        token.vectorize(work)
    }
}
