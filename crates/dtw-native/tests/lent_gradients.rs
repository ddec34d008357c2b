//! Gradients on memory that the caller lends: the bits of a plan with memory of its own, and nothing kept.
#![cfg(feature = "host")]

mod numbers;

use dtw_core::{Band, Pairing, Problem, SeriesBatch, Spec};
use dtw_native::{
    Buffer, DeviceBatch, DeviceGradients, DeviceLayout, HostMachine, Lent, Machine, NativePlan, Scratch,
};
use numbers::{Memory, noise, upload};

fn bits(machine: &HostMachine, buffers: &[Memory; 3]) -> Vec<u32> {
    let mut all = Vec::new();
    for buffer in buffers {
        let mut bytes = vec![0; buffer.bytes()];
        machine.download(buffer, 0, &mut bytes).unwrap();
        all.extend(bytes.chunks(4).map(|value| u32::from_ne_bytes(value.try_into().unwrap())));
    }
    all
}

#[test]
fn lent_memory_gives_the_same_gradients() {
    let (count, length) = (5, 80);
    let values = noise(count * length, 7);
    let machine = HostMachine::new(1 << 30);
    let there = upload(&machine, &values);
    let offsets = [0, 80, 150, 220, 300, 400];
    let lengths = [80, 66, 75, 80, 71];
    let padded: Vec<f32> =
        lengths.iter().enumerate().flat_map(|(s, n)| &values[s * length..][..*n]).copied().collect();
    let mut ends = vec![0];
    lengths.iter().for_each(|n| ends.push(ends.last().unwrap() + n));
    let layouts = [
        (DeviceLayout::Equal { count, length }, SeriesBatch::equal(&values, count, length, 1)),
        (DeviceLayout::Ragged(&offsets), SeriesBatch::ragged(&values, &offsets, 1)),
        (DeviceLayout::Padded { lengths: &lengths, room: length }, SeriesBatch::ragged(&padded, &ends, 1)),
    ];
    for spec in [Spec::soft_dtw(0.5), Spec::soft_dtw(0.5).with_band(Band::Itakura { max_slope: 2.0 })] {
        for (layout, batch) in &layouts {
            let batch = batch.as_ref().unwrap();
            let problem = Problem::of(spec.clone(), Pairing::Zipped, batch, batch).unwrap();
            for limit in [1 << 30, 60 << 10] {
                let problem = problem.clone().with_memory_limit(limit);
                let series = DeviceBatch::packed(there.address(), 1, *layout);
                let outputs =
                    || [count, values.len(), values.len()].map(|n| upload(&machine, &vec![f32::NAN; n]));
                let out = |outputs: &[Memory; 3]| DeviceGradients {
                    upstream: 0,
                    distances: outputs[0].address(),
                    grad_x: outputs[1].address(),
                    grad_y: outputs[2].address(),
                };
                let own = outputs();
                let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
                // SAFETY: the buffers have room for what the layouts say.
                unsafe { plan.gradients_on_device(series, series, out(&own)) }.unwrap();
                drop(plan);
                let mut plan = NativePlan::<f32, _>::new(Lent::new(machine.clone()), &problem).unwrap();
                let bytes = plan.gradients_scratch_bytes_on_device(&machine, series, series).unwrap();
                assert!(bytes as u64 <= limit, "{bytes} of {limit}");
                let lent = outputs();
                let held = machine.used_bytes();
                for _ in 0..2 {
                    let memory = machine.allocate(bytes).unwrap();
                    let scratch = Scratch { address: memory.address(), bytes };
                    // SAFETY: as above; the scratch is this call's.
                    unsafe { plan.gradients_in(&machine, scratch, series, series, out(&lent)) }.unwrap();
                    drop(memory);
                    assert_eq!(machine.used_bytes(), held, "{layout:?}: memory is kept");
                    assert_eq!(bits(&machine, &lent), bits(&machine, &own), "{layout:?} {limit}");
                }
            }
        }
    }
}
