//! Results combined of several sweeps, of series on the device: what the host gets for them.

use crate::numbers::{download, noise, raw, upload};
use dtw_core::{Band, LocalCost, Measure, Pairing, Plan, Problem, SeriesBatch, Spec};
use dtw_native::{
    Buffer, CallerMemory, DeviceBatch, DeviceLayout, HostMachine, Machine, NativePlan, Number, Scratch,
};

/// Batches of a call: on the host, on the device, and what keeps them there.
struct Side<'a, T: Number> {
    batch: SeriesBatch<'a, T>,
    there: <HostMachine as Machine>::Buffer,
    layout: DeviceLayout<'a>,
}

impl<T: Number> Side<'_, T> {
    fn on_device(&self) -> DeviceBatch<'_> {
        DeviceBatch::packed(self.there.address(), self.batch.channels(), self.layout)
    }
}

/// Distances on the device are those of the host within `tolerance`; so are those in the caller's memory, call after
/// call.
fn agrees<T: Number>(
    machine: &HostMachine,
    problem: &Problem,
    x: &Side<'_, T>,
    y: &Side<'_, T>,
    tolerance: f64,
) {
    let what = format!("{:?} {:?} {:?} {}", problem.spec(), problem.pairing(), x.layout, T::DTYPE);
    let mut expected = vec![T::ZERO; problem.output_len()];
    let mut plan = NativePlan::<T, _>::new(machine.clone(), problem).unwrap();
    plan.distances(x.batch, y.batch, &mut expected).unwrap();
    let out = upload(machine, &vec![T::from_f64(f64::NAN); problem.output_len()]);
    let compare = |found: &[T]| {
        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let (found, expected) = (found.to_f64(), expected.to_f64());
            let close = (found - expected).abs() <= tolerance * expected.abs().max(1e-3);
            assert!(close, "{what} {k}: {found} {expected}");
            assert!(found.to_bits() != (-0.0_f64).to_bits(), "{what} {k}");
        }
    };
    // SAFETY: the buffers hold what the layouts say.
    unsafe { plan.distances_on_device(x.on_device(), y.on_device(), out.address()) }.unwrap();
    let own = download::<T>(machine, &out);
    compare(&own);
    drop(plan);
    let mut plan = NativePlan::<T, _>::new(CallerMemory::new(machine.clone()), problem).unwrap();
    let bytes = plan.scratch_bytes_on_device(machine, x.on_device(), y.on_device()).unwrap();
    let held = machine.used_bytes();
    for _ in 0..2 {
        machine.upload(&out, 0, &raw(&vec![T::from_f64(f64::NAN); problem.output_len()])).unwrap();
        let memory = machine.allocate(bytes).unwrap();
        let scratch = Scratch { address: memory.address(), bytes };
        // SAFETY: as above; the scratch is this call's.
        unsafe { plan.distances_in(machine, scratch, x.on_device(), y.on_device(), out.address()) }.unwrap();
        drop(memory);
        assert_eq!(machine.used_bytes(), held, "{what}: memory is kept");
        assert!(download::<T>(machine, &out) == own, "{what}: other bits in the caller's memory");
    }
}

fn each_layout<T: Number>(spec: &Spec, channels: usize, tolerance: f64) {
    let machine = HostMachine::new(1 << 30);
    let (a, b) = (noise::<T>(40 * 7 * channels, 3), noise::<T>(40 * 6 * channels, 4));
    let (ends_a, ends_b) = ([0, 40, 75, 112, 147, 186, 220, 259], [0, 38, 75, 110, 149, 183, 222]);
    for ragged in [false, true] {
        let make = |values, ends| -> Side<'_, T> {
            let (values, ends): (&[T], &[usize]) = (values, ends);
            let (count, length) = (ends.len() - 1, 40);
            let (batch, layout) = if ragged {
                let values = &values[..ends[count] * channels];
                (SeriesBatch::ragged(values, ends, channels), DeviceLayout::Ragged(ends))
            } else {
                (SeriesBatch::equal(values, count, length, channels), DeviceLayout::Equal { count, length })
            };
            let batch = batch.unwrap();
            Side { batch, there: upload(&machine, batch.values()), layout }
        };
        let (x, y) = (make(&a[..], &ends_a[..]), make(&b[..], &ends_b[..]));
        let cross = Problem::of(spec.clone(), Pairing::Cross, &x.batch, &y.batch).unwrap();
        agrees(&machine, &cross, &x, &y, tolerance);
        agrees(&machine, &cross.with_memory_limit(32 << 10), &x, &y, tolerance);
        let own = Problem::of(spec.clone(), Pairing::SelfSymmetric, &x.batch, &x.batch).unwrap();
        agrees(&machine, &own, &x, &x, tolerance);
        agrees(&machine, &own.with_memory_limit(32 << 10), &x, &x, tolerance);
        let zipped = Problem::of(spec.clone(), Pairing::Zipped, &y.batch, &y.batch).unwrap();
        agrees(&machine, &zipped, &y, &y, tolerance);
    }
}

#[test]
fn divergences() {
    for gamma in [1e-3, 1.0, 1e4] {
        for band in [None, Some(Band::sakoe_chiba(9)), Some(Band::Itakura { max_slope: 2.5 })] {
            let mut spec = Spec::new(Measure::soft_dtw_divergence(gamma));
            if let Some(band) = band {
                spec = spec.with_band(band);
            }
            each_layout::<f32>(&spec, 1, 2e-4);
            if gamma == 1.0 {
                each_layout::<f64>(&spec, 1, 1e-9);
            }
        }
        each_layout::<f32>(&Spec::new(Measure::soft_dtw_divergence(gamma)), 2, 2e-4);
        for (cost, channels) in [(LocalCost::Euclidean, 2), (LocalCost::Manhattan, 1)] {
            each_layout::<f32>(&Spec::new(Measure::SoftDtwDivergence { gamma, cost }), channels, 2e-4);
        }
    }
}

#[test]
fn sums_over_channels() {
    for band in [None, Some(Band::sakoe_chiba(9)), Some(Band::Itakura { max_slope: 2.5 })] {
        let mut spec = Spec::new(Measure::Msm { c: 0.3 });
        if let Some(band) = band {
            spec = spec.with_band(band);
        }
        each_layout::<f32>(&spec, 3, 1e-5);
        each_layout::<f64>(&spec, 2, 1e-12);
    }
}
