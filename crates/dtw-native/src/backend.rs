//! The backend that dtw-core asks for, made of a machine that runs the native kernels.

use dtw_core::{Backend, Error, Plan, Problem, Result, SeriesBatch, Task, WeightedTotal};
use dtw_kernels::SweepKind;

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
    forced: Option<SweepKind>,
    is_eager: bool,
}

impl<M: Machine> NativeBackend<M> {
    /// The backend of this machine.
    pub fn new(machine: M) -> Self {
        Self { machine, forced: None, is_eager: false }
    }

    /// As [`NativePlan::forcing`], for every plan; for tests and benchmarks.
    #[must_use]
    pub fn forcing(self, kind: Option<SweepKind>) -> Self {
        Self { forced: kind, ..self }
    }

    /// As [`NativePlan::eager`], for every plan; for tests.
    #[must_use]
    pub fn eager(self, is_eager: bool) -> Self {
        Self { is_eager, ..self }
    }

    /// The kind that is forced.
    pub fn forced(&self) -> Option<SweepKind> {
        self.forced
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
        let plan = NativePlan::<T, M>::new(self.machine.own_queue()?, problem)?;
        Ok(Box::new(plan.forcing(self.forced).eager(self.is_eager)))
    }

    fn computes_elsewhere(&self) -> bool {
        true
    }

    fn weighted_total(
        &self,
        problem: &Problem,
        series: SeriesBatch<'_, T>,
        weights: &[f64],
    ) -> Result<Option<Box<dyn WeightedTotal<T>>>> {
        Backend::<T>::supports(self, problem, Task::Gradients)?;
        if self.forced.is_some() {
            return Ok(None);
        }
        let total = DeviceTotal::new(&self.machine, problem, series, weights)?;
        Ok(total.map(|total| Box::new(total) as Box<dyn WeightedTotal<T>>))
    }
}

/// Declares the backend of a vendor's GPUs: a newtype of [`NativeBackend`] on `$machine`. It is a backend of both
/// number types, not of any [`Number`]: its plans are compiled with the crate that declares it, and not again with
/// every program that uses it.
#[macro_export]
macro_rules! gpu_backend {
    ($(#[$about:meta])* $backend:ident, $machine:ty, $name:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        pub struct $backend($crate::NativeBackend<$machine>);

        impl $backend {
            /// The first GPU.
            ///
            /// # Errors
            /// [`dtw_core::Error::Backend`]: no driver, one that is too old, no GPU, one that there are no kernels for,
            /// or no compiled kernels in this build; the text says which, and what to do.
            pub fn new() -> dtw_core::Result<Self> {
                Self::with_device(0)
            }

            /// The GPU of this number, in the driver's order.
            ///
            /// # Errors
            /// As of `new`.
            pub fn with_device(ordinal: usize) -> dtw_core::Result<Self> {
                Ok(Self($crate::NativeBackend::new(<$machine>::new(ordinal)?)))
            }

            /// As [`NativePlan::forcing`], for every plan; for tests and benchmarks.
            #[must_use]
            pub fn forcing(self, kind: Option<$crate::SweepKind>) -> Self {
                Self(self.0.forcing(kind))
            }

            /// As [`NativePlan::eager`], for every plan; for tests.
            #[must_use]
            pub fn eager(self, is_eager: bool) -> Self {
                Self(self.0.eager(is_eager))
            }

            /// The device, for callers that manage its memory themselves.
            pub fn machine(&self) -> &$machine {
                self.0.machine()
            }
        }

        $crate::gpu_backend!(@of $backend, $name, f32);
        $crate::gpu_backend!(@of $backend, $name, f64);
    };
    (@of $backend:ty, $name:expr, $number:ty) => {
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
            fn computes_elsewhere(&self) -> bool {
                dtw_core::Backend::<$number>::computes_elsewhere(&self.0)
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
