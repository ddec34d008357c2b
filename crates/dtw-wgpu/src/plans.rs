//! Plans: of calls that wait, of calls that do not, and of series in buffers of the device.

pub(crate) mod asynchronous;
pub(crate) mod plan;
pub(crate) mod resident;
