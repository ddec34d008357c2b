//! Calls whose series and results stay on the device.

pub(crate) mod combined;
pub(crate) mod cost_gradients;
pub(crate) mod distances;
pub(crate) mod gradients;
pub(crate) mod in_caller_memory;
pub(crate) mod weighted_total;
