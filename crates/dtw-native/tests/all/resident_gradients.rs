//! Gradients whose series and results stay on the device: what host memory gets; of series at any strides and in any
//! format the bits of packed ones; in memory of the caller's the bits of a plan's own.

use crate::numbers::{Memory, download, noise, upload, written};
use dtw_core::{
    Backend, Band, Error, Gradients, LocalCost, Measure, Pairing, Plan, Problem, Radius, SeriesBatch, Spec,
};
use dtw_native::{
    Buffer, CallerMemory, DeviceBatch, DeviceGradients, DeviceLayout, Format, HostMachine, Machine,
    NativeBackend, NativePlan, Number, Scratch, Strided,
};

const COUNT: usize = 4;
const CHANNELS: usize = 3;
const UPSTREAM: [f64; COUNT] = [1.5, -0.25, 0.0, 2.0];

/// Lengths of x and of y.
const LENGTHS: [[usize; COUNT]; 2] = [[70, 3, 66, 1], [65, 90, 2, 64]];
const ROOMS: [usize; 2] = [70, 90];

/// How series lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    Equal,
    Ragged,
    Padded,
}

/// One side: where its series begin, and how long they are.
#[derive(Debug, Clone)]
struct Side {
    lie: Lie,
    offsets: Vec<usize>,
    lengths: Vec<usize>,
    room: usize,
}

impl Side {
    fn new(lie: Lie, side: usize) -> Self {
        let room = ROOMS[side];
        let lengths = if lie == Lie::Equal { vec![room; COUNT] } else { LENGTHS[side].to_vec() };
        let mut offsets = vec![0];
        for length in &lengths {
            offsets.push(offsets.last().unwrap() + if lie == Lie::Padded { room } else { *length });
        }
        Self { lie, offsets, lengths, room }
    }

    fn layout(&self) -> DeviceLayout<'_> {
        match self.lie {
            Lie::Equal => DeviceLayout::Equal { count: COUNT, length: self.room },
            Lie::Ragged => DeviceLayout::Ragged(&self.offsets),
            Lie::Padded => DeviceLayout::Padded { lengths: &self.lengths, room: self.room },
        }
    }

    /// Points of the memory, with those that are nobody's.
    fn points(&self) -> usize {
        self.offsets[COUNT]
    }

    /// The numbers of the series alone, one series after the other.
    fn together<T: Copy>(&self, numbers: &[T]) -> Vec<T> {
        let series = self.lengths.iter().zip(&self.offsets);
        series
            .flat_map(|(length, first)| numbers[first * CHANNELS..][..length * CHANNELS].iter().copied())
            .collect()
    }
}

fn problem(spec: &Spec) -> Problem {
    let shape = dtw_core::Shape {
        n_x: COUNT,
        n_y: COUNT,
        max_length_x: ROOMS[0],
        max_length_y: ROOMS[1],
        channels: CHANNELS,
    };
    Problem::new(spec.clone(), Pairing::Zipped, shape).unwrap()
}

/// Memory for results, NaN so far.
fn outputs<T: Number>(machine: &HostMachine, sides: &[Side; 2]) -> [Memory; 3] {
    let counts = [COUNT, sides[0].points() * CHANNELS, sides[1].points() * CHANNELS];
    counts.map(|count| upload(machine, &vec![T::from_f64(f64::NAN); count]))
}

fn addresses(upstream: &Memory, out: &[Memory; 3]) -> DeviceGradients {
    let [distances, grad_x, grad_y] = [0, 1, 2].map(|k| out[k].address());
    DeviceGradients { upstream: upstream.address(), distances, grad_x, grad_y }
}

fn upstream<T: Number>(machine: &HostMachine) -> Memory {
    upload(machine, &UPSTREAM.map(|weight| T::from_f64(weight)))
}

