//! Soft-DTW of matrices of costs that the caller has on the device, and its derivative by every cost: the expected
//! alignment.

use dtw_core::{Measure, Pairing, PathCounts, Result, SoftResult, Spec, Task, bail_invalid};

use crate::calls::gradients::InPlace;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::series::device_batch::DeviceGradients;
use crate::series::device_costs::{DeviceCostGradients, DeviceCosts, Matrices};
use crate::state::NativePlan;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Values of Soft-DTW of matrices of costs, and the gradient to the costs. The plan's problem is of zipped pairs of
    /// univariate series: those of x are as long as the matrices have rows, those of y as they have columns.
    ///
    /// As [`NativePlan::distances_on_device`], this returns when the work is on the queue, and looks at no value.
    /// Beside the matrices it takes the edges of tiles, n · m / 16 numbers for each pair under way; for values alone,
    /// 2 m.
    ///
    /// In `f32`, values lose digits where there are few paths and costs are small beside γ: [`costs_keep_digits`] says
    /// of which lengths. A plan in `f64` has them.
    ///
    /// # Errors
    /// As [`NativePlan::gradients_on_device`]; [`dtw_core::Error::Invalid`] for another measure than Soft-DTW.
    ///
    /// # Safety
    /// The addresses are memory of the machine's device with room for what `costs` says. That of the gradient is a
    /// multiple of 256.
    pub unsafe fn cost_gradients_on_device(
        &mut self,
        costs: DeviceCosts<'_>,
        out: DeviceCostGradients,
    ) -> Result<()> {
        self.problem.admits(Task::Gradients)?;
        if self.problem.pairing() != Pairing::Zipped {
            bail_invalid!("matrices of costs are of zipped pairs: plan for Pairing::Zipped");
        }
        let measure = &self.problem.spec().measure;
        if !matches!(measure, Measure::SoftDtw { .. }) {
            bail_invalid!("matrices of costs are for soft_dtw, and the measure is {}", measure.key());
        }
        let [x, y] = costs.sides();
        self.check_layouts(&x, &y)?;
        if costs.shape[0] == 0 {
            return Ok(());
        }
        self.engine.sweeper.begin();
        if out.gradient != 0 {
            let bytes = costs.shape.iter().product::<usize>() * size_of::<T>();
            let machine = &self.engine.machine;
            // SAFETY: as the caller promises.
            let gradient = unsafe { machine.borrow(out.gradient, bytes) };
            machine.zero(&gradient, 0, bytes)?;
        }
        let DeviceCostGradients { upstream, values, gradient } = out;
        let place = InPlace {
            values,
            out: DeviceGradients { upstream, distances: values, grad_x: 0, grad_y: 0 },
            from: [0, 0],
            matrices: Some(Matrices::new(&costs, gradient)),
        };
        self.soft_in_place([x, y], None, place, 0)
    }
}

/// Whether values of Soft-DTW of matrices with these numbers of rows and columns keep their digits in `f32` at any γ:
/// each pair has so many paths that their number is not small beside roundings.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for another measure; as [`dtw_core::Band::ranges`].
pub fn costs_keep_digits(spec: &Spec, lengths: &[(usize, usize)]) -> Result<bool> {
    let Measure::SoftDtw { .. } = spec.measure else {
        bail_invalid!("matrices of costs are for soft_dtw, and the measure is {}", spec.key());
    };
    let (soft, mut counts) = (SoftResult::of(&spec.measure), PathCounts::default());
    for pair in lengths {
        if let Some(soft) = soft
            && !soft.always_keeps_digits(&mut counts, &spec.band, *pair)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
