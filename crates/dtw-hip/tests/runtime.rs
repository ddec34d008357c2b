//! The backend on a stand-in for AMD's runtime that records its calls (double/double.c): their order, arguments and
//! sizes, what becomes of failing ones, and what is told where there is no device. Nothing is computed.
#![cfg(target_os = "linux")]

mod double;

use double::{Machine, Named, Says, Version, with};
use dtw_core::{Backend, Error, Pairing, Plan, Problem, Result, SeriesBatch, Spec};
use dtw_hip::{Buffer, Hip, HipBackend, Kernels, Machine as _};
use dtw_kernels::{Kernel, Role, catalog};
use dtw_native::NativeBackend;
use dtw_native::gpu::{GpuBuffer, Timer};

fn kernel() -> &'static Kernel {
    catalog::other(Role::Walk, "walk", "", false).expect("there is such a kernel")
}

/// Everything that a computation holds until it is over.
type Held = (Vec<Box<dyn Plan<f32>>>, Vec<GpuBuffer<Hip<Named>>>, Timer<Hip<Named>>, Machine);

/// Distances from host memory to host memory, then every other call of a machine.
fn compute(ordinal: usize) -> Result<Held> {
    let machine = Machine::new(ordinal)?;
    let backend = NativeBackend::new(machine.clone());
    let (x, y) = ([0.5_f32; 3 * 50], [0.25_f32; 4 * 70]);
    let (x, y) = (SeriesBatch::equal(&x, 3, 50, 1)?, SeriesBatch::equal(&y, 4, 70, 1)?);
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &x, &y)?;
    let mut plan = Backend::<f32>::plan(&backend, &problem)?;
    let mut out = [f32::NAN; 12];
    plan.distances(x, y, &mut out)?;
    // What memory on the device begins with, since nothing was launched.
    assert!(out.iter().all(|value| value.to_bits() == 0xaaaa_aaaa || *value == 0.0), "{out:?}");

    let (a, b) = (machine.allocate(1000)?, machine.allocate(1000)?);
    machine.upload(&a, 8, &[7; 100])?;
    machine.zero(&b, 0, 500)?;
    machine.copy(&a, &b, 300)?;
    let mut read = [0; 40];
    machine.download(&b, 20, &mut read)?;
    assert_eq!(read, [7; 40]);
    machine.hand_over()?;
    machine.take_over()?;
    machine.check_address("a", a.address())?;
    let timer = machine.timer()?;
    timer.start()?;
    machine.launch(kernel(), &[3; 64], 5)?;
    assert!((timer.stop()? - 1.5).abs() < 1e-9);
    machine.synchronize()?;
    Ok((vec![plan], vec![a, b], timer, machine))
}

