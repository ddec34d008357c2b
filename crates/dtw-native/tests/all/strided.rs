//! Series on the device in any format and at any strides: the same bits as packed ones of the same values.

use crate::numbers::{download, noise, upload, upload_bytes, written};
use dtw_core::{LocalCost, Measure, Pairing, Problem, SeriesBatch, Spec};
use dtw_native::{
    Buffer, DeviceBatch, DeviceLayout, Format, HostMachine, Machine, NativePlan, Number, Strided,
};
use half::{bf16, f16};

const COUNT: usize = 5;
const LENGTH: usize = 37;
const CHANNELS: usize = 3;

/// Distances of series on the device with themselves.
fn distances<T: Number>(
    machine: &HostMachine,
    problem: &Problem,
    batch: DeviceBatch<'_>,
) -> dtw_core::Result<Vec<T>> {
    let out = machine.allocate(problem.output_len() * size_of::<T>())?;
    let mut plan = NativePlan::<T, _>::new(machine.clone(), problem)?;
    // SAFETY: the buffers hold what the layouts say.
    unsafe { plan.distances_on_device(batch, batch, out.address()) }?;
    Ok(download(machine, &out))
}

/// A way to lay out series: where numbers go, as strides, and where the first one is.
struct Lay {
    name: &'static str,
    strides: [i64; 3],
    first: usize,
}

/// How frameworks lay them out, and worse.
const LAYS: [Lay; 5] = [
    Lay { name: "packed", strides: [(LENGTH * CHANNELS) as i64, CHANNELS as i64, 1], first: 0 },
    Lay { name: "channels first", strides: [(LENGTH * CHANNELS) as i64, 1, LENGTH as i64], first: 0 },
    Lay { name: "time first", strides: [CHANNELS as i64, (COUNT * CHANNELS) as i64, 1], first: 0 },
    Lay {
        name: "time backwards",
        strides: [(LENGTH * CHANNELS) as i64, -(CHANNELS as i64), 1],
        first: (LENGTH - 1) * CHANNELS,
    },
    Lay {
        name: "every other number",
        strides: [2 * (LENGTH * CHANNELS) as i64, 2 * CHANNELS as i64, 2],
        first: 1,
    },
];

fn agrees<T: Number>(spec: &Spec, format: Format, lay: &Lay, ragged: bool) {
    let machine = HostMachine::new(1 << 30);
    let bytes = format.bytes();
    let mut next = noise::<f64>(COUNT * LENGTH * CHANNELS, 7).into_iter().map(|value| 3.0 * value);
    let mut there = vec![0xff; 2 * COUNT * LENGTH * CHANNELS * bytes];
    let mut packed: Vec<T> = Vec::new();
    let [series, point, channel] = lay.strides;
    for s in 0..COUNT as i64 {
        for i in 0..LENGTH as i64 {
            for c in 0..CHANNELS as i64 {
                let (number, value) = written(format, next.next().unwrap());
                let k = usize::try_from(lay.first as i64 + s * series + i * point + c * channel).unwrap();
                there[k * bytes..][..bytes].copy_from_slice(&number);
                packed.push(T::from_f64(value));
            }
        }
    }
    // Ragged series follow each other point by point, as packed ones do.
    let offsets = [0, 30, 33, 80, 120, COUNT * LENGTH];
    let (batch, layout) = if ragged {
        (SeriesBatch::ragged(&packed, &offsets, CHANNELS), DeviceLayout::Ragged(&offsets))
    } else {
        let layout = DeviceLayout::Equal { count: COUNT, length: LENGTH };
        (SeriesBatch::equal(&packed, COUNT, LENGTH, CHANNELS), layout)
    };
    let batch = batch.unwrap();
    // So little memory that series are loaded in parts: a part has a place of its own to begin at.
    for limit in [1 << 30, 40 << 10] {
        let problem =
            Problem::of(spec.clone(), Pairing::Cross, &batch, &batch).unwrap().with_memory_limit(limit);
        let values = upload(&machine, &packed);
        let plain = DeviceBatch::packed(values.address(), CHANNELS, layout);
        let wanted = distances::<T>(&machine, &problem, plain).unwrap();
        let values = upload_bytes(&machine, &there);
        let strided = DeviceBatch {
            strided: Some(Strided { format, series, point, channel }),
            ..DeviceBatch::packed(values.address() + (lay.first * bytes) as u64, CHANNELS, layout)
        };
        let got = distances::<T>(&machine, &problem, strided).unwrap();
        let bits = |values: &[T]| values.iter().map(|v| v.to_f64().to_bits()).collect::<Vec<_>>();
        assert_eq!(
            bits(&got),
            bits(&wanted),
            "{} {format:?} {} ragged {ragged} {limit}",
            spec.key(),
            lay.name
        );
    }
}

