//! What the GPU tests share: numbers, bytes, and plans on the device.
#![expect(unreachable_pub, reason = "test binaries have no public interface")]

use dtw_core::{Backend, Pairing, Problem, SeriesBatch, Spec};
use dtw_cuda::{CudaBuffer, CudaMachine, Machine};

/// Numbers without a pattern, the same every time.
pub fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// A copy of these numbers on the device.
pub fn on_device(machine: &CudaMachine, values: &[f32]) -> CudaBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let buffer = machine.allocate(bytes.len()).unwrap();
    machine.upload(&buffer, 0, &bytes).unwrap();
    buffer
}

/// All numbers of a buffer, after what was launched before.
pub fn from_device(machine: &CudaMachine, buffer: &CudaBuffer) -> Vec<f32> {
    let mut bytes = vec![0; dtw_cuda::Buffer::bytes(buffer)];
    machine.download(buffer, 0, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

/// The problem of `count` series of `length` points with each other or one by one.
pub fn problem(spec: &Spec, pairing: Pairing, count: usize, length: usize) -> Problem {
    let values = vec![0.0_f32; count * length];
    let batch = SeriesBatch::equal(&values, count, length, 1).unwrap();
    Problem::of(spec.clone(), pairing, &batch, &batch).unwrap()
}

/// Distances from host memory to host memory.
pub fn distances(backend: &dyn Backend<f32>, problem: &Problem, x: &[f32], y: &[f32]) -> Vec<f32> {
    let shape = problem.shape();
    let x = SeriesBatch::equal(x, shape.n_x, shape.max_length_x, 1).unwrap();
    let y = SeriesBatch::equal(y, shape.n_y, shape.max_length_y, 1).unwrap();
    let mut out = vec![f32::NAN; problem.output_len()];
    backend.plan(problem).unwrap().distances(x, y, &mut out).unwrap();
    out
}