#[test]
fn calls_have_the_right_arguments_in_the_right_order() {
    with(Version::Six, "calls_have_the_right_arguments_in_the_right_order", |double| {
        let machine = Machine::new(1).unwrap();
        assert_eq!(
            double.lines(),
            [
                "hipInit 0",
                "hipRuntimeGetVersion",
                "hipGetDeviceCount",
                "hipDeviceGetName room 256 of 1",
                "hipDeviceTotalMem of 1",
                "hipGetDevicePropertiesR0600 of 1",
                "hipDeviceGetAttribute 87 of 1",
                "hipDeviceGetAttribute 63 of 1",
                "hipStreamCreateWithFlags 1",
            ]
        );
        let properties = machine.properties();
        assert_eq!((properties.lanes, properties.multiprocessors), (64, 104));
        assert_eq!((properties.free_bytes >> 30, properties.total_bytes >> 30), (60, 64));
        assert_eq!(properties.description, "Double 1");

        double.forget();
        let (a, b) = (machine.allocate(1000).unwrap(), machine.allocate(600).unwrap());
        machine.upload(&a, 8, &[7; 100]).unwrap();
        machine.zero(&b, 4, 500).unwrap();
        machine.copy(&a, &b, 300).unwrap();
        machine.launch(kernel(), &[3; 64], 5).unwrap();
        machine.launch(kernel(), &[4; 64], 6).unwrap();
        machine.download(&b, 20, &mut [0; 40]).unwrap();
        machine.download_begin(0, &a, 100, 30).unwrap();
        machine.download_end(0, &a, 100, 30, &mut |_| ()).unwrap();
        let timer = machine.timer().unwrap();
        timer.start().unwrap();
        timer.stop().unwrap();
        machine.synchronize().unwrap();
        let shared = kernel().shared_bytes;
        let (unit, symbol) = (kernel().unit, kernel().symbol);
        let occupancy = format!("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor f6 128 {shared}");
        let launch = |blocks, byte| {
            format!(
                "hipModuleLaunchKernel f6 {blocks},1,1 128,1,1 shared {shared} on s0 params {byte} extra 0"
            )
        };
        assert_eq!(
            double.lines(),
            [
                "hipMalloc 1000",
                "hipMalloc 600",
                // Staging memory for uploads, and its event.
                "hipEventCreateWithFlags 2",
                "hipHostMalloc 65536 0",
                "hipMemcpyHtoDAsync d1+8 h4 100 on s0",
                "hipEventRecord e3 on s0",
                "hipMemsetD8Async d2+4 0 500 on s0",
                "hipMemcpyDtoDAsync d2 d1 300 on s0",
                &format!("hipModuleLoadData at 0 gfx90a/{unit}"),
                &format!("hipModuleGetFunction m5 {symbol}"),
                &occupancy,
                &launch(5, "0303"),
                &launch(6, "0404"),
                "hipEventCreateWithFlags 2",
                "hipHostMalloc 65536 0",
                "hipMemcpyDtoHAsync h8 d2+20 40 on s0",
                "hipEventRecord e7 on s0",
                "hipEventSynchronize e7",
                // A transfer of its own, on a stream of its own.
                "hipEventCreateWithFlags 2",
                "hipHostMalloc 65536 0",
                "hipEventCreateWithFlags 2",
                "hipStreamCreateWithFlags 1",
                "hipEventRecord e11 on s0",
                "hipStreamWaitEvent s12 e11 0",
                "hipMemcpyDtoHAsync h10 d1+100 30 on s12",
                "hipEventRecord e9 on s12",
                "hipEventSynchronize e9",
                "hipEventCreateWithFlags 0",
                "hipEventCreateWithFlags 0",
                "hipEventRecord e13 on s0",
                "hipEventRecord e14 on s0",
                "hipEventSynchronize e14",
                "hipEventElapsedTime e13 e14",
                "hipStreamSynchronize s0",
            ]
        );

        double.forget();
        drop((a, timer, b, machine));
        let lines = double.lines();
        assert_eq!(lines[..4], ["hipFree d1", "hipEventDestroy e13", "hipEventDestroy e14", "hipFree d2"]);
        // A stream is waited for before it goes, a transfer before its memory goes, and the kernels go last.
        let at =
            |line: &str| lines.iter().position(|l| l == line).unwrap_or_else(|| panic!("{line}: {lines:?}"));
        for [first, then] in [
            ["hipStreamSynchronize s0", "hipStreamDestroy s0"],
            ["hipStreamDestroy s0", "hipModuleUnload m5"],
            ["hipStreamSynchronize s12", "hipStreamDestroy s12"],
            ["hipStreamDestroy s12", "hipEventDestroy e11"],
            ["hipEventSynchronize e9", "hipHostFree h10"],
            ["hipEventSynchronize e3", "hipHostFree h4"],
        ] {
            assert!(at(first) < at(then), "{first} before {then}: {lines:?}");
        }
        assert_eq!(lines.last().unwrap(), "hipModuleUnload m5");
        assert_eq!(double.left(), 0);
    });
}

/// A call that may fail without an error: something goes, the thread's device is looked at or made another (for one of
/// these), or the size of memory is looked up, and a plan is then made as if there were none.
fn is_harmless(line: &str) -> bool {
    let takes = ["hipFree ", "hipHostFree ", "hipModuleUnload ", "hipStreamDestroy ", "hipEventDestroy "];
    let others = ["hipSetDevice ", "hipMemGetInfo"];
    takes.iter().chain(&others).any(|start| line.starts_with(start)) || line == "hipGetDevice"
}

