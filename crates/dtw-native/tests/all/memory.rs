//! Results do not depend on how much memory there is or where it is: tiles under a small limit, and series on the
//! device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::numbers::noise;
use dtw_core::{
    Anchor, Backend, Band, Error, LocalCost, Measure, Observer, Pairing, Plan, Problem, SeriesBatch, Spec,
    Unobserved,
};
use dtw_native::{Buffer, DeviceBatch, DeviceLayout, HostMachine, Machine, NativeBackend, NativePlan};

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn specs() -> Vec<Spec> {
    vec![
        Spec::dtw(),
        Spec::dtw().with_band(Band::Slanted { radius: dtw_core::Radius::Points(4) }),
        Spec::new(Measure::Erp { gap: 0.5 }),
        Spec::soft_dtw(0.5),
        Spec::new(Measure::SoftDtw { gamma: 0.5, cost: LocalCost::Manhattan }),
        Spec::new(Measure::Wddtw { g: 0.1 }),
        Spec::subsequence_dtw(LocalCost::Manhattan),
        Spec::subsequence_dtw(LocalCost::Manhattan)
            .with_band(Band::Slanted { radius: dtw_core::Radius::Points(45) }),
    ]
}

fn distances(machine: &HostMachine, problem: &Problem, x: SeriesBatch<'_, f32>) -> Vec<f32> {
    let mut plan: Box<dyn Plan<f32>> = NativeBackend::new(machine.clone()).plan(problem).unwrap();
    let mut out = vec![f32::NAN; problem.output_len()];
    plan.distances(x, x, &mut out).unwrap();
    assert!(plan.scratch_bytes() >= machine.used_bytes());
    let held = machine.used_bytes();
    plan.distances(x, x, &mut out).unwrap();
    assert_eq!(machine.used_bytes(), held, "a second call allocates");
    assert!(held <= problem.memory_limit_bytes(), "{held} bytes of {}", problem.memory_limit_bytes());
    out
}

#[test]
fn a_small_limit_only_means_more_tiles() {
    let values = noise(3000, 7);
    let ragged: Vec<usize> = (0..=40).map(|s| s * 40 + (s % 5) * 7).collect();
    let ragged = SeriesBatch::ragged(&values[..ragged[40]], &ragged, 1).unwrap();
    let equal = SeriesBatch::equal(&values[..2000], 40, 50, 1).unwrap();
    for spec in specs() {
        for batch in [equal, ragged] {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
                    continue;
                }
                let problem = Problem::of(spec.clone(), pairing, &batch, &batch).unwrap();
                let whole = distances(&HostMachine::new(1 << 30), &problem, batch);
                let little = problem.with_memory_limit(48 << 10);
                let tiled = distances(&HostMachine::new(1 << 30), &little, batch);
                for (k, (a, b)) in whole.iter().zip(&tiled).enumerate() {
                    assert!((a - b).abs() <= 1e-5 * a.abs(), "{} {pairing:?} {k}: {a} {b}", spec.key());
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let values = noise(4000, 7);
    let batch = SeriesBatch::equal(&values, 2, 2000, 1).unwrap();
    let problem =
        Problem::of(Spec::dtw(), Pairing::Zipped, &batch, &batch).unwrap().with_memory_limit(10_000);
    let backend = NativeBackend::new(HostMachine::new(1 << 30));
    let mut plan: Box<dyn Plan<f32>> = backend.plan(&problem).unwrap();
    match plan.distances(batch, batch, &mut [0.0; 2]) {
        Err(Error::OutOfMemory { requested_bytes, available_bytes: 10_000, .. }) => {
            assert!(requested_bytes > 10_000);
            let enough = problem.with_memory_limit(requested_bytes * 2);
            let mut plan: Box<dyn Plan<f32>> = backend.plan(&enough).unwrap();
            plan.distances(batch, batch, &mut [0.0; 2]).unwrap();
        }
        other => panic!("{other:?}"),
    }
}

/// Distances of series that are on the device, and the kernels launched for them by the second of two calls.
fn on_device(
    problem: &Problem,
    batch: SeriesBatch<'_, f32>,
    layout: DeviceLayout<'_>,
    observer: Arc<dyn Observer>,
) -> dtw_core::Result<(Vec<f32>, u32)> {
    let machine = HostMachine::new(1 << 30);
    let raw = bytes(batch.values());
    let input = machine.allocate(raw.len()).unwrap();
    machine.upload(&input, 0, &raw).unwrap();
    let output = machine.allocate(problem.output_len() * 4).unwrap();
    let series = DeviceBatch::packed(input.address(), 1, layout);
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), problem).unwrap();
    plan.observe(observer);
    let others = machine.used_bytes();
    let (mut held, mut launches) = (None, 0);
    for _ in 0..2 {
        let before = machine.launches();
        // SAFETY: the buffers are as large as the problem says.
        unsafe { plan.distances_on_device(series, series, output.address()) }?;
        launches = machine.launches() - before;
        assert_eq!(*held.get_or_insert(machine.used_bytes()), machine.used_bytes());
    }
    let held = machine.used_bytes() - others;
    assert!(held <= problem.memory_limit_bytes(), "{held} bytes of {}", problem.memory_limit_bytes());
    let mut got = vec![0; problem.output_len() * 4];
    machine.download(&output, 0, &mut got).unwrap();
    Ok((got.chunks(4).map(|value| f32::from_ne_bytes(value.try_into().unwrap())).collect(), launches))
}

