//! Calls in memory of the caller's: the same bits, the bytes that were foretold, and nothing kept.

use crate::numbers::{Memory, bits, noise, upload};
use dtw_core::{Anchor, Band, Error, LocalCost, Measure, Pairing, Problem, SeriesBatch, Spec};
use dtw_native::{
    Buffer, CallerMemory, DeviceBatch, DeviceGradients, DeviceLayout, HostMachine, Machine, NativePlan,
    Scratch,
};

/// A plan in memory of the caller's.
type Plan = NativePlan<f32, CallerMemory<HostMachine>>;

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

/// Series on the device, as a plan and its problem have them.
struct Series<'a> {
    host: SeriesBatch<'a, f32>,
    device: DeviceBatch<'a>,
}

/// A call in memory of the plan's own, or in the caller's; without scratch it is only asked how much it takes.
struct Call<'a> {
    problem: &'a Problem,
    series: DeviceBatch<'a>,
    gradients: bool,
}

impl Call<'_> {
    fn outputs(&self, machine: &HostMachine) -> Vec<Memory> {
        let numbers = self.series.channels * points(&self.series);
        let gradients = if self.gradients { &[numbers, numbers][..] } else { &[] };
        let counts = std::iter::once(self.problem.output_len()).chain(gradients.iter().copied());
        counts.map(|count| upload(machine, &vec![f32::NAN; count])).collect()
    }

    fn addresses(out: &[Memory]) -> DeviceGradients {
        let [distances, grad_x, grad_y] = [0, 1, 2].map(|k| out[k].address());
        DeviceGradients { upstream: 0, distances, grad_x, grad_y }
    }

    /// In memory of the plan's own.
    fn run(&self, machine: &HostMachine, out: &[Memory]) {
        let (x, y) = (self.series, self.series);
        let mut plan = NativePlan::<f32, _>::new(machine.clone(), self.problem).unwrap();
        // SAFETY: the buffers have room for what the layouts say.
        let done = unsafe {
            if self.gradients {
                plan.gradients_on_device(x, y, Self::addresses(out))
            } else {
                plan.distances_on_device(x, y, out[0].address())
            }
        };
        done.unwrap();
    }

    fn bytes(&self, plan: &mut Plan, machine: &HostMachine) -> usize {
        let (x, y) = (self.series, self.series);
        let bytes = if self.gradients {
            plan.gradients_scratch_bytes_on_device(machine, x, y)
        } else {
            plan.scratch_bytes_on_device(machine, x, y)
        };
        bytes.unwrap()
    }

    /// In memory of the caller's, which has `less` bytes than the call takes, and is gone afterwards.
    fn run_in(
        &self,
        plan: &mut Plan,
        machine: &HostMachine,
        out: &[Memory],
        less: usize,
    ) -> Result<(), Error> {
        let (x, y) = (self.series, self.series);
        let bytes = self.bytes(plan, machine);
        // Elsewhere in each call, and exactly as large: a byte beyond is seen when it is dropped.
        let memory = machine.allocate(bytes).unwrap();
        let scratch = Scratch { address: memory.address(), bytes: bytes - less };
        // SAFETY: the buffers have room for what the layouts say; the scratch is this call's.
        unsafe {
            if self.gradients {
                plan.gradients_in(machine, scratch, x, y, Self::addresses(out))
            } else {
                plan.distances_in(machine, scratch, x, y, out[0].address())
            }
        }
    }
}

/// Points of the memory of a batch.
fn points(batch: &DeviceBatch<'_>) -> usize {
    match batch.layout {
        DeviceLayout::Equal { count, length } => count * length,
        DeviceLayout::Ragged(offsets) => *offsets.last().unwrap(),
        DeviceLayout::Padded { lengths, room } => lengths.len() * room,
        _ => unreachable!("a new layout"),
    }
}

