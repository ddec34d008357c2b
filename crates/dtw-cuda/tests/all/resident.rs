//! On a GPU: series and results on the device, the caller's stream, what is written and what is not, what is refused.
//! `cargo test -p dtw-cuda --test resident -- --ignored`

use crate::common::{distances, from_device, noise, on_device, problem};
use cudarc::driver::{result, sys};
use dtw_core::{Error, Measure, Pairing, Problem, Spec};
use dtw_cuda::{Buffer, CudaBackend, CudaMachine, DeviceBatch, DeviceLayout, Machine, NativePlan};

/// Values before and after the results.
const ZONE: usize = 300;
/// No distance.
const UNTOUCHED: f32 = -7.0;

fn specs() -> Vec<Spec> {
    vec![
        Spec::dtw(),
        Spec::dtw().with_band(dtw_core::Band::sakoe_chiba(3)),
        Spec::new(Measure::Erp { gap: 0.5 }),
        Spec::new(Measure::Msm { c: 0.5 }),
        Spec::new(Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 }),
        Spec::soft_dtw(0.5),
    ]
}

fn batch<'a>(values: &impl Buffer, count: usize, length: usize) -> DeviceBatch<'a> {
    let layout = DeviceLayout::Equal { count, length };
    DeviceBatch::packed(values.address(), 1, layout)
}

