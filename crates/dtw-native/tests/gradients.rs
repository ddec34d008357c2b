//! Gradients in tiles on the host's machine: lengths round the edges of tiles, bands that leave tiles out, ragged
//! batches, numbers of channels round those that are staged at once, all γ. Judged as the suite judges its cases:
//! against the oracle, with factors, a second time with the same plan.
#![cfg(feature = "host")]

mod judged;

use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_core::{
    Backend, Band, Error, Gradients, Measure, Pairing, Plan, Problem, Radius, SeriesBatch, Spec, Task,
};
use dtw_native::{Buffer, DeviceBatch, DeviceGradients, DeviceLayout, HostMachine, Machine, NativePlan};
use judged::{backend, case, judge};

#[test]
fn every_length_round_the_edges_of_tiles() {
    for n in [1, 63, 64, 65, 129] {
        for m in [1, 63, 64, 65, 128] {
            judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(n, m)], 1));
        }
    }
    judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(130, 193), (193, 66)], 2));
}

#[test]
fn bands_that_leave_tiles_out() {
    let radius = |points| Band::SakoeChiba { radius: Radius::Points(points) };
    for (n, m) in [(64, 64), (130, 130), (200, 70), (70, 200), (129, 128)] {
        for band in [
            radius(0),
            radius(1),
            radius(20),
            radius(63),
            Band::SakoeChiba { radius: Radius::Fraction(0.1) },
            Band::Slanted { radius: Radius::Points(2) },
            Band::Itakura { max_slope: 4.0 },
        ] {
            judge(&case(Spec::soft_dtw(1.0).with_band(band), Kind::Noise, &[(n, m)], 1));
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
    for channels in [1, 3] {
        judge(&case(Spec::soft_dtw(0.5), Kind::Noise, &lengths, channels));
        judge(&case(Spec::new(Measure::soft_dtw_divergence(0.5)), Kind::Noise, &lengths, channels));
    }
}

#[test]
fn channels_round_those_staged_at_once() {
    for channels in [2, 4, 5, 31, 32, 33, 64, 65, 96, 130] {
        judge(&case(Spec::soft_dtw(1.0), Kind::Noise, &[(9, 70)], channels));
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
}

/// Values, gradients to x and to y.
fn gradients<T: dtw_native::Number>(x: &[T], y: &[T], gamma: f64, limit: u64) -> Result<[Vec<T>; 3], Error> {
    let (x, y) = (SeriesBatch::equal(x, 1, x.len(), 1)?, SeriesBatch::equal(y, 1, y.len(), 1)?);
    let problem = Problem::of(Spec::soft_dtw(gamma), Pairing::Zipped, &x, &y)?.with_memory_limit(limit);
    let zeros = |count: usize| vec![T::from_f64(0.0); count];
    let (mut distances, mut grad_x, mut grad_y) = (zeros(1), zeros(x.length(0)), zeros(y.length(0)));
    let mut plan = backend().plan(&problem)?;
    plan.gradients(
        x,
        y,
        Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y },
    )?;
    Ok([distances, grad_x, grad_y])
}

#[test]
fn floats_agree_with_doubles_at_small_gammas_and_large_offsets() {
    let mut random = SplitMix::new(8);
    for (gamma, offset) in [(1e-3, 0.0), (0.01, 0.0), (0.01, 1e3), (1.0, 1e3)] {
        let mut one = |length| -> Vec<f32> {
            let points = series(Kind::Offset(offset), length, 1, &mut random);
            points.into_iter().flatten().map(|value| value as f32).collect()
        };
        let (x, y) = (one(150), one(140));
        let wide = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(f64::from).collect() };
        let got = gradients(&x, &y, gamma, 1 << 30).unwrap();
        let truth = gradients(&wide(&x), &wide(&y), gamma, 1 << 30).unwrap();
        for (got, truth) in got.iter().zip(&truth) {
            let largest = truth.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            for (got, truth) in got.iter().zip(truth) {
                let error = (f64::from(*got) - truth).abs();
                assert!(error <= 1e-4 * largest, "gamma {gamma}, offset {offset}: {got} for {truth}");
            }
        }
    }
}

#[test]
fn equal_series_have_finite_gradients() {
    for gamma in [1e-3, 1.0, 1e6] {
        let x = vec![0.25_f32; 100];
        let [distances, grad_x, grad_y] = gradients(&x, &x, gamma, 1 << 30).unwrap();
        assert!(distances[0].is_finite());
        assert!(grad_x.iter().chain(&grad_y).all(|value| *value == 0.0));
    }
}

#[test]
fn too_little_memory_is_refused_with_numbers() {
    let x = vec![0.5_f64; 400];
    let error = gradients(&x, &x, 1.0, 100_000).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { requested_bytes, available_bytes: 100_000, .. } if requested_bytes > 100_000),
        "{error}"
    );
    assert!(gradients(&x, &x, 1.0, 1 << 20).is_ok());
}

#[test]
fn tasks_are_supported() {
    let values = [0.0_f32; 4];
    let batch = SeriesBatch::equal(&values, 1, 4, 1).unwrap();
    let problem = Problem::of(Spec::soft_dtw(1.0), Pairing::Zipped, &batch, &batch).unwrap();
    for task in [Task::Gradients, Task::Alignment] {
        Backend::<f32>::supports(&backend(), &problem, task).unwrap();
    }
}