/// Calls in memory of the caller's give what a plan with memory of its own gives.
fn agrees(call: &Call<'_>, machine: &HostMachine) {
    let problem = call.problem;
    let what = format!("{} {:?} {:?}", problem.spec().key(), problem.pairing(), call.series.layout);
    let own = call.outputs(machine);
    call.run(machine, &own);
    let mut plan = Plan::new(CallerMemory::new(machine.clone()), problem).unwrap();
    let bytes = call.bytes(&mut plan, machine);
    assert!(bytes as u64 <= problem.memory_limit_bytes(), "{what}: {bytes}");
    let launched = machine.launches();
    assert_eq!(call.bytes(&mut plan, machine), bytes);
    assert_eq!(machine.launches(), launched, "{what}");
    let out = call.outputs(machine);
    let refused = call.run_in(&mut plan, machine, &out, 1);
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{what}: {refused:?}");
    let held = machine.used_bytes();
    let all = |buffers: &[Memory]| -> Vec<_> { buffers.iter().map(|buffer| bits(machine, buffer)).collect() };
    for _ in 0..3 {
        call.run_in(&mut plan, machine, &out, 0).unwrap();
        assert_eq!(machine.used_bytes(), held, "{what}: memory is kept");
        assert_eq!(all(&out), all(&own), "{what}");
    }
}

/// Calls `each` with series of one length, ragged and padded, of which the longest have `length` points.
fn each_layout(
    machine: &HostMachine,
    length: usize,
    offsets: &[usize],
    lengths: &[usize],
    mut each: impl FnMut(&Series<'_>),
) {
    let count = lengths.len();
    let values: Vec<f32> = noise(count * length, 7);
    let there = upload(machine, &values);
    let padded: Vec<f32> =
        lengths.iter().enumerate().flat_map(|(s, n)| &values[s * length..][..*n]).copied().collect();
    let mut ends = vec![0];
    lengths.iter().for_each(|n| ends.push(ends.last().unwrap() + n));
    for (layout, batch) in [
        (DeviceLayout::Equal { count, length }, SeriesBatch::equal(&values, count, length, 1)),
        (DeviceLayout::Ragged(offsets), SeriesBatch::ragged(&values[..offsets[count]], offsets, 1)),
        (DeviceLayout::Padded { lengths, room: length }, SeriesBatch::ragged(&padded, &ends, 1)),
    ] {
        let device = DeviceBatch::packed(there.address(), 1, layout);
        each(&Series { host: batch.unwrap(), device });
    }
}

#[test]
fn distances_have_the_same_bits_and_no_memory_is_kept() {
    let machine = HostMachine::new(1 << 30);
    let (offsets, lengths) = ([0, 40, 70, 110, 150, 180, 225], [45, 30, 40, 31, 45, 28]);
    each_layout(&machine, 45, &offsets, &lengths, |series| {
        for spec in specs() {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
                    continue;
                }
                let problem = Problem::of(spec.clone(), pairing, &series.host, &series.host).unwrap();
                for limit in [1 << 30, 16 << 10] {
                    let problem = &problem.clone().with_memory_limit(limit);
                    agrees(&Call { problem, series: series.device, gradients: false }, &machine);
                }
            }
        }
    });
}

#[test]
fn gradients_have_the_same_bits_and_no_memory_is_kept() {
    let machine = HostMachine::new(1 << 30);
    let (offsets, lengths) = ([0, 80, 150, 220, 300, 400], [80, 66, 75, 80, 71]);
    each_layout(&machine, 80, &offsets, &lengths, |series| {
        for spec in [Spec::soft_dtw(0.5), Spec::soft_dtw(0.5).with_band(Band::Itakura { max_slope: 2.0 })] {
            let problem = Problem::of(spec, Pairing::Zipped, &series.host, &series.host).unwrap();
            for limit in [1 << 30, 60 << 10] {
                let problem = &problem.clone().with_memory_limit(limit);
                agrees(&Call { problem, series: series.device, gradients: true }, &machine);
            }
        }
    });
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
    let mut plan = Plan::new(CallerMemory::new(machine.clone()), &problem).unwrap();
    let series = DeviceBatch::packed(256, 1, DeviceLayout::Equal { count: 2, length: 10 });
    // SAFETY: refused before an address is used.
    let error = unsafe { plan.distances_on_device(series, series, 256) }.unwrap_err().to_string();
    assert!(error.contains("lend it some"), "{error}");
    let odd = Scratch { address: 264, bytes: 1 << 16 };
    // SAFETY: as above.
    let error = unsafe { plan.distances_in(&machine, odd, series, series, 256) }.unwrap_err().to_string();
    assert!(error.contains("multiple of 256"), "{error}");
}
