//! What AVX-512 has one instruction for and the other instruction sets have not: scaling by a power of two, and the
//! exponent of a number. The results have the bits of the longer ways.

use fearless_simd::Simd;

/// Defines a function that runs `$instruction`, or returns `None` where the instruction set is another one. Registers
/// go through slices of their full length, which are compiled to nothing.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
macro_rules! instruction {
    ($(#[$doc:meta])* $name:ident, $native:ident, $lanes:ident, $register:ident, $instruction:ident, $($argument:ident),+) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<S: Simd>(token: S, $($argument: S::$lanes),+) -> Option<S::$lanes> {
            use fearless_simd::{Level, SimdBase, SimdInto, $native};
            #[cfg(target_arch = "x86")]
            use std::arch::x86::{$register, $instruction};
            #[cfg(target_arch = "x86_64")]
            use std::arch::x86_64::{$register, $instruction};

            fearless_simd::kernel!(
                #[inline(always)]
                fn instruction(_avx512: Avx512, $($argument: $register),+) -> $register {
                    $instruction($($argument),+)
                }
            );
            let Level::Avx512(avx512) = token.level() else { return None };
            $(let $argument = $native::from_slice(avx512, $argument.as_slice()).into();)+
            let result: $native<_> = instruction(avx512, $($argument),+).simd_into(avx512);
            Some(SimdBase::from_slice(token, result.as_slice()))
        }
    };
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
macro_rules! instruction {
    ($(#[$doc:meta])* $name:ident, $native:ident, $lanes:ident, $register:ident, $instruction:ident, $($argument:ident),+) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<S: Simd>(_: S, $($argument: S::$lanes),+) -> Option<S::$lanes> {
            let _ = ($($argument),+);
            None
        }
    };
}

instruction!(
    /// `value · 2^exponent`.
    times_pow2_f32, f32x16, f32s, __m512, _mm512_scalef_ps, value, exponent
);
instruction!(
    /// `value · 2^exponent`.
    times_pow2_f64, f64x8, f64s, __m512d, _mm512_scalef_pd, value, exponent
);
instruction!(
    /// The exponent of `value`; −∞ of zero.
    exponent_f32, f32x16, f32s, __m512, _mm512_getexp_ps, value
);
instruction!(
    /// The exponent of `value`; −∞ of zero.
    exponent_f64, f64x8, f64s, __m512d, _mm512_getexp_pd, value
);

#[cfg(all(test, any(target_arch = "x86", target_arch = "x86_64")))]
mod tests {
    use dtw_core::vector::Vector;
    use fearless_simd::{Level, SimdBase, f32x16, f64x8};

    /// Both instructions, lane by lane, against the scalar way.
    macro_rules! check {
        ($scalar:ident, $native:ident, $times_pow2:ident, $exponent:ident) => {{
            // Nothing to compare on a machine without AVX-512: the instructions are never run there.
            let Level::Avx512(token) = Level::new() else { return };
            let least = <$scalar as Vector>::POW2_MIN as i32;
            for shift in least..=-least {
                for step in 0..64 {
                    let value =
                        (1.0 + $scalar::from(step as u8) / 64.0) * Vector::pow2((step - 32) as $scalar);
                    let (wide, by) = ($native::splat(token, value), $native::splat(token, shift as $scalar));
                    let scaled = super::$times_pow2(token, wide, by).unwrap();
                    assert_eq!(scaled.as_slice()[0], value.times_pow2(shift as $scalar));
                    let exponent = super::$exponent(token, scaled).unwrap();
                    assert_eq!(exponent.as_slice()[3], Vector::exponent(scaled.as_slice()[3]));
                }
            }
            let zero = super::$times_pow2(token, $native::splat(token, 0.0), $native::splat(token, 0.0));
            assert_eq!(zero.unwrap().as_slice()[0].to_bits(), 0);
        }};
    }

    #[test]
    fn an_instruction_gives_the_bits_of_the_longer_way_f32() {
        check!(f32, f32x16, times_pow2_f32, exponent_f32);
    }

    #[test]
    fn an_instruction_gives_the_bits_of_the_longer_way_f64() {
        check!(f64, f64x8, times_pow2_f64, exponent_f64);
    }
}
