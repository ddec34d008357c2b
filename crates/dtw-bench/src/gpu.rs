//! Definitions on a GPU: from host memory by the wall clock, on device memory by the device's own.

#![expect(
    unsafe_code,
    reason = "work on device memory takes addresses, and plain numbers are copied as bytes"
)]

use anyhow::Result;
use dtw_core::{Dtype, Pairing, Plan as _, Problem};
use dtw_native::gpu::{Driver, Gpu as Machine, GpuBuffer};
use dtw_native::{
    Buffer as _, DeviceBatch, DeviceGradients, DeviceLayout, Machine as _, NativeBackend, NativePlan, Number,
    normalize_on_device,
};
use dtwave::Device;

use crate::check::{Checker, Results, same_bits};
use crate::definition::{Data, Definition, Task};
use crate::input::{self, batches, series};
use crate::machine;
use crate::measure::{self, Measured, rounds_for};
use crate::measures::Measures;
use crate::timing::{Times, timed};

/// Device memory that plans may take beside the series and results.
const PLAN_BYTES: u64 = 32 << 30;

/// A vendor's driver, and what is told of it.
pub(crate) trait Vendor: Driver {
    /// The GPU of this number, for calls as people make them.
    fn device(ordinal: usize) -> dtwave::Result<Device>;

    fn version() -> Result<String>;
}

#[cfg(feature = "cuda")]
impl Vendor for dtw_cuda::Cuda {
    fn device(ordinal: usize) -> dtwave::Result<Device> {
        Device::cuda_with_device(ordinal)
    }
    fn version() -> Result<String> {
        machine::nvidia_driver()
    }
}

#[cfg(feature = "hip")]
impl Vendor for dtw_hip::Hip {
    fn device(ordinal: usize) -> dtwave::Result<Device> {
        Device::hip_with_device(ordinal)
    }
    fn version() -> Result<String> {
        Ok(format!("HIP {}", dtw_hip::version()?))
    }
}

/// A GPU to be measured, through a vendor's driver.
pub(crate) struct Gpu<D: Vendor> {
    backend: NativeBackend<Machine<D>>,
}