#[test]
fn every_call_that_fails_is_an_error_and_leaves_nothing() {
    with(Version::Six, "every_call_that_fails_is_an_error_and_leaves_nothing", |double| {
        for ordinal in [0, 1] {
            double.forget();
            let held = compute(ordinal).unwrap();
            let needed = double.calls();
            drop(held);
            let all = double.calls();
            assert_eq!(double.left(), 0);
            assert!(needed > 60 && all > needed + 20, "{needed} and {all} calls");
            for call in 1..=all {
                assert_eq!(double.enter(0), 0);
                double.forget();
                double.fails(call, 999);
                let held = compute(ordinal);
                let what = format!("device {ordinal}, call {call}");
                let told = held.as_ref().err().map(Error::to_string);
                drop(held);
                let line = double.line(call);
                if call <= needed && !is_harmless(&line) {
                    let told = told.unwrap_or_else(|| panic!("{what}: {line} failed, and nothing was told"));
                    let names = told.contains("hip: ") && told.contains("hipErrorDouble (999)");
                    let is_address = line.starts_with("hipPointerGetAttribute ");
                    assert!(names || is_address && told.contains("a is not memory of"), "{line}: {told}");
                }
                // What is on a device that cannot be made current stays on it.
                if line == "hipSetDevice 1" {
                    assert_eq!((double.enter(1), double.reset()), (0, 0));
                }
                assert_eq!(double.left(), 0, "{what}: {line}");
                assert_eq!(double.misuse(), "", "{what}: {line}");
            }
        }
        double.enter(0);
        double.fails_next(c"hipSetDevice 1", 999);
        let error = Machine::new(1).map(drop).unwrap_err().to_string();
        assert!(error.contains("hipErrorDouble (999)"), "{error}");
    });
}

#[test]
fn full_memory_is_told_with_numbers() {
    with(Version::Six, "full_memory_is_told_with_numbers", |double| {
        let machine = Machine::new(1).unwrap();
        let kept = machine.allocate(10).unwrap();
        double.fails_next(c"hipMalloc ", 2);
        let error = machine.allocate(20).unwrap_err();
        let Error::OutOfMemory { what, requested_bytes, available_bytes } = error else { panic!("{error}") };
        assert_eq!(
            (what.as_str(), requested_bytes, available_bytes >> 30),
            ("memory of HIP device 1", 20, 60)
        );
        machine.upload(&kept, 0, &[1; 10]).unwrap();
        drop((kept, machine));
        assert_eq!(double.left(), 0);
    });
}

#[test]
fn a_fault_ends_what_is_there_and_the_next_queue_begins_anew() {
    with(Version::Six, "a_fault_ends_what_is_there_and_the_next_queue_begins_anew", |double| {
        let machine = Machine::new(1).unwrap();
        let buffer = machine.allocate(10).unwrap();
        double.fails_next(c"hipStreamSynchronize ", 700);
        let error = machine.synchronize().unwrap_err().to_string();
        assert!(error.contains("(700)") && error.contains("make a new plan"), "{error}");
        double.forget();
        assert!(machine.allocate(10).is_err());
        assert_eq!(double.calls(), 0, "the lost device is not asked for anything");

        // The reset fails; then it does not.
        double.fails_next(c"hipDeviceReset of 1", 999);
        let error = machine.own_queue().map(drop).unwrap_err().to_string();
        assert!(error.contains("start the program again"), "{error}");
        let fresh = machine.own_queue().unwrap();
        let kept = fresh.allocate(10).unwrap();
        drop((buffer, machine));
        fresh.upload(&kept, 0, &[1; 10]).unwrap();
        drop((fresh, kept));
        assert_eq!(double.left(), 0);
    });
}

/// The error of the first device, in which all of these words are.
fn refused(words: &[&str]) {
    let told = Machine::new(0).unwrap_err().to_string();
    for word in words {
        assert!(told.contains(word), "{word:?} in {told}");
    }
    assert!(told.starts_with("hip: no ") && !told.contains('\n'), "{told}");
}

#[test]
fn what_cannot_be_used_is_told() {
    with(Version::Six, "what_cannot_be_used_is_told", |double| {
        let says = Says::default();
        double.says(Says { init: 100, ..says });
        refused(&[
            "no HIP device: ",
            "finds no GPU (hipErrorNoDevice: no ROCm-capable device is detected (100))",
        ]);
        double.says(Says { init: 101, ..says });
        refused(&["no HIP device: ", "finds no GPU (hipErrorDouble (101))", "use `Device::cpu()`"]);
        let [info] = &dtw_hip::devices()[..] else { panic!("one line where there is no device") };
        assert!(info.description == "AMD GPUs" && info.unavailable.as_ref().unwrap().what.contains("(101)"));
        double.says(Says { devices: 0, ..says });
        refused(&["no HIP device: ", "finds no GPU"]);
        double.says(Says { version: 40_321_331, ..says });
        refused(&["too old, version 4.3", "need 5.0"]);
        double.says(Says { architecture: "gfx803", ..says });
        refused(&["Double 0", "architecture is gfx803", "kernels for gfx90a, gfx1100;"]);
        double.says(Says { architecture: "Ellesmere", ..says });
        refused(&["does not say what to compile for", "Ellesmere"]);
        double.says(Says { lanes: 32, ..says });
        refused(&["waves have 32 lanes", "kernels for gfx90a are compiled for 64"]);
        double.says(Says { architecture: "gfx1100", ..says });
        refused(&["waves have 64 lanes", "kernels for gfx1100 are compiled for 32"]);
        double.says(says);
        let error = Machine::new(2).unwrap_err().to_string();
        assert!(error.contains("no HIP device 2: there are 2, numbered from 0"), "{error}");
        let infos = dtw_hip::devices();
        let described: Vec<&str> = infos.iter().map(|info| info.description.as_str()).collect();
        assert_eq!(dtw_hip::version().unwrap(), "6.4.43483");
        assert_eq!(described, ["Double 0, gfx90a, 64 GiB", "Double 1, gfx90a, 64 GiB"]);
    });
}

