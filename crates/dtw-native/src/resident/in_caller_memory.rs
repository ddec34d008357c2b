//! Calls on memory that the caller lends, on a queue that the caller names: nothing is allocated, freed or waited for.
//!
//! Such a plan keeps nothing on the device between calls but tables: where series of different lengths begin, the
//! ranges of a band, weights. They are copied there in the first call, and again when lengths change. Calls on
//! different queues may follow each other; the tables make the later one wait for the earlier one.
//!
//! A call may be recorded into a graph of the vendor's, if the call before was of the same layouts: then there is
//! nothing to copy and no kernel to load. Tables that a recording reads stay on the device as long as the process
//! lives.

use dtw_core::{Pairing, Result};

use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::memory::caller_memory::{Lent, Scratch};
use crate::series::device_batch::{DeviceBatch, DeviceGradients, KnownLayout};
use crate::series::device_costs::{DeviceCostGradients, DeviceCosts};
use crate::state::{Measured, NativePlan};

/// Stands for the address of results that nobody writes: any that is aligned and not null.
const NOWHERE: u64 = 1 << 20;

/// What a call computes; the number of its place in what a plan remembers.
#[derive(Debug, Clone, Copy)]
enum Task {
    Distances = 0,
    Gradients = 1,
    /// Of matrices of costs, whose shape is that of the layouts.
    CostValues = 2,
    CostGradients = 3,
}

impl Task {
    /// Of matrices of costs.
    fn of_costs(wants_gradient: bool) -> Self {
        if wants_gradient { Self::CostGradients } else { Self::CostValues }
    }
}

impl<T: Number, M: Machine> NativePlan<T, Lent<M>> {
    /// Bytes of scratch that [`NativePlan::distances_in`] takes for these batches, of which only layouts are looked at,
    /// and whether there are timestamps. The answer for the layouts of the last call is remembered. For others the call
    /// is tried without launching anything, on `machine`, whose queue then copies tables to the device.
    ///
    /// # Errors
    /// As [`NativePlan::distances_on_device`]; [`dtw_core::Error::Invalid`] where the queue is recorded and the answer
    /// is not known.
    pub fn scratch_bytes_on_device(
        &mut self,
        machine: &M,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
    ) -> Result<usize> {
        self.measured(machine, [x, y], Task::Distances, |plan| {
            // SAFETY: nothing is launched, so no address is used.
            unsafe { plan.distances_on_device(x, y, NOWHERE) }
        })
    }

    /// The same of [`NativePlan::gradients_in`].
    ///
    /// # Errors
    /// As [`NativePlan::gradients_on_device`] and [`NativePlan::scratch_bytes_on_device`].
    pub fn gradients_scratch_bytes_on_device(
        &mut self,
        machine: &M,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
    ) -> Result<usize> {
        let out = DeviceGradients { upstream: 0, distances: NOWHERE, grad_x: NOWHERE, grad_y: NOWHERE };
        self.measured(machine, [x, y], Task::Gradients, |plan| {
            // SAFETY: nothing is launched, so no address is used.
            unsafe { plan.gradients_on_device(x, y, out) }
        })
    }

    /// [`NativePlan::distances_on_device`] on the queue of `machine`, with the caller's scratch. The caller may use the
    /// scratch otherwise as soon as the queue is past this call.
    ///
    /// # Errors
    /// As [`NativePlan::scratch_bytes_on_device`]; [`dtw_core::Error::OutOfMemory`] where the scratch has fewer bytes
    /// than that says.
    ///
    /// # Safety
    /// As [`NativePlan::distances_on_device`]; the scratch is memory of the machine's device, and this call's alone
    /// until the queue is past it. `machine` is on the device of the plan's.
    pub unsafe fn distances_in(
        &mut self,
        machine: &M,
        scratch: Scratch,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
        out: u64,
    ) -> Result<()> {
        let needed = self.scratch_bytes_on_device(machine, x, y)?;
        let lent = self.machine().clone();
        // SAFETY: as the caller promises.
        let used = lent.call(machine, Some(scratch), || unsafe { self.distances_on_device(x, y, out) })?;
        debug_assert!(
            used == needed || self.problem.output_len() == 0,
            "{used} bytes used, {needed} measured"
        );
        Ok(())
    }