fn raw<T: Number>(values: &[T]) -> &[u8] {
    // SAFETY: `Number` is f32 or f64: initialised bytes throughout; the slice borrows `values`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn raw_mut<T: Number>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: `Number` is f32 or f64: any bytes are values; the slice borrows `values` mutably.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

impl<D: Vendor> Gpu<D> {
    fn measure_in<T: Number>(
        &self,
        definition: &Definition,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        match (definition.data, definition.task) {
            (Data::Host, _) => measure::on_host::<T>(&self.backend, definition, rounds, checker),
            (Data::Resident, Task::Normalize) => self.normalize::<T>(definition, rounds, checker),
            (Data::Resident, Task::Gradients) => self.gradients::<T>(definition, rounds, checker),
            (Data::Resident, _) => self.resident::<T>(definition, rounds, checker),
        }
    }

    /// Series and results on the device.
    fn resident<T: Number>(
        &self,
        definition: &Definition,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        let machine = self.backend.machine().own_queue()?;
        let (x, y) = series::<T>(definition);
        let (batch_x, batch_y) = batches(definition, &x, &y)?;
        let problem = Problem::of(definition.spec()?, definition.pairing(), &batch_x, &batch_y)?;
        let problem = problem.with_memory_limit(PLAN_BYTES);
        let cells = problem.cells(&batch_x, &batch_y)?;
        let (plan_secs, plan) = timed(|| NativePlan::<T, Machine<D>>::new(machine.clone(), &problem));
        let mut plan = plan?.forcing(self.backend.forced());
        let (on_x, on_y) = (uploaded(&machine, &x)?, uploaded(&machine, &y)?);
        let out = machine.allocate(problem.output_len() * size_of::<T>())?;
        let batch = |buffer: &GpuBuffer<D>, count, length| {
            let layout = DeviceLayout::Equal { count, length };
            DeviceBatch::packed(buffer.address(), definition.channels, layout)
        };
        let at_x = batch(&on_x, definition.count, definition.length);
        let at_y = match definition.pairing() {
            Pairing::SelfSymmetric => at_x,
            _ => batch(&on_y, definition.count_y(), definition.length_y()),
        };
        // SAFETY: the buffers hold the series that the layouts say, and `out` every value of the problem.
        let mut work = || unsafe { plan.distances_on_device(at_x, at_y, out.address()) };
        let values = || -> Result<Vec<T>> {
            let mut values = vec![T::ZERO; problem.output_len()];
            machine.download(&out, 0, raw_mut(&mut values))?;
            Ok(values)
        };
        work()?;
        let first = values()?;
        let results = Results { values: &first, gradients: None, paths: None };
        let checked = checker.check(definition, &x, &y, &results)?;
        let times = timed_on_device(&machine, rounds, work)?;
        same_bits(definition, &first, &values()?)?;
        Ok(Measured { plan_secs, times, cells, values: x.len() as u64, checked })
    }

    /// Values and gradients, with series and results on the device.
    fn gradients<T: Number>(
        &self,
        definition: &Definition,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        let machine = self.backend.machine().own_queue()?;
        let (x, y) = series::<T>(definition);
        let (batch_x, batch_y) = batches(definition, &x, &y)?;
        let problem = Problem::of(definition.spec()?, definition.pairing(), &batch_x, &batch_y)?;
        let cells = problem.cells(&batch_x, &batch_y)?;
        let problem = problem.with_memory_limit(PLAN_BYTES);
        let (plan_secs, plan) = timed(|| NativePlan::<T, Machine<D>>::new(machine.clone(), &problem));
        let mut plan = plan?.forcing(self.backend.forced());
        let (on_x, on_y) = (uploaded(&machine, &x)?, uploaded(&machine, &y)?);
        let (to_x, to_y) = (machine.allocate(size_of_val(&*x))?, machine.allocate(size_of_val(&*y))?);
        let values = machine.allocate(problem.output_len() * size_of::<T>())?;
        let batch = |buffer: &GpuBuffer<D>, count, length| {
            let layout = DeviceLayout::Equal { count, length };
            DeviceBatch::packed(buffer.address(), definition.channels, layout)
        };
        let at_x = batch(&on_x, definition.count, definition.length);
        let at_y = batch(&on_y, definition.count_y(), definition.length_y());
        let out = DeviceGradients {
            upstream: 0,
            distances: values.address(),
            grad_x: to_x.address(),
            grad_y: to_y.address(),
        };
        // SAFETY: the buffers hold the series that the layouts say, and have room for every value and gradient.
        let mut work = || unsafe { plan.gradients_on_device(at_x, at_y, out) };
        let results = || -> Result<[Vec<T>; 3]> {
            let fetch = |from: &GpuBuffer<D>, count: usize| -> Result<Vec<T>> {
                let mut numbers = vec![T::ZERO; count];
                machine.download(from, 0, raw_mut(&mut numbers))?;
                Ok(numbers)
            };
            Ok([fetch(&values, problem.output_len())?, fetch(&to_x, x.len())?, fetch(&to_y, y.len())?])
        };
        work()?;
        let first = results()?;
        let [values, grad_x, grad_y] = &first;
        let checked = Results { values, gradients: Some([grad_x, grad_y]), paths: None };
        let checked = checker.check(definition, &x, &y, &checked)?;
        let times = timed_on_device(&machine, rounds, work)?;
        for (first, last) in first.iter().zip(&results()?) {
            same_bits(definition, first, last)?;
        }
        let held = plan.scratch_bytes() as f64 / f64::from(1 << 20);
        let checked = format!("{checked}; {held:.1} MiB of scratch");
        Ok(Measured { plan_secs, times, cells, values: x.len() as u64, checked })
    }

    /// z-normalisation from one place of the device to another.
    fn normalize<T: Number>(
        &self,
        definition: &Definition,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        let machine = self.backend.machine().own_queue()?;
        let (count, length) = (definition.count, definition.length);
        let x: Vec<T> = input::uniform(definition.seed, count * length);
        let (from, to) = (uploaded(&machine, &x)?, machine.allocate(size_of_val(&*x))?);
        let times = timed_on_device(&machine, rounds, || {
            // SAFETY: both buffers have room for `count * length` values.
            unsafe { normalize_on_device::<T, _>(&machine, from.address(), to.address(), count, length) }
        })?;
        let mut values = vec![T::ZERO; x.len()];
        machine.download(&to, 0, raw_mut(&mut values))?;
        let checked = checker.normalized(definition, &x, &values)?;
        let copy = timed_on_device(&machine, rounds, || machine.copy(&from, &to, size_of_val(&*x)))?.median();
        println!(
            "{:32} a device copy of the same takes {:.4} ms: {:.0}% of its speed",
            "",
            copy * 1e3,
            100.0 * copy / times.median()
        );
        Ok(Measured { plan_secs: 0.0, times, cells: 0, values: x.len() as u64, checked })
    }
}

impl<D: Vendor> Measures for Gpu<D> {
    fn open(ordinal: usize) -> Result<Self> {
        Ok(Self { backend: NativeBackend::new(Machine::new(ordinal)?) })
    }

    fn forcing(self, kind: Option<&str>) -> Result<Self> {
        let kind = kind.map(|name| name.parse().map_err(anyhow::Error::msg)).transpose()?;
        Ok(Self { backend: self.backend.forcing(kind) })
    }

    fn device(ordinal: usize) -> dtwave::Result<Device> {
        D::device(ordinal)
    }

    fn about(&self) -> Result<machine::Gpu> {
        Ok(machine::Gpu { name: self.backend.machine().properties().description, driver: D::version()? })
    }

    fn data(&self, definition: &Definition) -> Result<Data> {
        Ok(definition.data)
    }

    fn measure(
        &self,
        definition: &Definition,
        dtype: Dtype,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        match dtype {
            Dtype::F64 => self.measure_in::<f64>(definition, rounds, checker),
            Dtype::F32 => self.measure_in::<f32>(definition, rounds, checker),
        }
    }
}

fn uploaded<T: Number, D: Driver>(machine: &Machine<D>, values: &[T]) -> Result<GpuBuffer<D>> {
    let buffer = machine.allocate(size_of_val(values))?;
    machine.upload(&buffer, 0, raw(values))?;
    Ok(buffer)
}

/// Times work on the machine's queue by the device's clock, after one round to warm up.
fn timed_on_device<D: Driver>(
    machine: &Machine<D>,
    rounds: usize,
    mut work: impl FnMut() -> dtw_core::Result<()>,
) -> Result<Times> {
    let timer = machine.timer()?;
    let mut once = || -> Result<f64> {
        timer.start()?;
        work()?;
        Ok(timer.stop()?)
    };
    let warm_secs = once()?;
    let mut times = Times::default();
    for _ in 0..rounds_for(warm_secs, rounds) {
        times.push(once()?);
    }
    Ok(times)
}
