//! Tests of what shaders run on: lanes, memory, errors, a device that is gone. They run on the first GPU there is;
//! Mesa's in software will do, and without any they fail.

mod exponents;
mod extremes;
mod resident;
mod shaders;
mod shapes;
mod turns;

use std::sync::LazyLock;

use dtw_core::Error;
use wgpu::Features;

use crate::backend::WgpuBackend;
use crate::gpu::adapter::{Choice, choose};
use crate::gpu::device::Gpu;
use crate::gpu::lanes::{Lanes, LanesKind};
use crate::gpu::launch::Launch;
use crate::gpu::pipelines::BINDINGS;
use crate::gpu::readback::Readback;
use crate::gpu::stopwatch::Stopwatch;

/// The first GPU.
fn open(force: Option<LanesKind>) -> Gpu {
    let adapter =
        choose(&Choice::Performance, wgpu::Backends::all()).expect("a Vulkan driver: mesa-vulkan-drivers");
    Gpu::open_blocking(adapter, force).expect("it opens")
}

/// A device of the test's own, without a trial of its lanes.
fn opened() -> Gpu {
    open(Some(LanesKind::Workgroup))
}

/// The first GPU, for tests that share what it has compiled.
static BACKEND: LazyLock<WgpuBackend> = LazyLock::new(|| WgpuBackend::of(open(None)));

/// The text of a failure of the device.
#[track_caller]
fn failure<T: std::fmt::Debug>(result: dtw_core::Result<T>) -> String {
    match result.expect_err("a failure") {
        error @ Error::Backend { backend: "wgpu", .. } => error.to_string(),
        error => panic!("{error:?}"),
    }
}

/// Bytes of a buffer.
fn fetched(gpu: &Gpu, from: &wgpu::Buffer, offset: u64, bytes: usize) -> dtw_core::Result<Vec<u8>> {
    let mut out = vec![0; bytes];
    Readback::default().fetch(gpu, from, offset, &mut out)?;
    Ok(out)
}

/// Adds what it reads at bindings 0 to 3 and 6 to what it writes at 4 and 5.
const ADDS: &str = "
@group(0) @binding(0) var<uniform> a: vec4<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> c: array<u32>;
@group(0) @binding(3) var<storage, read> d: array<u32>;
@group(0) @binding(4) var<storage, read_write> e: array<u32>;
@group(0) @binding(5) var<storage, read_write> f: array<u32>;
@group(0) @binding(6) var<storage, read> g: array<u32>;

@compute @workgroup_size(1)
fn main() {
    e[0] += a.x + b[0] + c[0] + d[0] + g[0];
    f[0] += a.x + b[0] * 2u + c[0] * 3u + d[0] * 5u + g[0] * 7u;
}
";

/// Runs one workgroup of a shader, timed if there is a watch.
fn run(gpu: &Gpu, key: &str, source: &str, bound: &[(usize, &wgpu::Buffer)], watch: Option<&Stopwatch>) {
    let pipeline = gpu.pipeline(key, || source.to_owned()).unwrap();
    let launch = Launch { pipeline, group: gpu.bind_group(bound).unwrap() };
    gpu.submit("a run", |encoder, _| launch.record(encoder, [1, 1], watch)).unwrap();
}

#[test]
fn lanes_of_a_workgroup_are_a_subgroup_where_a_trial_says_so() {
    let gpu = open(None);
    let lanes = gpu.adapter_info().subgroup_min_size;
    // What a trial finds on drivers that tests are known to run on.
    for (name, expected) in [("llvmpipe", 8), ("SwiftShader", 4), ("NVIDIA", 32)] {
        if gpu.adapter_info().name.contains(name) {
            assert_eq!((gpu.lanes(), lanes), (Lanes::Subgroup(lanes), expected), "{name}");
            assert_eq!(open(Some(LanesKind::Subgroup)).lanes(), gpu.lanes());
        }
    }
    assert_eq!(opened().lanes(), Lanes::Workgroup(64));
}

#[test]
fn a_shader_reads_and_writes_what_its_bindings_say() {
    let gpu = opened();
    let mut buffers = vec![gpu.uniform(16).unwrap()];
    buffers.extend((1..BINDINGS).map(|_| gpu.storage(4, "a number").unwrap()));
    let bound: Vec<_> = buffers.iter().enumerate().collect();
    for (binding, buffer) in &bound {
        gpu.upload(buffer, 0, &[1_u32 << (4 * binding)]).unwrap();
    }
    for times in 1..=2_u32 {
        run(&gpu, "adds", ADDS, &bound, None);
        let number = |at: usize| fetched(&gpu, &buffers[at], 0, 4).unwrap();
        assert_eq!(number(4), (0x0001_0000 + times * 0x0100_1111).to_ne_bytes());
        assert_eq!(number(5), (0x0010_0000 + times * 0x0700_5321).to_ne_bytes());
    }
}