/// What a call leaves on the device.
fn computed<T: Number>(
    machine: &HostMachine,
    problem: &Problem,
    sides: &[Side; 2],
    batches: [DeviceBatch<'_>; 2],
) -> Result<[Vec<T>; 3], Error> {
    let (weights, out) = (upstream::<T>(machine), outputs::<T>(machine, sides));
    let mut plan = NativePlan::<T, _>::new(machine.clone(), problem)?;
    let [x, y] = batches;
    // SAFETY: buffers of these layouts, and as large as what is written to them.
    unsafe { plan.gradients_on_device(x, y, addresses(&weights, &out)) }?;
    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
    Ok(out.map(|buffer| download(machine, &buffer)))
}

/// Specs of both measures, with a band and without, and of other costs.
fn specs() -> Vec<Spec> {
    let measures = [Measure::soft_dtw(0.5), Measure::soft_dtw_divergence(0.5)];
    let bands = [Band::Full, Band::SakoeChiba { radius: Radius::Points(9) }];
    let with = |measure| bands.clone().map(|band| Spec::new(measure).with_band(band));
    let others = [
        Measure::SoftDtw { gamma: 0.5, cost: LocalCost::Euclidean },
        Measure::SoftDtwDivergence { gamma: 0.5, cost: LocalCost::Manhattan },
    ];
    measures.into_iter().flat_map(with).chain(others.map(Spec::new)).collect()
}

fn gradients_are_those_of_host_memory<T: Number>(tolerance: f64)
where
    NativeBackend<HostMachine>: Backend<T>,
{
    let machine = HostMachine::new(1 << 30);
    let others = [Spec::new(Measure::soft_dtw_divergence(1e4)), Spec::soft_dtw(1e9)];
    for spec in specs().into_iter().chain(others) {
        for lie in [Lie::Equal, Lie::Ragged, Lie::Padded] {
            let sides = [Side::new(lie, 0), Side::new(lie, 1)];
            let values =
                [0, 1].map(|side: usize| noise::<T>(sides[side].points() * CHANNELS, 3 + side as u32));
            let memory = [upload(&machine, &values[0]), upload(&machine, &values[1])];
            let batch =
                |side: usize| DeviceBatch::packed(memory[side].address(), CHANNELS, sides[side].layout());
            let problem = problem(&spec);
            let got = computed::<T>(&machine, &problem, &sides, [batch(0), batch(1)]).unwrap();
            let series = [0, 1].map(|side: usize| sides[side].together(&values[side]));
            let ends = [0, 1].map(|side: usize| {
                let lengths = sides[side].lengths.iter();
                let ends = lengths.scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                });
                std::iter::once(0).chain(ends).collect::<Vec<usize>>()
            });
            let batch = |side: usize| SeriesBatch::ragged(&series[side], &ends[side], CHANNELS).unwrap();
            let mut expected = [COUNT, series[0].len(), series[1].len()].map(|count| vec![T::ZERO; count]);
            let [distances, grad_x, grad_y] = &mut expected;
            let weights = UPSTREAM.map(|weight| T::from_f64(weight));
            let out = Gradients { upstream: Some(&weights), distances, grad_x, grad_y };
            let backend = NativeBackend::new(machine.clone());
            backend.plan(&problem).unwrap().gradients(batch(0), batch(1), out).unwrap();
            for (k, expected) in expected.iter().enumerate() {
                let got = if k == 0 { got[0].clone() } else { sides[k - 1].together(&got[k]) };
                if k > 0 && matches!(spec.measure, Measure::SoftDtw { .. }) {
                    assert!(got == *expected, "{spec:?} {lie:?} {k}: other bits");
                }
                let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.to_f64().abs()));
                for (got, expected) in got.iter().zip(expected) {
                    let error = (got.to_f64() - expected.to_f64()).abs();
                    assert!(error <= tolerance * largest, "{spec:?} {lie:?} {k}: {got} for {expected}");
                }
            }
            // Nobody writes where there is no series.
            if lie == Lie::Padded {
                let behind = got[1][3 * CHANNELS + 70 * CHANNELS..][..67 * CHANNELS].iter();
                assert!(behind.clone().all(|number| number.to_f64().is_nan()), "{spec:?}");
            }
        }
    }
}

#[test]
fn gradients_are_those_of_host_memory_in_floats() {
    gradients_are_those_of_host_memory::<f32>(2e-5);
}

#[test]
fn gradients_are_those_of_host_memory_in_doubles() {
    gradients_are_those_of_host_memory::<f64>(1e-12);
}

/// Strides of a side whose points are packed, lie channel by channel, point by point of all series, backwards, or with
/// gaps; and where the first number is.
fn lies(room: usize) -> [([i64; 3], usize); 5] {
    let (n, c, b) = (room as i64, CHANNELS as i64, COUNT as i64);
    [
        ([n * c, c, 1], 0),
        ([n * c, 1, n], 0),
        ([c, b * c, 1], 0),
        ([n * c, -c, 1], (room - 1) * CHANNELS),
        ([2 * n * c, 2 * c, 2], 1),
    ]
}

/// A side as a caller has it, and packed.
struct Given<T> {
    memory: Memory,
    first: usize,
    strided: Strided,
    packed: Vec<T>,
}

