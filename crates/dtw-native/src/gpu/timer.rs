//! A stopwatch on a stream, by the device's clock.

use dtw_core::Result;

use super::driver::{Driver, Event};
use super::machine::Gpu;

/// Time between two points of a stream.
#[derive(Debug)]
pub struct Timer<D: Driver> {
    machine: Gpu<D>,
    events: [Event; 2],
}

impl<D: Driver> Gpu<D> {
    /// A stopwatch on this machine's stream.
    ///
    /// # Errors
    /// When the device fails.
    pub fn timer(&self) -> Result<Timer<D>> {
        let _entered = self.context.enter()?;
        let make = || self.context.check("making an event", D::make_event(true));
        let first = make()?;
        let second = make().inspect_err(|_| {
            // SAFETY: ours, and not used yet.
            unsafe { D::destroy_event(first) };
        })?;
        Ok(Timer { machine: self.clone(), events: [first, second] })
    }
}

impl<D: Driver> Timer<D> {
    /// Starts after what was asked for so far.
    ///
    /// # Errors
    /// When the device fails.
    pub fn start(&self) -> Result<()> {
        let context = &self.machine.context;
        let _entered = context.enter()?;
        // SAFETY: event and stream are ours.
        context.check("an event", unsafe { D::record(self.events[0], self.machine.stream()) })
    }

    /// Stops after what was asked for so far, waits, and returns seconds.
    ///
    /// # Errors
    /// When the device fails.
    pub fn stop(&self) -> Result<f64> {
        let context = &self.machine.context;
        let _entered = context.enter()?;
        let [start, stop] = self.events;
        // SAFETY: events and stream are ours; both events are recorded.
        let seconds = unsafe {
            D::record(stop, self.machine.stream())
                .and_then(|()| D::wait(stop))
                .and_then(|()| D::seconds(start, stop))
        };
        context.check("an event", seconds)
    }
}

impl<D: Driver> Drop for Timer<D> {
    fn drop(&mut self) {
        let Ok(_entered) = self.machine.context.enter() else { return };
        for event in self.events {
            // SAFETY: ours.
            unsafe { D::destroy_event(event) };
        }
    }
}
