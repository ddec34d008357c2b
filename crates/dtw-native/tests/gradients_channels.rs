//! Gradients of series of many channels in tiles on the host's machine: costs and products by matrices and by
//! differences, tiles that are left out because nothing flows into them, more strips than blocks.
#![cfg(feature = "host")]

mod judged;

use dtw_conformance::batch::Batch;
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_core::{Band, Pairing, Radius, Spec};
use judged::{case, judge, judge_as};

#[test]
fn several_tiles_of_many_channels() {
    for channels in [8, 12, 36] {
        for gamma in [0.02, 1.0, 300.0] {
            judge_as::<f32>(&case(Spec::soft_dtw(gamma), Kind::Noise, &[(130, 70)], channels));
        }
    }
    judge(&case(Spec::soft_dtw(1.0), Kind::Offset(1e3), &[(70, 130)], 16));
    // Rows of points that cannot be loaded four channels at a time.
    judge_as::<f32>(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(66, 65)], 10));
}

#[test]
fn bands_and_ragged_batches_of_many_channels() {
    let lengths = [(130, 140), (1, 66), (65, 64), (40, 3)];
    judge_as::<f32>(&case(Spec::soft_dtw(0.1), Kind::Noise, &lengths, 8));
    for radius in [3, 70] {
        let band = Band::SakoeChiba { radius: Radius::Points(radius) };
        judge_as::<f32>(&case(Spec::soft_dtw(1.0).with_band(band), Kind::Noise, &[(140, 130)], 16));
    }
}

/// A series and a copy with some noise: in tiles round the diagonal differences of sums would lose most digits.
fn near(gamma: f64, length: usize, channels: usize, noise: f64) -> Case {
    let mut random = SplitMix::new(11);
    let x = series(Kind::Noise, length, channels, &mut random);
    let other = series(Kind::Noise, length, channels, &mut random);
    let y = x.iter().zip(&other).map(|(x, other)| {
        x.iter().zip(other).map(|(x, other)| f64::from((x + noise * other) as f32)).collect()
    });
    Case {
        name: format!("near copies: gamma {gamma}, {length} points, {channels} channels, noise {noise}"),
        spec: Spec::soft_dtw(gamma),
        pairing: Pairing::Zipped,
        y: Batch::new(vec![y.collect()]),
        x: Batch::new(vec![x]),
    }
}

#[test]
fn near_copies_keep_their_digits() {
    for (gamma, noise) in [(1e-3, 1e-3), (0.1, 0.05), (1.0, 1e-4), (1.0, 0.0)] {
        judge(&near(gamma, 130, 16, noise));
    }
}

#[test]
fn more_strips_than_blocks() {
    // Of hard alignments: most tiles are left out.
    let lengths = [(200, 200); 6];
    judge_as::<f32>(&case(Spec::soft_dtw(0.01), Kind::Noise, &lengths, 8));
}
