//! The second sweep of measures that sum over all paths: where it is launched, what is told of it, and results that
//! stay on the device. (What its digits are worth is judged by the suite's section of the same name.)

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::numbers::{download, noise, upload};
use dtw_core::{
    Backend, Band, Error, LocalCost, Measure, Observer, Pairing, Plan, Problem, SeriesBatch, Spec,
};
use dtw_native::{Buffer, DeviceBatch, DeviceLayout, HostMachine, Machine, NativeBackend, NativePlan};

/// Six series: of as many points, or of very different numbers of them.
fn batches(values: &[f32]) -> [(SeriesBatch<'_, f32>, DeviceLayout<'static>); 2] {
    static OFFSETS: [usize; 7] = [0, 1, 41, 43, 80, 120, 123];
    [
        (SeriesBatch::equal(&values[..180], 6, 30, 1).unwrap(), DeviceLayout::Equal { count: 6, length: 30 }),
        (SeriesBatch::ragged(&values[..123], &OFFSETS, 1).unwrap(), DeviceLayout::Ragged(&OFFSETS)),
    ]
}

fn measures() -> Vec<Measure> {
    let costs = [LocalCost::SquaredEuclidean, LocalCost::Manhattan];
    let soft =
        costs.into_iter().flat_map(|cost| [1e-6, 1.0, 1e9].map(|gamma| Measure::SoftDtw { gamma, cost }));
    soft.chain([0.01, 1.0, 1e5].map(|sigma| Measure::LogGak { sigma })).collect()
}

fn distances(machine: &HostMachine, problem: &Problem, x: SeriesBatch<'_, f32>) -> Vec<f32> {
    let mut plan: Box<dyn Plan<f32>> = NativeBackend::new(machine.clone()).plan(problem).unwrap();
    let mut out = vec![f32::NAN; problem.output_len()];
    plan.distances(x, x, &mut out).unwrap();
    out
}

#[test]
fn results_on_the_device_keep_their_digits() {
    let values = noise(180, 3);
    for spec in measures().into_iter().map(Spec::new) {
        for (batch, layout) in batches(&values) {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                for band in [Band::Full, Band::sakoe_chiba(0)] {
                    if band != Band::Full && !batch.is_equal_length() {
                        continue;
                    }
                    let problem = Problem::of(spec.clone().with_band(band), pairing, &batch, &batch).unwrap();
                    let machine = HostMachine::new(1 << 30);
                    let expected = distances(&machine, &problem, batch);
                    let input = upload(&machine, batch.values());
                    let output = machine.allocate(expected.len() * 4).unwrap();
                    let series = DeviceBatch::packed(input.address(), 1, layout);
                    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
                    // SAFETY: the buffers are as large as the problem says.
                    unsafe { plan.distances_on_device(series, series, output.address()) }.unwrap();
                    let got = download::<f32>(&machine, &output);
                    for (k, (expected, got)) in expected.iter().zip(got).enumerate() {
                        // What two parts of this size leave.
                        let unit = if let Measure::SoftDtw { gamma, .. } = spec.measure {
                            gamma as f32
                        } else {
                            1.0
                        };
                        let close = (expected - got).abs() <= 1e-5 * (expected.abs() + unit.min(1.0));
                        let positive = got != 0.0 || got.is_sign_positive();
                        let what = problem.spec();
                        assert!(close && positive, "{what:?} {pairing:?} {k}: {got}, not {expected}");
                    }
                }
            }
        }
    }
}

/// Kernels launched for the distances of three of the series to the others.
fn launches(spec: Spec, batch: SeriesBatch<'_, f32>) -> u32 {
    let machine = HostMachine::new(1 << 30);
    let (x, y) = (batch.slice(0..3), batch.slice(3..6));
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
    let mut plan: Box<dyn Plan<f32>> = NativeBackend::new(machine.clone()).plan(&problem).unwrap();
    plan.distances(x, y, &mut [f32::NAN; 9]).unwrap();
    machine.launches()
}

#[test]
fn nothing_is_swept_twice_where_digits_are_kept() {
    let values = noise(180, 3);
    let [(equal, _), (ragged, _)] = batches(&values);
    let one_path = |gamma| Spec::soft_dtw(gamma).with_band(Band::sakoe_chiba(0));
    // Many paths: at any γ. One path: while the costs are not small beside γ.
    let once = launches(Spec::soft_dtw(1.0), equal);
    assert_eq!(launches(Spec::soft_dtw(1e9), equal), once);
    let once = launches(one_path(1e-3), equal);
    assert!(launches(one_path(1e9), equal) > once);
    let gak = |sigma| Spec::new(Measure::LogGak { sigma });
    assert_eq!(launches(gak(1e6), equal), launches(gak(1.0), equal));
    assert!(launches(gak(1e6), ragged) > launches(gak(0.01), ragged));
    let divergence = |gamma| Spec::new(Measure::soft_dtw_divergence(gamma));
    assert!(launches(divergence(1e9), equal) > launches(divergence(1e-3), equal));
}

/// Counts cells, and cancels once there are so many.
struct Counter {
    cells: AtomicU64,
    most: u64,
}

impl Observer for Counter {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.cells.load(Ordering::Relaxed) >= self.most
    }
}

#[test]
fn cells_that_are_swept_twice_count_once_and_the_second_time_can_be_cancelled() {
    let values = noise(180, 3);
    for (batch, _) in batches(&values) {
        let problem = Problem::of(Spec::soft_dtw(1e9), Pairing::Cross, &batch, &batch).unwrap();
        let few_paths = !batch.is_equal_length();
        let cells = problem.cells(&batch, &batch).unwrap();
        let mut plan: Box<dyn Plan<f32>> =
            NativeBackend::new(HostMachine::new(1 << 30)).plan(&problem).unwrap();
        let mut out = vec![f32::NAN; problem.output_len()];
        for (most, cancelled) in [(u64::MAX, false), (cells, few_paths), (u64::MAX, false)] {
            let counter = Arc::new(Counter { cells: AtomicU64::new(0), most });
            plan.observe(counter.clone());
            let done = plan.distances(batch, batch, &mut out);
            assert_eq!(matches!(done, Err(Error::Cancelled)), cancelled, "{done:?}");
            assert_eq!(counter.cells.load(Ordering::Relaxed), cells);
        }
    }
}
