//! Gradients in the caller's memory: recorded after one like call that was not, without a copy, an allocation or a
//! wait.

use std::any::Any;
use std::sync::Mutex;

use dtw_core::{Band, Measure, Pairing, Problem, Shape, Spec};

use super::fake::{self, Fake};
use crate::gpu::{Gpu, GpuBuffer};
use crate::{
    Buffer, CallerMemory, DeviceBatch, DeviceCostGradients, DeviceCosts, DeviceGradients, DeviceLayout,
    Format, Machine, NativePlan, Scratch, Strided,
};

const LENGTHS: [usize; 3] = [40, 30, 35];

/// A plan of ragged pairs in a band that has a table, and memory for everything.
struct CallerPlan {
    plan: NativePlan<f32, CallerMemory<Gpu<Fake>>>,
    memory: GpuBuffer<Fake>,
    scratch: GpuBuffer<Fake>,
}

impl CallerPlan {
    fn new(machine: &Gpu<Fake>, measure: Measure) -> Self {
        let shape = Shape { n_x: 3, n_y: 3, max_length_x: 40, max_length_y: 40, channels: 1 };
        let spec = Spec::new(measure).with_band(Band::Itakura { max_slope: 2.0 });
        let problem = Problem::new(spec, Pairing::Zipped, shape).unwrap();
        Self {
            plan: NativePlan::new(CallerMemory::new(machine.own_queue().unwrap()), &problem).unwrap(),
            memory: machine.allocate(1 << 15).unwrap(),
            scratch: machine.allocate(1 << 18).unwrap(),
        }
    }

    fn scratch(&self, bytes: usize) -> Scratch {
        let address = self.scratch.address().next_multiple_of(256);
        assert!(0 < bytes && address + bytes as u64 <= self.scratch.address() + self.scratch.bytes() as u64);
        Scratch { address, bytes }
    }

    /// Gradients of series, of which those of y are not packed.
    fn of_series(&mut self, on: &Gpu<Fake>) -> dtw_core::Result<()> {
        // SAFETY: the stream lives as long as the machine.
        let machine = unsafe { self.plan.machine().machine().for_a_call_on(on.stream().get()) }?;
        let at = self.memory.address().next_multiple_of(256);
        let layout = DeviceLayout::Padded { lengths: &LENGTHS, room: 40 };
        let x = DeviceBatch::packed(at, 1, layout);
        let strided = Strided { format: Format::F16, series: 80, point: 2, channel: 1 };
        let y = DeviceBatch { strided: Some(strided), ..x };
        let bytes = self.plan.gradients_scratch_bytes_on_device(&machine, x, y)?;
        let out = DeviceGradients { upstream: 0, distances: at, grad_x: at, grad_y: at };
        // SAFETY: the fake driver launches nothing that uses an address.
        unsafe { self.plan.gradients_in(&machine, self.scratch(bytes), x, y, out) }
    }

    /// The gradient of matrices of costs.
    fn of_costs(&mut self, on: &Gpu<Fake>) -> dtw_core::Result<()> {
        // SAFETY: as above.
        let machine = unsafe { self.plan.machine().machine().for_a_call_on(on.stream().get()) }?;
        let at = self.memory.address().next_multiple_of(256);
        let lengths = [Some(&LENGTHS[..]), None];
        let costs = DeviceCosts { values: at, shape: [3, 40, 40], strides: [1600, 40, 1], lengths };
        let bytes = self.plan.cost_scratch_bytes_on_device(&machine, &costs, true)?;
        let out = DeviceCostGradients { upstream: 0, values: at, gradient: at };
        // SAFETY: as above; the gradient, which is zeroed, fits the memory.
        unsafe { self.plan.cost_gradients_in(&machine, self.scratch(bytes), costs, out) }
    }
}

fn is_recorded(
    device: usize,
    measure: Measure,
    call: impl Fn(&mut CallerPlan, &Gpu<Fake>) -> dtw_core::Result<()>,
) {
    let machine = Gpu::<Fake>::new(device).unwrap();
    let mut caller = CallerPlan::new(&machine, measure);
    let queue = machine.own_queue().unwrap();
    call(&mut caller, &queue).unwrap();
    let first = fake::counts(device);
    assert!(first.launches > 0 && first.copies > 0, "{first:?}");
    call(&mut caller, &queue).unwrap();
    let steady = fake::counts(device);
    assert_eq!(steady, fake::Counts { launches: steady.launches, orders: steady.orders, ..first });
    fake::record(device, Some(queue.stream()));
    call(&mut caller, &queue).unwrap();
    fake::record(device, None);
    let recorded = fake::counts(device);
    let launches = steady.launches + (steady.launches - first.launches);
    assert_eq!(recorded, fake::Counts { launches, ..steady });
    // What a recording reads stays to the end; held, not lost, for who looks for leaks.
    static OPEN: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::new(Vec::new());
    OPEN.lock().unwrap().push(Box::new((caller, queue, machine)));
}

#[test]
fn soft_dtw() {
    is_recorded(13, Measure::soft_dtw(0.5), CallerPlan::of_series);
}

#[test]
fn divergences() {
    is_recorded(14, Measure::soft_dtw_divergence(0.5), CallerPlan::of_series);
}

#[test]
fn matrices_of_costs() {
    is_recorded(15, Measure::soft_dtw(0.5), CallerPlan::of_costs);
}
