//! Generated series: the same values on every machine.

use anyhow::Result;
use dtw_core::{Pairing, Scalar, SeriesBatch};

use crate::definition::Definition;

/// SplitMix64 (Steele, Lea & Flood 2014, 10.1145/2660193.2660195): 64 bits of state, one output per step.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`, a multiple of 2⁻²³, so that it is exact in f32 too.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 41) as f64 / (1_u64 << 23) as f64
    }
}

/// `len` values uniform in `[−1, 1)`, the same in both precisions.
pub(crate) fn uniform<T: Scalar>(seed: u64, len: usize) -> Vec<T> {
    let mut random = SplitMix64(seed);
    (0..len).map(|_| T::from_f64(2.0 * random.uniform() - 1.0)).collect()
}

pub(crate) fn series<T: Scalar>(definition: &Definition) -> (Vec<T>, Vec<T>) {
    let Definition { count, length, channels, seed, .. } = *definition;
    let y = match definition.pairing() {
        Pairing::SelfSymmetric => 0,
        _ => definition.count_y() * definition.length_y() * channels,
    };
    (uniform(seed, count * length * channels), uniform(seed + 1, y))
}

pub(crate) fn batches<'a, T: Scalar>(
    definition: &Definition,
    x: &'a [T],
    y: &'a [T],
) -> Result<(SeriesBatch<'a, T>, SeriesBatch<'a, T>)> {
    let x = SeriesBatch::equal(x, definition.count, definition.length, definition.channels)?;
    Ok(match definition.pairing() {
        Pairing::SelfSymmetric => (x, x),
        _ => (x, SeriesBatch::equal(y, definition.count_y(), definition.length_y(), definition.channels)?),
    })
}

pub(crate) fn places(seed: u64, count: usize, bound: usize) -> Vec<usize> {
    let mut random = SplitMix64(seed ^ 0x0070_1ACE);
    (0..count).map(|_| (random.next() % bound as u64) as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // First outputs for seed 1234567, as published with the reference implementation.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn values_are_exact_in_single_precision() {
        let values = uniform::<f64>(3, 1000);
        assert!(values.iter().all(|v| (-1.0..1.0).contains(v) && f64::from(*v as f32) == *v));
        assert!(values.iter().any(|v| *v < -0.9) && values.iter().any(|v| *v > 0.9));
    }
}
