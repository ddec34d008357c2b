//! Gradients of Soft-DTW and its divergence whose series and results stay on the device.
//!
//! Sweeps read packed series where they are; of others there is a packed copy for the time of the call. The gradient of
//! a divergence, `s(x, y) - (s(x, x) + s(y, y)) / 2`, is combined there too: each side's series are swept with
//! themselves, and half of what that gives to them as x and as y is taken off ([`params::Combine`]).

use dtw_core::{Measure, Pairing, Result, Task, bail_invalid};
use dtw_kernels::params;

use crate::calls::gradients::InPlace;
use crate::launch::combine::launch_combine;
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::resident::combined::DevicePairs;
use crate::series::device_batch::{DeviceBatch, DeviceGradients};
use crate::series::packing::end;
use crate::state::NativePlan;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Values and gradients of zipped pairs, of series and results on the device: Soft-DTW or its divergence.
    ///
    /// As [`NativePlan::distances_on_device`], this returns when the work is on the queue. Packed series are read where
    /// they are. Beside them it takes the edges of the tiles, n · m / 16 numbers for each pair under way; for series
    /// that lie otherwise, or are in another format than the plan's, a packed copy; for a divergence, twice the numbers
    /// of the larger side.
    ///
    /// # Errors
    /// As [`NativePlan::distances_on_device`] and [`dtw_core::Plan::gradients`]; [`dtw_core::Error::OutOfMemory`] also
    /// where these copies do not fit the memory limit.
    ///
    /// # Safety
    /// The addresses are memory of the machine's device with room for what the layouts say.
    pub unsafe fn gradients_on_device(
        &mut self,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
        out: DeviceGradients,
    ) -> Result<()> {
        self.problem.admits(Task::Gradients)?;
        if self.problem.pairing() != Pairing::Zipped {
            bail_invalid!("gradients are of zipped pairs: plan for Pairing::Zipped");
        }
        self.check_layouts(&x, &y)?;
        if x.layout.count() == 0 {
            return Ok(());
        }
        self.begin();
        let (order_x, order_y) = (x.order(0), y.order(0));
        let is_divergence = matches!(self.problem.spec().measure, Measure::SoftDtwDivergence { .. });
        // Values whose digits are in doubt come from sweeps of their own.
        let mut values = out.distances;
        if is_divergence {
            let both = DevicePairs { batches: [x, y], orders: [&order_x, &order_y] };
            self.divergences_on_device(both, out.distances)?;
            values = 0;
        } else if self.soft_before(&order_x, &order_y)?.is_some() {
            // SAFETY: as the caller promises.
            unsafe { self.distances_on_device(x, y, out.distances) }?;
            values = 0;
        }
        let limit = self.problem.memory_limit_bytes();
        let machine = self.engine.machine.clone();
        let ([x, y], copies) = self.packer.packed::<T>(&machine, self.functor, limit, [x, y])?;
        // A divergence also takes the gradients of series with themselves.
        let numbers = [&x, &y].map(|series| end(&series.layout) * series.channels);
        let own = if is_divergence { 2 * numbers[0].max(numbers[1]) * size_of::<T>() } else { 0 };
        let swept = if values == 0 { self.engine.bytes() } else { 0 };
        let taken = copies + (own + swept) as u64;
        let place = InPlace { values, out, from: [x.values, y.values], matrices: None };
        self.soft_in_place([x, y], None, place, taken)?;
        if is_divergence {
            self.less_own(0, x, [out.upstream, out.grad_x], taken)?;
            self.less_own(1, y, [out.upstream, out.grad_y], taken)?;
        }
        Ok(())
    }

    /// Takes from a gradient half of the gradients of a side's series with themselves.
    fn less_own(
        &mut self,
        side: usize,
        series: DeviceBatch<'_>,
        [upstream, gradient]: [u64; 2],
        taken: u64,
    ) -> Result<()> {
        let machine = self.engine.machine.clone();
        let count = end(&series.layout) * series.channels;
        let bytes = count * size_of::<T>();
        // Nobody writes between the series of a padded batch.
        let [left, right] = &mut self.combined.gradients;
        let (left, right) = (left.zeros(&machine, bytes)?, right.zeros(&machine, bytes)?);
        let out = DeviceGradients { upstream, distances: 0, grad_x: left, grad_y: right };
        let place = InPlace { values: 0, out, from: [series.values; 2], matrices: None };
        self.soft_in_place([series; 2], Some(side), place, taken)?;
        let p = params::Combine {
            first: gradient,
            own_x: left,
            own_y: right,
            out: gradient,
            divergences: self.combined.zero(&machine)?,
            rows: count as u64,
            pairing: params::ZIPPED,
            ..params::Combine::default()
        };
        launch_combine::<T, M>(&machine, &p)
    }
}