#[test]
fn a_shader_is_compiled_once() {
    let gpu = opened();
    let first = gpu.pipeline("adds", || ADDS.to_owned()).unwrap();
    let again = gpu.pipeline("adds", || panic!("compiled twice")).unwrap();
    assert_eq!(first, again);
}

#[test]
fn a_shader_that_does_not_compile_is_an_error_with_the_compilers_words() {
    let gpu = opened();
    for (source, words) in [
        ("fn main( {", "expected"),
        ("@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }", "u32"),
        ("@compute @workgroup_size(1) fn other() {}", "main"),
        (
            "@group(0) @binding(2) var<storage, read_write> x: array<u32>; \
             @compute @workgroup_size(1) fn main() { x[0] = 1u; }",
            "inding",
        ),
        ("@compute @workgroup_size(4096) fn main() {}", "4096"),
    ] {
        let text = failure(gpu.pipeline("wrong", || source.to_owned()));
        assert!(text.contains("the shader \"wrong\"") && text.contains(words), "{source}: {text}");
        // It is not kept, and nothing of it is left.
        gpu.check("afterwards").unwrap();
    }
    assert!(!gpu.is_lost());
    gpu.pipeline("wrong", || ADDS.to_owned()).unwrap();
}

#[test]
fn results_come_back_from_any_place_in_any_length() {
    let gpu = opened();
    let buffer = gpu.storage(1000, "numbers").unwrap();
    let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * 7 % 251) as u8).collect();
    gpu.upload(&buffer, 0, &bytes).unwrap();
    let mut readback = Readback::default();
    assert_eq!(readback.bytes(), 0);
    for (offset, len) in [(0, 1000), (0, 1), (4, 3), (996, 4), (500, 500), (8, 0)] {
        let mut out = vec![0xff; len];
        readback.fetch(&gpu, &buffer, offset as u64, &mut out).unwrap();
        assert_eq!(out, bytes[offset..offset + len], "{len} bytes from {offset}");
        assert_eq!(readback.bytes(), 1008);
    }
}

#[test]
fn results_that_nobody_fetched_are_forgotten() {
    let gpu = opened();
    let buffer = gpu.storage(16, "numbers").unwrap();
    let mut readback = Readback::default();
    for value in 0..10_u8 {
        gpu.upload(&buffer, 0, &[value; 16]).unwrap();
        readback.begin(&gpu, &buffer, 0, 16).unwrap();
    }
    let mut out = [0_u8; 16];
    readback.finish(&gpu, &mut out).unwrap();
    assert_eq!(out, [9; 16]);
    let text = failure(readback.finish(&gpu, &mut out));
    assert!(text.contains("no transfer of results has begun"), "{text}");
}

#[test]
fn results_fail_and_then_come_again() {
    let gpu = opened();
    let buffer = gpu.storage(16, "numbers").unwrap();
    let mut readback = Readback::default();
    // More than the buffer has, and a place between two words.
    failure(readback.begin(&gpu, &buffer, 0, 20));
    failure(readback.begin(&gpu, &buffer, 2, 4));
    readback.begin(&gpu, &buffer, 0, 16).unwrap();
    let text = failure(readback.finish(&gpu, &mut [0_u8; 12]));
    assert!(text.contains("16 bytes of results are fetched, 12 are expected"), "{text}");
    readback.fetch(&gpu, &buffer, 0, &mut [0_u8; 16]).unwrap();
}

#[test]
fn an_upload_that_does_not_fit_is_an_error_and_nothing_more() {
    let gpu = opened();
    let buffer = gpu.storage(16, "numbers").unwrap();
    gpu.upload(&buffer, 0, &[1_u8; 16]).unwrap();
    for (offset, len) in [(0, 20), (16, 4), (2, 4), (0, 3)] {
        let text = failure(gpu.upload(&buffer, offset, &vec![2_u8; len]));
        assert!(text.contains("uploading"), "{text}");
    }
    assert_eq!(fetched(&gpu, &buffer, 0, 16).unwrap(), [1; 16]);
}