/// Results on the device between two zones; the zones are looked at, the results returned.
fn guarded(machine: &CudaMachine, problem: &Problem, x: &[f32], y: &[f32]) -> Vec<f32> {
    let shape = problem.shape();
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), problem).unwrap();
    let (x, y) = (on_device(machine, x), on_device(machine, y));
    let out = on_device(machine, &vec![UNTOUCHED; problem.output_len() + 2 * ZONE]);
    let (in_x, in_y) = (batch(&x, shape.n_x, shape.max_length_x), batch(&y, shape.n_y, shape.max_length_y));
    // SAFETY: x, y and out have room for what the shape says.
    unsafe { plan.distances_on_device(in_x, in_y, out.address() + 4 * ZONE as u64) }.unwrap();
    let all = from_device(machine, &out);
    let (before, rest) = all.split_at(ZONE);
    let (results, after) = rest.split_at(problem.output_len());
    assert!(before.iter().chain(after).all(|value| *value == UNTOUCHED), "{:?}", problem.spec());
    results.to_vec()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn results_have_their_place_and_nothing_else_is_written() {
    let backend = CudaBackend::new().unwrap();
    let machine = backend.machine().own_queue().unwrap();
    for spec in specs() {
        for (count, length) in [(1, 1), (7, 1), (33, 31), (70, 96), (5, 1100), (2, 5000)] {
            let (x, y) = (noise(count * length, 1), noise(count * length, 2));
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                let problem = problem(&spec, pairing, count, length);
                let y = if pairing == Pairing::SelfSymmetric { &x } else { &y };
                let on_device = guarded(&machine, &problem, &x, y);
                let expected = distances(&backend, &problem, &x, y);
                // A single point has one path: its cost comes from another sweep where nobody looks at results.
                let is_soft = matches!(spec.measure, Measure::SoftDtw { .. }) && length == 1;
                let allowed = if is_soft { 1e-6 } else { 0.0 };
                for (k, (got, expected)) in on_device.iter().zip(&expected).enumerate() {
                    let same = (got - expected).abs() <= allowed * expected.abs();
                    assert!(same, "{spec:?} {pairing:?} {count} x {length} {k}: {got} {expected}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn series_that_do_not_fit_are_prepared_in_parts() {
    let machine = CudaBackend::new().unwrap().machine().own_queue().unwrap();
    for spec in specs() {
        for (count, length) in [(70, 96), (40, 1100)] {
            let (x, y) = (noise(count * length, 1), noise(count * length, 2));
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                let problem = problem(&spec, pairing, count, length);
                let y = if pairing == Pairing::SelfSymmetric { &x } else { &y };
                let whole = guarded(&machine, &problem, &x, y);
                // Series take three quarters of the limit: less than those of one side.
                let little = problem.with_memory_limit(4 * (count * length) as u64);
                let parts = guarded(&machine, &little, &x, y);
                for (k, (a, b)) in whole.iter().zip(&parts).enumerate() {
                    // Other kernels may be best for fewer pairs.
                    let close = (a - b).abs() <= 1e-5 * a.abs();
                    assert!(close, "{spec:?} {pairing:?} {count} x {length} {k}: {a} {b}");
                }
            }
        }
    }
}

/// A stream as a caller would bring it.
struct Stream(sys::CUstream);

impl Stream {
    /// On the context that is current on this thread.
    fn new() -> Self {
        Self(result::stream::create(result::stream::StreamKind::NonBlocking).unwrap())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made in `new`; what used it is gone.
        unsafe { result::stream::destroy(self.0) }.unwrap();
    }
}

/// Makes the primary context of the first GPU current on this thread.
fn enter_primary() {
    let device = result::device::get(0).unwrap();
    // SAFETY: the device exists; the context is kept for good.
    unsafe { result::ctx::set_current(result::primary_ctx::retain(device).unwrap()) }.unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn several_streams_from_several_threads() {
    let backend = CudaBackend::new().unwrap();
    let problem = problem(&Spec::dtw(), Pairing::Cross, 40, 300);
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let (backend, problem) = (&backend, &problem);
            scope.spawn(move || {
                let (x, y) = (noise(40 * 300, seed), noise(40 * 300, seed + 100));
                let expected = distances(backend, problem, &x, &y);
                enter_primary();
                let stream = Stream::new();
                // SAFETY: the stream lives until the end of this function.
                let machine = unsafe { backend.machine().on_stream(stream.0.cast()) }.unwrap();
                for _ in 0..20 {
                    assert_eq!(guarded(&machine, problem, &x, &y), expected);
                }
                drop(machine);
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn foreign_streams_and_addresses_are_refused() {
    let backend = CudaBackend::new().unwrap();
    let machine = backend.machine();
    let own = machine.allocate(64).unwrap();
    machine.check_address("x", own.address()).unwrap();
    let on_host = Box::new(0_u64);
    for address in [(&raw const *on_host) as u64, 0, 4096] {
        let error = machine.check_address("x", address).unwrap_err();
        assert!(
            matches!(&error, Error::Invalid(text) if text.contains("x is not memory of CUDA device 0")),
            "{error}"
        );
    }
    let mut other = std::ptr::null_mut();
    // SAFETY: makes another context on device 0 and leaves it current; destroyed below.
    unsafe { sys::cuCtxCreate_v4(&raw mut other, std::ptr::null_mut(), 0, 0) }.result().unwrap();
    let foreign = Stream::new();
    // SAFETY: a plain allocation in that context, which goes with it.
    let memory = unsafe { result::malloc_sync(64) }.unwrap();
    // SAFETY: the stream lives.
    let error = unsafe { machine.on_stream(foreign.0.cast()) }.unwrap_err();
    assert!(error.to_string().contains("another context"), "{error}");
    assert!(matches!(machine.check_address("out", memory).unwrap_err(), Error::Invalid(_)));
    drop(foreign);
    // SAFETY: made above, used by nobody any more.
    unsafe { sys::cuCtxDestroy_v2(other) }.result().unwrap();
    machine.synchronize().unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn too_much_memory_is_refused_with_numbers() {
    let machine = CudaBackend::new().unwrap().machine().clone();
    let all = machine.properties().total_bytes;
    let error = machine.allocate(2 * all as usize).unwrap_err();
    let Error::OutOfMemory { requested_bytes, available_bytes, .. } = error else { panic!("{error}") };
    assert!(requested_bytes == 2 * all && 0 < available_bytes && available_bytes <= all);
    let buffer = machine.allocate(1 << 20).unwrap();
    machine.zero(&buffer, 0, 1 << 20).unwrap();
    machine.synchronize().unwrap();
}