#[test]
fn series_on_the_device_give_the_same() {
    let values = noise(600, 7);
    let offsets = [0, 40, 70, 140, 170, 200];
    let ragged = SeriesBatch::ragged(&values[..200], &offsets, 1).unwrap();
    let equal = SeriesBatch::equal(&values[..200], 5, 40, 1).unwrap();
    for spec in specs() {
        for (batch, layout) in
            [(equal, DeviceLayout::Equal { count: 5, length: 40 }), (ragged, DeviceLayout::Ragged(&offsets))]
        {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
                    continue;
                }
                let problem = Problem::of(spec.clone(), pairing, &batch, &batch).unwrap();
                let expected = distances(&HostMachine::new(1 << 30), &problem, batch);
                let (got, launches) = on_device(&problem, batch, layout, Arc::new(Unobserved)).unwrap();
                for (k, (expected, got)) in expected.iter().zip(&got).enumerate() {
                    let close = (expected - got).abs() <= 1e-5 * expected.abs();
                    assert!(close, "{} {pairing:?} {k}: {expected} {got}", spec.key());
                }
                if spec.anchor == Anchor::Global {
                    // A launch that prepares each side, and one that sweeps: two where the first may give up pairs.
                    let sides = if pairing == Pairing::SelfSymmetric { 1 } else { 2 };
                    let sweeps = if spec == Spec::soft_dtw(0.5) { 2 } else { 1 };
                    assert_eq!(launches, sides + sweeps, "{} {pairing:?}", spec.key());
                }
            }
        }
    }
}

/// Stops a call when it has been asked so often.
struct Patience(AtomicU32);

impl Observer for Patience {
    fn cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn series_on_the_device_are_prepared_in_parts_and_swept_in_several_launches() {
    let values = noise(3000, 7);
    let offsets: Vec<usize> = (0..=40).map(|s| s * 40 + (s % 5) * 7).collect();
    let ragged = SeriesBatch::ragged(&values[..offsets[40]], &offsets, 1).unwrap();
    let equal = SeriesBatch::equal(&values[..2000], 40, 50, 1).unwrap();
    let layouts = [DeviceLayout::Equal { count: 40, length: 50 }, DeviceLayout::Ragged(&offsets)];
    for spec in specs() {
        for (batch, layout) in [equal, ragged].into_iter().zip(layouts) {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
                    continue;
                }
                let problem = Problem::of(spec.clone(), pairing, &batch, &batch).unwrap();
                let (whole, once) = on_device(&problem, batch, layout, Arc::new(Unobserved)).unwrap();
                let little = problem.with_memory_limit(16 << 10);
                let (tiled, often) = on_device(&little, batch, layout, Arc::new(Unobserved)).unwrap();
                assert!(often > once, "{} {pairing:?}: {often} launches", spec.key());
                for (k, (a, b)) in whole.iter().zip(&tiled).enumerate() {
                    assert!((a - b).abs() <= 1e-5 * a.abs(), "{} {pairing:?} {k}: {a} {b}", spec.key());
                }
                let impatient = Arc::new(Patience(AtomicU32::new(2)));
                let stopped = on_device(&little, batch, layout, impatient);
                assert!(matches!(stopped, Err(Error::Cancelled)), "{} {pairing:?}: {stopped:?}", spec.key());
            }
        }
    }
}

