//! Gradients of Soft-DTW in tiles on the host's machine, of every local cost: lengths round the edges of tiles, bands
//! that leave tiles out, ragged batches, numbers of channels round those that are staged at once, all γ. Judged as the
//! suite judges its cases: against the oracle, with factors, a second time with the same plan.

use crate::judged::{backend, case, judge, judge_as, soft};
use dtw_conformance::batch::Batch;
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_core::{
    Backend, Band, Error, Gradients, LocalCost, Measure, Pairing, Problem, Radius, SeriesBatch, Spec, Task,
};

const NORMS: [LocalCost; 2] = [LocalCost::Euclidean, LocalCost::Manhattan];
const COSTS: [LocalCost; 3] = [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan];

#[test]
fn lengths_round_the_edges_of_tiles() {
    for n in [1, 63, 64, 65, 129] {
        for m in [1, 63, 64, 65, 128] {
            judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(n, m)], 1));
        }
    }
    judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(130, 193), (193, 66)], 2));
    for cost in NORMS {
        for pair in [(1, 1), (1, 65), (64, 1), (63, 64), (65, 63), (64, 64), (129, 66), (70, 200)] {
            judge(&case(soft(1.0, cost), Kind::Noise, &[pair], 1));
            judge(&case(soft(1.0, cost), Kind::Noise, &[pair], 3));
        }
    }
}

#[test]
fn bands_that_leave_tiles_out() {
    let (slanted, itakura) = (Band::Slanted { radius: Radius::Points(2) }, Band::Itakura { max_slope: 4.0 });
    let radius = Band::sakoe_chiba;
    for pair in [(64, 64), (130, 130), (200, 70), (70, 200), (129, 128)] {
        let tenth = Band::SakoeChiba { radius: Radius::Fraction(0.1) };
        let bands = [radius(0), radius(1), radius(20), radius(63), tenth, slanted.clone(), itakura.clone()];
        for band in bands {
            judge(&case(Spec::soft_dtw(1.0).with_band(band), Kind::Noise, &[pair], 1));
        }
    }
    for cost in NORMS {
        for pair in [(130, 130), (200, 70), (70, 130)] {
            for band in [radius(0), radius(1), radius(20), slanted.clone(), itakura.clone()] {
                let spec = soft(0.5, cost).with_band(band);
                judge(&case(spec.clone(), Kind::Noise, &[pair], 1));
                judge_as::<f32>(&case(spec, Kind::Noise, &[pair], 4));
            }
        }
    }
    // The only path goes through the corners of tiles, or along their edges.
    let diagonal = (0..192).map(|i| i..i + 1).collect();
    judge(&case(Spec::soft_dtw(1.0).with_band(Band::Ranges(diagonal)), Kind::Noise, &[(192, 192)], 2));
    let edges = (0..130)
        .map(|i| {
            if i < 64 {
                0..1
            } else if i == 64 {
                0..128
            } else {
                127..130
            }
        })
        .collect();
    judge(&case(Spec::soft_dtw(1.0).with_band(Band::Ranges(edges)), Kind::Noise, &[(130, 130)], 1));
}

#[test]
fn ragged_batches_and_divergences() {
    let lengths = [(1, 70), (65, 64), (128, 3), (30, 31), (70, 129)];
    for cost in COSTS {
        for channels in [1, 3] {
            judge(&case(soft(0.5, cost), Kind::Noise, &lengths, channels));
            let divergence = Spec::new(Measure::SoftDtwDivergence { gamma: 0.5, cost });
            judge(&case(divergence, Kind::Noise, &lengths, channels));
        }
    }
}

#[test]
fn channels_round_those_staged_at_once() {
    for channels in [2, 4, 5, 31, 32, 33, 64, 65, 96, 130] {
        judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(9, 70)], channels));
    }
    for cost in NORMS {
        for channels in [2, 5, 8, 31, 33, 64, 65, 130] {
            judge(&case(soft(1.0, cost), Kind::Noise, &[(66, 70)], channels));
        }
    }
}

#[test]
fn every_gamma() {
    for gamma in [1e-3, 0.01, 0.1, 1.0, 100.0, 1e6] {
        for kind in [Kind::Noise, Kind::Constant(0.5), Kind::Tiny, Kind::Offset(1e3)] {
            judge(&case(Spec::soft_dtw(gamma), kind, &[(90, 100)], 1));
            judge(&case(Spec::soft_dtw(gamma), kind, &[(66, 40)], 3));
        }
    }
    for cost in NORMS {
        for gamma in [1e-3, 1.0, 100.0] {
            for kind in [Kind::Noise, Kind::Ternary, Kind::Tiny, Kind::Offset(1e3)] {
                judge(&case(soft(gamma, cost), kind, &[(40, 70)], 1));
                judge(&case(soft(gamma, cost), kind, &[(66, 40)], 3));
            }
        }
        judge(&case(soft(1e6, cost), Kind::Noise, &[(66, 70)], 2));
    }
}

/// Costs and products of squares of many channels, by matrices and by differences.
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
    let lengths = [(130, 140), (1, 66), (65, 64), (40, 3)];
    judge_as::<f32>(&case(Spec::soft_dtw(0.1), Kind::Noise, &lengths, 8));
    for radius in [3, 70] {
        let spec = Spec::soft_dtw(1.0).with_band(Band::sakoe_chiba(radius));
        judge_as::<f32>(&case(spec, Kind::Noise, &[(140, 130)], 16));
    }
    // Hard alignments, of which most tiles are left out, and more strips than blocks.
    judge_as::<f32>(&case(Spec::soft_dtw(0.01), Kind::Noise, &[(200, 200); 6], 8));
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

