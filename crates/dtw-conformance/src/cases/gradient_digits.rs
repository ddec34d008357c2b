//! The digits of gradients of many channels: few and many of them, γ from one path's to all paths', series that are far
//! from each other, close, offset, or small.

use dtw_core::{Band, LocalCost, Measure, Spec};

use super::Case;
use super::series::{Kind, Look, SplitMix, look, series};
use crate::batch::Batch;

/// Channels that products of matrices take, and some that they do not.
const CHANNELS: [usize; 5] = [8, 17, 36, 64, 128];
/// Smoothing from a single path to nearly all.
const GAMMAS: [f64; 4] = [0.02, 1.0, 10.0, 300.0];

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut random = SplitMix::new(91);
    let mut cases = Vec::new();
    for channels in CHANNELS {
        for gamma in GAMMAS {
            for (name, sides) in looks(channels, &mut random) {
                let mut costs = vec![LocalCost::SquaredEuclidean];
                if name == "noise" {
                    costs.extend([LocalCost::Euclidean, LocalCost::Manhattan]);
                }
                for cost in costs {
                    let spec = Spec::new(Measure::SoftDtw { gamma, cost });
                    let [n, m] = sides.each_ref().map(|side| side.series[0].len());
                    let name = format!("{name} {n}×{m}×{channels}");
                    cases.push(Case::zipped(name, &spec, &Band::Full, sides.clone()));
                }
            }
        }
    }
    cases
}

/// Pairs of series of so many channels.
fn looks(channels: usize, random: &mut SplitMix) -> Vec<(&'static str, [Batch; 2])> {
    let drawn = |kind, length, random: &mut SplitMix| series(kind, length, channels, random);
    let copy = |of: &[Vec<f64>], random: &mut SplitMix| -> Vec<Vec<f64>> {
        let off = drawn(Kind::Tiny, of.len(), random);
        let near = |(value, off): (&f64, &f64)| f64::from((value + 16.0 * off) as f32);
        of.iter().zip(&off).map(|(point, off)| point.iter().zip(off).map(near).collect()).collect()
    };
    let walks = |length: usize, random: &mut SplitMix| -> Vec<Vec<f64>> {
        let each: Vec<Vec<f64>> = (0..channels).map(|_| look(Look::Walk, length, random)).collect();
        (0..length).map(|i| each.iter().map(|channel| channel[i]).collect()).collect()
    };
    let noise = drawn(Kind::Noise, 66, random);
    let near = copy(&noise[..60], random);
    [
        ("noise", [drawn(Kind::Noise, 66, random), drawn(Kind::Noise, 70, random)]),
        ("near copies", [noise, near]),
        ("walks", [walks(70, random), walks(40, random)]),
        ("offset", [drawn(Kind::Offset(1e3), 40, random), drawn(Kind::Offset(1e3), 65, random)]),
        ("tiny", [drawn(Kind::Tiny, 64, random), drawn(Kind::Tiny, 33, random)]),
        ("few points", [drawn(Kind::Noise, 512, random), drawn(Kind::Noise, 5, random)]),
    ]
    .into_iter()
    .map(|(name, sides)| (name, sides.map(Batch::one)))
    .collect()
}
