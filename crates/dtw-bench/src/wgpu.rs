//! Definitions on a GPU through WebGPU: from main memory by the wall clock, in buffers of the device by its own.

mod clock;

use anyhow::{Context, Result};
use dtw_core::{Dtype, Error, Pairing, Problem, Shape};
use dtw_wgpu::wgpu::{Buffer, BufferDescriptor, BufferUsages};
use dtw_wgpu::{DeviceSeries, WgpuBackend};
use dtwave::Device;

use crate::check::{Checker, Results, same_bits};
use crate::definition::{Data, Definition, Task};
use crate::input::{batches, series};
use crate::machine;
use crate::measure::{Measured, on_host, rounds_for};
use crate::measures::Measures;
use crate::timing::{Times, timed};
use clock::{Clock, downloaded};

pub(crate) struct Gpu {
    backend: WgpuBackend,
    about: machine::Gpu,
}

impl Gpu {
    /// Whether series and results stay in buffers of the device: the host has no part in it, and there is a clock.
    fn is_resident(&self, definition: &Definition) -> Result<bool> {
        if definition.data == Data::Host
            || definition.task != Task::Distances
            || !Clock::is_there(&self.backend)
        {
            return Ok(false);
        }
        match self.backend.plan_on_device(&problem(definition)?) {
            Ok(_) => Ok(true),
            Err(Error::Unsupported { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// A buffer of the device for so many numbers.
    fn buffer(&self, numbers: usize) -> Buffer {
        self.backend.wgpu_device().create_buffer(&BufferDescriptor {
            label: None,
            size: (numbers.max(1) * size_of::<f32>()) as u64,
            usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    fn uploaded(&self, values: &[f32]) -> Buffer {
        let buffer = self.buffer(values.len());
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.backend.wgpu_queue().write_buffer(&buffer, 0, &bytes);
        buffer
    }

    /// Series and results in buffers of the device.
    fn resident(&self, definition: &Definition, rounds: usize, checker: &Checker) -> Result<Measured> {
        let (x, y) = series::<f32>(definition);
        let (batch_x, batch_y) = batches(definition, &x, &y)?;
        let problem = problem(definition)?;
        let cells = problem.cells(&batch_x, &batch_y)?;
        let (plan_secs, plan) = timed(|| self.backend.plan_on_device(&problem));
        let mut plan = plan?;
        let (on_x, on_y) = (self.uploaded(&x), self.uploaded(&y));
        let out = self.buffer(problem.output_len());
        let of = |buffer, count, length| DeviceSeries { buffer, offset: 0, count, length };
        let at_x = of(&on_x, definition.count, definition.length);
        let at_y = match definition.pairing() {
            Pairing::SelfSymmetric => at_x,
            _ => of(&on_y, definition.count_y(), definition.length_y()),
        };
        let mut work = || plan.distances(at_x, at_y, &out);
        let values = || -> Result<Vec<f32>> {
            let all = downloaded(&self.backend, &out, problem.output_len() * size_of::<f32>())?;
            Ok(all
                .chunks_exact(4)
                .map(|word| f32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
                .collect())
        };
        work()?;
        let first = values()?;
        let results = Results { values: &first, gradients: None, paths: None };
        let checked = checker.check(definition, &x, &y, &results)?;
        let clock = Clock::new(&self.backend).context("the device has no clock")?;
        let mut once = || -> Result<f64> {
            clock.start();
            work()?;
            clock.stop()
        };
        let warm_secs = once()?;
        let mut times = Times::default();
        for _ in 0..rounds_for(warm_secs, rounds) {
            times.push(once()?);
        }
        same_bits(definition, &first, &values()?)?;
        Ok(Measured { plan_secs, times, cells, values: x.len() as u64, checked })
    }
}

fn problem(definition: &Definition) -> Result<Problem> {
    let has_y = definition.pairing() != Pairing::SelfSymmetric;
    let (n_x, max_length_x) = (definition.count, definition.length);
    let (n_y, max_length_y) =
        if has_y { (definition.count_y(), definition.length_y()) } else { (n_x, max_length_x) };
    let shape = Shape { n_x, n_y, max_length_x, max_length_y, channels: definition.channels };
    Ok(Problem::new(definition.spec()?, definition.pairing(), shape)?)
}

impl Measures for Gpu {
    fn open(ordinal: usize) -> Result<Self> {
        let backend = WgpuBackend::with_choice(&dtw_wgpu::Choice::Number(ordinal))?;
        let mut listed = dtw_wgpu::devices();
        anyhow::ensure!(ordinal < listed.len(), "there is no GPU {ordinal} any more");
        let dtw_wgpu::DeviceInfo { name, driver, .. } = listed.swap_remove(ordinal);
        Ok(Self { backend, about: machine::Gpu { name, driver } })
    }

    fn forcing(self, _: Option<&str>) -> Result<Self> {
        // Its shaders are of no kind: `run::measure` refuses one.
        Ok(self)
    }

    fn device(ordinal: usize) -> dtwave::Result<Device> {
        Device::wgpu_with_device(ordinal)
    }

    fn about(&self) -> Result<machine::Gpu> {
        Ok(self.about.clone())
    }

    fn data(&self, definition: &Definition) -> Result<Data> {
        Ok(if self.is_resident(definition)? { Data::Resident } else { Data::Host })
    }

    fn measure(
        &self,
        definition: &Definition,
        dtype: Dtype,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured> {
        match (definition.task, dtype) {
            // No task of a plan: the CPU prepares series.
            (Task::Normalize, _) => {
                let what = "z-normalisation alone; --backend cuda or hip can".to_owned();
                Err(Error::Unsupported { backend: "wgpu", what, remedies: &[] }.into())
            }
            (_, Dtype::F64) => on_host::<f64>(&self.backend, definition, rounds, checker),
            (_, Dtype::F32) if self.is_resident(definition)? => self.resident(definition, rounds, checker),
            (_, Dtype::F32) => on_host::<f32>(&self.backend, definition, rounds, checker),
        }
    }
}

#[cfg(test)]
mod tests {
    use dtw_core::Backend;
    use dtw_cpu::CpuBackend;

    use super::*;

    fn definition(more: &str, expected_mean: f64) -> Definition {
        let text = format!(
            "name = \"a\"\npairs = \"cross\"\ncount = 6\nlength = 20\ncount_y = 5\nchannels = 2\nbackends = [\"cuda\"]\n\
             dtypes = [\"f32\"]\ndata = \"resident\"\ntolerance_f32 = 1e-5\nexpected_mean = {expected_mean:?}\n{more}"
        );
        toml::from_str(&text).unwrap()
    }

    /// A definition that expects what the CPU computes.
    fn right(more: &str) -> Definition {
        let definition = definition(more, 0.0);
        let (x, y) = series::<f64>(&definition);
        let (x, y) = batches(&definition, &x, &y).unwrap();
        let mut out = vec![0.0; 30];
        let plan = Backend::<f64>::plan(&CpuBackend::with_threads(1), &problem(&definition).unwrap());
        plan.unwrap().distances(x, y, &mut out).unwrap();
        self::definition(more, out.iter().sum::<f64>() / 30.0)
    }

    #[test]
    fn work_in_buffers_is_timed_by_the_device() {
        let gpu = Gpu::open(0).unwrap();
        let checker = Checker::of_gpu(false);
        let dtw = right("measure = \"dtw\"\n");
        assert!(Clock::is_there(&gpu.backend), "this device has no timestamp queries");
        assert_eq!(gpu.data(&dtw).unwrap(), Data::Resident);
        let measured = gpu.measure(&dtw, Dtype::F32, 3, &checker).unwrap();
        assert_eq!((measured.times.len(), measured.cells), (3, 30 * 400));
        assert!(measured.times.best() > 0.0);
        assert_eq!(measured.checked, "all 30 values");
        // The host has a part in it.
        let soft = right("measure = \"soft_dtw\"\ngamma = 1.0\n");
        assert_eq!(gpu.data(&soft).unwrap(), Data::Host);
        assert_eq!(gpu.measure(&soft, Dtype::F32, 2, &checker).unwrap().times.len(), 2);

        let wrong = definition("measure = \"dtw\"\n", 1.0);
        assert!(gpu.measure(&wrong, Dtype::F32, 1, &checker).is_err());
    }
}