impl<T: Number> Given<T> {
    fn new(machine: &HostMachine, side: &Side, which: usize, format: Format, lie: usize) -> Self {
        let ([series, point, channel], first) = lies(side.room)[lie];
        let size = format.bytes();
        let mut bytes = vec![0xff; (2 * COUNT * side.room * CHANNELS + 1) * size];
        let numbers: Vec<f64> = noise(side.points() * CHANNELS, 5 + which as u32);
        let mut packed = vec![T::from_f64(f64::NAN); numbers.len()];
        for (s, (length, offset)) in side.lengths.iter().zip(&side.offsets).enumerate() {
            for (i, c) in (0..*length).flat_map(|i| (0..CHANNELS).map(move |c| (i, c))) {
                let at = (offset + i) * CHANNELS + c;
                let (number, value) = written(format, numbers[at]);
                packed[at] = T::from_f64(value);
                let place = if side.lie == Lie::Equal {
                    s as i64 * series + i as i64 * point
                } else {
                    (offset + i) as i64 * point
                };
                let place = (first as i64 + place + c as i64 * channel) as usize * size;
                bytes[place..place + size].copy_from_slice(&number);
            }
        }
        let memory = machine.allocate(bytes.len()).unwrap();
        machine.upload(&memory, 0, &bytes).unwrap();
        Self { memory, first, strided: Strided { format, series, point, channel }, packed }
    }

    fn batch<'a>(&self, layout: DeviceLayout<'a>) -> DeviceBatch<'a> {
        DeviceBatch {
            values: self.memory.address() + (self.first * self.strided.format.bytes()) as u64,
            strided: Some(self.strided),
            ..DeviceBatch::packed(0, CHANNELS, layout)
        }
    }
}

fn agrees<T: Number>(spec: &Spec, kind: Lie, format: Format, lie: usize) {
    let machine = HostMachine::new(1 << 30);
    let sides = [Side::new(kind, 0), Side::new(kind, 1)];
    let given = [0, 1].map(|side: usize| Given::<T>::new(&machine, &sides[side], side, format, lie));
    let memory = [0, 1].map(|side: usize| upload(&machine, &given[side].packed));
    let packed =
        [0, 1].map(|side: usize| DeviceBatch::packed(memory[side].address(), CHANNELS, sides[side].layout()));
    let strided = [0, 1].map(|side: usize| given[side].batch(sides[side].layout()));
    let problem = problem(spec);
    let expected = computed::<T>(&machine, &problem, &sides, packed).unwrap();
    for batches in [strided, [strided[0], packed[1]], [packed[0], strided[1]]] {
        let got = computed::<T>(&machine, &problem, &sides, batches).unwrap();
        for k in 0..3 {
            let of = |all: &[Vec<T>; 3]| if k == 0 { all[0].clone() } else { sides[k - 1].together(&all[k]) };
            assert_eq!(of(&got), of(&expected), "{spec:?} {kind:?} {format:?} {lie}: {k}");
        }
    }
}

#[test]
fn strides_give_the_same_bits() {
    for spec in specs() {
        for lie in 0..5 {
            agrees::<f32>(&spec, Lie::Equal, Format::F32, lie);
        }
        agrees::<f64>(&spec, Lie::Equal, Format::F64, 2);
    }
    // Points of these are equally far apart; channels may lie as they like.
    for kind in [Lie::Ragged, Lie::Padded] {
        for lie in [0, 4] {
            agrees::<f32>(&specs()[0], kind, Format::F32, lie);
            agrees::<f32>(&specs()[2], kind, Format::F32, lie);
        }
    }
}

#[test]
fn formats_give_the_same_bits() {
    for format in [Format::F64, Format::F16, Format::Bf16] {
        agrees::<f32>(&specs()[0], Lie::Equal, format, 0);
        agrees::<f32>(&specs()[2], Lie::Padded, format, 0);
        agrees::<f32>(&specs()[0], Lie::Equal, format, 2);
    }
    agrees::<f64>(&specs()[0], Lie::Equal, Format::F16, 1);
}

