//! What a call on a GPU computes: of what, and where results go. The same for plans of both number types.

use dtwave::cuda::{
    CallerMemory, CudaMachine, DeviceCostGradients, DeviceCosts, DeviceGradients, NativePlan, Number, Scratch,
};
use dtwave::{Float, Pairing, Result, Shape};

use super::side::Side;

/// A plan that takes its memory from the caller.
pub(super) type Lending<T> = NativePlan<T, CallerMemory<CudaMachine>>;

/// A call's work.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    /// Distances, to an address.
    Distances([&'a Side; 2], Pairing, u64),
    /// Values and gradients of zipped pairs.
    Gradients([&'a Side; 2], DeviceGradients),
    /// Soft-DTW of matrices of costs.
    Costs(DeviceCosts<'a>, DeviceCostGradients),
}

impl Work<'_> {
    /// The pairing and shape to plan for.
    pub(super) fn shape(&self) -> Result<(Pairing, Shape)> {
        Ok(match self {
            Self::Distances(sides, pairing, _) => (*pairing, shape_of(*sides)?),
            Self::Gradients(sides, _) => (Pairing::Zipped, shape_of(*sides)?),
            Self::Costs(DeviceCosts { shape: [count, n, m], .. }, _) => {
                let (n_x, n_y) = (*count, *count);
                (Pairing::Zipped, Shape { n_x, n_y, max_length_x: *n, max_length_y: *m, channels: 1 })
            }
        })
    }

    /// Whether a plan has nothing to copy for this call.
    pub(super) fn is_ready<T: Float + Number>(&self, plan: &Lending<T>) -> bool {
        match self {
            Self::Distances([x, y], ..) => plan.is_ready_for(x.batch::<T>(), y.batch::<T>(), false),
            Self::Gradients([x, y], _) => plan.is_ready_for(x.batch::<T>(), y.batch::<T>(), true),
            Self::Costs(costs, out) => plan.is_ready_for_costs(costs, out.gradient != 0),
        }
    }

    /// Bytes of scratch that the call takes.
    pub(super) fn scratch_bytes<T: Float + Number>(
        &self,
        plan: &mut Lending<T>,
        machine: &CudaMachine,
    ) -> Result<usize> {
        match self {
            Self::Distances([x, y], ..) => {
                plan.scratch_bytes_on_device(machine, x.batch::<T>(), y.batch::<T>())
            }
            Self::Gradients([x, y], _) => {
                plan.gradients_scratch_bytes_on_device(machine, x.batch::<T>(), y.batch::<T>())
            }
            Self::Costs(costs, out) => plan.cost_scratch_bytes_on_device(machine, costs, out.gradient != 0),
        }
    }

    /// Puts the work on the machine's queue.
    ///
    /// # Safety
    /// The addresses are memory of the machine's device with room for what the call says; the scratch is this call's
    /// alone until the queue is past it.
    pub(super) unsafe fn launch<T: Float + Number>(
        &self,
        plan: &mut Lending<T>,
        machine: &CudaMachine,
        scratch: Scratch,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe {
            match self {
                Self::Distances([x, y], _, out) => {
                    plan.distances_in(machine, scratch, x.batch::<T>(), y.batch::<T>(), *out)
                }
                Self::Gradients([x, y], out) => {
                    plan.gradients_in(machine, scratch, x.batch::<T>(), y.batch::<T>(), *out)
                }
                Self::Costs(costs, out) => plan.cost_gradients_in(machine, scratch, *costs, *out),
            }
        }
    }
}

/// The shape of a problem of these series.
pub(super) fn shape_of([x, y]: [&Side; 2]) -> Result<Shape> {
    if x.shape.2 != y.shape.2 {
        let text = format!("x has {} channels, y has {}: they must be equal", x.shape.2, y.shape.2);
        return Err(dtwave::Error::invalid(text));
    }
    Ok(Shape {
        n_x: x.shape.0,
        n_y: y.shape.0,
        max_length_x: x.longest(),
        max_length_y: y.longest(),
        channels: x.shape.2,
    })
}