#[test]
fn a_search_finds_the_same_where_its_last_column_does_not_fit() {
    let (reference, query) = (noise(8000, 7), noise(40, 7));
    let references = SeriesBatch::equal(&reference, 1, 8000, 1).unwrap();
    let queries = SeriesBatch::equal(&query, 1, 40, 1).unwrap();
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &queries, &references).unwrap();
    let cost = |limit: u64| -> dtw_core::Result<f32> {
        let machine = HostMachine::new(1 << 30);
        let mut plan: Box<dyn Plan<f32>> =
            NativeBackend::new(machine).plan(&problem.clone().with_memory_limit(limit))?;
        let mut out = [f32::NAN];
        plan.distances(queries, references, &mut out)?;
        Ok(out[0])
    };
    let expected = cost(1 << 30).unwrap();
    // A quarter is for last columns: 32,000 bytes and a little, thrice that where strips pass numbers on as links. With
    // less the reference is cut into blocks.
    for limit in [20_000, 4 * 31_000, 4 * 33_000, 8 * 33_000, 8 * 60_000, 8 * 95_000, 8 * 100_000] {
        assert_eq!(cost(limit).unwrap(), expected, "limit {limit}");
    }
    assert!(matches!(cost(1_000), Err(Error::OutOfMemory { .. })));
}

#[test]
fn the_largest_radius_is_no_band() {
    let values = noise(60, 7);
    let batch = SeriesBatch::equal(&values, 3, 20, 1).unwrap();
    let machine = HostMachine::new(1 << 30);
    let with = |band| {
        let spec = Spec::dtw().with_band(band);
        distances(&machine, &Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap(), batch)
    };
    assert_eq!(with(Band::sakoe_chiba(usize::MAX)), with(Band::Full));
}

#[test]
fn a_plan_that_ran_out_of_device_memory_works_when_there_is_some() {
    let values = noise(400, 7);
    let batch = SeriesBatch::equal(&values, 10, 40, 1).unwrap();
    let total = 1 << 20;
    for spec in specs() {
        let problem = Problem::of(spec.clone(), Pairing::Zipped, &batch, &batch).unwrap();
        let whole = HostMachine::new(total as u64);
        let mut plan: Box<dyn Plan<f32>> = NativeBackend::new(whole.clone()).plan(&problem).unwrap();
        let mut expected = vec![f32::NAN; problem.output_len()];
        plan.distances(batch, batch, &mut expected).unwrap();
        let needed = whole.used_bytes() as usize;
        let mut failed = 0;
        for free in (0..=needed).step_by(96) {
            let machine = HostMachine::new(total as u64);
            let mut plan: Box<dyn Plan<f32>> = NativeBackend::new(machine.clone()).plan(&problem).unwrap();
            let mut out = vec![f32::NAN; problem.output_len()];
            let occupied = machine.allocate(total - free).unwrap();
            match plan.distances(batch, batch, &mut out) {
                Ok(()) => {}
                Err(Error::OutOfMemory { .. }) => failed += 1,
                Err(other) => panic!("{} with {free} bytes: {other}", spec.key()),
            }
            drop(occupied);
            out.fill(f32::NAN);
            plan.distances(batch, batch, &mut out).unwrap();
            assert_eq!(out, expected, "{} after {free} bytes", spec.key());
        }
        assert!(failed > needed / 96 / 2, "{}: out of memory {failed} times", spec.key());
    }
}
