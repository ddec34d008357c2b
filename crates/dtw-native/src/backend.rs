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
                Err(Error::left_to_cpu(backend, format!("the gradient of {}", spec.key())))
            }
            Task::Paths if trace_kernel::<T>(functor.key, many).is_none() => {
                Err(Error::left_to_cpu(backend, format!("a path of {}", spec.key())))
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

/// Makes a newtype of a [`NativeBackend`] a backend of both number types. It is not one of any [`Number`]: its plans
/// are compiled with the crate that has the newtype, and not again with every program that uses it.
#[macro_export]
macro_rules! backend_of_both_types {
    ($backend:ty, $name:expr) => {
        $crate::backend_of_both_types!(@one $backend, $name, f32);
        $crate::backend_of_both_types!(@one $backend, $name, f64);
    };
    (@one $backend:ty, $name:expr, $number:ty) => {
        impl dtw_core::Backend<$number> for $backend {
            fn name(&self) -> &'static str {
                $name
            }
            fn supports(&self, problem: &dtw_core::Problem, task: dtw_core::Task) -> dtw_core::Result<()> {
                dtw_core::Backend::<$number>::supports(&self.0, problem, task)
            }
            fn plan(
                &self,
                problem: &dtw_core::Problem,
            ) -> dtw_core::Result<Box<dyn dtw_core::Plan<$number>>> {
                self.0.plan(problem)
            }
            fn weighted_total(
                &self,
                problem: &dtw_core::Problem,
                series: dtw_core::SeriesBatch<'_, $number>,
                weights: &[f64],
            ) -> dtw_core::Result<Option<Box<dyn dtw_core::WeightedTotal<$number>>>> {
                self.0.weighted_total(problem, series, weights)
            }
        }
    };
}
