//! Values whose costs leave the number type, and parameters at the edges of it: drawn, not chosen, from a wide range.

use dtw_core::{Band, Dtype, LocalCost, Measure, Radius, Spec};

use super::Case;
use super::series::SplitMix;
use crate::batch::Batch;

/// Cases of each measure.
const DRAWS: usize = 40;

/// Cases for numbers of this type.
pub fn cases(dtype: Dtype) -> Vec<Case> {
    // The decimal exponent that a squared difference may have.
    let range = match dtype {
        Dtype::F32 => 38.0,
        Dtype::F64 => 308.0,
    };
    let mut random = SplitMix::new(4);
    let mut cases = Vec::new();
    for measure in 0..9 {
        for draw in 0..DRAWS {
            let measure = drawn(measure, range, &mut random);
            let spec = Spec::new(measure);
            let channels = [1, 1, 2, 9][random.between(0, 3)];
            let [n, m] = [0, 1].map(|_| [3, 8, 40, 90][random.between(0, 3)]);
            let band = match random.between(0, 3) {
                0 if n == m => Band::sakoe_chiba(3),
                1 => Band::Slanted { radius: Radius::Points(4) },
                _ => Band::Full,
            };
            // A third has squares that overflow.
            let size = match random.between(0, 2) {
                0 => 10.0_f64.powf(range / 2.0) * ten_to(3.0, &mut random).max(1.0),
                _ => ten_to(range / 2.0, &mut random),
            };
            let x = series(n, channels, size, &mut random);
            let y = match random.between(0, 3) {
                0 => x.clone(),
                _ => series(m, channels, size, &mut random),
            };
            let band = if y.len() == m { band } else { Band::Full };
            let name = format!("{measure:?} {draw}, values to {size:.0e}");
            cases.push(Case::zipped(name, &spec, &band, [Batch::one(x), Batch::one(y)]));
        }
    }
    cases
}

/// 10 to a power within ±`most`.
fn ten_to(most: f64, random: &mut SplitMix) -> f64 {
    10.0_f64.powf(most * (random.between(0, 2000) as f64 / 1000.0 - 1.0))
}

/// A measure whose parameter is anywhere in the range of the type.
fn drawn(measure: usize, range: f64, random: &mut SplitMix) -> Measure {
    let anywhere = ten_to(range, random);
    let steep = [0.0, 0.5, 5.0, 10.0, 1000.0][random.between(0, 4)];
    let cost =
        [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan][random.between(0, 2)];
    match measure {
        0 => Measure::Dtw { cost },
        1 => Measure::Ddtw { cost },
        2 => Measure::Wdtw { g: steep },
        3 => Measure::Wddtw { g: steep },
        4 => Measure::Adtw { penalty: anywhere },
        5 => Measure::Frechet,
        6 => Measure::SoftDtw { gamma: anywhere, cost },
        7 => Measure::SoftDtwDivergence { gamma: anywhere, cost },
        _ => Measure::LogGak { sigma: ten_to(range / 2.0, random) },
    }
}

/// Small values, zeros, some of any size up to `size` and a few of `size` itself, exact in `f32` as far as it goes.
fn series(n: usize, channels: usize, size: f64, random: &mut SplitMix) -> Vec<Vec<f64>> {
    let mut value = || {
        let sign = if random.between(0, 1) == 0 { -1.0 } else { 1.0 };
        let value: f64 = match random.between(0, 9) {
            0 => size,
            1 => size * ten_to(3.0, random).min(1.0),
            2..=4 => 0.0,
            _ => random.between(0, 64) as f64 / 16.0,
        };
        let value = sign * value;
        let narrow = value as f32;
        if narrow.is_finite() && (narrow != 0.0 || value == 0.0) { f64::from(narrow) } else { value }
    };
    (0..n).map(|_| (0..channels).map(|_| value()).collect()).collect()
}