    /// [`NativePlan::gradients_on_device`] on the queue of `machine`, with the caller's scratch, as
    /// [`NativePlan::distances_in`] does for distances.
    ///
    /// # Errors
    /// As [`NativePlan::gradients_scratch_bytes_on_device`]; [`dtw_core::Error::OutOfMemory`] where the scratch has
    /// fewer bytes than that says.
    ///
    /// # Safety
    /// As [`NativePlan::gradients_on_device`] and [`NativePlan::distances_in`].
    pub unsafe fn gradients_in(
        &mut self,
        machine: &M,
        scratch: Scratch,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
        out: DeviceGradients,
    ) -> Result<()> {
        let needed = self.gradients_scratch_bytes_on_device(machine, x, y)?;
        let lent = self.machine().clone();
        // SAFETY: as the caller promises.
        let used = lent.call(machine, Some(scratch), || unsafe { self.gradients_on_device(x, y, out) })?;
        debug_assert!(
            used == needed || self.problem.output_len() == 0,
            "{used} bytes used, {needed} measured"
        );
        Ok(())
    }

    /// Bytes of scratch that [`NativePlan::cost_gradients_in`] takes for matrices of which only shape and lengths are
    /// looked at, with the gradient or without.
    ///
    /// # Errors
    /// As [`NativePlan::cost_gradients_on_device`] and [`NativePlan::scratch_bytes_on_device`].
    pub fn cost_scratch_bytes_on_device(
        &mut self,
        machine: &M,
        costs: &DeviceCosts<'_>,
        wants_gradient: bool,
    ) -> Result<usize> {
        let gradient = if wants_gradient { NOWHERE } else { 0 };
        let out = DeviceCostGradients { upstream: 0, values: NOWHERE, gradient };
        self.measured(machine, costs.sides(), Task::of_costs(wants_gradient), |plan| {
            // SAFETY: nothing is launched, so no address is used.
            unsafe { plan.cost_gradients_on_device(*costs, out) }
        })
    }

    /// [`NativePlan::cost_gradients_on_device`] on the queue of `machine`, with the caller's scratch, as
    /// [`NativePlan::distances_in`] does for distances.
    ///
    /// # Errors
    /// As [`NativePlan::cost_scratch_bytes_on_device`]; [`dtw_core::Error::OutOfMemory`] where the scratch has fewer
    /// bytes than that says.
    ///
    /// # Safety
    /// As [`NativePlan::cost_gradients_on_device`] and [`NativePlan::distances_in`].
    pub unsafe fn cost_gradients_in(
        &mut self,
        machine: &M,
        scratch: Scratch,
        costs: DeviceCosts<'_>,
        out: DeviceCostGradients,
    ) -> Result<()> {
        let needed = self.cost_scratch_bytes_on_device(machine, &costs, out.gradient != 0)?;
        let lent = self.machine().clone();
        // SAFETY: as the caller promises.
        let used =
            lent.call(machine, Some(scratch), || unsafe { self.cost_gradients_on_device(costs, out) })?;
        debug_assert!(
            used == needed || self.problem.output_len() == 0,
            "{used} bytes used, {needed} measured"
        );
        Ok(())
    }

    /// Whether the last such call was of matrices of these lengths: then there is nothing to copy.
    pub fn is_ready_for_costs(&self, costs: &DeviceCosts<'_>, wants_gradient: bool) -> bool {
        let [x, y] = costs.sides();
        self.known(x, y, Task::of_costs(wants_gradient)).is_some()
    }

    /// Whether the last such call was of these layouts: then there is nothing to copy.
    pub fn is_ready_for(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, gradients: bool) -> bool {
        self.known(x, y, if gradients { Task::Gradients } else { Task::Distances }).is_some()
    }

    fn known(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, task: Task) -> Option<usize> {
        let known = self.measured[task as usize].as_ref()?;
        let is_same = known.layouts[0].is(&x.layout)
            && known.layouts[1].is(&y.layout)
            && known.has_times == (x.times != 0)
            // Gradients copy series that are not packed.
            && (!matches!(task, Task::Gradients) || known.strided == [x.strided, y.strided]);
        is_same.then_some(known.bytes)
    }

    /// What is known, or what `work` takes, of which nothing is launched.
    fn measured(
        &mut self,
        machine: &M,
        [x, y]: [DeviceBatch<'_>; 2],
        task: Task,
        work: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<usize> {
        let y = if self.problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        if let Some(bytes) = self.known(x, y, task) {
            return Ok(bytes);
        }
        self.measured[task as usize] = None;
        let lent = self.machine().clone();
        let bytes = lent.call(machine, None, || work(self))?;
        self.measured[task as usize] = Some(Measured {
            layouts: [KnownLayout::of(&x.layout), KnownLayout::of(&y.layout)],
            has_times: x.times != 0,
            strided: [x.strided, y.strided],
            bytes,
        });
        Ok(bytes)
    }
}
