//! Calls in memory of the caller's, on a queue that the caller names: nothing is allocated, freed or waited for.
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
use crate::memory::caller_memory::{CallerMemory, Scratch};
use crate::series::device_batch::{DeviceBatch, DeviceGradients, OwnedLayout};
use crate::series::device_costs::{DeviceCostGradients, DeviceCosts};
use crate::state::{NativePlan, ScratchSize};

/// Stands for the address of results that nobody writes: any that is aligned and not null.
const UNWRITTEN: u64 = 1 << 20;

/// What a call computes; the number of its place among the sizes that a plan remembers.
#[derive(Debug, Clone, Copy)]
enum CallKind {
    Distances = 0,
    Gradients = 1,
    /// Values of matrices of costs, whose shape is that of the layouts.
    CostValues = 2,
    CostGradients = 3,
}

impl CallKind {
    /// A call on matrices of costs.
    fn of_costs(wants_gradient: bool) -> Self {
        if wants_gradient { Self::CostGradients } else { Self::CostValues }
    }
}

impl<T: Number, M: Machine> NativePlan<T, CallerMemory<M>> {
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
        self.scratch_size(machine, [x, y], CallKind::Distances, |plan| {
            // SAFETY: nothing is launched, so no address is used.
            unsafe { plan.distances_on_device(x, y, UNWRITTEN) }
        })
    }

    /// Bytes of scratch that [`NativePlan::gradients_in`] takes for these batches, as
    /// [`NativePlan::scratch_bytes_on_device`] says them for distances.
    ///
    /// # Errors
    /// As [`NativePlan::gradients_on_device`] and [`NativePlan::scratch_bytes_on_device`].
    pub fn gradients_scratch_bytes_on_device(
        &mut self,
        machine: &M,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
    ) -> Result<usize> {
        let out = DeviceGradients { upstream: 0, distances: UNWRITTEN, grad_x: UNWRITTEN, grad_y: UNWRITTEN };
        self.scratch_size(machine, [x, y], CallKind::Gradients, |plan| {
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
        // SAFETY: as the caller promises.
        self.run_in(machine, scratch, needed, |plan| unsafe { plan.distances_on_device(x, y, out) })
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
        // SAFETY: as the caller promises.
        self.run_in(machine, scratch, needed, |plan| unsafe { plan.gradients_on_device(x, y, out) })
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
        let gradient = if wants_gradient { UNWRITTEN } else { 0 };
        let out = DeviceCostGradients { upstream: 0, values: UNWRITTEN, gradient };
        self.scratch_size(machine, costs.sides(), CallKind::of_costs(wants_gradient), |plan| {
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
        // SAFETY: as the caller promises.
        self.run_in(machine, scratch, needed, |plan| unsafe { plan.cost_gradients_on_device(costs, out) })
    }

    /// Whether the last such call was of matrices of these lengths: then there is nothing to copy.
    pub fn is_ready_for_costs(&self, costs: &DeviceCosts<'_>, wants_gradient: bool) -> bool {
        let [x, y] = costs.sides();
        self.remembered_size(x, y, CallKind::of_costs(wants_gradient)).is_some()
    }

    /// Whether the last such call was of these layouts: then there is nothing to copy.
    pub fn is_ready_for(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, gradients: bool) -> bool {
        self.remembered_size(x, y, if gradients { CallKind::Gradients } else { CallKind::Distances })
            .is_some()
    }

    /// Runs a call that was measured to take so many bytes.
    fn run_in(
        &mut self,
        machine: &M,
        scratch: Scratch,
        measured: usize,
        call: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let memory = self.machine().clone();
        let used = memory.call(machine, Some(scratch), || call(self))?;
        debug_assert!(
            used == measured || self.problem.output_len() == 0,
            "{used} bytes used, {measured} measured"
        );
        Ok(())
    }

    /// What the last such call took, if it was of these layouts.
    fn remembered_size(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, kind: CallKind) -> Option<usize> {
        let last = self.scratch_sizes[kind as usize].as_ref()?;
        let is_same = last.layouts[0].is(&x.layout)
            && last.layouts[1].is(&y.layout)
            && last.has_times == (x.times != 0)
            // Gradients copy series that are not packed.
            && (!matches!(kind, CallKind::Gradients) || last.strided == [x.strided, y.strided]);
        is_same.then_some(last.bytes)
    }

    /// What is remembered, or what `call` takes, of which nothing is launched.
    fn scratch_size(
        &mut self,
        machine: &M,
        [x, y]: [DeviceBatch<'_>; 2],
        kind: CallKind,
        call: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<usize> {
        let y = if self.problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        if let Some(bytes) = self.remembered_size(x, y, kind) {
            return Ok(bytes);
        }
        self.scratch_sizes[kind as usize] = None;
        let memory = self.machine().clone();
        let bytes = memory.call(machine, None, || call(self))?;
        self.scratch_sizes[kind as usize] = Some(ScratchSize {
            layouts: [OwnedLayout::of(&x.layout), OwnedLayout::of(&y.layout)],
            has_times: x.times != 0,
            strided: [x.strided, y.strided],
            bytes,
        });
        Ok(bytes)
    }
}
