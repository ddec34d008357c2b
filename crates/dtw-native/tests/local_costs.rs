//! Soft-DTW of Euclidean and Manhattan costs on the host's machine: gradients and values of all lengths, bands, γ and
//! numbers of channels, judged as the suite judges its cases; points that agree; too little memory.
#![cfg(feature = "host")]

mod judged;

use dtw_conformance::batch::{Batch, Element};
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::check::{self, Stop};
use dtw_core::{
    Backend, Band, Error, Gradients, LocalCost, Measure, Pairing, Plan, Problem, Radius, SeriesBatch, Spec,
    Task,
};
use dtw_native::{HostMachine, NativeBackend};
use judged::{backend, case, judge, judge_as};

const COSTS: [LocalCost; 2] = [LocalCost::Euclidean, LocalCost::Manhattan];

fn soft(gamma: f64, cost: LocalCost) -> Spec {
    Spec::new(Measure::SoftDtw { gamma, cost })
}

fn within(points: usize) -> Band {
    Band::SakoeChiba { radius: Radius::Points(points) }
}

#[test]
fn gradients_of_lengths_round_the_edges_of_tiles() {
    for cost in COSTS {
        for (n, m) in [(1, 1), (1, 65), (64, 1), (63, 64), (65, 63), (64, 64), (129, 66), (70, 200)] {
            judge(&case(soft(1.0, cost), Kind::Noise, &[(n, m)], 1));
            judge(&case(soft(1.0, cost), Kind::Noise, &[(n, m)], 3));
        }
    }
}

#[test]
fn gradients_of_channels_round_those_staged_at_once() {
    for cost in COSTS {
        for channels in [2, 5, 8, 31, 33, 64, 65, 130] {
            judge(&case(soft(1.0, cost), Kind::Noise, &[(66, 70)], channels));
        }
    }
}

#[test]
fn gradients_of_every_gamma() {
    for cost in COSTS {
        for gamma in [1e-3, 1.0, 100.0] {
            for kind in [Kind::Noise, Kind::Ternary, Kind::Tiny, Kind::Offset(1e3)] {
                judge(&case(soft(gamma, cost), kind, &[(40, 70)], 1));
                judge(&case(soft(gamma, cost), kind, &[(66, 40)], 3));
            }
        }
        judge(&case(soft(1e6, cost), Kind::Noise, &[(66, 70)], 2));
    }
}

#[test]
fn gradients_in_bands() {
    for cost in COSTS {
        for (n, m) in [(130, 130), (200, 70), (70, 130)] {
            for band in [
                within(0),
                within(1),
                within(20),
                Band::Slanted { radius: Radius::Points(2) },
                Band::Itakura { max_slope: 4.0 },
            ] {
                judge(&case(soft(0.5, cost).with_band(band.clone()), Kind::Noise, &[(n, m)], 1));
                judge_as::<f32>(&case(soft(0.5, cost).with_band(band), Kind::Noise, &[(n, m)], 4));
            }
        }
    }
}