#[test]
fn a_buffer_above_the_limits_is_refused_with_numbers() {
    let gpu = opened();
    let limits = gpu.limits();
    let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    for bytes in [most + 1, u64::MAX - 3, u64::MAX] {
        let error = gpu.storage(bytes, "the table").unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Unsupported { backend: "wgpu", .. }), "{text}");
        assert!(text.contains(&format!("the table takes {bytes} bytes")), "{text}");
        assert!(text.contains(&format!("at most {most} bytes")) && text.contains("cpu"), "{text}");
    }
    let error = gpu.uniform(limits.max_uniform_buffer_binding_size + 1).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(gpu.storage(0, "nothing").unwrap().size(), 16);
    assert_eq!(gpu.storage(17, "a little").unwrap().size(), 32);
}

#[test]
fn an_error_outside_a_call_is_that_of_the_next_one() {
    let gpu = opened();
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE;
    let description =
        wgpu::BufferDescriptor { label: Some("stray"), size: 4, usage, mapped_at_creation: false };
    drop(gpu.device().create_buffer(&description));
    let text = failure(gpu.check("the next call"));
    assert!(text.contains("the next call, or a call before") && text.contains("stray"), "{text}");
    gpu.check("the one behind it").unwrap();
}

#[test]
fn errors_of_one_thread_are_not_those_of_another() {
    let gpu = opened();
    std::thread::scope(|scope| {
        let wrong = scope.spawn(|| {
            let buffer = gpu.storage(16, "wrong").unwrap();
            (0..200).all(|_| gpu.upload(&buffer, 16, &[0_u8; 4]).is_err())
        });
        let right = scope.spawn(|| {
            let buffer = gpu.storage(16, "right").unwrap();
            (0..200).all(|_| gpu.upload(&buffer, 0, &[0_u8; 4]).is_ok())
        });
        assert!(wrong.join().unwrap());
        assert!(right.join().unwrap());
    });
}

#[test]
fn a_device_that_is_gone_is_an_error_everywhere() {
    let gpu = opened();
    let buffer = gpu.storage(16, "numbers").unwrap();
    let (mut before, mut after) = (Readback::default(), Readback::default());
    before.begin(&gpu, &buffer, 0, 16).unwrap();
    assert!(!gpu.is_lost());
    gpu.device().destroy();

    // Results that were on their way may have arrived; if not, nobody waits for them.
    let arrived = before.finish(&gpu, &mut [0_u8; 16]);
    assert!(matches!(arrived, Ok(()) | Err(Error::Backend { .. })), "{arrived:?}");
    let begun = after.begin(&gpu, &buffer, 0, 16);
    assert!(begun.and_then(|()| after.finish(&gpu, &mut [0_u8; 16])).is_err());

    assert!(gpu.is_lost());
    assert!(gpu.clone().is_lost());
    for text in [
        failure(gpu.storage(16, "numbers")),
        failure(gpu.uniform(16)),
        failure(gpu.upload(&buffer, 0, &[0_u8; 4])),
        failure(gpu.pipeline("adds", || ADDS.to_owned())),
        failure(gpu.bind_group(&[])),
        failure(after.begin(&gpu, &buffer, 0, 16)),
        failure(gpu.check("a call")),
    ] {
        assert!(text.contains("is lost: destroyed"), "{text}");
    }
}

#[test]
fn a_pass_is_timed_by_the_device() {
    let gpu = opened();
    let Some(mut watch) = Stopwatch::new(&gpu).unwrap() else {
        assert!(!gpu.device().features().contains(Features::TIMESTAMP_QUERY));
        return;
    };
    let source = |steps: u32| {
        format!(
            "@group(0) @binding(4) var<storage, read_write> x: array<u32>;
             @compute @workgroup_size(1) fn main() {{
                 for (var i = 0u; i < {steps}u; i++) {{ x[0] = x[0] * 1664525u + 1013904223u; }}
             }}"
        )
    };
    let number = gpu.storage(4, "a number").unwrap();
    // The pass lies within the time that the host waits for it.
    let begun = std::time::Instant::now();
    run(&gpu, "steps", &source(1_000_000), &[(4, &number)], Some(&watch));
    watch.begin(&gpu).unwrap();
    let nanoseconds = watch.finish(&gpu).unwrap();
    let waited = begun.elapsed().as_nanos();
    assert!((1..=waited).contains(&u128::from(nanoseconds)), "{nanoseconds} of {waited} ns");
}
