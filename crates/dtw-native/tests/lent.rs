//! Calls on memory that the caller lends: the same bits, the bytes that were foretold, and nothing kept.
#![cfg(feature = "host")]

mod numbers;

use dtw_core::{Anchor, Band, Error, LocalCost, Measure, Pairing, Problem, SeriesBatch, Spec};
use dtw_native::{Buffer, DeviceBatch, DeviceLayout, HostMachine, Lent, Machine, NativePlan, Scratch};
use numbers::{bits, noise, upload};

fn specs() -> Vec<Spec> {
    vec![
        Spec::dtw(),
        Spec::dtw().with_band(Band::Itakura { max_slope: 2.0 }),
        Spec::new(Measure::Erp { gap: 0.5 }),
        Spec::new(Measure::Wddtw { g: 0.1 }),
        Spec::soft_dtw(0.5),
        Spec::new(Measure::SoftDtw { gamma: 0.5, cost: LocalCost::Manhattan }),
        Spec::subsequence_dtw(LocalCost::Manhattan),
        Spec::subsequence_dtw(LocalCost::Manhattan).with_band(Band::sakoe_chiba(15)),
    ]
}

/// Calls on lent memory give what a plan with memory of its own gives.
fn agrees(problem: &Problem, batch: DeviceBatch<'_>, machine: &HostMachine) {
    let what = format!("{} {:?} {:?}", problem.spec().key(), problem.pairing(), batch.layout);
    let own = upload(machine, &vec![f32::NAN; problem.output_len()]);
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), problem).unwrap();
    // SAFETY: the buffers have room for what the problem says.
    unsafe { plan.distances_on_device(batch, batch, own.address()) }.unwrap();
    drop(plan);
    let mut plan = NativePlan::<f32, _>::new(Lent::new(machine.clone()), problem).unwrap();
    let bytes = plan.scratch_bytes_on_device(machine, batch, batch).unwrap();
    assert!(bytes as u64 <= problem.memory_limit_bytes(), "{what}: {bytes}");
    let launched = machine.launches();
    assert_eq!(plan.scratch_bytes_on_device(machine, batch, batch).unwrap(), bytes);
    assert_eq!(machine.launches(), launched, "{what}");
    let out = upload(machine, &vec![f32::NAN; problem.output_len()]);
    // SAFETY: refused before anything is written.
    let refused = unsafe {
        let scratch = machine.allocate(bytes).unwrap();
        let few = Scratch { address: scratch.address(), bytes: bytes - 1 };
        plan.distances_in(machine, few, batch, batch, out.address())
    };
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{what}: {refused:?}");
    let held = machine.used_bytes();
    for _ in 0..3 {
        // Elsewhere in each call, and exactly as large: a byte beyond is seen when it is dropped.
        let scratch = machine.allocate(bytes).unwrap();
        let lent = Scratch { address: scratch.address(), bytes };
        // SAFETY: as above; the scratch is this call's.
        unsafe { plan.distances_in(machine, lent, batch, batch, out.address()) }.unwrap();
        drop(scratch);
        assert_eq!(machine.used_bytes(), held, "{what}: memory is kept");
        assert_eq!(bits(machine, &out), bits(machine, &own), "{what}");
    }
}

#[test]
fn lent_memory_gives_the_same_bits_and_is_not_kept() {
    let (count, length) = (6, 45);
    let values = noise(count * length, 7);
    let machine = HostMachine::new(1 << 30);
    let there = upload(&machine, &values);
    let offsets = [0, 40, 70, 110, 150, 180, 225];
    let lengths = [45, 30, 40, 31, 45, 28];
    let padded: Vec<f32> =
        lengths.iter().enumerate().flat_map(|(s, n)| &values[s * length..][..*n]).copied().collect();
    let ends: Vec<usize> = std::iter::once(0)
        .chain(lengths.iter().scan(0, |end, n| {
            *end += n;
            Some(*end)
        }))
        .collect();
    let layouts = [
        (DeviceLayout::Equal { count, length }, SeriesBatch::equal(&values, count, length, 1)),
        (DeviceLayout::Ragged(&offsets), SeriesBatch::ragged(&values[..225], &offsets, 1)),
        (DeviceLayout::Padded { lengths: &lengths, room: length }, SeriesBatch::ragged(&padded, &ends, 1)),
    ];
    for spec in specs() {
        for (layout, batch) in &layouts {
            let batch = batch.as_ref().unwrap();
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
                    continue;
                }
                let problem = Problem::of(spec.clone(), pairing, batch, batch).unwrap();
                let series = DeviceBatch::packed(there.address(), 1, *layout);
                for limit in [1 << 30, 16 << 10] {
                    agrees(&problem.clone().with_memory_limit(limit), series, &machine);
                }
            }
        }
    }
}

#[test]
fn padding_is_not_read() {
    let (room, lengths) = (9, [5, 9, 2]);
    let machine = HostMachine::new(1 << 30);
    let values = noise(3 * room, 7);
    let mut padded = values.clone();
    let mut packed = Vec::new();
    let mut ends = vec![0];
    for (s, n) in lengths.iter().enumerate() {
        packed.extend_from_slice(&values[s * room..][..*n]);
        padded[s * room + n..(s + 1) * room].fill(f32::NAN);
        ends.push(packed.len());
    }
    let batch = SeriesBatch::ragged(&packed, &ends, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &batch, &batch).unwrap();
    let found = |values: &[f32], layout| {
        let (there, out) = (upload(&machine, values), upload(&machine, &[f32::NAN; 9]));
        let series = DeviceBatch::packed(there.address(), 1, layout);
        let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
        // SAFETY: the buffers have room for what the layouts say.
        unsafe { plan.distances_on_device(series, series, out.address()) }.unwrap();
        bits(&machine, &out)
    };
    let expected = found(&packed, DeviceLayout::Ragged(&ends));
    assert_eq!(found(&padded, DeviceLayout::Padded { lengths: &lengths, room }), expected);
}

#[test]
fn a_plan_without_memory_says_so() {
    let values = noise::<f32>(20, 7);
    let batch = SeriesBatch::equal(&values, 2, 10, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &batch, &batch).unwrap();
    let machine = HostMachine::new(1 << 20);
    let mut plan = NativePlan::<f32, _>::new(Lent::new(machine.clone()), &problem).unwrap();
    let series = DeviceBatch::packed(256, 1, DeviceLayout::Equal { count: 2, length: 10 });
    // SAFETY: refused before an address is used.
    let error = unsafe { plan.distances_on_device(series, series, 256) }.unwrap_err().to_string();
    assert!(error.contains("lend it some"), "{error}");
    let odd = Scratch { address: 264, bytes: 1 << 16 };
    // SAFETY: as above.
    let error = unsafe { plan.distances_in(&machine, odd, series, series, 256) }.unwrap_err().to_string();
    assert!(error.contains("multiple of 256"), "{error}");
}
