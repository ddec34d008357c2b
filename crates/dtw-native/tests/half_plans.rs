//! Plans of DTW in half precision: what halves left undone is done in full, and what they are not for is not touched.
#![cfg(feature = "host")]

use dtw_core::{Backend, Band, LocalCost, Measure, Pairing, Plan, Precision, Problem, SeriesBatch, Spec};
use dtw_native::{DeviceBatch, DeviceLayout, HostMachine, NativeBackend, NativePlan, Number};
use launch::{Launch, noise};

mod launch;

/// What a result may be off by, as a part of it.
const ERROR: f64 = 1e-2;

/// Series one after the other, and where they end.
fn batch<T: Number>(series: &[Vec<f64>]) -> (Vec<T>, Vec<usize>) {
    let (mut values, mut ends) = (Vec::new(), vec![0]);
    for one in series {
        values.extend(one.iter().map(|value| T::from_f64(*value)));
        ends.push(values.len());
    }
    (values, ends)
}

/// Distances, the same in a second call.
fn distances<T: Number>(
    precision: Precision,
    spec: &Spec,
    pairing: Pairing,
    (x, y): (&[Vec<f64>], &[Vec<f64>]),
    limit: u64,
) -> Vec<T> {
    let ((x, ends_x), (y, ends_y)) = (batch::<T>(x), batch::<T>(y));
    let x = SeriesBatch::ragged(&x, &ends_x, 1).unwrap();
    let y = SeriesBatch::ragged(&y, &ends_y, 1).unwrap();
    let problem = Problem::of(spec.clone(), pairing, &x, &y).unwrap();
    let problem = problem.with_precision(precision).with_memory_limit(limit);
    let backend = NativeBackend::new(HostMachine::new(1 << 30));
    let mut plan: Box<dyn Plan<T>> = backend.plan(&problem).unwrap();
    let mut out = vec![T::from_f64(f64::NAN); problem.output_len()];
    plan.distances(x, y, &mut out).unwrap();
    let again = out.clone();
    plan.distances(x, y, &mut out).unwrap();
    assert!(again == out, "the second call");
    assert!(plan.scratch_bytes() <= limit, "{} bytes of {limit}", plan.scratch_bytes());
    out
}

/// Series of different lengths; the one at place `spiked` has a point that halves cannot hold beside the others.
fn ragged(lengths: &[usize], spiked: Option<usize>, seed: u64) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> =
        lengths.iter().enumerate().map(|(k, length)| noise(*length, seed + k as u64)).collect();
    if let Some(k) = spiked {
        all[k][0] = 1e15;
    }
    all
}

#[test]
fn a_plan_does_in_full_what_halves_left() {
    let x = ragged(&[300, 300, 41, 300, 7, 120, 300], Some(3), 1);
    let mut y = ragged(&[290, 310, 310, 1, 310, 90, 64], Some(1), 50);
    // Found again: too little to be told from the rounding of points.
    y[6] = x[0].clone();
    for (pairing, other) in [(Pairing::Cross, &y), (Pairing::Zipped, &y), (Pairing::SelfSymmetric, &x)] {
        for limit in [1 << 30, 1 << 19] {
            let spec = Spec::new(Measure::DTW);
            let full: Vec<f32> = distances(Precision::Full, &spec, pairing, (&x, other), limit);
            let half: Vec<f32> = distances(Precision::Half, &spec, pairing, (&x, other), limit);
            for (k, (half, full)) in half.iter().zip(&full).enumerate() {
                let (i, j) = if pairing == Pairing::Zipped { (k, k) } else { (k / 7, k % 7) };
                let spiked = i == 3 || j == if pairing == Pairing::SelfSymmetric { 3 } else { 1 };
                let in_full = spiked || x[i] == other[j];
                assert!(f64::from((half - full).abs()) <= ERROR * f64::from(*full), "{i} {j}: {half} {full}");
                // Single points, exact squares: some are the same in halves.
                if in_full || x[i].len().min(other[j].len()) > 7 {
                    assert_eq!(half == full, in_full, "{pairing:?} {i} {j}: {half} {full}");
                }
            }
        }
    }
}

#[test]
fn few_of_many_are_found_and_done() {
    let x = ragged(&[20; 150], Some(77), 1);
    let spec = Spec::new(Measure::DTW);
    let [full, half] = [Precision::Full, Precision::Half]
        .map(|precision| distances::<f32>(precision, &spec, Pairing::SelfSymmetric, (&x, &x), 1 << 30));
    let mut alike = 0;
    for (k, (half, full)) in half.iter().zip(&full).enumerate() {
        let in_full = k / 150 == k % 150 || k / 150 == 77 || k % 150 == 77;
        assert!(f64::from((half - full).abs()) <= ERROR * f64::from(*full), "{k}: {half} {full}");
        assert!(half == full || !in_full, "{k}: {half} {full}");
        alike += usize::from(half == full && !in_full);
    }
    assert!(alike < half.len() / 100, "{alike} are the same");
}