/// What a call on device memory leaves there: values, gradients to x and to y.
fn on_device(
    x: (&[f32], DeviceLayout<'_>),
    y: (&[f32], DeviceLayout<'_>),
    channels: usize,
    upstream: &[f32],
    problem: &Problem,
) -> [Vec<f32>; 3] {
    let machine = HostMachine::new(1 << 30);
    let held = |values: &[f32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let buffer = machine.allocate(bytes.len()).unwrap();
        machine.upload(&buffer, 0, &bytes).unwrap();
        buffer
    };
    let (in_x, in_y, factors) = (held(x.0), held(y.0), held(upstream));
    let out = [upstream.len(), x.0.len(), y.0.len()].map(|count| machine.allocate(4 * count).unwrap());
    let [distances, grad_x, grad_y] = [0, 1, 2].map(|k| out[k].address());
    let results = DeviceGradients { upstream: factors.address(), distances, grad_x, grad_y };
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), problem).unwrap();
    let most = problem.memory_limit_bytes();
    let batch = |buffer: &<HostMachine as Machine>::Buffer, layout| {
        DeviceBatch::packed(buffer.address(), channels, layout)
    };
    // SAFETY: buffers of these layouts, and as large as what is written to them.
    unsafe { plan.gradients_on_device(batch(&in_x, x.1), batch(&in_y, y.1), results) }.unwrap();
    assert!(plan.scratch_bytes() <= most, "{} bytes of {most}", plan.scratch_bytes());
    out.map(|buffer| {
        let mut bytes = vec![0; buffer.bytes()];
        machine.download(&buffer, 0, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
    })
}

#[test]
fn values_that_another_sweep_computes_stay_within_the_memory_limit() {
    // One path: the excess is swept for.
    let (x, y) = (vec![0.5_f32; 4 * 300], vec![0.5_f32; 4]);
    let (batch_x, batch_y) =
        (SeriesBatch::equal(&x, 4, 300, 1).unwrap(), SeriesBatch::equal(&y, 4, 1, 1).unwrap());
    let problem = Problem::of(Spec::soft_dtw(1.0), Pairing::Zipped, &batch_x, &batch_y).unwrap();
    let equal = |length| DeviceLayout::Equal { count: 4, length };
    let problem = problem.with_memory_limit(64 << 10);
    let got = on_device((&x, equal(300)), (&y, equal(1)), 1, &[1.0; 4], &problem);
    assert!(got.iter().flatten().all(|number| *number == 0.0));
}

#[test]
fn a_gamma_that_floats_cannot_divide_by_is_refused_on_device_memory_too() {
    let x = [0.5_f32; 4];
    let batch = SeriesBatch::equal(&x, 1, 4, 1).unwrap();
    let problem = Problem::of(Spec::soft_dtw(1e-39), Pairing::Zipped, &batch, &batch).unwrap();
    let mut plan = NativePlan::<f32, _>::new(HostMachine::new(1 << 20), &problem).unwrap();
    let nowhere = DeviceBatch::packed(256, 1, DeviceLayout::Equal { count: 1, length: 4 });
    let out = DeviceGradients { upstream: 0, distances: 256, grad_x: 256, grad_y: 256 };
    // SAFETY: refused before anything is launched.
    let refused = unsafe { plan.gradients_on_device(nowhere, nowhere, out) }.unwrap_err();
    assert!(refused.to_string().contains("gamma = 1e-39 is too small"), "{refused}");
}

#[test]
fn device_memory_gets_what_host_memory_gets() {
    let mut random = SplitMix::new(3);
    let mut numbers = |count: usize| -> Vec<f32> {
        series(Kind::Noise, count, 1, &mut random).into_iter().flatten().map(|value| value as f32).collect()
    };
    let upstream = [1.5, -0.25, 0.0];
    for (channels, gamma) in [(1, 1.0), (3, 0.1), (2, 1e9)] {
        let (x, y) = (numbers(210 * channels), numbers(240 * channels));
        let (offsets_x, offsets_y) = ([0, 65, 74, 210], [0, 3, 133, 240]);
        let equal = |length| DeviceLayout::Equal { count: 3, length };
        let ragged = (DeviceLayout::Ragged(&offsets_x), DeviceLayout::Ragged(&offsets_y));
        for (layout_x, layout_y) in [(equal(70), equal(80)), ragged] {
            let batch = |values, layout: &DeviceLayout<'_>, offsets| match layout {
                DeviceLayout::Equal { length, .. } => {
                    SeriesBatch::equal(values, 3, *length, channels).unwrap()
                }
                _ => SeriesBatch::ragged(values, offsets, channels).unwrap(),
            };
            let (batch_x, batch_y) =
                (batch(&x, &layout_x, &offsets_x[..]), batch(&y, &layout_y, &offsets_y[..]));
            let problem = Problem::of(Spec::soft_dtw(gamma), Pairing::Zipped, &batch_x, &batch_y).unwrap();
            let got = on_device((&x, layout_x), (&y, layout_y), channels, &upstream, &problem);
            let mut expected = [vec![0.0; 3], vec![0.0; x.len()], vec![0.0; y.len()]];
            let [distances, grad_x, grad_y] = &mut expected;
            let out = Gradients { upstream: Some(&upstream), distances, grad_x, grad_y };
            backend().plan(&problem).unwrap().gradients(batch_x, batch_y, out).unwrap();
            // Where digits are in doubt, nobody looks at the values on the device; they come from another sweep.
            for (got, expected) in got[0].iter().zip(&expected[0]) {
                assert!((got - expected).abs() <= 1e-5 * expected.abs(), "{got} for {expected}");
            }
            assert_eq!(got[1..], expected[1..], "{channels} channels, gamma {gamma}");
        }
    }
}
