//! Series on the device: where the caller's are, and how they are uploaded, packed and prepared.

pub(crate) mod device_batch;
pub(crate) mod device_costs;
pub(crate) mod layout_tables;
pub(crate) mod packing;
pub(crate) mod prepared;
pub(crate) mod source;
