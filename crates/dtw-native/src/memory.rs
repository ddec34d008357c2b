//! Memory of a device that outlives a launch: regions that grow, the caller's memory, numbers as bytes.

pub(crate) mod arena;
pub(crate) mod bytes;
pub(crate) mod caller_memory;
pub(crate) mod region;
