//! The backend that dtw-core asks for, made of a machine that runs the native kernels.

use dtw_core::{Backend, Error, Plan, Problem, Result, SeriesBatch, Task, WeightedTotal};

use crate::launch::differentiate::Kernels;
use crate::launch::functor::Functor;
use crate::launch::trace::trace_kernel;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::resident::weighted_total::DeviceTotal;
use crate::state::{NativePlan, no_kernels};

/// A backend on a [`Machine`]. Plans get a queue each.
#[derive(Debug, Clone)]
pub struct NativeBackend<M> {
    machine: M,
}

impl<M: Machine> NativeBackend<M> {
    /// The backend of this machine.
    pub fn new(machine: M) -> Self {
        Self { machine }
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }
}

impl<T: Number, M: Machine> Backend<T> for NativeBackend<M> {
    fn name(&self) -> &'static str {
        self.machine.name()
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        problem.admits(task)?;
        let (spec, backend) = (problem.spec(), self.machine.name());
        let Some(functor) = Functor::of(spec) else { return Err(no_kernels(backend, spec)) };
        let many = problem.shape().channels > 1;
        match task {
            Task::Gradients | Task::Alignment if Kernels::of::<T>(functor.key, many).is_none() => {
                let what = format!("the gradient of {}: the cpu backend can", spec.key());
                Err(Error::Unsupported { backend, what })
            }
            Task::Paths if trace_kernel::<T>(functor.key, many).is_none() => {
                let what = format!("a path of {}: the cpu backend can", spec.key());
                Err(Error::Unsupported { backend, what })
            }
            _ => Ok(()),
        }
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        Ok(Box::new(NativePlan::<T, M>::new(self.machine.own_queue()?, problem)?))
    }

    fn weighted_total(
        &self,
        problem: &Problem,
        series: SeriesBatch<'_, T>,
        weights: &[f64],
    ) -> Result<Option<Box<dyn WeightedTotal<T>>>> {
        Backend::<T>::supports(self, problem, Task::Gradients)?;
        let total = DeviceTotal::new(&self.machine, problem, series, weights)?;
        Ok(total.map(|total| Box::new(total) as Box<dyn WeightedTotal<T>>))
    }
}