#[test]
fn memory_of_the_caller_gives_the_same() {
    let machine = HostMachine::new(1 << 30);
    for (spec, kind) in specs().iter().flat_map(|spec| [(spec, Lie::Equal), (spec, Lie::Padded)]) {
        let sides = [Side::new(kind, 0), Side::new(kind, 1)];
        let given = [0, 1].map(|side: usize| Given::<f32>::new(&machine, &sides[side], side, Format::F32, 0));
        let memory = [0, 1].map(|side: usize| upload(&machine, &given[side].packed));
        let packed = [0, 1]
            .map(|side: usize| DeviceBatch::packed(memory[side].address(), CHANNELS, sides[side].layout()));
        let strided = [0, 1].map(|side: usize| given[side].batch(sides[side].layout()));
        let problem = problem(spec).with_memory_limit(1 << 20);
        let expected = computed::<f32>(&machine, &problem, &sides, packed).unwrap();
        let mut plan = NativePlan::<f32, _>::new(CallerMemory::new(machine.clone()), &problem).unwrap();
        // Layouts agree, the scratch differs.
        for [x, y] in [packed, strided, packed, strided] {
            let bytes = plan.gradients_scratch_bytes_on_device(&machine, x, y).unwrap();
            assert!(bytes <= 1 << 20);
            let memory = machine.allocate(bytes).unwrap();
            let scratch = Scratch { address: memory.address(), bytes };
            let weights = upstream::<f32>(&machine);
            let out = outputs::<f32>(&machine, &sides);
            for _ in 0..2 {
                // SAFETY: buffers with room for what the layouts say.
                unsafe { plan.gradients_in(&machine, scratch, x, y, addresses(&weights, &out)) }.unwrap();
            }
            let got = out.map(|buffer| download::<f32>(&machine, &buffer));
            for k in 0..3 {
                let of = |all: &[Vec<f32>; 3]| {
                    if k == 0 { all[0].clone() } else { sides[k - 1].together(&all[k]) }
                };
                assert_eq!(of(&got), of(&expected), "{spec:?} {kind:?} {k}");
            }
        }
    }
}

#[test]
fn copies_beyond_the_memory_limit_are_refused() {
    let machine = HostMachine::new(1 << 30);
    let sides = [Side::new(Lie::Equal, 0), Side::new(Lie::Equal, 1)];
    let given = [0, 1].map(|side: usize| Given::<f32>::new(&machine, &sides[side], side, Format::F32, 2));
    let strided = [0, 1].map(|side: usize| given[side].batch(sides[side].layout()));
    let problem = problem(&specs()[0]).with_memory_limit(10_000);
    let error = computed::<f32>(&machine, &problem, &sides, strided).unwrap_err();
    assert!(
        matches!(&error, Error::OutOfMemory { what, requested_bytes, available_bytes: 10_000 }
            if what.contains("packed copies") && *requested_bytes > 10_000),
        "{error}"
    );
}

#[test]
fn values_that_another_sweep_computes_stay_within_the_memory_limit() {
    // One path: the excess is swept for.
    let machine = HostMachine::new(1 << 30);
    let shape = dtw_core::Shape { n_x: 4, n_y: 4, max_length_x: 300, max_length_y: 1, channels: 1 };
    let problem =
        Problem::new(Spec::soft_dtw(1.0), Pairing::Zipped, shape).unwrap().with_memory_limit(128 << 10);
    let held = [4 * 300, 4, 4].map(|count| upload(&machine, &vec![0.5_f32; count]));
    let out = [4, 4 * 300, 4].map(|count| upload(&machine, &vec![f32::NAN; count]));
    let batch = |side: usize, length| {
        DeviceBatch::packed(held[side].address(), 1, DeviceLayout::Equal { count: 4, length })
    };
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
    // SAFETY: buffers of these layouts, and as large as what is written to them.
    unsafe { plan.gradients_on_device(batch(0, 300), batch(1, 1), addresses(&held[2], &out)) }.unwrap();
    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
    for buffer in &out {
        assert!(download::<f32>(&machine, buffer).iter().all(|number| *number == 0.0));
    }
}

#[test]
fn a_gamma_that_floats_cannot_divide_by_is_refused() {
    let shape = dtw_core::Shape { n_x: 1, n_y: 1, max_length_x: 4, max_length_y: 4, channels: 1 };
    let problem = Problem::new(Spec::soft_dtw(1e-39), Pairing::Zipped, shape).unwrap();
    let mut plan = NativePlan::<f32, _>::new(HostMachine::new(1 << 20), &problem).unwrap();
    let series = DeviceBatch::packed(256, 1, DeviceLayout::Equal { count: 1, length: 4 });
    let out = DeviceGradients { upstream: 0, distances: 256, grad_x: 256, grad_y: 256 };
    // SAFETY: refused before anything is launched.
    let refused = unsafe { plan.gradients_on_device(series, series, out) }.unwrap_err();
    assert!(refused.to_string().contains("gamma = 1e-39 is too small"), "{refused}");
}
