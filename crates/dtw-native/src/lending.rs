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

use crate::device_batch::{DeviceBatch, DeviceGradients, KnownLayout};
use crate::lent::{Lent, Scratch};
use crate::state::{Measured, NativePlan};
use crate::{Machine, Number};

/// Stands for the address of results that nobody writes.
const NOWHERE: u64 = 256;

/// What a call computes; the number of its place in what a plan remembers.
#[derive(Debug, Clone, Copy)]
enum Task {
    Distances = 0,
    Gradients = 1,
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
        self.measured(machine, x, y, Task::Distances)
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
        self.measured(machine, x, y, Task::Gradients)
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
        let needed = self.measured(machine, x, y, Task::Distances)?;
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
        let needed = self.measured(machine, x, y, Task::Gradients)?;
        let lent = self.machine().clone();
        // SAFETY: as the caller promises.
        let used = lent.call(machine, Some(scratch), || unsafe { self.gradients_on_device(x, y, out) })?;
        debug_assert!(
            used == needed || self.problem.output_len() == 0,
            "{used} bytes used, {needed} measured"
        );
        Ok(())
    }

    /// Whether the last such call was of these layouts: then there is nothing to copy.
    pub fn is_ready_for(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, gradients: bool) -> bool {
        self.known(x, y, if gradients { Task::Gradients } else { Task::Distances }).is_some()
    }

    fn known(&self, x: DeviceBatch<'_>, y: DeviceBatch<'_>, task: Task) -> Option<usize> {
        let known = self.measured[task as usize].as_ref()?;
        let is_same = known.layouts[0].is(&x.layout)
            && known.layouts[1].is(&y.layout)
            && known.has_times == (x.times != 0);
        is_same.then_some(known.bytes)
    }

    fn measured(&mut self, machine: &M, x: DeviceBatch<'_>, y: DeviceBatch<'_>, task: Task) -> Result<usize> {
        let y = if self.problem.pairing() == Pairing::SelfSymmetric { x } else { y };
        if let Some(bytes) = self.known(x, y, task) {
            return Ok(bytes);
        }
        self.measured[task as usize] = None;
        let lent = self.machine().clone();
        let nowhere = DeviceGradients { upstream: 0, distances: NOWHERE, grad_x: NOWHERE, grad_y: NOWHERE };
        // SAFETY: nothing is launched, so no address is used.
        let bytes = lent.call(machine, None, || unsafe {
            match task {
                Task::Distances => self.distances_on_device(x, y, NOWHERE),
                Task::Gradients => self.gradients_on_device(x, y, nowhere),
            }
        })?;
        self.measured[task as usize] = Some(Measured {
            layouts: [KnownLayout::of(&x.layout), KnownLayout::of(&y.layout)],
            has_times: x.times != 0,
            bytes,
        });
        Ok(bytes)
    }
}
