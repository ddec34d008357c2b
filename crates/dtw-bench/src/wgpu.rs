//! Definitions on a GPU through WebGPU: everything from host memory, by the wall clock.

use anyhow::Result;
use dtw_core::{Dtype, Error};
use dtw_wgpu::WgpuBackend;
use dtwave::Device;

use crate::check::Checker;
use crate::definition::{Data, Definition, Task};
use crate::machine;
use crate::measure::{Measured, on_host};
use crate::run::Measures;

/// A GPU to be measured, through WebGPU.
pub(crate) struct Gpu {
    backend: WgpuBackend,
    about: machine::Gpu,
}

impl Measures for Gpu {
    fn open(ordinal: usize) -> Result<Self> {
        let backend = WgpuBackend::with_choice(&dtw_wgpu::Choice::Number(ordinal))?;
        let mut listed = dtw_wgpu::devices();
        anyhow::ensure!(ordinal < listed.len(), "there is no GPU {ordinal} any more");
        let dtw_wgpu::DeviceInfo { name, driver, .. } = listed.swap_remove(ordinal);
        Ok(Self { backend, about: machine::Gpu { name, driver } })
    }

    fn device(ordinal: usize) -> dtwave::Result<Device> {
        Device::wgpu_with_device(ordinal)
    }

    fn about(&self) -> Result<machine::Gpu> {
        Ok(self.about.clone())
    }

    fn data(_definition: &Definition) -> Data {
        Data::Host
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
                Err(Error::Unsupported { backend: "wgpu", what }.into())
            }
            (_, Dtype::F64) => on_host::<f64>(&self.backend, definition, rounds, checker),
            (_, Dtype::F32) => on_host::<f32>(&self.backend, definition, rounds, checker),
        }
    }
}
