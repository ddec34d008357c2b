//! A GPU through a driver that exists in memory only: transfers arrive, nothing is left behind, a lost context is left
//! alone.

mod fake;
mod gradients;

use std::sync::OnceLock;

use dtw_core::{Band, Error, Measure, Pairing, Plan, Problem, Shape, Spec};
use dtw_kernels::{Role, catalog};

use super::Gpu;
use crate::{Buffer, CallerMemory, DeviceBatch, DeviceLayout, Machine, NativePlan, Scratch};
use fake::{Fake, MEMORY_BYTES};

/// Three chunks of staging memory and a bit.
const LONG: usize = (3 << 23) + 77;

fn pattern(bytes: usize, seed: usize) -> Vec<u8> {
    (0..bytes).map(|k| (((k + seed) * 2_654_435_761_usize) >> 13) as u8).collect()
}

fn kernel() -> &'static dtw_kernels::Kernel {
    catalog::other(Role::Walk, "walk", "", false).expect("there is such a kernel")
}

#[test]
fn transfers_arrive_whole_and_nothing_is_left() {
    for bytes in [0, 1, 70_000, LONG] {
        let machine = Gpu::<Fake>::new(0).unwrap();
        let (a, b) = (machine.allocate(bytes + 3).unwrap(), machine.allocate(bytes).unwrap());
        let (first, second) = (pattern(bytes, 1), pattern(bytes, 2));
        machine.upload(&a, 3, &first).unwrap();
        machine.upload(&b, 0, &second).unwrap();
        let mut read = vec![0; bytes];
        machine.download(&a, 3, &mut read).unwrap();
        assert!(read == first, "{bytes}");
        if bytes > 0 {
            // Two at once: after what was asked for before, while the stream goes on.
            let (c, d) = (machine.allocate(bytes).unwrap(), machine.allocate(bytes).unwrap());
            machine.copy(&b, &c, bytes).unwrap();
            machine.download_begin(0, &c, 0, bytes).unwrap();
            machine.download_begin(1, &a, 3, bytes).unwrap();
            machine.copy(&b, &d, bytes).unwrap();
            machine.zero(&d, 0, bytes / 2).unwrap();
            let mut taken = 0;
            for (slot, buffer, offset, expected) in [(1, &a, 3, &first), (0, &c, 0, &second)] {
                let mut take = |read: &[u8]| {
                    assert!(read == expected, "{bytes}");
                    taken += 1;
                };
                machine.download_end(slot, buffer, offset, bytes, &mut take).unwrap();
            }
            assert_eq!(taken, 2);
            machine.download(&d, 0, &mut read).unwrap();
            assert!(
                read[..bytes / 2].iter().all(|byte| *byte == 0) && read[bytes / 2..] == second[bytes / 2..]
            );
        }
        assert_eq!((a.bytes(), b.bytes()), (bytes + 3, bytes));
        machine.launch(kernel(), &[0; 64], 5).unwrap();
        let timer = machine.timer().unwrap();
        timer.start().unwrap();
        assert!(timer.stop().unwrap() > 0.0);
        drop((a, b, machine, timer));
        assert_eq!(fake::left(0), 0, "{bytes}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_numbers_and_ends_nothing() {
    let machine = Gpu::<Fake>::new(1).unwrap();
    let kept = machine.allocate(1000).unwrap();
    let error = machine.allocate(MEMORY_BYTES).unwrap_err();
    let Error::OutOfMemory { what, requested_bytes, available_bytes } = error else { panic!("{error}") };
    assert_eq!(what, "memory of fake device 1");
    assert_eq!((requested_bytes, available_bytes), (MEMORY_BYTES as u64, MEMORY_BYTES as u64 - 1000));
    assert_eq!(machine.properties().free_bytes, available_bytes);
    machine.upload(&kept, 0, &[1; 1000]).unwrap();
}

#[test]
fn a_lost_context_is_left_alone_and_the_next_queue_has_a_fresh_one() {
    let (machine, other) = (Gpu::<Fake>::new(2).unwrap(), Gpu::<Fake>::new(2).unwrap());
    let own = machine.own_queue().unwrap();
    let buffer = own.allocate(100).unwrap();
    let timer = own.timer().unwrap();
    let shape = Shape { n_x: 1, n_y: 1, max_length_x: 9, max_length_y: 9, channels: 1 };
    let problem = Problem::new(Spec::dtw(), Pairing::Zipped, shape).unwrap();
    let plan = || NativePlan::<f32, _>::new(machine.own_queue().unwrap(), &problem).unwrap();
    let waiting = plan();
    assert!(waiting.is_usable());
    machine.launch(kernel(), &[fake::FAULT; 64], 1).unwrap();
    let error = machine.synchronize().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("FAKE_FAULT") && text.contains("make a new plan"), "{text}");
    // The text has told it all.
    assert!(std::error::Error::source(&error).is_none());

    // Everything of that context is refused without asking the driver, which would panic.
    let refused = [
        own.allocate(100).map(drop),
        own.upload(&buffer, 0, &[1]),
        own.download(&buffer, 0, &mut [0]),
        own.zero(&buffer, 0, 1),
        own.launch(kernel(), &[0; 64], 1),
        own.synchronize(),
        timer.start(),
        own.check_address("x", buffer.address()),
    ];
    for answer in refused {
        let error = answer.unwrap_err().to_string();
        assert!(error.starts_with("fake: ") && error.contains("lost in an earlier call"), "{error}");
    }
    assert_eq!(own.properties().total_bytes, 0);
    assert!(!waiting.is_usable());
    assert!(plan().is_usable());

    let fresh = machine.own_queue().unwrap();
    let kept = fresh.allocate(50).unwrap();
    fresh.upload(&kept, 0, &[7; 50]).unwrap();
    fresh.synchronize().unwrap();
    assert_eq!(fake::renewed(2), 1);
    // The other machine finds the same context, and what was made in the lost one frees nothing of it.
    let second = other.own_queue().unwrap();
    assert_eq!(fake::renewed(2), 1);
    drop((buffer, timer, own, waiting, machine, other));
    let mut read = [0; 50];
    second.download(&kept, 0, &mut read).unwrap();
    assert_eq!(read, [7; 50]);
    drop((kept, fresh, second));
    assert_eq!(fake::left(2), 0);
}

#[test]
fn a_device_that_is_not_given_back_is_an_error_that_says_so() {
    let machine = Gpu::<Fake>::new(fake::STUBBORN).unwrap();
    machine.launch(kernel(), &[fake::FAULT; 64], 1).unwrap();
    assert!(machine.synchronize().is_err());
    for _ in 0..2 {
        let error = machine.own_queue().unwrap_err().to_string();
        assert!(error.contains("start the program again"), "{error}");
    }
    let error = Gpu::<Fake>::new(fake::COUNT).unwrap_err().to_string();
    assert!(error.contains("no such device"), "{error}");
}

#[test]
fn images_are_unpacked_when_first_needed_and_never_again() {
    let machine = Gpu::<Fake>::new(7).unwrap();
    assert_eq!(fake::unpacked(7), [""; 0], "nothing is needed yet");
    // Two kernels of one unit, and one of another.
    let [prepare, normalize] = [Role::Prepare, Role::Normalize]
        .map(|role| catalog::kernels().iter().find(|kernel| kernel.role == role).unwrap());
    assert_eq!(prepare.unit, normalize.unit);
    let queue = machine.own_queue().unwrap();
    for kernel in [prepare, normalize, kernel(), prepare, kernel()] {
        machine.launch(kernel, &[0; 64], 1).unwrap();
        queue.launch(kernel, &[0; 64], 1).unwrap();
        machine.resident_blocks(kernel).unwrap();
    }
    assert_eq!(fake::unpacked(7), [prepare.unit, kernel().unit]);
}

#[test]
fn a_damaged_image_is_an_error_and_ends_nothing() {
    let machine = Gpu::<Fake>::new(fake::DAMAGED).unwrap();
    for _ in 0..2 {
        let error = machine.launch(kernel(), &[0; 64], 1).unwrap_err();
        let Error::Backend { backend: "fake", reason, .. } = &error else { panic!("{error}") };
        assert!(reason.to_string().contains("damaged"), "{reason}");
    }
    let kept = machine.allocate(10).unwrap();
    machine.upload(&kept, 0, &[3; 10]).unwrap();
    let mut read = [0; 10];
    machine.download(&kept, 0, &mut read).unwrap();
    assert_eq!(read, [3; 10]);
    drop((kept, machine));
    assert_eq!(fake::left(fake::DAMAGED), 0);
}

#[test]
fn streams_and_addresses_of_others_are_refused() {
    let (machine, other) = (Gpu::<Fake>::new(3).unwrap(), Gpu::<Fake>::new(4).unwrap());
    let buffer = machine.allocate(8).unwrap();
    // SAFETY: both streams live until the end of this test.
    unsafe {
        let error = machine.on_stream(other.stream().get()).unwrap_err().to_string();
        assert!(error.contains("another context"), "{error}");
        for stream in [machine.stream().get(), std::ptr::null_mut()] {
            let same = machine.on_stream(stream).unwrap();
            same.upload(&buffer, 0, &[5; 8]).unwrap();
            machine.synchronize().unwrap();
        }
    }
    machine.check_address("x", buffer.address()).unwrap();
    for (machine, address) in [(&other, buffer.address()), (&machine, 64)] {
        let error = machine.check_address("x", address).unwrap_err().to_string();
        assert!(error.contains("x is not memory of fake device"), "{error}");
    }
}

/// Distances of ragged series in a band that has a table, in the caller's memory.
struct CallerPlan {
    plan: NativePlan<f32, CallerMemory<Gpu<Fake>>>,
    series: crate::gpu::GpuBuffer<Fake>,
    scratch: crate::gpu::GpuBuffer<Fake>,
}

impl CallerPlan {
    fn new(machine: &Gpu<Fake>, measure: Measure) -> Self {
        let shape = Shape { n_x: 3, n_y: 3, max_length_x: 40, max_length_y: 40, channels: 1 };
        let spec = Spec::new(measure).with_band(Band::Itakura { max_slope: 2.0 });
        let problem = Problem::new(spec, Pairing::Cross, shape).unwrap();
        Self {
            plan: NativePlan::new(CallerMemory::new(machine.own_queue().unwrap()), &problem).unwrap(),
            series: machine.allocate(4096).unwrap(),
            scratch: machine.allocate(1 << 16).unwrap(),
        }
    }

    /// A call on the stream of `on`.
    fn call(&mut self, on: &Gpu<Fake>, offsets: &[usize]) -> dtw_core::Result<()> {
        // SAFETY: the stream lives as long as the machine.
        let machine = unsafe { self.plan.machine().machine().for_a_call_on(on.stream().get()) }?;
        let batch = DeviceBatch::packed(self.series.address(), 1, DeviceLayout::Ragged(offsets));
        let bytes = self.plan.scratch_bytes_on_device(&machine, batch, batch)?;
        assert!(0 < bytes && bytes <= self.scratch.bytes(), "{bytes}");
        let address = self.scratch.address().next_multiple_of(256);
        let scratch = Scratch { address, bytes };
        // SAFETY: the fake driver launches nothing that uses an address.
        unsafe { self.plan.distances_in(&machine, scratch, batch, batch, self.series.address()) }
    }
}

const SOME: [usize; 4] = [0, 40, 70, 105];
const OTHERS: [usize; 4] = [0, 30, 70, 101];

#[test]
fn a_loop_on_lent_memory_makes_copies_and_waits_for_nothing() {
    let machine = Gpu::<Fake>::new(8).unwrap();
    let mut caller = CallerPlan::new(&machine, Measure::DTW);
    let (a, b) = (machine.own_queue().unwrap(), machine.own_queue().unwrap());
    caller.call(&a, &SOME).unwrap();
    let first = fake::counts(8);
    assert!(first.copies > 0 && first.launches > 0, "{first:?}");
    for _ in 0..5 {
        caller.call(&a, &SOME).unwrap();
    }
    let steady = fake::counts(8);
    let launches = steady.launches - first.launches;
    // Behind the call before, whatever its stream, because of the tables.
    assert_eq!(steady, fake::Counts { launches: steady.launches, orders: steady.orders, ..first });
    assert!(launches > 0 && launches.is_multiple_of(5), "{launches}");
    // On another stream: behind the call before, because of the tables.
    caller.call(&b, &SOME).unwrap();
    let moved = fake::counts(8);
    assert_eq!((moved.made, moved.waits, moved.copies), (steady.made, steady.waits, steady.copies));
    assert_eq!(moved.orders, steady.orders + 1);
    // Other lengths: other tables, of which a few have memory of their own. Their copies wait for no copy before.
    let with = |shorter: usize| OTHERS.map(|end| end - end * shorter / 120);
    for shorter in 0..12 {
        caller.call(&b, &with(shorter)).unwrap();
    }
    let before = fake::counts(8);
    for shorter in 12..15 {
        caller.call(&b, &with(shorter)).unwrap();
    }
    let changed = fake::counts(8);
    assert_eq!((changed.made, changed.freed), (before.made, before.freed));
    assert!(changed.copies > before.copies);
    drop((caller, a, b, machine));
    assert_eq!(fake::left(8), 0);
}

#[test]
fn so_does_one_of_several_passes_with_tables_of_their_own() {
    let machine = Gpu::<Fake>::new(12).unwrap();
    let mut caller = CallerPlan::new(&machine, Measure::soft_dtw_divergence(1.0));
    let a = machine.own_queue().unwrap();
    caller.call(&a, &SOME).unwrap();
    let first = fake::counts(12);
    caller.call(&a, &SOME).unwrap();
    let steady = fake::counts(12);
    assert_eq!(steady, fake::Counts { launches: steady.launches, orders: steady.orders, ..first });
    assert!(steady.launches > first.launches);
}

#[test]
fn a_call_is_recorded_after_one_that_was_not_and_its_tables_stay() {
    let machine = Gpu::<Fake>::new(9).unwrap();
    let mut caller = CallerPlan::new(&machine, Measure::DTW);
    let (a, b) = (machine.own_queue().unwrap(), machine.own_queue().unwrap());
    fake::record(9, Some(a.stream()));
    let error = caller.call(&a, &SOME).unwrap_err().to_string();
    assert!(error.contains("call it once before recording"), "{error}");
    fake::record(9, None);
    caller.call(&b, &SOME).unwrap();
    let before = fake::counts(9);
    fake::record(9, Some(a.stream()));
    caller.call(&a, &SOME).unwrap();
    let recorded = fake::counts(9);
    let launches = recorded.launches;
    assert_eq!(recorded, fake::Counts { launches, ..before });
    assert!(launches > before.launches);
    let error = caller.call(&a, &OTHERS).unwrap_err().to_string();
    assert!(error.contains("with the same lengths"), "{error}");
    fake::record(9, None);
    // The graph may be played again: what it reads is neither overwritten nor freed.
    caller.call(&a, &OTHERS).unwrap();
    assert!(fake::counts(9).made > recorded.made);
    let CallerPlan { plan, series, scratch } = caller;
    drop((plan, series, scratch, a, b));
    let queue = fake::left(9);
    assert!(queue > 3, "{queue} things are left: a stream, a module or two, and the tables");
    // Closing the context would find the tables, so it stays open to the end; held, not lost, for who looks for leaks.
    static OPEN: OnceLock<Gpu<Fake>> = OnceLock::new();
    OPEN.set(machine).unwrap();
}

#[test]
fn a_call_leaves_the_threads_context_as_it_was() {
    let (machine, other) = (Gpu::<Fake>::new(10).unwrap(), Gpu::<Fake>::new(11).unwrap());
    fake::enter(11);
    let others = fake::context();
    assert_ne!(others, 0);
    machine.zero(&machine.allocate(10).unwrap(), 0, 10).unwrap();
    let _second = Gpu::<Fake>::new(10).unwrap();
    assert_eq!(fake::context(), others);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            machine.zero(&machine.allocate(10).unwrap(), 0, 10).unwrap();
            assert_eq!(fake::context(), 0, "a thread that had none");
        });
    });
    drop((machine, other));
}
