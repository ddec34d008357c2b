//! Numbers for tests, and numbers in the memory of the host's machine.
#![allow(dead_code, reason = "not all tests need all of it")]

use dtw_native::{Buffer, Format, HostMachine, Machine, Number};
use half::{bf16, f16};

/// Memory of the host's machine.
pub(crate) type Memory = <HostMachine as Machine>::Buffer;

/// Numbers without a pattern from −1 to 1, the same for the same seed.
pub(crate) fn noise<T: Number>(count: usize, seed: u32) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        T::from_f64(f64::from(state >> 8) / f64::from(1 << 23) - 1.0)
    };
    (0..count).map(|_| next()).collect()
}

/// Numbers as the machine stores them.
pub(crate) fn raw<T: Number>(values: &[T]) -> Vec<u8> {
    let bytes = |value: &T| match size_of::<T>() {
        4 => (value.to_f64() as f32).to_ne_bytes().to_vec(),
        _ => value.to_f64().to_ne_bytes().to_vec(),
    };
    values.iter().flat_map(bytes).collect()
}

/// A copy in the machine's memory.
pub(crate) fn upload<T: Number>(machine: &HostMachine, values: &[T]) -> Memory {
    upload_bytes(machine, &raw(values))
}

/// Memory that begins with these bytes.
pub(crate) fn upload_bytes(machine: &HostMachine, bytes: &[u8]) -> Memory {
    let buffer = machine.allocate(bytes.len()).unwrap();
    machine.upload(&buffer, 0, bytes).unwrap();
    buffer
}

/// The numbers that the machine's memory holds.
pub(crate) fn download<T: Number>(machine: &HostMachine, from: &Memory) -> Vec<T> {
    let mut bytes = vec![0; from.bytes()];
    machine.download(from, 0, &mut bytes).unwrap();
    let number = |bytes: &[u8]| match size_of::<T>() {
        4 => T::from_f64(f64::from(f32::from_ne_bytes(bytes.try_into().unwrap()))),
        _ => T::from_f64(f64::from_ne_bytes(bytes.try_into().unwrap())),
    };
    bytes.chunks(size_of::<T>()).map(number).collect()
}

/// The bits of the `f32` that the machine's memory holds.
pub(crate) fn bits(machine: &HostMachine, from: &Memory) -> Vec<u32> {
    download::<f32>(machine, from).into_iter().map(f32::to_bits).collect()
}

/// A number of a format, as bytes, and what it is.
pub(crate) fn written(format: Format, value: f64) -> (Vec<u8>, f64) {
    match format {
        Format::F32 => ((value as f32).to_ne_bytes().to_vec(), f64::from(value as f32)),
        Format::F64 => (value.to_ne_bytes().to_vec(), value),
        Format::F16 => (f16::from_f64(value).to_ne_bytes().to_vec(), f16::from_f64(value).to_f64()),
        Format::Bf16 => (bf16::from_f64(value).to_ne_bytes().to_vec(), bf16::from_f64(value).to_f64()),
        _ => unreachable!("a new format"),
    }
}