#[test]
fn gradients_of_ragged_batches_and_divergences() {
    let lengths = [(1, 70), (65, 64), (128, 3), (30, 31), (70, 129)];
    for cost in COSTS {
        for channels in [1, 3] {
            judge(&case(soft(0.5, cost), Kind::Noise, &lengths, channels));
            let divergence = Spec::new(Measure::SoftDtwDivergence { gamma: 0.5, cost });
            judge(&case(divergence, Kind::Noise, &lengths, channels));
        }
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
        for channels in [1, 2, 40] {
            for gamma in [1e-3, 1.0, 1e6] {
                let x = vec![1000.25_f32; 100 * channels];
                let [distances, grad_x, grad_y] =
                    gradients(&x, &x, channels, soft(gamma, cost), 1 << 30).unwrap();
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
    for cost in COSTS {
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
    for cost in COSTS {
        for (gamma, offset, channels) in [(1e-3, 0.0, 1), (0.01, 1e3, 1), (0.01, 0.0, 5), (1.0, 1e3, 64)] {
            let mut one = |length| -> Vec<f32> {
                let points = series(Kind::Offset(offset), length, channels, &mut random);
                points.into_iter().flatten().map(|value| value as f32).collect()
            };
            let (x, y) = (one(150), one(140));
            let wide = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(f64::from).collect() };
            let got = gradients(&x, &y, channels, soft(gamma, cost), 1 << 30).unwrap();
            let truth = gradients(&wide(&x), &wide(&y), channels, soft(gamma, cost), 1 << 30).unwrap();
            for (got, truth) in got.iter().zip(&truth) {
                let largest = truth.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
                for (got, truth) in got.iter().zip(truth) {
                    let error = (f64::from(*got) - truth).abs();
                    assert!(
                        error <= 1e-4 * largest,
                        "{cost:?}, gamma {gamma}, offset {offset}: {got} for {truth}"
                    );
                }
            }
        }
    }
}

fn values(spec: Spec, pairing: Pairing, lengths: [&[usize]; 2], channels: usize) -> Case {
    let mut random = SplitMix::new(11);
    let mut batch = |lengths: &[usize]| {
        let series = |length: &usize| series(Kind::Noise, *length, channels, &mut random);
        Batch::new(lengths.iter().map(series).collect())
    };
    let x = batch(lengths[0]);
    let y = if pairing == Pairing::SelfSymmetric { x.clone() } else { batch(lengths[1]) };
    Case { name: format!("{spec:?} {pairing:?} {lengths:?} of {channels} channels"), spec, pairing, x, y }
}

fn judge_values_as<T: Element>(case: &Case)
where
    NativeBackend<HostMachine>: Backend<T>,
{
    match check::distances::check::<T>(case, &backend()) {
        Ok(_) => {}
        Err(Stop::Failed(why)) => panic!("{}: {why}", case.name),
        Err(_) => panic!("{}: was not computed", case.name),
    }
}

fn judge_values(case: &Case) {
    judge_values_as::<f32>(case);
    judge_values_as::<f64>(case);
}

#[test]
fn values_of_every_pairing_length_and_band() {
    let (x, y) = ([70, 1, 130, 64], [129, 65, 3, 90]);
    for cost in COSTS {
        for channels in [1, 5] {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                judge_values(&values(soft(0.1, cost), pairing, [&x, &y], channels));
            }
            for n in [1, 2, 20, 63, 65] {
                for m in [1, 7, 64, 65] {
                    judge_values(&values(soft(1.0, cost), Pairing::Zipped, [&[n], &[m]], channels));
                }
            }
            for band in [within(0), within(3), Band::Itakura { max_slope: 4.0 }] {
                let spec = soft(1.0, cost).with_band(band);
                judge_values(&values(spec, Pairing::Zipped, [&[130], &[70]], channels));
            }
        }
    }
}

/// With little memory a launch has few pairs; one by one they have the same bits.
#[test]
fn the_bits_do_not_depend_on_the_memory() {
    for (cost, channels) in [(LocalCost::Euclidean, 3), (LocalCost::Manhattan, 1)] {
        let mut random = SplitMix::new(5);
        let points = series(Kind::Noise, 12 * 100, channels, &mut random);
        let numbers: Vec<f32> = points.into_iter().flatten().map(|value| value as f32).collect();
        let batch = SeriesBatch::equal(&numbers, 12, 100, channels).unwrap();
        let problem = Problem::of(soft(1.0, cost), Pairing::Cross, &batch, &batch).unwrap();
        let run = |problem: &Problem| {
            let mut plan: Box<dyn Plan<f32>> = backend().plan(problem).unwrap();
            let mut out = vec![f32::NAN; problem.output_len()];
            plan.distances(batch, batch, &mut out).map(|()| out)
        };
        let whole = run(&problem).unwrap();
        assert!(whole.iter().all(|value| value.is_finite()));
        assert_eq!(run(&problem.clone().with_memory_limit(64 << 10)).unwrap(), whole);
    }
}

/// There is no other sweep that would take less.
#[test]
fn too_little_memory_is_refused_with_numbers() {
    let points = 20_000;
    let x = vec![0.5_f32; points];
    let batch = SeriesBatch::equal(&x, 1, points, 1).unwrap();
    let spec = soft(1.0, LocalCost::Manhattan).with_band(within(10));
    let problem = Problem::of(spec, Pairing::Zipped, &batch, &batch).unwrap();
    let run = |limit| -> Result<f32, Error> {
        let mut plan: Box<dyn Plan<f32>> = backend().plan(&problem.clone().with_memory_limit(limit))?;
        let mut out = [f32::NAN];
        plan.distances(batch, batch, &mut out)?;
        Ok(out[0])
    };
    let error = run(645_000).unwrap_err();
    assert!(
        matches!(&error, Error::OutOfMemory { what, requested_bytes, available_bytes: 645_000 }
            if what.contains("row of tiles") && *requested_bytes > 645_000),
        "{error}"
    );
    assert!(run(4 << 20).unwrap().is_finite());
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