#[test]
fn kernels_are_those_of_the_architecture() {
    with(Version::Six, "kernels_are_those_of_the_architecture", |double| {
        double.says(Says { architecture: "gfx1100", lanes: 32, ..Says::default() });
        let machine = Machine::new(0).unwrap();
        assert_eq!(machine.properties().lanes, 32);
        machine.launch(kernel(), &[0; 64], 1).unwrap();
        let wanted = format!("hipModuleLoadData at 0 gfx1100/{}", kernel().unit);
        assert!(double.lines().contains(&wanted), "{:?}", double.lines());
    });
}

#[test]
fn the_kernels_of_this_program_are_loaded_or_asked_for() {
    with(Version::Six, "the_kernels_of_this_program_are_loaded_or_asked_for", |double| {
        let Some(chip) = dtw_kernels::images::hip_chips().next() else {
            let told = HipBackend::new().unwrap_err().to_string();
            assert!(told.contains("cargo xtask kernels hip"), "{told}");
            assert!(dtw_hip::devices().iter().all(|info| info.unavailable.is_some()));
            return;
        };
        let lanes = if chip.starts_with("gfx9") { 64 } else { 32 };
        double.says(Says { architecture: chip, lanes, ..Says::default() });
        assert!(dtw_hip::devices().iter().all(|info| info.unavailable.is_none()));
        let backend = HipBackend::new().unwrap();
        backend.machine().launch(kernel(), &[0; 64], 1).unwrap();
        assert!(double.lines().contains(&"hipModuleLoadData at 0 ELF".to_owned()), "{:?}", double.lines());
        drop(backend);
        assert_eq!(double.left(), 0);
    });
}

#[test]
fn streams_and_addresses_of_others_are_refused() {
    with(Version::Six, "streams_and_addresses_of_others_are_refused", |double| {
        let (machine, other) = (Machine::new(0).unwrap(), Machine::new(1).unwrap());
        let buffer = machine.allocate(8).unwrap();
        machine.check_address("x", buffer.address() + 7).unwrap();
        for (machine, address) in [(&other, buffer.address()), (&machine, 64)] {
            let error = machine.check_address("x", address).unwrap_err().to_string();
            assert!(error.contains("x is not memory of HIP device"), "{error}");
        }
        let stream = double.stream_of(1);
        // SAFETY: the stream lives until the end of this test.
        unsafe {
            let error = machine.on_stream(stream).unwrap_err().to_string();
            assert!(error.contains("another context"), "{error}");
            other.on_stream(stream).unwrap().synchronize().unwrap();
        }
    });
}

#[test]
fn the_runtime_of_hip_5_is_understood() {
    with(Version::Five, "the_runtime_of_hip_5_is_understood", |double| {
        double.says(Says { version: 50_221_153, ..Says::default() });
        let machine = Machine::new(1).unwrap();
        assert!(double.lines().contains(&"hipGetDeviceProperties of 1".to_owned()), "{:?}", double.lines());
        machine.launch(kernel(), &[0; 64], 1).unwrap();
        let stream = double.stream_of(1);
        // SAFETY: the stream lives until the end of this test.
        let error = unsafe { machine.on_stream(stream) }.unwrap_err().to_string();
        assert!(error.contains("install a newer ROCm"), "{error}");
        drop(compute(0).unwrap());
    });
}

#[test]
fn chips_that_have_kernels_are_those_of_the_table() {
    let known = dtw_kernels::images::HIP_CHIPS;
    assert!(Named::chips().iter().all(|chip| known.contains(chip)));
}