/// Values, gradients to x and to y.
fn gradients<T: dtw_native::Number>(
    x: &[T],
    y: &[T],
    channels: usize,
    spec: Spec,
    limit: u64,
) -> Result<[Vec<T>; 3], Error> {
    let batch = |values| SeriesBatch::equal(values, 1, <[T]>::len(values) / channels, channels);
    let (batch_x, batch_y) = (batch(x)?, batch(y)?);
    let problem = Problem::of(spec, Pairing::Zipped, &batch_x, &batch_y)?.with_memory_limit(limit);
    let mut found = [1, x.len(), y.len()].map(|count| vec![T::from_f64(f64::NAN); count]);
    let [distances, grad_x, grad_y] = &mut found;
    let out = Gradients { upstream: None, distances, grad_x, grad_y };
    backend().plan(&problem)?.gradients(batch_x, batch_y, out)?;
    Ok(found)
}

#[test]
fn points_that_agree_have_no_slope() {
    for cost in COSTS {
        let all_channels: &[_] = if cost == LocalCost::SquaredEuclidean { &[1] } else { &[1, 2, 40] };
        for channels in all_channels {
            for gamma in [1e-3, 1.0, 1e6] {
                let x = vec![1000.25_f32; 100 * channels];
                let [distances, grad_x, grad_y] =
                    gradients(&x, &x, *channels, soft(gamma, cost), 1 << 30).unwrap();
                assert!(distances[0].is_finite());
                assert!(grad_x.iter().chain(&grad_y).all(|value| *value == 0.0), "{cost:?} {channels}");
            }
        }
    }
}

/// Points that agree in all channels but one.
#[test]
fn channels_that_agree_have_no_slope() {
    let count = 70;
    let (mut x, mut y) = (vec![0.5_f64; 3 * count], vec![0.5_f64; 3 * count]);
    for i in 0..count {
        (x[3 * i + 1], y[3 * i + 1]) = (2.0, -1.0);
    }
    for cost in NORMS {
        let [_, grad_x, grad_y] = gradients(&x, &y, 3, soft(1.0, cost), 1 << 30).unwrap();
        for (of_x, of_y) in grad_x.chunks(3).zip(grad_y.chunks(3)) {
            assert_eq!([of_x[0], of_x[2], of_y[0], of_y[2]], [0.0; 4], "{cost:?}");
            // Each point is matched at least once.
            assert!(of_x[1] > 0.999 && of_y[1] < -0.999, "{cost:?}: {of_x:?} {of_y:?}");
        }
    }
}

#[test]
fn floats_agree_with_doubles_at_small_gammas_and_large_offsets() {
    let mut random = SplitMix::new(8);
    let norms = [(1e-3, 0.0, 1), (0.01, 1e3, 1), (0.01, 0.0, 5), (1.0, 1e3, 64)];
    let squares = [(1e-3, 0.0, 1), (0.01, 0.0, 1), (0.01, 1e3, 1), (1.0, 1e3, 1)];
    for cost in COSTS {
        let all = if cost == LocalCost::SquaredEuclidean { squares } else { norms };
        for (gamma, offset, channels) in all {
            let mut one = |length| -> Vec<f32> {
                let points = series(Kind::Offset(offset), length, channels, &mut random);
                points.into_iter().flatten().map(|value| value as f32).collect()
            };
            let (x, y) = (one(150), one(140));
            let doubles = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(f64::from).collect() };
            let got = gradients(&x, &y, channels, soft(gamma, cost), 1 << 30).unwrap();
            let truth = gradients(&doubles(&x), &doubles(&y), channels, soft(gamma, cost), 1 << 30).unwrap();
            for (got, truth) in got.iter().zip(&truth) {
                let largest = truth.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
                for (got, truth) in got.iter().zip(truth) {
                    let error = (f64::from(*got) - truth).abs();
                    let what = format!("{cost:?}, gamma {gamma}, offset {offset}");
                    assert!(error <= 1e-4 * largest, "{what}: {got} for {truth}");
                }
            }
        }
    }
}

#[test]
fn too_little_memory_is_refused_with_numbers() {
    let x = vec![0.5_f64; 400];
    let error = gradients(&x, &x, 1, Spec::soft_dtw(1.0), 100_000).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { requested_bytes, available_bytes: 100_000, .. } if requested_bytes > 100_000),
        "{error}"
    );
    assert!(gradients(&x, &x, 1, Spec::soft_dtw(1.0), 1 << 20).is_ok());
}

#[test]
fn tasks_are_supported() {
    let numbers = [0.0_f32; 12];
    for cost in COSTS {
        for channels in [1, 3] {
            let batch = SeriesBatch::equal(&numbers, 1, 12 / channels, channels).unwrap();
            let problem = Problem::of(soft(1.0, cost), Pairing::Zipped, &batch, &batch).unwrap();
            for task in [Task::Distances, Task::Gradients, Task::Alignment] {
                Backend::<f32>::supports(&backend(), &problem, task).unwrap();
                Backend::<f64>::supports(&backend(), &problem, task).unwrap();
            }
        }
    }
}