#[test]
fn derivatives_are_done_in_halves_too() {
    let (x, y) = (ragged(&[90, 80, 90], None, 1), ragged(&[100, 100], None, 9));
    let spec = Spec::new(Measure::Ddtw { cost: LocalCost::SquaredEuclidean });
    let full: Vec<f32> = distances(Precision::Full, &spec, Pairing::Cross, (&x, &y), 1 << 30);
    let half: Vec<f32> = distances(Precision::Half, &spec, Pairing::Cross, (&x, &y), 1 << 30);
    for (half, full) in half.iter().zip(&full) {
        assert!(half != full && f64::from((half - full).abs()) <= ERROR * f64::from(*full), "{half} {full}");
    }
}

#[test]
fn what_halves_are_not_for_is_the_same() {
    let (x, y) = (ragged(&[60, 50], None, 1), ragged(&[50, 60, 40], None, 9));
    let band = Spec::new(Measure::DTW).with_band(Band::sakoe_chiba(30));
    let manhattan = Spec::new(Measure::Dtw { cost: LocalCost::Manhattan });
    let both = |spec: &Spec, x: &[Vec<f64>], y: &[Vec<f64>]| {
        [Precision::Full, Precision::Half]
            .map(|precision| distances::<f32>(precision, spec, Pairing::Cross, (x, y), 1 << 30))
    };
    for spec in [band, manhattan, Spec::new(Measure::Adtw { penalty: 0.1 })] {
        let [full, half] = both(&spec, &x, &y);
        assert_eq!(full, half, "{spec:?}");
    }
    // Too wide for one strip.
    let [full, half] = both(&Spec::new(Measure::DTW), &x, &[noise(2100, 3)]);
    assert_eq!(full, half);
    let [full, half] = [Precision::Full, Precision::Half].map(|precision| {
        distances::<f64>(precision, &Spec::new(Measure::DTW), Pairing::Cross, (&x, &y), 1 << 30)
    });
    assert_eq!(full, half);
}

#[test]
fn series_on_the_device_give_the_same_bits() {
    let (x, y) = (ragged(&[100; 5], None, 1), ragged(&[120; 3], None, 9));
    let expected: Vec<f32> =
        distances(Precision::Half, &Spec::new(Measure::DTW), Pairing::Cross, (&x, &y), 1 << 30);
    let ((x, ends_x), (y, ends_y)) = (batch::<f32>(&x), batch::<f32>(&y));
    let problem = Problem::of(
        Spec::new(Measure::DTW),
        Pairing::Cross,
        &SeriesBatch::ragged(&x, &ends_x, 1).unwrap(),
        &SeriesBatch::ragged(&y, &ends_y, 1).unwrap(),
    );
    let problem = problem.unwrap().with_precision(Precision::Half);
    let mut launch = Launch::new();
    let (at_x, at_y, out) = (launch.hold(&x), launch.hold(&y), launch.hold(&[f32::NAN; 15]));
    let on_device = |values: u64, count, length| DeviceBatch {
        values,
        times: 0,
        channels: 1,
        layout: DeviceLayout::Equal { count, length },
    };
    let mut plan = NativePlan::<f32, _>::new(launch.machine(), &problem).unwrap();
    // SAFETY: the buffers hold what the layouts say, and `out` a value for each pair.
    unsafe { plan.distances_on_device(on_device(at_x, 5, 100), on_device(at_y, 3, 120), out) }.unwrap();
    let got: Vec<f32> = launch.read::<f32>(out, 15).into_iter().map(|value| value as f32).collect();
    assert_eq!(got, expected);
}

/// Long plateaus, where roundings are alike and would add up to half of the result.
#[test]
fn series_that_hardly_change_are_done_in_full() {
    let plateaus = |runs: &[(f64, usize)]| -> Vec<f64> {
        runs.iter().flat_map(|(level, count)| vec![*level; *count]).collect()
    };
    let x = [plateaus(&[(-2.2, 18), (2.34, 16), (-2.09, 1), (2.07, 77), (0.2, 15)])];
    let long = [(-0.99, 100), (2.05, 18), (-0.6, 25), (-1.36, 1), (-0.18, 416), (-0.3, 395), (2.3, 21)];
    let y = [plateaus(&[&long[..], &[(1.16, 22), (1.19, 745), (0.04, 288)]].concat())];
    let few = [vec![-0.28, -0.28, -0.56]];
    let flat = [plateaus(&[(-0.54, 5), (2.18, 42), (0.07, 489)])];
    for (x, y) in [(&x, &y), (&y, &x), (&few, &flat), (&flat, &few)] {
        for spec in [Spec::new(Measure::DTW), Spec::subsequence_dtw(LocalCost::SquaredEuclidean)] {
            let [full, half] = [Precision::Full, Precision::Half].map(|precision| {
                distances::<f32>(precision, &spec, Pairing::Cross, (&x[..], &y[..]), 1 << 30)[0]
            });
            assert!((half - full).abs() <= 1e-4 * full, "{spec:?}: {half} {full}");
        }
    }
}
