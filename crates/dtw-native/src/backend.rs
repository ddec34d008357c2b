//! The backend: a machine that runs the native kernels, as dtw-core wants to see it.

use dtw_core::{Backend, Error, Measure, Plan, Problem, Result, Task};

use crate::functor::Functor;
use crate::paths::no_path;
use crate::plan::no_gradients;
use crate::state::{NativePlan, no_kernels};
use crate::trace::trace_kernel;
use crate::{Machine, Number};

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
        let (spec, backend) = (problem.spec(), self.machine.name());
        let unsupported = |what: String| Err(Error::Unsupported { backend, what });
        let Some(functor) = Functor::of(spec) else { return Err(no_kernels(backend, spec.key())) };
        let channels = problem.shape().channels;
        match task {
            Task::Distances => Ok(()),
            Task::Gradients => Err(no_gradients(backend, &spec.measure)),
            Task::Paths if !spec.measure.has_path(channels) => Err(no_path(backend, spec, channels)),
            Task::Paths if trace_kernel::<T>(functor.key, channels > 1).is_none() => {
                unsupported(format!("a path of {}: the cpu backend can", spec.key()))
            }
            Task::Matches if !matches!(spec.measure, Measure::Dtw { .. }) => {
                unsupported(format!("a search with {}: only dtw has one", spec.measure.key()))
            }
            Task::Paths | Task::Matches => Ok(()),
        }
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        Ok(Box::new(NativePlan::<T, M>::new(self.machine.own_queue()?, problem)?))
    }
}
