//! Deterministic series. All values are exact in `f32`.

/// The sequence of Steele, Lea & Flood 2014 (doi:10.1145/2714064.2660195): defined by its constants, so the cases
/// are the same on every machine and with every version of any library.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A sequence of its own for every seed.
    pub fn new(seed: u64) -> Self {
        SplitMix(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.bits() % (high - low + 1) as u64) as usize
    }
}

/// What the values of a series look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Uniform in −2..2, 24 random bits each.
    Noise,
    /// Multiples of 1/8 in −2..=2: sums and squares are exact in `f32`, and there are ties.
    Eighths,
    /// −1, 0 or 1: ties everywhere.
    Ternary,
    /// One value throughout.
    Constant(f64),
    /// [`Kind::Noise`] round a large offset.
    Offset(f64),
    /// [`Kind::Eighths`] round a large offset.
    EighthsOffset(f64),
    /// [`Kind::Noise`] made small.
    Tiny,
}

/// A series of `length` points.
pub fn series(kind: Kind, length: usize, channels: usize, random: &mut SplitMix) -> Vec<Vec<f64>> {
    let mut value = || match kind {
        Kind::Noise => noise(random),
        Kind::Eighths => eighth(random),
        Kind::Ternary => (random.bits() % 3) as f64 - 1.0,
        Kind::Constant(value) => value,
        Kind::Offset(offset) => f64::from((offset + noise(random)) as f32),
        Kind::EighthsOffset(offset) => offset + eighth(random),
        Kind::Tiny => noise(random) / 1024.0,
    };
    (0..length).map(|_| (0..channels).map(|_| value()).collect()).collect()
}

fn noise(random: &mut SplitMix) -> f64 {
    // 24 bits fill the significand of an f32 exactly.
    ((random.bits() >> 40) as f64 / (1u64 << 22) as f64) - 2.0
}

fn eighth(random: &mut SplitMix) -> f64 {
    (random.bits() % 33) as f64 / 8.0 - 2.0
}

/// The shape of a univariate series, over its whole length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// Uniform in −2..2.
    Noise,
    /// Drawn back to zero.
    Walk,
    /// Never drawn back.
    FreeWalk,
    /// Runs of equal points.
    Plateaus,
    /// Noise with some points ten times as large.
    Spikes,
    /// One value throughout, another for every series.
    Constant,
    /// Stretches of all of these.
    Mixed,
}

/// A series of `length` points that looks like this.
pub fn look(look: Look, length: usize, random: &mut SplitMix) -> Vec<f64> {
    const STRETCHES: [Look; 4] = [Look::Plateaus, Look::Walk, Look::Noise, Look::Spikes];
    let (mut at, mut stretch) = (noise(random), Look::Noise);
    let mut point = |i: usize| {
        if i.is_multiple_of(37) {
            stretch = STRETCHES[random.between(0, 3)];
        }
        let step = noise(random);
        at = match if look == Look::Mixed { stretch } else { look } {
            Look::Walk => 0.97 * at + 0.5 * step,
            Look::FreeWalk => at + step,
            Look::Plateaus if random.between(0, 11) > 0 => at,
            Look::Constant => at,
            Look::Spikes if random.between(0, 39) == 0 => 10.0 * step,
            _ => step,
        };
        f64::from(at as f32)
    };
    (0..length).map(&mut point).collect()
}

/// Increasing times with steps of 1/8 to 1, starting a little after 0.
pub fn times(length: usize, random: &mut SplitMix) -> Vec<f64> {
    let mut now = 0.0;
    (0..length)
        .map(|_| {
            now += random.between(1, 8) as f64 / 8.0;
            now
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_exact_in_single_precision() {
        let mut random = SplitMix::new(1);
        for kind in [
            Kind::Noise,
            Kind::Eighths,
            Kind::Ternary,
            Kind::Constant(0.1f32.into()),
            Kind::Offset(1e3),
            Kind::EighthsOffset(1e3),
            Kind::Tiny,
        ] {
            for value in series(kind, 200, 2, &mut random).iter().flatten() {
                assert_eq!(f64::from(*value as f32), *value, "{kind:?}");
            }
        }
        for shape in [Look::Walk, Look::FreeWalk, Look::Plateaus, Look::Spikes, Look::Constant, Look::Mixed] {
            let series = look(shape, 200, &mut random);
            assert!(series.iter().all(|value| f64::from(*value as f32) == *value), "{shape:?}");
        }
        assert!(times(50, &mut random).windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix::new(1234567);
        assert_eq!(random.bits(), 6457827717110365317);
        assert_eq!(random.bits(), 3203168211198807973);
    }
}