#[test]
fn strided_series_give_the_same_bits() {
    let specs = [
        Spec::dtw(),
        Spec::new(Measure::Ddtw { cost: LocalCost::SquaredEuclidean }),
        Spec::new(Measure::Erp { gap: 0.5 }),
        Spec::new(Measure::Twed { nu: 0.01, lambda: 0.5, degree: 2.0 }),
    ];
    for spec in &specs {
        for lay in &LAYS {
            for format in [Format::F32, Format::F64, Format::F16, Format::Bf16] {
                agrees::<f32>(spec, format, lay, false);
                agrees::<f64>(spec, format, lay, false);
            }
        }
        for format in [Format::F32, Format::F16] {
            agrees::<f64>(spec, format, &LAYS[0], true);
        }
    }
}

#[test]
fn a_stride_of_zero_repeats_a_series() {
    let machine = HostMachine::new(1 << 30);
    let values_there = upload(&machine, &[1.0_f32, 4.0, 9.0]);
    let batch = SeriesBatch::equal(&[0.0_f32; 12], 4, 3, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &batch, &batch).unwrap();
    let repeated = DeviceBatch {
        strided: Some(Strided { format: Format::F32, series: 0, point: 1, channel: 0 }),
        ..DeviceBatch::packed(values_there.address(), 1, DeviceLayout::Equal { count: 4, length: 3 })
    };
    assert_eq!(distances::<f32>(&machine, &problem, repeated).unwrap(), [0.0; 16]);
}

/// |x − 4| is exact in `f64` for every one of them, and tells the sign.
#[test]
fn every_finite_number_of_two_bytes_is_read_exactly() {
    let finite = |format| {
        (0..=u16::MAX).filter(move |bits| match format {
            Format::F16 => f16::from_bits(*bits).is_finite(),
            _ => bf16::from_bits(*bits).is_finite() && bf16::from_bits(*bits).to_f64().abs() < 1e15,
        })
    };
    let value = |format, bits: u16| match format {
        Format::F16 => f16::from_bits(bits).to_f64(),
        _ => bf16::from_bits(bits).to_f64(),
    };
    let spec = Spec::new(Measure::Dtw { cost: LocalCost::Manhattan });
    for format in [Format::F16, Format::Bf16] {
        let machine = HostMachine::new(1 << 30);
        let bits: Vec<u16> = finite(format).collect();
        let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_ne_bytes()).collect();
        let there = upload_bytes(&machine, &bytes);
        let four = upload(&machine, &[4.0_f64]);
        let (x, y) = (vec![0.0_f64; bits.len()], [4.0_f64]);
        let x = SeriesBatch::equal(&x, bits.len(), 1, 1).unwrap();
        let y = SeriesBatch::equal(&y, 1, 1, 1).unwrap();
        let problem = Problem::of(spec.clone(), Pairing::Cross, &x, &y).unwrap();
        let out = machine.allocate(problem.output_len() * 8).unwrap();
        let layout = DeviceLayout::Equal { count: bits.len(), length: 1 };
        let halves = DeviceBatch {
            strided: Some(Strided { format, series: 1, point: 1, channel: 1 }),
            ..DeviceBatch::packed(there.address(), 1, layout)
        };
        let four = DeviceBatch::packed(four.address(), 1, DeviceLayout::Equal { count: 1, length: 1 });
        let mut plan = NativePlan::<f64, _>::new(machine.clone(), &problem).unwrap();
        // SAFETY: the buffers hold what the layouts say.
        unsafe { plan.distances_on_device(halves, four, out.address()) }.unwrap();
        for (bits, got) in bits.iter().zip(download::<f64>(&machine, &out)) {
            assert_eq!(got, (value(format, *bits) - 4.0).abs(), "{format:?} {bits:#06x}");
        }
    }
}
